"""Commit groups and the stages that they pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from vocabulary.transactions import TransactionId


class Stage(Enum):
    """The stage that a group is in, and so the mutex that it holds."""

    FLUSH = "LOCK_log, written"
    SYNC = "LOCK_log, synced"
    ACK = "LOCK_enhanced_semisync"
    COMMIT = "LOCK_commit_ordered"
    AFTER = "no mutex, waits after the engine commit"


@dataclass(slots=True)
class Group:
    """A commit group on its way; ``committed`` counts those of it that the engine has."""

    number: int
    transactions: list[TransactionId]
    stage: Stage = Stage.FLUSH
    committed: int = 0
    has_given_up: bool = False


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
