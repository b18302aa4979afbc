"""Commit groups and their stages."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum

from paraply.reference_impl.step import Step as Step
from paraply.vocabulary.transactions import TransactionId


class Stage(Enum):
    """A group's stage and mutex."""

    FLUSH = "LOCK_log, written"
    SYNC_QUEUE = "no mutex, waits for LOCK_sync (MySQL)"
    SYNC = "LOCK_log (MySQL: LOCK_sync), synced"
    COMMIT_QUEUE = "no mutex, waits for LOCK_commit (MySQL)"
    ACK = "LOCK_enhanced_semisync (MySQL: LOCK_commit), waits for replicas"
    COMMIT = "LOCK_commit_ordered (MySQL: LOCK_commit)"
    AFTER = "no mutex, waits after the engine commit"


@dataclass(slots=True)
class Group:
    """A commit group; ``committed`` are engine commits."""

    number: int
    transactions: list[TransactionId]
    stage: Stage = Stage.FLUSH
    committed: list[TransactionId] = field(default_factory=list)
    has_given_up: bool = False
    has_lost_its_clients: bool = False

    @property
    def last(self) -> TransactionId:
        """Return the last, awaited transaction."""
        return self.transactions[-1]

    def fork(self) -> Group:
        """Return an independent copy."""
        return Group(
            self.number, self.transactions.copy(), self.stage, self.committed.copy(),
            self.has_given_up, self.has_lost_its_clients,
        )  # fmt: skip

    def name(self) -> Hashable:
        """Return a hashable identity."""
        return (
            tuple(self.transactions), self.stage, tuple(self.committed), self.has_given_up,
            self.has_lost_its_clients,
        )  # fmt: skip


@dataclass(slots=True)
class Budget:
    """Remaining optional events."""

    reads: int
    source_crashes: int
    replica_crashes: int
    rotations: int
    abandons: int
    shutdowns: int

    def fork(self) -> Budget:
        """Return an independent copy."""
        return Budget(*self.name())

    def name(self) -> tuple[int, ...]:
        """Return the remaining counts."""
        return (
            self.reads, self.source_crashes, self.replica_crashes, self.rotations, self.abandons,
            self.shutdowns,
        )  # fmt: skip
