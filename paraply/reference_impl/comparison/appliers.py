"""The comparable appliers, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from paraply.reference_impl.comparison.jobs import (
    Blind,
    Breaking,
    BreakingInOrder,
    Graph,
    GraphInOrder,
    InOrder,
    Serial,
    Timestamps,
)
from paraply.reference_impl.comparison.mariadb import parallel_mode
from paraply.reference_impl.comparison.merging import C4, C4_BREAKING, C4_IN_ORDER
from paraply.reference_impl.comparison.mysql import (
    Database,
    DatabaseUnordered,
    LogicalClock,
    LogicalClockUnordered,
    TablesToWorkers,
)
from paraply.reference_impl.comparison.parts import ByRow, ByTable
from paraply.reference_impl.comparison.runs import Advance, Run, no_news
from paraply.reference_impl.comparison.tasks import TaskLog
from paraply.reference_impl.mariadb.modes import Mode

AS_LOGGED, COMMIT_ORDER, WRITESET = "as logged", "COMMIT_ORDER", "WRITESET"


class Runs(Protocol):
    """An applier of one log."""

    def run(self) -> Run:
        """Apply the log."""
        ...


MakeClock = Callable[[TaskLog, int, Advance], Runs]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedApplier:
    """One applier and its clock.

    Attributes:
        stamps: origin of its last_committed; empty for none.
        keeps_dependencies: whether conflicting transactions never overlap.
        keeps_whole: whether transactions stay as they are; then the critical path is a bound.
        reference: place of its rules.
    """

    name: str
    meaning: str
    make: MakeClock
    reference: str
    stamps: str = ""
    keeps_dependencies: bool = True
    keeps_whole: bool = True

    def run(self, log: TaskLog, workers: int, advance: Advance = no_news) -> Run:
        """Apply a log; without workers, serially."""
        return self.make(log, workers, advance).run() if workers else Serial(log).run()


_P1 = "paraply/reference_impl/wl4648/coordinator.py"
_PARTS = "paraply/reference_impl/wl4648/parts.py"
_MYSQL = "paraply/reference_impl/applier/coordinator.py"
_MODES = "paraply/reference_impl/mariadb/modes.py"


def _of(
    name: str, make: MakeClock, meaning: str, reference: str, **more: object
) -> ComparedApplier:
    return ComparedApplier(
        name=name,
        make=make,
        meaning=meaning,
        reference=reference,
        **more,  # type: ignore[arg-type]
    )


APPLIERS = {
    applier.name: applier
    for applier in (
        _of("serial", Serial, "one transaction after the other", _P1),
        _of("c0", Blind, "WL#4648 P1+C0: a blind eye on conflicts", _P1,
            keeps_dependencies=False),
        _of("c0-timestamp", Timestamps, "C0, an older change of a row is discarded",
            "paraply/reference_impl/wl4648/stores.py", keeps_dependencies=False),
        _of("c1", InOrder, "P1+C1: commits in the source's order, no notion of conflict", _P1,
            keeps_dependencies=False),
        _of("c2", Breaking, "P1+C2: a break at the first conflict", _P1),
        _of("c2-c1", BreakingInOrder, "C2, and commits in the source's order", _P1),
        _of("c3", Graph, "P1+C3: a row event waits for its predecessor", _P1,
            keeps_whole=False),
        _of("c3-c1", GraphInOrder, "C3, and commits in the source's order", _P1,
            keeps_whole=False),
        _of("c4", C4, "P1+C4: small transactions merged, served by C3",
            "paraply/reference_impl/wl4648/merging.py", keeps_whole=False),
        _of("c4-c1", C4_IN_ORDER, "C4 served by C1", "paraply/reference_impl/wl4648/merging.py",
            keeps_whole=False, keeps_dependencies=False),
        _of("c4-c2", C4_BREAKING, "C4 served by C2", "paraply/reference_impl/wl4648/merging.py",
            keeps_whole=False),
        _of("p2", ByTable, "WL#4648 P2: a worker per table", _PARTS, keeps_whole=False,
            keeps_dependencies=False),
        _of("p3", ByRow, "WL#4648 P3: rows of one transaction hashed to workers", _PARTS,
            keeps_whole=False),
        *(
            _of(
                f"mysql-{stamps.lower().replace('_', '-').replace(' ', '-')}"
                + ("" if make is LogicalClock else "-unordered"),
                make,
                f"MySQL LOGICAL_CLOCK, stamps {stamps}, preserve_commit_order "
                + ("ON" if make is LogicalClock else "OFF"),
                _MYSQL,
                stamps=stamps,
                keeps_dependencies=stamps != AS_LOGGED,
            )
            for stamps in (AS_LOGGED, COMMIT_ORDER, WRITESET)
            for make in (LogicalClock, LogicalClockUnordered)
        ),
        _of("mysql-database", Database, "MySQL DATABASE, preserve_commit_order ON", _MYSQL),
        _of("mysql-database-unordered", DatabaseUnordered,
            "MySQL DATABASE, preserve_commit_order OFF", _MYSQL),
        _of("by-table", TablesToWorkers,
            "one worker per table; a transaction of several tables waits for each",
            "paraply/properties/logs/scheduling_models.py", keeps_dependencies=False),
        *(
            _of(f"mariadb-{mode.name.lower()}", parallel_mode(mode),
                f"MariaDB slave_parallel_mode={mode.name.lower()}", _MODES)
            for mode in Mode
        ),
    )
}  # fmt: skip
"""All appliers, serial first."""
