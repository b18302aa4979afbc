"""Tables of a page that sort by a heading and keep the rows that have a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: text, perhaps a link or the badge of a verdict's word.

    ``key`` is what the cell sorts by, where that is not its text.
    """

    text: str
    href: str = ""
    badge: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A heading; numbers stand to the right."""

    name: str
    is_number: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: its first column names the row. ``id`` is unique in its page."""

    id: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


def columns(*names: str) -> list[Column]:
    """Return headings by name; those that begin with # are of numbers."""
    return [Column(name=name.removeprefix("#"), is_number=name.startswith("#")) for name in names]


def number(value: float | None, digits: int = 0) -> Cell:
    """Return a number with separators that sorts as one; None is a dash, and sorts last."""
    if value is None:
        return Cell("-", key="9e99")
    return Cell(f"{value:,.{digits}f}", key=repr(float(value)))


def verdict_cell(word: str) -> Cell:
    """Return the badge of a verdict."""
    return Cell(word, badge=word)
