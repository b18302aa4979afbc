"""HTML tables that sort and filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """Text, perhaps with link or badge; sorts by ``key``."""

    text: str
    href: str = ""
    badge: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A heading; numbers align right."""

    name: str
    is_number: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The first column names the row; ``id`` is unique."""

    id: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


def columns(*names: str) -> list[Column]:
    """Return headings; a leading # marks numbers."""
    return [Column(name=name.removeprefix("#"), is_number=name.startswith("#")) for name in names]


def number(value: float | None, digits: int = 0) -> Cell:
    """Return a number; None is a dash and sorts last."""
    if value is None:
        return Cell("-", key="9e99")
    return Cell(f"{value:,.{digits}f}", key=repr(float(value)))


def verdict_cell(word: str) -> Cell:
    """Return a verdict's badge."""
    return Cell(word, badge=word)
