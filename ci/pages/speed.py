"""The page of benchmarks: ``python -m ci.pages.speed --write`` writes docs/speed.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ci.bench.storing import Stored, read
from ci.pages.writing import ROOT, filled, pages_main, table

PAGE, RESULTS = "docs/speed.md", "docs/speed.jsonl"


def page(found: Sequence[Stored]) -> str:
    """Return the page of the stored results."""
    goals = [
        (
            f"[{one.report.benchmark}](#{one.report.benchmark})", goal.name, _number(goal.got),
            f"{'at most' if goal.at_most else 'at least'} {_number(goal.wanted)}",
            "yes" if goal.is_met else "**no**",
        )
        for one in found for goal in one.report.goals
    ]  # fmt: skip
    blocks = {
        "goals": table(("benchmark", "goal", "measured", "wanted", "met"), goals),
        "results": [line for one in found for line in _section(one)][:-1],
    }
    return filled(PAGE, blocks)


def _section(one: Stored) -> Iterator[str]:
    report = one.report
    yield f"## {report.benchmark}"
    yield ""
    yield f"{report.input} Measured on {one.day} ({one.machine})."
    yield ""
    rows = [(m.contestant, m.quantity, _number(m.value), m.unit) for m in report.measured]
    yield from table(("contestant", "quantity", "value", "unit"), rows)
    yield ""
    for remark in report.remarks:
        yield f"- {remark}"
    if report.remarks:
        yield ""


def _number(value: float) -> str:
    return f"{value:,.2f}" if abs(value) < 1000 else f"{value:,.0f}"


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.speed", {PAGE: page(read(ROOT / RESULTS))}))
