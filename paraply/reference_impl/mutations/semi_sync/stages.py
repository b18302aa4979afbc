"""Sources with one stage fault each; each class overrides one method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.cluster import Cluster
from paraply.reference_impl.semi_sync.groups import Group, Stage, Step
from paraply.reference_impl.semi_sync.seeding import AHEAD, CALM, END, ORDER, RECOVERY, SEEN
from paraply.reference_impl.semi_sync.seeding import semi_sync_mutant as _mutant
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.vocabulary.events import EventKind, Observation
from paraply.vocabulary.transactions import TransactionId


class Unchained(Cluster):
    """LOCK_log's release precedes LOCK_enhanced_semisync."""

    def may_enter_ack(self, group: Group) -> bool:
        """Allow several groups."""
        return True


class CommitsBeforeTheWait(Cluster):
    """The engine commit skips the wait."""

    def may_enter_commit(self, group: Group) -> bool:
        """Require only the mutex."""
        return self.holder(Stage.COMMIT) is None


class WaitsForFirstPosition(Cluster):
    """Groups wait for their first transaction."""

    def position_of(self, group: Group) -> int:
        """Return the first position."""
        return self.end_of(group.transactions[0])


class SendsBeforeSync(Cluster):
    """Replicas receive unsynced transactions (sync_binlog != 1)."""

    def sendable(self) -> int:
        """Return the file end."""
        return len(self.binlog.written)


class RotationWaits(Cluster):
    """Rotation holds LOCK_log until commits finish."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.settings = replace(self.settings, rotation_waits=True, dump_takes_lock_log=True)


class CommitsInReverse(Cluster):
    """The engine commits groups in reverse."""

    def on_enter_commit(self, group: Group) -> None:
        """Reverse the group."""
        super().on_enter_commit(group)
        group.transactions.reverse()


class SkipsSync(Cluster):
    """Groups wait for unsynced, unsent transactions."""

    def steps_of(self, group: Group) -> Iterator[Step]:
        """Skip SYNC."""
        if group.stage is not Stage.FLUSH:
            yield from super().steps_of(group)
        elif self.may_enter_ack(group):
            yield Step(f"group {group.number}: enters ACK", lambda: self.on_enter_ack(group))


class ReadsUncommitted(Cluster):
    """Readers see synced groups."""

    def on_read(self) -> None:
        """Read the binary log."""
        self.budget.reads -= 1
        seen = tuple(Observation(f"r{one}", one) for one in self.binlog.written)
        self.recorder.record(EventKind.READ, member=SOURCE, session="reader", observed=seen)


class TakesBeforeReleasing(Cluster):
    """Stages overlap their mutexes."""

    def queue_steps(self, group: Group, name: str) -> Iterator[Step]:
        """Overlap the mutexes."""
        if group.stage is Stage.FLUSH and self.holder(Stage.SYNC) is None:
            yield Step(f"{name}: syncs", lambda: self.on_queue_synced(group))
        elif group.stage is Stage.SYNC and self.holder(Stage.ACK, Stage.COMMIT) is None:
            yield Step(f"{name}: leads COMMIT", lambda: self.on_queue_leads(group))


class FollowersGoFirst(Cluster):
    """Followers precede their leader."""

    def become_one(self, leader: Group) -> None:
        """Append the leader's transactions last."""
        own = len(leader.transactions)
        super().become_one(leader)
        leader.transactions = leader.transactions[own:] + leader.transactions[:own]


class WriteFails(Cluster):
    """Groups ignore a failed write (disk full)."""

    def write(self, transaction: TransactionId, group: int) -> None:
        """Skip the log's second transaction."""
        if len(self.binlog.written) != 1:
            super().write(transaction, group)

    def end_of(self, transaction: TransactionId) -> int:
        """Default to the log end."""
        written = self.binlog.written
        return super().end_of(transaction) if transaction in written else len(written)


class StaleSnapshotPlace(Cluster):
    """Rotation leaves an old snapshot position."""

    place: str | None = None

    def on_rotated(self) -> None:
        """Store the position."""
        self.place = super().snapshot_position()
        super().on_rotated()

    def snapshot_position(self) -> str:
        """Return the stored position."""
        return super().snapshot_position() if self.place is None else self.place


class DumpSkips(Cluster):
    """Rotation makes the dump thread skip."""

    applying_is_private = False
    skips = False

    def on_rotated(self) -> None:
        """Schedule the skip."""
        super().on_rotated()
        self.skips = True

    def on_received(self, replica: ReplicaState) -> None:
        """Skip one transaction once."""
        if self.skips and replica.position + 1 < self.sendable():
            self.skips = False
            replica.received.append(self.binlog.written[replica.position])
            if replica.applied == replica.position - 1:
                replica.applied += 1
        super().on_received(replica)


_mutant("mutexes_are_not_chained", Unchained, ORDER, "MDEV-162",
        "a later group overtakes", reads=0, **CALM)  # fmt: skip
_mutant("engine_commit_does_not_wait", CommitsBeforeTheWait, SEEN, "MDEV-162",
        "the engine commit comes before the acknowledgement")  # fmt: skip
_mutant("group_waits_for_its_first", WaitsForFirstPosition, SEEN, "MDEV-162, last position",
        "the rest of the group is seen before it is acknowledged", **CALM)  # fmt: skip
_mutant("replicas_are_sent_the_unsynced", SendsBeforeSync, AHEAD, "sync_binlog=0",
        "a crash leaves a replica ahead of its source")  # fmt: skip
_mutant("dump_thread_skips_after_rotation", DumpSkips, "replicas_receive_prefixes", "MDEV-14721",
        "a transaction is never sent", transactions=4)  # fmt: skip
_mutant("rotation_waits_under_lock_log", RotationWaits, END, "MySQL bug 44058, point 5",
        "rotation, acknowledgement and dump thread wait for each other",
        transactions=1)  # fmt: skip
_mutant("engine_commits_in_reverse", CommitsInReverse, ORDER, "MDEV-6775",
        "the engine commits a group last to first")  # fmt: skip
_mutant("group_skips_its_sync", SkipsSync, END, "MDEV-162, stage order",
        "a group waits for what is never sent", transactions=1, source_crashes=0,
        loses_source=False)  # fmt: skip
_mutant("reader_sees_synced_groups", ReadsUncommitted, SEEN, "MDEV-162, stage 4",
        "a group is seen from its sync on")  # fmt: skip
_mutant("stage_mutex_is_taken_before_release", TakesBeforeReleasing, END, "MySQL bug 89331",
        "groups hold LOCK_log while another waits for its acknowledgement",
        dialect="mysql_ordered", dump_takes_lock_log=True, **CALM)  # fmt: skip
_mutant("followers_go_before_their_leader", FollowersGoFirst, ORDER, "MYSQL_BIN_LOG::change_stage",
        "the queue of a stage is served in the wrong order", dialect="mysql_ordered",
        **CALM)  # fmt: skip
_mutant("unwritten_transaction_commits", WriteFails, RECOVERY, "MDEV-35506, MDEV-37541",
        "writing to the binary log fails, and the engine commits", **CALM)  # fmt: skip
_mutant("snapshot_place_is_stale", StaleSnapshotPlace, "snapshots_know_their_place", "MDEV-7310",
        "after a rotation a snapshot is given an old place", source_crashes=0,
        loses_source=False)  # fmt: skip
