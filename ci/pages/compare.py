"""The tables of ``docs/compare.md``."""

from __future__ import annotations

import sys

from ci.pages.writing import ROOT, filled, pages_main, table
from paraply.auditing.comparing import (
    ALL,
    BINLOG,
    WORKERS,
    CompareRequest,
    Comparison,
    compare,
)
from paraply.reference_impl.comparison.measures import Measured

PAGE = "docs/compare.md"
LOG = "tests/fixtures/binlogs/mysql-9.7.4/load-full-metadata/bin.000001"
"""Two schemas, foreign keys, a table without key."""
COUNT = 1_000


def comparisons() -> dict[str, Comparison]:
    """Return the five workloads by column."""
    names = ("hot-keys", "oltp", "ddl-heavy", "one-huge")
    made = {
        name: compare(CompareRequest(workload=name, transactions=COUNT, workers=WORKERS))
        for name in names
    }
    log = CompareRequest(
        workload=BINLOG, files=(str(ROOT / LOG),), transactions=0, workers=WORKERS
    )  # fmt: skip
    return {**made, "a log": compare(log)}


def page() -> str:
    """Return the page."""
    found = comparisons()
    measures = {
        name: {line.applier.name: line.measured for line in one.lines}
        for name, one in found.items()
    }
    speed = [["bound", *(f"{one.bounds.speedup_max:.2f}" for one in found.values())]]
    order = []
    for name in ALL:
        cells = [measures[column].get(name) for column in found]
        speed.append([name, *map(_speed, cells, found.values())])
        if any(what is not None and _order(what) != "–" for what in cells):
            order.append([name, *("" if what is None else _order(what) for what in cells)])
    workloads = (
        f"{COUNT:,} transactions of seed 0 (`hot-keys`, `oltp`, `ddl-heavy`, `one-huge`) and the "
        f"[recorded log]({'../' + LOG}) of 127; {WORKERS} workers."
    )
    blocks = {
        "speed": [workloads, "", *table(["applier", *found], speed)],
        "order": table(["applier", *found], order),
        "appliers": _appliers(),
    }
    return filled(PAGE, blocks)


def _speed(what: Measured | None, one: Comparison) -> str:
    if what is None:
        return ""
    speedup = what.speedup(one.bounds.work)
    if speedup is None:
        return "stalls"
    return f"{speedup:.2f}" + ("" if what.ends_as_serial else " **wrong**")


def _order(what: Measured) -> str:
    numbers = (what.out_of_order, what.overlaps, what.misapplied, what.gap_max)
    return " / ".join(f"{number:,}" for number in numbers) if any(numbers) else "–"


def _appliers() -> list[str]:
    rows = [
        [
            one.name,
            one.meaning,
            _yes(one.keeps_dependencies),
            _yes(one.keeps_whole),
            f"[{one.reference.rpartition('/')[2]}](../{one.reference})",
        ]
        for one in ALL.values()
    ]
    return table(["name", "what it does", "keeps", "whole", "rules in full"], rows)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.compare", {PAGE: page()}))
