"""The breaches that the properties of semi-synchronous group commit report."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.properties.registry import Violation
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenUnacknowledged(Violation):
    """A reader at the source saw a transaction that too few replicas had."""

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
    """A client was told that its transaction had committed when too few replicas had it."""

    __slots__ = ()

    def __str__(self) -> str:
        have = ", ".join(self.acknowledged_by) or "no replica"
        return (
            f"the client of T{self.transaction} was told that it committed when {have} had it; "
            f"{self.required} must"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenThenLost(Violation):
    """A transaction that somebody had read is gone after the fail-over."""

    transaction: TransactionId
    promoted: str

    def __str__(self) -> str:
        return f"T{self.transaction} was read on the source, and {self.promoted} does not have it"


class ConfirmedThenLost(SeenThenLost):
    """A transaction that a client was told had committed is gone after the fail-over."""

    __slots__ = ()

    def __str__(self) -> str:
        return (
            f"the client of T{self.transaction} was told that it committed, and {self.promoted} "
            "does not have it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOvertaken(Violation):
    """A transaction passed a stage before one that is earlier in the binary log."""

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
    """Crash recovery kept what the binary log does not have, or dropped what readers had seen."""

    transaction: TransactionId
    was_kept: bool

    def __str__(self) -> str:
        if self.was_kept:
            return f"recovery committed T{self.transaction}, which was not synced to the binary log"
        return f"recovery dropped T{self.transaction}, which the binary log holds"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaAhead(Violation):
    """A replica has what a crash of the source could still have taken back."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} received T{self.transaction} before the source had synced it"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPassedOver(Violation):
    """A replica received a transaction without one before it in the binary log."""

    member: str
    transaction: TransactionId
    missing: TransactionId

    def __str__(self) -> str:
        return f"{self.member} received T{self.transaction} without T{self.missing} before it"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitStalled(Violation):
    """Nothing can move any more, and a client has no answer."""

    waiting: tuple[TransactionId, ...]

    def __str__(self) -> str:
        return f"nothing can move; the clients of {', '.join(f'T{t}' for t in self.waiting)} wait"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaLeftAhead(Violation):
    """A source came back without a transaction that a replica has: the replica is refused."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} has T{self.transaction}, which the source lost when it recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class GapSeen(Violation):
    """A reader at the source saw a transaction without one before it in the binary log."""

    transaction: TransactionId
    missing: TransactionId

    def __str__(self) -> str:
        return (
            f"a reader saw T{self.transaction} on the source without T{self.missing}, which is "
            "earlier in the binary log"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotMisplaced(Violation):
    """A snapshot was given the wrong place in the binary log."""

    position: str
    seen: int

    def __str__(self) -> str:
        return (
            f"a snapshot that has the first {self.seen} of the binary log was said to be at "
            f"{self.position}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AbandonedWithoutCause(Violation):
    """A wait was given up for a reason that is not on the list, or that did not apply."""

    transaction: TransactionId
    reason: str

    def __str__(self) -> str:
        return f"the wait of T{self.transaction} was given up ({self.reason}) without cause"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraTransaction(Violation):
    """An old source was taken back with a transaction that the new one does not have."""

    transaction: TransactionId

    def __str__(self) -> str:
        return f"the old source came back with T{self.transaction}, which the new one lacks"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWithoutReason(Violation):
    """An old source was refused although its engine had nothing that the new one lacks."""

    def __str__(self) -> str:
        return (
            "the old source was refused, although its engine had committed nothing that the new "
            "one lacks: its prepared tail was not truncated"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidReused(Violation):
    """Two transactions that somebody still has bear one GTID."""

    gtid: str
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return f"T{self.later} got GTID {self.gtid}, which is that of T{self.earlier}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTakenAgain(Violation):
    """A transaction took a step of its commit that it had taken before."""

    transaction: TransactionId
    member: str
    step: EventKind

    def __str__(self) -> str:
        return (
            f"T{self.transaction} was {self.step.value.replace('_', ' ')} on {self.member} again: "
            "nothing bounds its steps"
        )
