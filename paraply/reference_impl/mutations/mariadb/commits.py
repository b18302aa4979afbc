"""Replicas with one fault in kills, retries, errors or group commit."""

from __future__ import annotations

from collections.abc import Callable

from paraply.reference_impl.mariadb.groups import EventGroup, Stage
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mutations.mariadb.batches import parallel_mutant
from paraply.vocabulary.transactions import TransactionId


class KeepsCommitStart(ParallelReplica):
    """A retry keeps its commit start."""

    def revoke_commit_start(self, group: EventGroup) -> None:
        """Leave it counted."""


class RollsBackFirst(ParallelReplica):
    """Rollback precedes the commit start's revocation."""

    def on_temporary_error(self, group: EventGroup, note: str) -> None:
        """Free the rows."""
        was_counted = group.has_started_commit
        super().on_temporary_error(group, note)
        if was_counted:
            self.mark_commit_start(group)
        self.store.roll_back(group.id)
        self.on_locks_freed()

    def on_rollback(self, group: EventGroup) -> None:
        """Revoke the commit start."""
        self.revoke_commit_start(group)
        super().on_rollback(group)


class RetriesAtOnce(ParallelReplica):
    """A retry ignores earlier groups."""

    def may_retry(self, group: EventGroup) -> bool:
        """Return True."""
        return True


class ForgetsToWait(RetriesAtOnce):
    """A retry forgets its predecessor."""

    def on_retry(self, group: EventGroup) -> None:
        """Forget the previous group."""
        group.before = None
        super().on_retry(group)


class NoKill(ParallelReplica):
    """The engine does not report row waits."""

    def must_kill(self, holder: EventGroup, waiter: EventGroup) -> bool:
        """Return False."""
        return False


class WrongWay(ParallelReplica):
    """The sub_id comparison is reversed."""

    def must_kill(self, holder: EventGroup, waiter: EventGroup) -> bool:
        """Kill earlier holders too."""
        return True


class OwnDomainOnly(ParallelReplica):
    """No kill crosses domains."""

    def must_kill(self, holder: EventGroup, waiter: EventGroup) -> bool:
        """Require the same domain."""
        return holder.entry is waiter.entry and super().must_kill(holder, waiter)


class KillLostInCommit(ParallelReplica):
    """Commit ignores kills."""

    def on_kill(self) -> None:
        """Drop that kill."""
        if self.kills[0].victim.stage is Stage.COMMITTING:
            self.kills.pop(0)
        else:
            super().on_kill()


class SpeculationFails(ParallelReplica):
    """A speculative error stops the replica."""

    def on_row_error(self, group: EventGroup, note: str = "") -> None:
        """Give up."""
        self.on_error(group, note)


class WaitOverwritesError(ParallelReplica):
    """A wait's result replaces the group's error."""

    def on_failing(self, group: EventGroup) -> None:
        """Report the predecessor's result."""
        self.finish(group, has_failed=self.prior_has_failed(group))


class SkipReportsSuccess(ParallelReplica):
    """A skipped group reports success."""

    def on_failing(self, group: EventGroup) -> None:
        """Ignore a skipped group's error."""
        self.finish(group, has_failed=group.has_failed and not group.is_skipped)


class StaleStatus(ParallelReplica):
    """A group reads the predecessor's error too early."""

    MOMENTS = 2

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)
        self.done_at: dict[TransactionId, int] = {}

    def release(self, group: EventGroup) -> None:
        """Record the end's time."""
        super().release(group)
        self.done_at[group.id] = self.recorder.now

    def prior_has_failed(self, group: EventGroup) -> bool:
        """Return the error some steps late."""
        if group.before is None or not super().prior_has_failed(group):
            return False
        return self.recorder.now - self.done_at[group.before.id] > self.MOMENTS


class BarrierBeforeError(ParallelReplica):
    """A failed group opens the barrier too early."""

    def on_error(self, group: EventGroup, note: str = "") -> None:
        """Count the group as committing."""
        super().on_error(group, note)
        self.mark_commit_start(group)


class PriorNotAsked(ParallelReplica):
    """A group ignores its predecessor's error."""

    def prior_has_failed(self, group: EventGroup) -> bool:
        """Return False."""
        return False


class DdlDoesNotWait(ParallelReplica):
    """A DDL ignores its predecessor."""

    def must_wait(self, group: EventGroup) -> bool:
        """Exclude statements."""
        return super().must_wait(group) and not group.is_statement


class InnerCommitWakes(ParallelReplica):
    """A DDL's inner commit wakes later groups too early."""

    def on_begin(self, group: EventGroup) -> None:
        """Count a DDL as committing."""
        super().on_begin(group)
        if group.is_statement:
            self.mark_commit_start(group)

    def prior_is_done(self, group: EventGroup) -> bool:
        """Treat a begun DDL as done."""
        before = group.before
        has_woken = before is not None and before.is_statement and before.stage is Stage.APPLYING
        return has_woken or super().prior_is_done(group)


class QueuesUnasked(ParallelReplica):
    """A group joins the queue too early."""

    def may_queue(self, group: EventGroup) -> bool:
        """Return True."""
        return True


class NotPulledIn(ParallelReplica):
    """A waiting commit never shares its predecessor's group."""

    def may_queue(self, group: EventGroup) -> bool:
        """Require the predecessor's end."""
        return self.prior_is_done(group)

    def on_commit_queued(self, group: EventGroup) -> None:
        """Queue alone."""
        group.stage = Stage.IN_QUEUE
        self.binlog_queue.append(group)


class EngineTakesTheLast(ParallelReplica):
    """The engine reverses each group."""

    def next_engine_commit(self) -> tuple[int, EventGroup]:
        """Take the last."""
        return self.flushed.pop()


class HoldsBackupLock(ParallelReplica):
    """A group takes the backup commit lock before it waits."""

    def step_of(self, group: EventGroup) -> Callable[[], None] | None:
        """Wait for any group in its commit."""
        in_commit = (Stage.COMMITTING, Stage.IN_QUEUE, Stage.FLUSHED)
        if group.stage is Stage.ENDED and any(one.stage in in_commit for one in self.under_way):
            return None
        return super().step_of(group)


_RETRIES, _ERRORS, _COMMITS = "MariaDB kills and retries", "MariaDB errors", "MariaDB commits"

parallel_mutant(
    "commit_start_is_not_revoked", source="MDEV-7458", family=_RETRIES, dialect="conservative",
    fault="the next batch begins although a transaction of this one is tried again",
    caught_by="sound_log_never_fails", replica=KeepsCommitStart, extra_locks="domain",
)  # fmt: skip
parallel_mutant(
    "rollback_precedes_revocation", source="MDEV-8302", family=_RETRIES, dialect="conservative",
    fault="the row is free, and the barrier still open, for a moment",
    caught_by="sound_log_never_fails", replica=RollsBackFirst, extra_locks="domain",
)  # fmt: skip
parallel_mutant(
    "retry_does_not_wait", source="retry_event_group: wait for all prior commits",
    family=_RETRIES, fault="an attempt that lost begins again beside the winner",
    caught_by="retries_wait_for_all_before", replica=RetriesAtOnce,
)  # fmt: skip
parallel_mutant(
    "retry_forgets_whom_to_wait_for", source="MDEV-12746", family=_RETRIES,
    fault="a transaction that is tried again commits before those it follows",
    caught_by="domains_commit_in_order", replica=ForgetsToWait,
)  # fmt: skip
parallel_mutant(
    "row_waits_are_not_reported", source="MDEV-5914, MDEV-31655", family=_RETRIES,
    fault="a transaction waits for a row whose holder waits for its commit",
    caught_by="replica_never_stalls", replica=NoKill,
)  # fmt: skip
parallel_mutant(
    "kill_strikes_the_earlier", source="thd_rpl_deadlock_check", family=_RETRIES,
    dialect="aggressive", fault="whoever holds a row is killed, though it comes first",
    caught_by="only_later_transactions_are_killed", replica=WrongWay,
)  # fmt: skip
parallel_mutant(
    "kill_stays_in_its_domain", source="MDEV-33798", family=_RETRIES,
    dialect="optimistic_by_schema", fault="two domains wait for each other's rows and commits",
    caught_by="replica_never_stalls", replica=OwnDomainOnly, transactions=6, rows=4, workers=4,
    extra_locks="any", commit_groups=False,
)  # fmt: skip
parallel_mutant(
    "kill_is_lost_in_commit", source="MDEV-37133: a kill is lost", family=_RETRIES,
    fault="a victim that waits in its commit keeps its rows",
    caught_by="replica_never_stalls", replica=KillLostInCommit,
)  # fmt: skip
parallel_mutant(
    "speculative_error_is_final", source="rpl_parallel: is_parallel_retry_error", family=_RETRIES,
    fault="a conflict of a speculative attempt stops the replica",
    caught_by="sound_log_never_fails", replica=SpeculationFails,
)  # fmt: skip
parallel_mutant(
    "wait_overwrites_the_error", source="MDEV-5921", family=_ERRORS, failures=1,
    fault="those after a failed transaction are told that all is well",
    caught_by="nothing_after_an_error_is_applied", replica=WaitOverwritesError,
)  # fmt: skip
parallel_mutant(
    "skipped_group_reports_success", source="MDEV-20645", family=_ERRORS, failures=1,
    fault="a transaction commits over one that was skipped after an error",
    caught_by="nothing_after_an_error_is_applied", replica=SkipReportsSuccess, workers=4,
)  # fmt: skip
parallel_mutant(
    "error_is_read_too_early", source="MDEV-20707", family=_ERRORS, failures=1,
    fault="the status of the group before is read before its error is in it",
    caught_by="nothing_after_an_error_is_applied", replica=StaleStatus,
)  # fmt: skip
parallel_mutant(
    "barrier_opens_before_the_error", source="MDEV-6386", family=_ERRORS, failures=1,
    dialect="conservative_non_transactional",
    fault="a change that cannot be taken back follows a failed transaction",
    caught_by="nothing_after_an_error_is_applied", replica=BarrierBeforeError,
)  # fmt: skip
parallel_mutant(
    "prior_failure_is_not_asked", source="ER_PRIOR_COMMIT_FAILED", family=_ERRORS, failures=1,
    dialect="conservative", fault="a transaction commits over a hole",
    caught_by="stop_points_are_prefixes", replica=PriorNotAsked,
)  # fmt: skip
parallel_mutant(
    "ddl_does_not_wait_for_the_one_before", source="MDEV-30323", family=_COMMITS, ddl=1,
    dialect="conservative", fault="a statement is complete before its predecessor has committed",
    caught_by="replica_logs_domains_in_order", replica=DdlDoesNotWait,
)  # fmt: skip
parallel_mutant(
    "position_of_a_ddl_wakes_the_next", source="MDEV-7888, MDEV-7929", family=_COMMITS, ddl=1,
    fault="those after a DDL are logged before it",
    caught_by="replica_logs_domains_in_order", replica=InnerCommitWakes,
)  # fmt: skip
parallel_mutant(
    "binlog_queue_takes_anybody", source="MDEV-6775", family=_COMMITS,
    fault="the replica's binary log has transactions in another order",
    caught_by="replica_logs_domains_in_order", replica=QueuesUnasked,
)  # fmt: skip
parallel_mutant(
    "waiting_transaction_is_not_pulled_in", source="we can commit T1 and T2 at the same time",
    family=_COMMITS, dialect="conservative", fault="every wait costs a sync of its own",
    caught_by="waiting_costs_no_sync", replica=NotPulledIn,
)  # fmt: skip
parallel_mutant(
    "engine_commits_the_last_first", source="MDEV-26652", family=_COMMITS, dialect="conservative",
    fault="the engine commits a group in another order than the binary log",
    caught_by="engine_commits_follow_the_replicas_log", replica=EngineTakesTheLast,
)  # fmt: skip
parallel_mutant(
    "backup_lock_is_held_over_the_wait", source="MDEV-21953, MDEV-30423", family=_COMMITS,
    dialect="conservative", fault="the group before waits for the lock that its successor holds",
    caught_by="replica_never_stalls", replica=HoldsBackupLock,
)  # fmt: skip
