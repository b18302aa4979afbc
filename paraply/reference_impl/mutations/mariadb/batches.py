"""Replicas with one fault in batches, marks, domains or stops.

:mod:`~paraply.reference_impl.mutations.mariadb.commits` has the other faults.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paraply.reference_impl.applier.row_store import Applied, RowStore, item_of
from paraply.reference_impl.mariadb.groups import Batch, Entry, EventGroup, Speculation
from paraply.reference_impl.mariadb.modes import Decision, Mode, Rules
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mariadb.source import DDL, Draft, GroupCommitSource
from paraply.reference_impl.mariadb.subject import ParallelModesSubject, Parts
from paraply.reference_impl.mutants import Mutant, register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.timestamps import CommitId
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId


def parallel_mutant(
    name: str,
    *,
    fault: str,
    caught_by: str,
    source: str,
    dialect: str = "optimistic",
    family: str = "MariaDB batches",
    transactions: int = 5,
    rows: int = 3,
    replica: type[ParallelReplica] = ParallelReplica,
    rules: type[Rules] = Rules,
    log: type[GroupCommitSource] = GroupCommitSource,
    store: type[RowStore] = RowStore,
    **options: OptionValue,
) -> Mutant:
    """Register a replica with one replaced part."""
    options = {"reads": 0, "stops": 0, "ddl": 0, "marks": 0, "extra_locks": "none", **options}
    parts = Parts(replica=replica, rules=rules, source=log, store=store)
    return register_mutant(written_mutant(
        name=name, family=family, source=source, fault=fault, caught_by=caught_by,
        subject=ParallelModesSubject(parts),
        workload=Workload(
            transactions=transactions, rows=rows, dialect=dialect, options=options
        ),
    ))  # fmt: skip


class NoBarrier(Rules):
    """A new batch waits for no group."""

    def new_batch(self, entry: Entry, transaction: Transaction) -> Decision:
        """Require no commit start."""
        return Decision(Batch(0, is_closed=self.is_ddl(transaction)), Speculation.NO)


class BarrierOneShort(Rules):
    """A new batch ignores its direct predecessor."""

    def new_batch(self, entry: Entry, transaction: Transaction) -> Decision:
        """Require one commit start less."""
        decision = super().new_batch(entry, transaction)
        decision.batch.wait_count = max(0, decision.batch.wait_count - 1)
        return decision


class MixedForOneGroup(Rules):
    """The next group clears MULTI_BATCH."""

    def decide(self, entry: Entry, transaction: Transaction) -> Decision:
        """Reset the batch."""
        if entry.batch is not None:
            entry.batch.is_mixed = False
        return super().decide(entry, transaction)


class DdlJoins(Rules):
    """A DDL shares batches."""

    def is_ddl(self, transaction: Transaction) -> bool:
        """Return False."""
        return False


class MarksIgnored(Rules):
    """The default mode ignores marks."""

    def speculation_of(self, transaction: Transaction) -> Speculation:
        """Use aggressive's rule."""
        return Rules(Mode.AGGRESSIVE).speculation_of(transaction)


class EverythingSpeculates(Rules):
    """Speculation ignores impossible rollbacks."""

    def speculation_of(self, transaction: Transaction) -> Speculation:
        """Return OPTIMISTIC."""
        return Speculation.OPTIMISTIC


class DomainsInMinimal(Rules):
    """Minimal uses domains too."""

    @property
    def has_domains(self) -> bool:
        """Return True."""
        return True


class StartedAtBegin(ParallelReplica):
    """A begun group counts as committing."""

    def note_started(self, group: EventGroup) -> None:
        """Open the barrier."""
        super().note_started(group)
        self.mark_commit_start(group)


class WakesOnceOnly(ParallelReplica):
    """The barrier opens only at equality."""

    def may_enter_batch(self, group: EventGroup) -> bool:
        """Require equality."""
        return group.entry.committing_count == group.batch.wait_count


class NoDrain(ParallelReplica):
    """The driver ignores source restarts."""

    def must_drain(self, transaction: Transaction) -> bool:
        """Return False."""
        return False


class StopTestApart(ParallelReplica):
    """Stop test and start record are separate."""

    def note_started(self, group: EventGroup) -> None:
        """Do nothing yet."""

    def on_begin(self, group: EventGroup) -> None:
        """Record the start."""
        super().note_started(group)
        super().on_begin(group)


class FarthestDomain(ParallelReplica):
    """Reading resumes at the most advanced domain."""

    def resume(self) -> None:
        """Skip everything before it."""
        super().resume()
        gtids = {str(gtid) for gtid in self.position}
        reached = max((one.id for one in self.log if one.gtid in gtids), default=0)
        while self.rest and self.rest[0].id < reached:
            self.rest.popleft()


class WholePool(ParallelReplica):
    """The driver ignores slave_domain_parallel_threads."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.settings = replace(self.settings, domain_workers=0)


class NoDdlFlag(GroupCommitSource):
    """DDL-like statements lack their flag."""

    def logged_flags(self, flags: set[str]) -> set[str]:
        """Drop the flag."""
        return flags - {DDL}


class OneCommitId(GroupCommitSource):
    """All groups share one commit id."""

    def commit_id(self, draft: Draft, size: int) -> CommitId | None:
        """Return one id."""
        return CommitId(1)


class DomainByTurn(GroupCommitSource):
    """Domains do not depend on rows."""

    def draft(self, schedule: Schedule, number: TransactionId, drafts: Any) -> Draft:
        """Move even transactions to another domain."""
        made = super().draft(schedule, number, drafts)
        domain = 20 + number % 2
        place = sum(1 for one in drafts if one.transaction.domain == domain) + 1
        moved = replace(made.transaction, domain=domain, gtid=f"{domain}-1-{place}")
        return made._replace(transaction=moved)


class IdempotentStore(RowStore):
    """slave_exec_mode=IDEMPOTENT: skips missing rows without a lock."""

    def apply(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Return success."""
        applied = super().apply(transaction, row)
        if applied.outcome is Outcome.MISSING_BEFORE_IMAGE:
            if self.value_for(transaction, item_of(row)) is not None:
                self.change(transaction, row)
            else:
                del self.holders[item_of(row)]
            return Applied(Outcome.OK)
        if applied.outcome is Outcome.DUPLICATE_KEY:
            self.change(transaction, row)
            return Applied(Outcome.OK)
        return applied


parallel_mutant(
    "batch_has_no_barrier", source="MDEV-5189", dialect="conservative",
    fault="a batch is applied beside the one before it",
    caught_by="commit_groups_never_overlap", rules=NoBarrier,
)  # fmt: skip
parallel_mutant(
    "batch_waits_for_all_but_the_last", source="rpl_parallel: wait_count", dialect="conservative",
    fault="a batch begins while one group before it is still executing",
    caught_by="sound_log_never_fails", rules=BarrierOneShort,
)  # fmt: skip
parallel_mutant(
    "batch_does_not_stay_mixed", source="rpl_parallel: MULTI_BATCH", transactions=4, workers=4,
    fault="in a batch of several commit groups a group is trusted to be free of conflicts",
    caught_by="sound_log_never_fails", rules=MixedForOneGroup,
)  # fmt: skip
parallel_mutant(
    "ddl_joins_the_batch", source="rpl_parallel: FORCE_SWITCH; MDEV-27365", ddl=1,
    fault="groups after a DDL begin beside it",
    caught_by="domains_apply_without_conflict", rules=DdlJoins,
)  # fmt: skip
parallel_mutant(
    "ddl_flag_is_missing_in_the_log", source="MDEV-27365, MDEV-29621, MDEV-37903", ddl=1,
    fault="the source logs a DDL-like statement without FL_DDL",
    caught_by="domains_apply_without_conflict", log=NoDdlFlag,
)  # fmt: skip
parallel_mutant(
    "waited_is_ignored", source="FL_WAITED; skip_parallel_replication", marks=1,
    fault="what had waited on the source is applied speculatively",
    caught_by="marked_transactions_wait_for_all_before", rules=MarksIgnored,
)  # fmt: skip
parallel_mutant(
    "non_transactional_speculates", source="FL_TRANSACTIONAL",
    dialect="aggressive_non_transactional",
    fault="a change that cannot be rolled back does not wait for those before it",
    caught_by="irreversible_changes_wait_for_all_before", rules=EverythingSpeculates,
)  # fmt: skip
parallel_mutant(
    "minimal_looks_at_domains", source="slave_parallel_mode=minimal: one entry for all domains",
    dialect="minimal_by_schema", fault="commits of different domains are not ordered",
    caught_by="engine_commits_follow_the_log", rules=DomainsInMinimal, rows=4,
)  # fmt: skip
parallel_mutant(
    "commit_start_is_marked_at_begin", source="rpl_parallel: mark_start_commit at the XID event",
    dialect="conservative", fault="the next batch begins when this one has",
    caught_by="commit_groups_never_overlap", replica=StartedAtBegin,
)  # fmt: skip
parallel_mutant(
    "barrier_wakes_once_only", source="MDEV-7825, MDEV-8113: lost wakeup", dialect="conservative",
    fault="a group that comes to the barrier late waits for ever",
    caught_by="replica_never_stalls", replica=WakesOnceOnly,
)  # fmt: skip
parallel_mutant(
    "restart_of_the_source_does_not_drain", source="rpl_parallel: created != 0 waits for workers",
    dialect="conservative", restarts=1, workers=4, rows=4,
    fault="groups from before and after a restart share a commit id by chance",
    caught_by="sound_log_never_fails", replica=NoDrain,
)  # fmt: skip
parallel_mutant(
    "stop_decision_is_not_atomic", source="MDEV-31509", family="MariaDB stops", stops=1,
    fault="STOP SLAVE lets a group run and skips the one before it",
    caught_by="stop_points_are_prefixes", replica=StopTestApart,
)  # fmt: skip
parallel_mutant(
    "restart_reads_from_the_farthest_domain", source="MDEV-6589", family="MariaDB stops",
    dialect="conservative_by_schema", stops=1, rows=4,
    fault="domains that were behind at the stop lose transactions",
    caught_by="no_event_is_lost", replica=FarthestDomain,
)  # fmt: skip
parallel_mutant(
    "domain_limit_is_ignored", source="slave_domain_parallel_threads", family="MariaDB domains",
    dialect="optimistic_by_schema", domain_workers=1, rows=4,
    fault="one domain takes every worker", caught_by="domains_keep_their_worker_limit",
    replica=WholePool,
)  # fmt: skip
parallel_mutant(
    "domain_is_not_of_the_schema", source="if the application messes up, things can break",
    family="MariaDB domains", dialect="optimistic_by_schema",
    fault="transactions that conflict are in different domains",
    caught_by="sound_log_never_fails", log=DomainByTurn,
)  # fmt: skip
parallel_mutant(
    "commit_ids_are_all_equal", source="facts on MariaDB 5.3 f, measured: error 1032",
    dialect="conservative", fault="transactions that conflict bear one commit id",
    caught_by="sound_log_never_fails", log=OneCommitId,
)  # fmt: skip
parallel_mutant(
    "idempotent_hides_equal_commit_ids", source="facts on MariaDB, fact 9, measured",
    dialect="conservative", fault="conflicting changes of rows that are not there yet are lost",
    caught_by="final_state_is_the_sources", log=OneCommitId, store=IdempotentStore,
)  # fmt: skip


class NumbersFromTheLast(GroupCommitSource):
    """Commit ids fall from group to group."""

    def commit_id(self, draft: Draft, size: int) -> CommitId | None:
        """Return the negative number."""
        number = super().commit_id(draft, size)
        return None if number is None else CommitId(100 - number)


parallel_mutant(
    "commit_ids_fall", source="Gtid_log_event: FL_GROUP_COMMIT_ID",
    fault="a later commit group has a smaller commit id",
    caught_by="commit_ids_number_the_groups", log=NumbersFromTheLast, dialect="conservative",
    transactions=6, rows=6,
)  # fmt: skip
