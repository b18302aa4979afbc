"""A replica's workers, and what bounds a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from paraply.reference_impl.mariadb_gtid.event_groups import EventGroup
from paraply.reference_impl.mariadb_gtid.position_store import PositionRow

MEMBER = "r1"
SOURCE = "source"
"""Whose log is applied; it has no part in the history."""


class Stage(Enum):
    """How far a worker has come with its transaction."""

    BEGUN = "begun"
    EXECUTED = "executed"
    """Its row changes are made."""
    RECORDED = "recorded"
    """Its row of ``rpl_slave_state`` is inserted too."""
    PREPARED = "prepared"
    IN_GROUP = "in_group"
    """A leader has taken it into a commit group."""


@dataclass(slots=True, eq=False)
class Worker:
    """A transaction under way."""

    number: int
    group: EventGroup
    sub_id: int
    """Given in the order of the source's log, before anything runs in parallel."""
    stage: Stage = Stage.BEGUN
    attempt: int = 1
    row: PositionRow | None = None
    """Its uncommitted row of the position table."""
    waits_for: PositionRow | None = None
    """The uncommitted row whose lock it waits for."""


class Step(NamedTuple):
    """Something that may happen next."""

    label: str
    act: Callable[[], None]


@dataclass(slots=True, kw_only=True)
class Budget:
    """How often things may happen beside the work itself."""

    crashes: int
    stops: int
    retries: int
    failures: int
    reads: int
    cleanups: int
