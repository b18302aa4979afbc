"""The breaches that the properties of semi-synchronous group commit report."""

from __future__ import annotations

from dataclasses import dataclass

from properties.registry import Violation
from vocabulary.events import EventKind
from vocabulary.transactions import TransactionId


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
