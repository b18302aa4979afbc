"""The page of third-party appliers: ``python -m ci.pages.programs --write``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ci.pages.writing import filled, pages_main, table
from ci.programs.__main__ import stored
from ci.programs.program import Program, Record
from ci.programs.registry import PROGRAMS

PAGE = "docs/programs.md"


def page(records: Sequence[Record]) -> str:
    """Return the page of the stored records."""
    return filled(PAGE, {"programs": promises(PROGRAMS), "results": results(records)})


def promises(programs: Sequence[Program]) -> Iterator[str]:
    """Yield what each program promises, and where it runs."""
    rows = (
        (
            f"`{one.name}`",
            one.promise,
            f"`{one.required}` {one.expected}",
            "each landing" if one.in_ci else "`make live`",
        )
        for one in programs
    )
    yield from table(("program", "promise", "declared", "runs in"), rows)


def results(records: Sequence[Record]) -> Iterator[str]:
    """Yield what the runs showed."""
    rows = (
        (
            f"`{one.program}`",
            one.version,
            one.faults or "none",
            f"{one.transactions:,}",
            f"{one.required} {'**violated**' if one.verdict == 'violated' else one.verdict}",
            one.level,
            f"{one.prefixes:,} of {one.commits:,}",
            f"{one.torn:,}",
            f"{one.went_back:,}",
            f"{one.repeated:,}",
            one.end,
        )
        for one in records
    )
    yield from table(
        ("program", "version", "fault", "transactions", "verdict", "level", "states of the source",
         "torn", "went back", "repeated", "end"),
        rows,
    )  # fmt: skip
    for one in records:
        if one.witness:
            yield f"- `{one.program}`{', ' if one.faults else ''}{one.faults}: {one.witness}"


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.programs", {PAGE: page(stored())}))
