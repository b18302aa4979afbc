"""The source's binary log, and a replica that receives it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from paraply.vocabulary.transactions import TransactionId


@dataclass(slots=True)
class BinaryLog:
    """Transactions in log order; those before ``synced`` survive a crash for sure."""

    written: list[TransactionId] = field(default_factory=list)
    synced: int = 0

    def sync(self, position: int) -> None:
        """Make everything before ``position`` durable."""
        self.synced = max(self.synced, position)

    def end_of(self, transaction: TransactionId) -> int:
        """Return the position after a transaction."""
        return self.written.index(transaction) + 1

    def crash(self, kept: int) -> None:
        """Lose what was not synced, but for ``kept`` transactions that had reached the disk."""
        del self.written[self.synced + kept :]
        self.synced = len(self.written)

    def fork(self) -> BinaryLog:
        """Return an equal log that goes its own way."""
        return BinaryLog(self.written.copy(), self.synced)

    def name(self) -> Hashable:
        """Return a value that is equal for equal logs."""
        return tuple(self.written), self.synced


@dataclass(slots=True)
class ReplicaState:
    """One replica: received is its relay log, applied what its engine has committed."""

    name: str
    received: list[TransactionId] = field(default_factory=list)
    applied: int = 0
    is_connected: bool = True
    is_missed: bool = False
    """Whether the source saw the connection close; a loss of power closes nothing."""

    @property
    def position(self) -> int:
        """Return how many transactions of the source's log it has received."""
        return len(self.received)

    def follows(self, log: list[TransactionId]) -> bool:
        """Return whether what it has is the beginning of ``log``; if not it is refused (1236)."""
        return self.received == log[: self.position]

    def restart(self, *, keeps_relay_log: bool) -> None:
        """Come back: with its relay log, or with what it had applied only."""
        if not keeps_relay_log:
            del self.received[self.applied :]
        self.is_connected, self.is_missed = True, False

    def fork(self) -> ReplicaState:
        """Return an equal replica that goes its own way."""
        return ReplicaState(
            self.name, self.received.copy(), self.applied, self.is_connected, self.is_missed
        )

    def state(self) -> tuple[Hashable, ...]:
        """Return what it is in, without its name."""
        return tuple(self.received), self.applied, self.is_connected, self.is_missed
