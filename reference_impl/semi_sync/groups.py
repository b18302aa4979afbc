"""Commit groups and the stages that they pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from vocabulary.transactions import TransactionId


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
