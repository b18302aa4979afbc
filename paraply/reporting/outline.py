"""A report as an outline: sections of blocks that a terminal draws and plain text reads out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from paraply.vocabulary.verdict import Verdict


class Tone(Enum):
    """How a line feels; a tone is always backed by a word or a mark, never by colour alone."""

    GOOD = "good"
    UNSURE = "unsure"
    BAD = "bad"
    WARNING = "warning"
    QUIET = "quiet"
    NEUTRAL = "neutral"


TONES = {Verdict.HOLDS: Tone.GOOD, Verdict.UNKNOWN: Tone.UNSURE, Verdict.VIOLATED: Tone.BAD}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One paragraph; ``lead`` is a word set before it (``violation``, ``1.``)."""

    text: str
    lead: str = ""
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Named values, one per line, under an optional title: a card."""

    rows: Sequence[tuple[str, str]]
    title: str = ""
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under column titles; the first column names the row, ``left`` says which are text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: frozenset[int] = frozenset({0})
    tones: Sequence[Tone] = ()
    """One per row, or empty."""
    curves: Sequence[Sequence[float]] = ()
    """One small curve per row, on one scale, after the last column; the cells say the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A histogram: labels with counts."""

    caption: str
    bars: Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A series over the length of the log, drawn as a small area; ``summary`` says it in words."""

    caption: str
    values: Sequence[float]
    summary: str


Block = Line | Facts | Table | Bars | Curve


@dataclass(slots=True, kw_only=True)
class Section:
    """A titled part of a report."""

    title: str
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Outline:
    """A whole report: verdict with its reason first, then sections."""

    verdict: Verdict
    headline: str
    subtitle: str
    sections: list[Section] = field(default_factory=list)
