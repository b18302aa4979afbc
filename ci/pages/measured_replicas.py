"""The tables of ``docs/measured-replicas.md``: predicted beside measured speed-ups."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import median

from ci import group_commit
from ci.pages.stored_results import Result, beside_measured, read_results
from ci.pages.writing import ROOT, filled, pages_main, table
from paraply.auditing.logged_source import Extent, Source, logged_source
from paraply.reference_impl.comparison.appliers import APPLIERS
from paraply.reference_impl.comparison.tasks import Costs

PAGE = "docs/measured-replicas.md"
LOGS = "tests/fixtures/timing"
ERROR_MAX = 0.2
COSTS = Costs(row=5_400, commit=1, ddl=15_000, undo=1)
"""Microseconds. A row event sleeps 5 ms, and the server adds some 0.4 ms. Commits without a sync of
the log, and rollbacks, are too short to be measured."""
MYSQL_COSTS = Costs(row=10_400, commit=1_000, ddl=15_000, undo=1)
"""The same of MySQL, where a row event sleeps 10 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One server's stored times.

    Attributes:
        serial: mode and workers of the serial apply.
        appliers: mode to applier of ``paraply compare``.
    """

    results: str
    serial: tuple[str, int]
    costs: Costs
    appliers: dict[str, str]


MARIADB = Family(
    results="docs/measured-replicas.jsonl",
    serial=("none", 0),
    costs=COSTS,
    appliers={
        mode: f"mariadb-{mode}" for mode in ("minimal", "conservative", "optimistic", "aggressive")
    },
)
MYSQL = Family(
    results="docs/measured-mysql-replicas.jsonl",
    serial=("ordered", 1),
    costs=MYSQL_COSTS,
    appliers={"ordered": "mysql-as-logged", "unordered": "mysql-as-logged-unordered"},
)
FAMILIES = {
    "mariadb": MARIADB,
    "mysql": MYSQL,
    "mysql-syncs": replace(
        MYSQL,
        results="docs/measured-mysql-syncs.jsonl",
        costs=Costs(row=5_000, commit=20_500, ddl=25_000, undo=1),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One log in one mode with one number of workers.

    ``measured`` has a speed-up per repeat, each over the serial apply of the same round.
    """

    log: str
    mode: str
    workers: int
    predicted: float
    retries: int
    measured: tuple[float, ...]
    measured_retries: tuple[int, ...]

    @property
    def error(self) -> float:
        """Return the prediction's relative error, against the median."""
        return self.predicted / median(self.measured) - 1

    def is_slower_than(self, other: Cell) -> bool:
        """Return whether all repeats were slower than all of the other."""
        return max(self.measured) < min(other.measured)


def source_of(log: str, costs: Costs = COSTS) -> Source:
    """Return a stored log, with its clock's costs."""
    path = ROOT / LOGS / log
    source = logged_source((str(path),), str(path.with_name("schema.sql")), Extent())
    source.log.costs = costs
    return source


def predicted(source: Source, applier: str, workers: int) -> tuple[float, int]:
    """Return speed-up and retries; the log's first transaction is a marker that is not timed."""
    log = source.log
    run = APPLIERS[applier].run(log, workers)
    work = sum(map(log.costs.of, log.tasks[2:]))
    return work / (run.makespan - run.done[1]), run.retries


@cache
def cells(name: str = "mariadb") -> tuple[Cell, ...]:
    """Return the stored cells of one of :data:`FAMILIES` with their predictions."""
    family = FAMILIES[name]
    results = read_results(ROOT / family.results)
    found: list[Cell] = []
    for log, group in itertools.groupby(results, key=lambda one: str(one["log"])):
        own = list(group)
        serial = next(
            one["seconds"] for one in own if (one["mode"], one["workers"]) == family.serial
        )
        source = source_of(log, family.costs)
        found += [
            _cell(one, serial, source, family.appliers[one["mode"]])
            for one in own
            if (one["mode"], one["workers"]) != family.serial
        ]
    return tuple(found)


def _cell(one: Result, serial: Sequence[float], source: Source, applier: str) -> Cell:
    speedup, retries = predicted(source, applier, one["workers"])
    return Cell(
        log=one["log"],
        mode=one["mode"],
        workers=one["workers"],
        predicted=speedup,
        retries=retries,
        measured=tuple(
            before / seconds for before, seconds in zip(serial, one["seconds"], strict=True)
        ),
        measured_retries=tuple(one["retries"]),
    )


def wrongly_ordered(found: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Return pairs of modes whose measured order contradicts the predicted one.

    Pairs whose spreads overlap have no measured order.
    """
    return [
        (slow, fast)
        for slow, fast in itertools.permutations(found, 2)
        if (slow.log, slow.workers) == (fast.log, fast.workers)
        and slow.is_slower_than(fast)
        and slow.predicted > fast.predicted
    ]


def page() -> str:
    """Return the page."""
    blocks: dict[str, list[str]] = {}
    for name in FAMILIES:
        summary, speed = _tables(cells(name))
        blocks |= {f"{name}-summary": summary, f"{name}-speed": speed}
    return filled(PAGE, blocks | group_commit.blocks())


def _tables(found: Sequence[Cell]) -> tuple[list[str], list[str]]:
    errors = sorted(abs(one.error) for one in found)
    wrong = wrongly_ordered(found)
    summary = [
        f"{len(found)} cells of {len({one.log for one in found})} logs: the median error is "
        f"{median(errors):.1%}, {sum(one > 0.1 for one in errors)} are above 10 % and "
        f"{sum(one > ERROR_MAX for one in errors)} above 20 %. {len(wrong)} pairs of modes have "
        "the wrong order outside the spread.",
    ]
    workers = sorted({one.workers for one in found})
    rows = []
    for (log, mode), group in itertools.groupby(found, key=lambda one: (one.log, one.mode)):
        by_workers = {one.workers: one for one in group}
        shown = (_text(by_workers.get(count)) for count in workers)
        rows.append([log.split(".")[0].rpartition("-")[2], mode, *shown])
    return summary, list(table(["log", "mode", *map(str, workers)], rows))


def _text(one: Cell | None) -> str:
    if one is None:
        return ""
    shown = beside_measured(one.predicted, one.measured)
    if one.retries or any(one.measured_retries):
        shown += f"; {one.retries} / {median(one.measured_retries):.0f}"
    return shown


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.measured_replicas", {PAGE: page()}))
