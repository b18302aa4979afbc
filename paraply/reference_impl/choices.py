"""Choosing what a transaction writes, with rows that nothing tells apart offered once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import TransactionKind


class Writes(NamedTuple):
    """What a transaction is and which rows it writes."""

    kind: TransactionKind
    items: tuple[str, ...]


def choose_writes(
    schedule: Schedule,
    writers: Mapping[str, tuple[int, ...]],
    *,
    barriers: bool,
    rows: bool = True,
    ddl: bool = False,
) -> Writes:
    """Return what the next transaction writes.

    ``writers`` holds every row and the transactions that wrote it so far. Rows with the same
    writers are interchangeable: a run stays the same when their names are exchanged, so from
    such a class only the first few are ever taken. Fewer rows come before more. ``barriers``
    adds a transaction without write set, and a CREATE TABLE ... SELECT whose table is the first
    row; ``ddl`` a change of a table's definition. Without ``rows`` nothing is written.
    """
    found = write_sets(writers) if rows else []
    options = [Writes(TransactionKind.ROWS, items) for items in found]
    if barriers:
        options.append(Writes(TransactionKind.NO_WRITE_SET, ()))
        options += [Writes(TransactionKind.CTAS, items) for items in found[:1]]
    if ddl:
        options.append(Writes(TransactionKind.DDL, ()))
    return schedule.choose(options, "writes")


def write_sets(writers: Mapping[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
    """Return every set of one row or more, one for each that renaming rows makes equal."""
    classes: dict[tuple[int, ...], list[str]] = {}
    for row, history in writers.items():
        classes.setdefault(history, []).append(row)
    options: list[tuple[str, ...]] = [()]
    for rows in classes.values():
        options = [(*head, *rows[:count]) for head in options for count in range(len(rows) + 1)]
    return sorted((one for one in options if one), key=len)
