"""The source's binary log and its receivers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from paraply.vocabulary.transactions import TransactionId


@dataclass(slots=True)
class BinaryLog:
    """Ordered transactions, durable before ``synced``."""

    written: list[TransactionId] = field(default_factory=list)
    synced: int = 0

    def sync(self, position: int) -> None:
        """Make everything before ``position`` durable."""
        self.synced = max(self.synced, position)

    def end_of(self, transaction: TransactionId) -> int:
        """Return the transaction's end."""
        return self.written.index(transaction) + 1

    def crash(self, kept: int) -> None:
        """Lose the unsynced tail beyond ``kept``."""
        del self.written[self.synced + kept :]
        self.synced = len(self.written)

    def fork(self) -> BinaryLog:
        """Return an independent copy."""
        return BinaryLog(self.written.copy(), self.synced)

    def name(self) -> Hashable:
        """Return a hashable identity."""
        return tuple(self.written), self.synced


@dataclass(slots=True)
class ReplicaState:
    """A replica's relay log and applied transactions."""

    name: str
    received: list[TransactionId] = field(default_factory=list)
    applied: int = 0
    is_connected: bool = True
    is_missed: bool = False
    """The source detected the disconnect."""

    @property
    def position(self) -> int:
        """Return the received length."""
        return len(self.received)

    def follows(self, log: list[TransactionId]) -> bool:
        """Return whether ``log`` begins with the relay log; otherwise error 1236."""
        return self.received == log[: self.position]

    def restart(self, *, keeps_relay_log: bool) -> None:
        """Restart with or without the relay log."""
        if not keeps_relay_log:
            del self.received[self.applied :]
        self.is_connected, self.is_missed = True, False

    def fork(self) -> ReplicaState:
        """Return an independent copy."""
        return ReplicaState(
            self.name, self.received.copy(), self.applied, self.is_connected, self.is_missed
        )

    def state(self) -> tuple[Hashable, ...]:
        """Return the state without the name."""
        return tuple(self.received), self.applied, self.is_connected, self.is_missed
