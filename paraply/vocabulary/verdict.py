"""Three-valued verdicts (docs/decisions/0002)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Verdict(IntEnum):
    """The larger value wins."""

    HOLDS = 0
    UNKNOWN = 1  # Too little evidence, a bound, a clock or a solver gave up; never shown as HOLDS.
    VIOLATED = 2

    @property
    def word(self) -> str:
        """Return the word for reports."""
        return self.name.lower()

    @property
    def exit_code(self) -> int:
        """Return 0 holds, 1 violated, or 2 unknown."""
        return {Verdict.HOLDS: 0, Verdict.VIOLATED: 1, Verdict.UNKNOWN: 2}[self]


OVER_SERIALISES = "over-serialises"
"""Word for a broken precision property: what was recorded is safe, but slower than it must be."""
WORDS = (Verdict.VIOLATED.word, OVER_SERIALISES, Verdict.UNKNOWN.word, Verdict.HOLDS.word)
"""The gravest first."""
EXIT_UNREADABLE = 3


def word_of(verdict: Verdict, *, is_safety: bool) -> str:
    """Return the word for a property's verdict; ``is_safety`` is false for precision and speed."""
    return verdict.word if is_safety or verdict is not Verdict.VIOLATED else OVER_SERIALISES


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst verdict; UNKNOWN for none."""
    return max(verdicts, default=Verdict.UNKNOWN)
