"""A report as an outline of sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from paraply.vocabulary.verdict import Verdict


class Tone(Enum):
    """A word or mark repeats the colour."""

    GOOD = "good"
    UNSURE = "unsure"
    BAD = "bad"
    WARNING = "warning"
    QUIET = "quiet"
    NEUTRAL = "neutral"


TONES = {Verdict.HOLDS: Tone.GOOD, Verdict.UNKNOWN: Tone.UNSURE, Verdict.VIOLATED: Tone.BAD}


LEAD_WIDTH_MAX = 32
"""Longer words before a line are broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One paragraph; ``lead`` is like ``violation`` or ``1.``."""

    text: str
    lead: str = ""
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A card: named values under an optional title."""

    rows: Sequence[tuple[str, str]]
    title: str = ""
    tone: Tone = Tone.NEUTRAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The first column names the row; ``left`` marks text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: frozenset[int] = frozenset({0})
    tones: Sequence[Tone] = ()
    """One per row, or empty."""
    curves: Sequence[Sequence[float]] = ()
    """One per row on one scale; cells repeat it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A histogram: labels with counts."""

    caption: str
    bars: Sequence[tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A series over the log with a summary."""

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
    """Verdict and reason, then sections."""

    verdict: Verdict
    headline: str
    subtitle: str
    sections: list[Section] = field(default_factory=list)
