"""The breaches of semi-synchronous group commit."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.properties.registry import Violation
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenUnacknowledged(Violation):
    """A reader sees an unacknowledged transaction."""

    transaction: TransactionId
    acknowledged_by: tuple[str, ...]
    required: int

    def __str__(self) -> str:
        have = ", ".join(self.acknowledged_by) or "no replica"
        return (
            f"a reader saw T{self.transaction} on the source when {have} had it; "
            f"{self.required} must"
        )


class ConfirmedUnacknowledged(SeenUnacknowledged):
    """An unacknowledged commit is confirmed."""

    __slots__ = ()

    def __str__(self) -> str:
        have = ", ".join(self.acknowledged_by) or "no replica"
        return (
            f"the client of T{self.transaction} was told that it committed when {have} had it; "
            f"{self.required} must"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenThenLost(Violation):
    """A transaction read before the fail-over is lost."""

    transaction: TransactionId
    promoted: str

    def __str__(self) -> str:
        return f"T{self.transaction} was read on the source, and {self.promoted} does not have it"


class ConfirmedThenLost(SeenThenLost):
    """A transaction confirmed before the fail-over is lost."""

    __slots__ = ()

    def __str__(self) -> str:
        return (
            f"the client of T{self.transaction} was told that it committed, and {self.promoted} "
            "does not have it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOvertaken(Violation):
    """A transaction passes a stage too early."""

    stage: EventKind
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return (
            f"T{self.later} was {self.stage.value.replace('_', ' ')} before T{self.earlier}, "
            "which is earlier in the binary log"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredAgainstBinlog(Violation):
    """Recovery contradicts the binary log."""

    transaction: TransactionId
    was_kept: bool

    def __str__(self) -> str:
        if self.was_kept:
            return f"recovery committed T{self.transaction}, which was not synced to the binary log"
        return f"recovery dropped T{self.transaction}, which the binary log holds"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaAhead(Violation):
    """A replica has an unsynced transaction."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} received T{self.transaction} before the source had synced it"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPassedOver(Violation):
    """A replica skips a transaction."""

    member: str
    transaction: TransactionId
    missing: TransactionId

    def __str__(self) -> str:
        return f"{self.member} received T{self.transaction} without T{self.missing} before it"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStalled(Violation):
    """A client has no answer at the end."""

    waiting: tuple[TransactionId, ...]

    def __str__(self) -> str:
        return f"nothing can move; the clients of {', '.join(f'T{t}' for t in self.waiting)} wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLeftAhead(Violation):
    """A returned source lacks a replica's transaction, and rejects the replica."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} has T{self.transaction}, which the source lost when it recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class GapSeen(Violation):
    """A reader misses an earlier logged transaction."""

    transaction: TransactionId
    missing: TransactionId

    def __str__(self) -> str:
        return (
            f"a reader saw T{self.transaction} on the source without T{self.missing}, which is "
            "earlier in the binary log"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotMisplaced(Violation):
    """A snapshot has the wrong binlog position."""

    position: str
    seen: int

    def __str__(self) -> str:
        return (
            f"a snapshot that has the first {self.seen} of the binary log was said to be at "
            f"{self.position}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AbandonedWithoutCause(Violation):
    """A wait ends for an invalid reason."""

    transaction: TransactionId
    reason: str

    def __str__(self) -> str:
        return f"the wait of T{self.transaction} was given up ({self.reason}) without cause"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraTransaction(Violation):
    """An old source rejoins with an extra transaction."""

    transaction: TransactionId

    def __str__(self) -> str:
        return f"the old source came back with T{self.transaction}, which the new one lacks"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWithoutReason(Violation):
    """An old source without extras is rejected."""

    def __str__(self) -> str:
        return (
            "the old source was refused, although its engine had committed nothing that the new "
            "one lacks: its prepared tail was not truncated"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidReused(Violation):
    """Two surviving transactions have one GTID."""

    gtid: str
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return f"T{self.later} got GTID {self.gtid}, which is that of T{self.earlier}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTakenAgain(Violation):
    """A transaction repeats a commit step."""

    transaction: TransactionId
    member: str
    step: EventKind

    def __str__(self) -> str:
        return (
            f"T{self.transaction} was {self.step.value.replace('_', ' ')} on {self.member} again: "
            "nothing bounds its steps"
        )
