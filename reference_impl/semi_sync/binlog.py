"""The source's binary log, and a replica that receives it."""

from __future__ import annotations

from dataclasses import dataclass, field

from vocabulary.transactions import TransactionId


@dataclass(slots=True)
class BinaryLog:
    """Transactions in log order; those before ``synced`` survive a crash."""

    written: list[TransactionId] = field(default_factory=list)
    synced: int = 0

    def write(self, group: list[TransactionId]) -> None:
        """Append a commit group."""
        self.written += group

    def sync(self, position: int) -> None:
        """Make everything before ``position`` durable."""
        self.synced = max(self.synced, position)

    def end_of(self, group: list[TransactionId]) -> int:
        """Return the position after the last transaction of a group."""
        return self.written.index(group[-1]) + 1

    def sendable(self) -> int:
        """Return up to where replicas may be sent: only what a crash cannot take back."""
        return self.synced

    def crash(self) -> None:
        """Lose what was not synced."""
        del self.written[self.synced :]


@dataclass(slots=True)
class ReplicaState:
    """One replica: received is its relay log, applied what its engine has committed."""

    name: str
    received: list[TransactionId] = field(default_factory=list)
    applied: int = 0
    is_connected: bool = True

    @property
    def position(self) -> int:
        """Return how many transactions of the source's log it has received."""
        return len(self.received)

    def restart(self, *, keeps_relay_log: bool) -> None:
        """Come back: with its relay log, or with what it had applied only."""
        if not keeps_relay_log:
            del self.received[self.applied :]
        self.is_connected = True
