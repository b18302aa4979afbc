"""Clusters with one recovery or fail-over fault each."""

from __future__ import annotations

from dataclasses import replace

from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.cluster import Cluster
from paraply.reference_impl.semi_sync.seeding import AHEAD, ORDER, RECOVERY, SEEN, SURVIVES
from paraply.reference_impl.semi_sync.seeding import semi_sync_mutant as _mutant
from paraply.vocabulary.transactions import TransactionId


class RecoveryOpens(Cluster):
    """Recovery admits clients at once."""

    def recover(self, undecided: list[TransactionId]) -> None:
        """Recover and open."""
        super().recover(undecided)
        self.is_open = True


class RecoveryCommits(Cluster):
    """Recovery commits unreplicated transactions."""

    def recover(self, undecided: list[TransactionId]) -> None:
        """Commit all logged transactions."""
        for transaction in undecided:
            self.show(transaction)


class RecoveryRollsBack(Cluster):
    """Recovery rolls back logged transactions."""

    def recover(self, undecided: list[TransactionId]) -> None:
        """Drop the transactions."""


class ScansNewestFile(Cluster):
    """Recovery reads only the newest file."""

    file_starts = 0

    def on_rotated(self) -> None:
        """Begin a file."""
        super().on_rotated()
        self.file_starts = len(self.binlog.written)

    def recover(self, undecided: list[TransactionId]) -> None:
        """Roll back older files' transactions."""
        newest = self.binlog.written[self.file_starts :]
        super().recover([one for one in undecided if one in newest])


class RecoveryKeepsUnsynced(Cluster):
    """Recovery commits unlogged transactions."""

    def on_source_crash(self, kept: int) -> None:
        """Commit the queue first."""
        for transaction in self.queue:
            self.show(transaction)
        super().on_source_crash(kept)


class GtidsStartAgain(Cluster):
    """Rotation and crash reset the GTID counter."""

    has_rotated = False
    forgotten = 0

    def on_rotated(self) -> None:
        """Begin a file without earlier GTIDs."""
        super().on_rotated()
        self.has_rotated = True

    def on_source_crash(self, kept: int) -> None:
        """Recover without them."""
        super().on_source_crash(kept)
        self.forgotten = len(self.binlog.written) if self.has_rotated else 0

    def next_number(self) -> int:
        """Count known GTIDs only."""
        return super().next_number() - self.forgotten


class ReleasesUnasked(Cluster):
    """Recovered transactions skip acknowledgement."""

    def is_acknowledged(self, position: int) -> bool:
        """Acknowledge all held-back transactions."""
        return bool(self.held_back) or super().is_acknowledged(position)


class ReleasesLastFirst(Cluster):
    """Recovery releases the last transaction first."""

    def on_released(self) -> None:
        """Release the last."""
        self.show(self.held_back.pop())


class DiscardsRelayLog(Cluster):
    """Replica restarts drop the relay log."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.settings = replace(self.settings, keeps_relay_log=False)


class PromotesUnapplied(Cluster):
    """Promotion drops the relay log (STOP SLAVE; START SLAVE)."""

    applying_is_private = False

    def on_source_lost(self, lost: tuple[ReplicaState, ...] = ()) -> None:
        """Drop unapplied transactions."""
        super().on_source_lost(lost)
        for replica in self.replicas:
            del replica.received[replica.applied :]


class PromotesAny(Cluster):
    """Promotion ignores replica positions."""

    def choose_successor(self) -> ReplicaState:
        """Return the lowest position."""
        return min(self.replicas, key=lambda replica: replica.position)


class AsksTooFew(Cluster):
    """The election considers connected replicas only."""

    def at_hand(self) -> list[ReplicaState]:
        """Return the connected replicas."""
        return [replica for replica in self.replicas if replica.is_connected]

    def may_promote(self) -> bool:
        """Return whether connected replicas drained."""
        at_hand = self.at_hand()
        return bool(at_hand) and all(one.applied == one.position for one in at_hand)

    def choose_successor(self) -> ReplicaState:
        """Return the highest connected replica."""
        return max(self.at_hand(), key=lambda replica: (replica.position, replica.name))


class PromotesEarly(Cluster):
    """The promoted replica answers reads too early."""

    applying_is_private = False

    def on_promoted(self) -> None:
        """Show one transaction less."""
        for replica in self.replicas:
            replica.applied = max(0, replica.applied - 1)
        super().on_promoted()


class TruncatesThoughItStays(Cluster):
    """A restarted source truncates its log."""

    def forget(self, kept: int) -> None:
        """Cut uncommitted transactions."""
        super().forget(kept)
        self.truncate()


class IsNotFenced(Cluster):
    """The old source returns untruncated."""

    def truncate(self) -> None:
        """Keep everything."""

    def is_welcome(self) -> bool:
        """Return True."""
        return True


class TruncatesOneTooFew(Cluster):
    """Truncation keeps a prepared transaction."""

    def truncate(self) -> None:
        """Stop one early."""
        log = list(self.binlog.written)
        super().truncate()
        self.binlog.written[:] = log[: len(self.binlog.written) + 1]


class TruncatesTheCommitted(Cluster):
    """Truncation removes a committed transaction."""

    def truncate(self) -> None:
        """Stop one late."""
        super().truncate()
        del self.binlog.written[-1:]


_mutant("recovery_opens_at_once", RecoveryOpens, SEEN, "MDEV-162, second remedy",
        "clients are let in before a replica caught up", dialect="barred_recovery")  # fmt: skip
_mutant("recovery_commits_unacknowledged", RecoveryCommits, SURVIVES, "MySQL bug 99370",
        "recovered transactions are seen and then lost")  # fmt: skip
_mutant("recovery_rolls_back_the_logged", RecoveryRollsBack, RECOVERY, "MDEV-162, crash scenarios",
        "a transaction in the binary log is rolled back", loses_source=False)  # fmt: skip
_mutant("recovery_scans_the_newest_file", ScansNewestFile, RECOVERY, "MDEV-24526",
        "a checkpoint names a file behind a transaction that is still prepared",
        loses_source=False)  # fmt: skip
_mutant("recovery_keeps_the_unlogged", RecoveryKeepsUnsynced, RECOVERY, "MDEV-28461, rollbacks",
        "a transaction that is not in the binary log is committed")  # fmt: skip
_mutant("gtids_start_again_after_a_crash", GtidsStartAgain, "gtids_are_not_given_twice",
        "MySQL bug 113489", "a crash right after a rotation loses the GTIDs of older files",
        loses_source=False)  # fmt: skip
_mutant("recovered_is_released_unasked", ReleasesUnasked, SEEN, "MDEV-162, first remedy",
        "held back transactions do not wait for a replica")  # fmt: skip
_mutant("recovered_is_released_last_first", ReleasesLastFirst, ORDER, "MDEV-162, first remedy",
        "recovered transactions commit in the other order", transactions=4)  # fmt: skip
_mutant("relay_log_is_discarded_at_restart", DiscardsRelayLog, SURVIVES, "MDEV-4698",
        "an acknowledged transaction is thrown away", replica_crashes=1,
        source_crashes=0, rotations=0, transactions=2, members=2)  # fmt: skip
_mutant("promotion_discards_the_relay_log", PromotesUnapplied, SURVIVES,
        "facts on MariaDB 3.4", "the new source lacks what it had received")  # fmt: skip
_mutant("any_replica_is_promoted", PromotesAny, SURVIVES, "proof facts C29",
        "a replica that lags is promoted")  # fmt: skip
_mutant("too_few_replicas_are_asked", AsksTooFew, SURVIVES, "proofs, assumption A10",
        "a replica is promoted while one that acknowledged more is down", transactions=1,
        replica_crashes=1, source_crashes=0, rotations=0, abandons=0,
        source_returns=False)  # fmt: skip
_mutant("promoted_before_applied", PromotesEarly, SURVIVES, "fail-over procedure",
        "the relay log is not drained before clients are let in")  # fmt: skip
_mutant("source_truncates_and_stays", TruncatesThoughItStays, AHEAD, "MDEV-33465",
        "a replica has what the source has cut off")  # fmt: skip
_mutant("old_source_is_not_fenced", IsNotFenced, "returned_sources_have_nothing_extra",
        "MDEV-21117", "an old source comes back with transactions of its own",
        source_returns=True, source_crashes=0)  # fmt: skip
_mutant("truncation_leaves_one", TruncatesOneTooFew, "source_is_refused_only_with_reason",
        "MDEV-28461", "the truncation is not complete, and the old source is refused",
        source_returns=True, source_crashes=0)  # fmt: skip
_mutant("truncation_takes_the_committed", TruncatesTheCommitted, RECOVERY, "MDEV-21117",
        "the old source's engine has what its binary log has no more",
        source_returns=True, source_crashes=0)  # fmt: skip
