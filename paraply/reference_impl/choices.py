"""Choices of a transaction's writes, without symmetric ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import TransactionKind


class Writes(NamedTuple):
    """A transaction's kind and rows."""

    kind: TransactionKind
    items: tuple[str, ...]


def choose_writes(
    schedule: Schedule,
    writers: Mapping[str, tuple[int, ...]],
    *,
    barriers: bool,
    ddl: bool = False,
) -> Writes:
    """Return the next transaction's writes.

    Rows with equal ``writers`` are interchangeable, so choices use only the first few of each
    class, fewest rows first. ``barriers`` adds a transaction without write set, and a CREATE TABLE
    ... SELECT of the first row. ``ddl`` adds a table change.
    """
    found = write_sets(writers)
    options = [Writes(TransactionKind.ROWS, items) for items in found]
    if barriers:
        options.append(Writes(TransactionKind.NO_WRITE_SET, ()))
        options += [Writes(TransactionKind.CTAS, items) for items in found[:1]]
    if ddl:
        options.append(Writes(TransactionKind.DDL, ()))
    return schedule.choose(options, "writes")


def write_sets(writers: Mapping[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
    """Return row sets without symmetric ones."""
    classes: dict[tuple[int, ...], list[str]] = {}
    for row, history in writers.items():
        classes.setdefault(history, []).append(row)
    options: list[tuple[str, ...]] = [()]
    for rows in classes.values():
        options = [(*head, *rows[:count]) for head in options for count in range(len(rows) + 1)]
    return sorted((one for one in options if one), key=len)
