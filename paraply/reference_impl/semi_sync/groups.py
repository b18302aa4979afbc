"""Commit groups and the stages that they pass."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from paraply.vocabulary.transactions import TransactionId


class Stage(Enum):
    """The stage that a group is in, and so the mutex that it holds."""

    FLUSH = "LOCK_log, written"
    SYNC_QUEUE = "no mutex, waits for LOCK_sync (MySQL)"
    SYNC = "LOCK_log (MySQL: LOCK_sync), synced"
    COMMIT_QUEUE = "no mutex, waits for LOCK_commit (MySQL)"
    ACK = "LOCK_enhanced_semisync (MySQL: LOCK_commit), waits for replicas"
    COMMIT = "LOCK_commit_ordered (MySQL: LOCK_commit)"
    AFTER = "no mutex, waits after the engine commit"


@dataclass(slots=True)
class Group:
    """A commit group on its way; ``committed`` are those of it that the engine has."""

    number: int
    transactions: list[TransactionId]
    stage: Stage = Stage.FLUSH
    committed: list[TransactionId] = field(default_factory=list)
    has_given_up: bool = False
    has_lost_its_clients: bool = False
    """Whether there is nobody left to be told: their connections were killed."""

    @property
    def last(self) -> TransactionId:
        """Return the last transaction: what the group waits for."""
        return self.transactions[-1]

    def fork(self) -> Group:
        """Return an equal group that goes its own way."""
        return Group(
            self.number, self.transactions.copy(), self.stage, self.committed.copy(),
            self.has_given_up, self.has_lost_its_clients,
        )  # fmt: skip

    def name(self) -> Hashable:
        """Return a value that is equal for groups that go on alike; the number is only a label."""
        return (
            tuple(self.transactions), self.stage, tuple(self.committed), self.has_given_up,
            self.has_lost_its_clients,
        )  # fmt: skip


class Step(NamedTuple):
    """Something that can happen now."""

    label: str
    act: Callable[[], None]


@dataclass(slots=True)
class Budget:
    """How often each thing may still happen that nobody needs for progress."""

    reads: int
    source_crashes: int
    replica_crashes: int
    rotations: int
    abandons: int
    shutdowns: int

    def fork(self) -> Budget:
        """Return an equal budget that is spent apart."""
        return Budget(*self.name())

    def name(self) -> tuple[int, ...]:
        """Return what is left of each."""
        return (
            self.reads, self.source_crashes, self.replica_crashes, self.rotations, self.abandons,
            self.shutdowns,
        )  # fmt: skip
