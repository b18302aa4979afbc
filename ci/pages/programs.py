"""The page of third-party appliers: ``python -m ci.pages.programs --write``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ci.pages.writing import filled, pages_main, table
from ci.programs.__main__ import stored
from ci.programs.program import Program, Record
from ci.programs.registry import PROGRAMS
from paraply.vocabulary.counting import counted

PAGE = "docs/programs.md"


def page(records: Sequence[Record]) -> str:
    """Return the page of the stored records."""
    return filled(
        PAGE,
        {
            "programs": promises(PROGRAMS),
            "healthy": healthy(records),
            "results": results([one for one in records if not one.is_large]),
        },
    )


def healthy(records: Sequence[Record]) -> Iterator[str]:
    """Yield the large runs without faults, and the number of false alarms."""
    large = [one for one in records if one.is_large and not one.faults]
    alarms = sum(one.verdict != "holds" for one in large)
    yield from table(
        ("program", "version", "seed", "transactions", "verdict", "level", "states of the source"),
        (
            (
                f"`{one.program}`", one.version, f"{one.seed}", f"{one.transactions:,}",
                f"{one.required} {one.verdict}", one.level, f"{one.prefixes:,} of {one.commits:,}",
            )
            for one in large
        ),
    )  # fmt: skip
    yield ""
    total = sum(one.transactions for one in large)
    yield f"{total:,} transactions of healthy replicas, {counted(alarms, 'false alarm')}."


def promises(programs: Sequence[Program]) -> Iterator[str]:
    """Yield what each program promises, and where it runs."""
    rows = (
        (
            f"`{one.name}`",
            one.promise,
            f"`{one.required}` {one.expected}",
            "each landing" if one.in_ci else "`make live`",
            f"`{one.packages}`",
        )
        for one in programs
    )
    yield from table(("program", "promise", "declared", "runs in", "`ci/servers --only`"), rows)


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
            f"{one.snapshots:,}",
            f"{one.torn:,}",
            f"{one.went_back:,}",
            f"{one.repeated:,}",
            one.end,
            readers(one),
        )
        for one in records
    )
    yield from table(
        ("program", "version", "fault", "transactions", "verdict", "level", "states of the source",
         "snapshot order", "torn", "went back", "repeated", "end", "readers went back"),
        rows,
    )  # fmt: skip
    yield ""
    for one in records:
        name = f"- `{one.program}`{', ' if one.faults else ''}{one.faults}"
        if one.witness:
            yield f"{name}: {one.witness}"
        if one.initial_copy:
            yield f"{name}: {one.initial_copy} target transactions are of the initial copy."


def readers(record: Record) -> str:
    """Return what readers saw after the crashes."""
    if not record.reader_rounds:
        return "-"
    if not record.reader_went_back:
        return f"0 of {record.reader_rounds}"
    most = counted(record.reader_lost_max, "transaction")
    return f"{record.reader_went_back} of {record.reader_rounds}, at most {most}"


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.programs", {PAGE: page(stored())}))
