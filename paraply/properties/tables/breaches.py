"""Names each breach that :mod:`paraply.properties.tables.timestamps` counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from paraply.properties.start_rule import must_wait
from paraply.properties.tables.timestamps import TableRow

MALFORMED, NOT_RISING, UNORDERED = KINDS = ("malformed", "not_rising", "unordered")

NO_ROW = -1


class TableBreach(NamedTuple):
    """A breach, in sorting order."""

    row: int
    """Number in the table, from 0."""
    kind: int
    item: int
    """Common item of UNORDERED, else 0."""
    earlier: int
    """Compared row; NO_ROW for MALFORMED."""
    history: int
    lc: int
    sn: int
    earlier_sn: int


def breaches_of(rows: Iterable[TableRow]) -> list[TableBreach]:
    """Return all breaches, sorted and distinct."""
    found: list[TableBreach] = []

    def note(kind: str, item: int = 0, earlier: int = NO_ROW, earlier_sn: int = 0) -> None:
        about = (row.history, row.lc, row.sn, earlier_sn)
        found.append(TableBreach(number, KINDS.index(kind), item, earlier, *about))

    writers: dict[int, tuple[int, int]] = {}
    history = None
    before: tuple[int, int] | None = None
    for number, row in enumerate(rows):
        if row.history != history or row.is_view_change:
            history, before, writers = row.history, None, {}
        if row.is_view_change:
            continue
        if row.lc >= row.sn:
            note(MALFORMED)
        if before is not None and before[1] and row.sn <= before[1]:
            note(NOT_RISING, 0, *before)
        for item in sorted(set(row.items)):
            if item in writers and not must_wait(row.lc, writers[item][1]):
                note(UNORDERED, item, *writers[item])
            writers[item] = (number, row.sn)
        before = (number, row.sn)
    return found
