"""What a theorem's monitor says, in the words of every report."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.vocabulary.counting import counted
from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFinding:
    """What a theorem's monitor says of histories or of two logs.

    Attributes:
        prop: the property of histories with the same meaning.
        reason: what was followed, what is broken, or why it is unknown.
        steps: how many steps were followed.
        assumes: the theorem's assumptions, and what the reading adds where nothing is recorded.
    """

    theorem: str
    prop: str
    claim: str
    verdict: Verdict
    reason: str
    steps: int
    assumes: str = ""

    @property
    def said(self) -> str:
        """Return the reason, the steps and the assumptions."""
        if not self.steps:
            return self.reason
        assumes = f"assumed: {self.assumes}" if self.assumes else ""
        steps = f"{counted(self.steps, 'step')} followed"
        return "; ".join(filter(None, (self.reason, steps, assumes)))
