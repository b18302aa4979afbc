"""Semi-sync sources with one fault each; every class overrides one method."""

from __future__ import annotations

from collections.abc import Callable

from reference_impl.mutants import Mutant, register_mutant
from reference_impl.semi_sync.binlog import ReplicaState
from reference_impl.semi_sync.cluster import Cluster
from reference_impl.semi_sync.groups import Group, Stage
from reference_impl.semi_sync.subject import SemiSyncSubject
from reference_impl.subject import Workload
from vocabulary.events import EventKind, Observation
from vocabulary.history import OptionValue
from vocabulary.schedule import Schedule
from vocabulary.transactions import TransactionId


class Unchained(Cluster):
    """LOCK_log is released before LOCK_enhanced_semisync is taken: groups meet in between."""

    def may_enter_ack(self, group: Group) -> bool:
        """Let several groups wait at once, and go on in any order."""
        return True


class CommitsBeforeTheWait(Cluster):
    """The engine commit does not wait."""

    def may_enter_commit(self, group: Group) -> bool:
        """Ask for the mutex only."""
        return self.holder(Stage.COMMIT) is None


class WaitsForFirstPosition(Cluster):
    """A group waits for its first transaction instead of its last."""

    def wait_is_over(self, group: Group) -> bool:
        """Compare with the position of the first."""
        first = self.binlog.end_of(group.transactions[:1])
        return group.has_given_up or self.is_acknowledged(first)


class OneSuffices(Cluster):
    """wait_for_slave_count is not looked at."""

    def is_acknowledged(self, position: int) -> bool:
        """Return whether anybody has the position."""
        return any(replica.position >= position for replica in self.replicas)


class OffByOnePosition(Cluster):
    """The position acknowledged is compared with where the transaction begins."""

    def is_acknowledged(self, position: int) -> bool:
        """Compare with one less."""
        return super().is_acknowledged(position - 1)


class ComparesAsText(Cluster):
    """Positions are compared as text, as file names are."""

    def is_acknowledged(self, position: int) -> bool:
        """Find that "9" lies behind "10"."""
        having = sum(str(replica.position) >= str(position) for replica in self.replicas)
        return having >= self.settings.acknowledgements


class ConnectCounts(Cluster):
    """A replica that connects at the end of the log counts as one that has it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.claimed: dict[str, int] = {}

    def on_restarted(self, replica: ReplicaState) -> None:
        """Take the position that it asks for as an acknowledgement."""
        super().on_restarted(replica)
        self.claimed[replica.name] = len(self.binlog.written)

    def is_acknowledged(self, position: int) -> bool:
        """Count what replicas claimed."""
        having = sum(
            max(replica.position, self.claimed.get(replica.name, 0)) >= position
            for replica in self.replicas
        )
        return having >= self.settings.acknowledgements


class SilentAbandon(Cluster):
    """A wait that is given up ends as if it had been acknowledged."""

    def give_up(self, group: Group, why: str) -> None:
        """Go on and tell nobody."""
        group.has_given_up = True


class AbandonFreesAll(Cluster):
    """One wait that times out wakes every waiter, whose waits end as if acknowledged."""

    def give_up(self, group: Group, why: str) -> None:
        """Free every group."""
        super().give_up(group, why)
        for other in self.groups:
            other.has_given_up = True


class AnswersAtOnce(Cluster):
    """Under AFTER_COMMIT the client is told before the wait."""

    def may_answer(self, group: Group) -> bool:
        """Return True."""
        return True


class RecoveryOpens(Cluster):
    """The server lets clients in at once after it recovered."""

    def recover(self, undecided: list[TransactionId]) -> None:
        """Recover and open."""
        super().recover(undecided)
        self.is_open = True


class RecoveryCommits(Cluster):
    """Recovery commits what no replica has."""

    def recover(self, undecided: list[TransactionId]) -> None:
        """Commit all that the binary log has."""
        for transaction in undecided:
            self.show(transaction)


class RecoveryRollsBack(Cluster):
    """Recovery rolls back prepared transactions that are in the binary log."""

    def recover(self, undecided: list[TransactionId]) -> None:
        """Forget them."""


class RecoveryKeepsUnsynced(Cluster):
    """Recovery commits prepared transactions that never reached the binary log."""

    def on_source_crash(self) -> None:
        """Commit what was queued, before anything else."""
        for transaction in self.queue:
            self.show(transaction)
        super().on_source_crash()


class ReleasesUnasked(Cluster):
    """A recovered transaction is released without an acknowledgement."""

    def is_acknowledged(self, position: int) -> bool:
        """Take everything for acknowledged while something is held back."""
        return bool(self.held_back) or super().is_acknowledged(position)


class ReleasesLastFirst(Cluster):
    """Recovered transactions are released in the other order."""

    def on_released(self) -> None:
        """Release the last one, though asked about the first."""
        self.show(self.held_back.pop())


class SendsBeforeSync(Cluster):
    """Replicas are sent what is written and not yet synced (sync_binlog other than 1)."""

    def may_receive(self, replica: ReplicaState) -> bool:
        """Send up to the end of the file."""
        return not self.is_lost and replica.position < len(self.binlog.written)


class DiscardsRelayLog(ConnectCounts):
    """A replica that restarts throws away what it had received, acknowledged and not applied."""

    def on_restarted(self, replica: ReplicaState) -> None:
        """Forget it after saying so; the source still counts the acknowledgement."""
        acknowledged, kept = replica.position, replica.applied
        super().on_restarted(replica)
        self.claimed[replica.name] = acknowledged
        del replica.received[kept:]


class PromotesUnapplied(Cluster):
    """The promoted replica throws away its relay log (STOP SLAVE; START SLAVE)."""

    def on_source_lost(self) -> None:
        """Lose what no replica had applied."""
        super().on_source_lost()
        for replica in self.replicas:
            del replica.received[replica.applied :]


class PromotesAny(Cluster):
    """The replica that is promoted is the first one, however little it has."""

    def choose_successor(self) -> ReplicaState:
        """Return the one with the lowest position."""
        return min(self.replicas, key=lambda replica: replica.position)


class DumpSkips(Cluster):
    """After a rotation the dump thread leaves out a transaction."""

    def on_rotated(self) -> None:
        """Begin one too late in the new file."""
        super().on_rotated()
        self.skips = True

    skips = False

    def on_received(self, replica: ReplicaState) -> None:
        """Send the one after the next, once."""
        if self.skips and replica.position + 1 < self.binlog.sendable():
            self.skips = False
            replica.received.append(self.binlog.written[replica.position])
            if replica.applied == replica.position - 1:
                replica.applied += 1
        super().on_received(replica)


class RotationWaits(Cluster):
    """A rotation holds LOCK_log until nothing prepared is pending; the dump thread needs it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        from dataclasses import replace

        self.settings = replace(self.settings, rotation_waits=True)


class CommitsInReverse(Cluster):
    """The engine commits a group's transactions last to first."""

    def on_enter_commit(self, group: Group) -> None:
        """Turn the group round."""
        super().on_enter_commit(group)
        group.transactions.reverse()


class SkipsSync(Cluster):
    """A group waits for an acknowledgement of what was never synced, so never sent."""

    def step_of(self, group: Group) -> Callable[[], None] | None:
        """Go from FLUSH to ACK."""
        if group.stage is Stage.FLUSH:
            return (lambda: self.on_enter_ack(group)) if self.may_enter_ack(group) else None
        return super().step_of(group)


class NobodyCountsAsAll(Cluster):
    """Where no replica is connected the wait is over, and nobody is told."""

    def wait_is_over(self, group: Group) -> bool:
        """Return True while nobody is connected."""
        is_alone = not any(replica.is_connected for replica in self.replicas)
        return is_alone or super().wait_is_over(group)


class ReadsUncommitted(Cluster):
    """A reader sees a group from the moment it is synced."""

    def on_read(self) -> None:
        """Show what the binary log has."""
        self.budget.reads -= 1
        seen = tuple(Observation(f"r{one}", one) for one in self.binlog.written)
        self.recorder.record(
            EventKind.READ, member=self.recorder.events[0].member, session="reader", observed=seen
        )


class PromotesEarly(Cluster):
    """The promoted replica is asked before its relay log is applied."""

    def on_promoted(self, schedule: Schedule) -> None:
        """Show one transaction less than it has."""
        for replica in self.replicas:
            replica.applied = max(0, replica.applied - 1)
        super().on_promoted(schedule)


SEEN, SURVIVES = "visible_only_after_acknowledgement", "what_was_seen_survives"
CONFIRMED, ORDER = "what_was_confirmed_survives", "stages_follow_the_binary_log"
END, RECOVERY = "commits_reach_their_end", "recovery_decides_by_the_binlog"


def _mutant(
    name: str,
    cluster: type[Cluster],
    caught_by: str,
    source: str,
    fault: str,
    *,
    dialect: str = "after_sync",
    transactions: int = 3,
    **options: OptionValue,
) -> Mutant:
    return register_mutant(
        Mutant(
            name=name,
            family="semi-sync",
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=SemiSyncSubject(cluster),
            workload=Workload(
                transactions=transactions, members=3, dialect=dialect, options=options
            ),
        )
    )


_mutant("mutexes_are_not_chained", Unchained, ORDER, "MDEV-162", "a later group overtakes",
        reads=0, source_crashes=0, loses_source=False, rotations=0)  # fmt: skip
_mutant("engine_commit_does_not_wait", CommitsBeforeTheWait, SEEN, "MDEV-162",
        "the engine commit comes before the acknowledgement")  # fmt: skip
_mutant("group_waits_for_its_first", WaitsForFirstPosition, SEEN, "MDEV-162, last position",
        "the rest of the group is seen before it is acknowledged",
        source_crashes=0, loses_source=False, rotations=0)  # fmt: skip
_mutant("one_acknowledgement_suffices", OneSuffices, SEEN, "MySQL bug 109829",
        "fewer replicas than required release a position", acknowledgements=2)  # fmt: skip
_mutant("acknowledged_position_off_by_one", OffByOnePosition, SEEN, "mutant of handleAck",
        "a position releases the transaction after it")  # fmt: skip
_mutant("positions_compare_as_text", ComparesAsText, SEEN, "facts on MariaDB 3.2: strcmp",
        "position 9 lies behind position 10", transactions=11, reads=8,
        source_crashes=0, loses_source=False, rotations=0)  # fmt: skip
_mutant("connecting_counts_as_acknowledging", ConnectCounts, SEEN, "facts on MariaDB 3.3 g",
        "an empty replica connects at the end of the log", replica_crashes=2)  # fmt: skip
_mutant("killed_waiter_commits_in_silence", SilentAbandon, SEEN, "facts on MariaDB 3.3 b, c",
        "a wait ends by KILL and nobody is told", abandons=1,
        source_crashes=0, loses_source=False, rotations=0)  # fmt: skip
_mutant("one_timeout_frees_all", AbandonFreesAll, SEEN, "facts on MariaDB 3.2: switch off",
        "a time-out ends other groups' waits in silence", abandons=1, reads=4,
        source_crashes=0, loses_source=False, rotations=0)  # fmt: skip
_mutant("client_is_told_before_the_wait", AnswersAtOnce, CONFIRMED, "MDEV-162",
        "under AFTER_COMMIT the answer comes before the acknowledgement",
        dialect="after_commit", source_crashes=0, rotations=0, reads=0)  # fmt: skip
_mutant("recovery_opens_at_once", RecoveryOpens, SEEN, "MDEV-162, second remedy",
        "clients are let in before a replica caught up", dialect="barred_recovery")  # fmt: skip
_mutant("recovery_commits_unacknowledged", RecoveryCommits, SURVIVES, "MySQL bug 99370",
        "recovered transactions are seen and then lost")  # fmt: skip
_mutant("recovery_rolls_back_the_logged", RecoveryRollsBack, RECOVERY, "MDEV-24526",
        "a transaction in the binary log is rolled back", loses_source=False)  # fmt: skip
_mutant("recovery_keeps_the_unlogged", RecoveryKeepsUnsynced, RECOVERY, "MDEV-28461",
        "a transaction that is not in the binary log is committed")  # fmt: skip
_mutant("recovered_is_released_unasked", ReleasesUnasked, SEEN, "MDEV-162, first remedy",
        "held back transactions do not wait for a replica")  # fmt: skip
_mutant("recovered_is_released_last_first", ReleasesLastFirst, ORDER, "MDEV-162, first remedy",
        "recovered transactions commit in the other order", transactions=4)  # fmt: skip
_mutant("replicas_are_sent_the_unsynced", SendsBeforeSync, "replicas_are_never_ahead",
        "sync_binlog=0", "a crash leaves a replica ahead of its source")  # fmt: skip
_mutant("relay_log_is_discarded_at_restart", DiscardsRelayLog, SURVIVES, "MDEV-4698",
        "an acknowledged transaction is thrown away", replica_crashes=1,
        source_crashes=0, transactions=2)  # fmt: skip
_mutant("promotion_discards_the_relay_log", PromotesUnapplied, SURVIVES,
        "facts on MariaDB 3.4", "the new source lacks what it had received")  # fmt: skip
_mutant("any_replica_is_promoted", PromotesAny, SURVIVES, "proof facts C29",
        "a replica that lags is promoted")  # fmt: skip
_mutant("dump_thread_skips_after_rotation", DumpSkips, "replicas_receive_prefixes", "MDEV-14721",
        "a transaction is never sent", transactions=4)  # fmt: skip
_mutant("rotation_waits_under_lock_log", RotationWaits, END, "MySQL bug 44058, point 5",
        "rotation, acknowledgement and dump thread wait for each other")  # fmt: skip
_mutant("engine_commits_in_reverse", CommitsInReverse, ORDER, "MDEV-6775",
        "the engine commits a group last to first")  # fmt: skip
_mutant("group_skips_its_sync", SkipsSync, END, "MySQL bug 89331, stage order",
        "a group waits for what is never sent", source_crashes=0, loses_source=False,
        transactions=1)  # fmt: skip
_mutant("nobody_connected_counts_as_all", NobodyCountsAsAll, SEEN, "facts on MariaDB 3.3 f",
        "no replica is there and the wait is over", replica_crashes=3)  # fmt: skip
_mutant("reader_sees_synced_groups", ReadsUncommitted, SEEN, "MDEV-162, stage 4",
        "a group is seen from its sync on")  # fmt: skip
_mutant("promoted_before_applied", PromotesEarly, SURVIVES, "fail-over procedure",
        "the relay log is not drained before clients are let in")  # fmt: skip
