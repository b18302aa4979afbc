"""A replica's workers, and bounds of a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from paraply.reference_impl.mariadb_gtid.event_groups import EventGroup
from paraply.reference_impl.mariadb_gtid.position_store import PositionRow

MEMBER = "r1"
SOURCE = "source"
"""The logged server, which records no events."""


class Stage(Enum):
    """Progress of a worker."""

    BEGUN = "begun"
    EXECUTED = "executed"
    RECORDED = "recorded"
    PREPARED = "prepared"
    IN_GROUP = "in_group"


@dataclass(slots=True, eq=False)
class Worker:
    """A worker and its transaction."""

    number: int
    group: EventGroup
    sub_id: int
    """Source log order."""
    stage: Stage = Stage.BEGUN
    attempt: int = 1
    row: PositionRow | None = None
    waits_for: PositionRow | None = None
    """Row lock that blocks it."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """Bounds on faults and reads."""

    crashes: int
    stops: int
    retries: int
    failures: int
    reads: int
    cleanups: int
