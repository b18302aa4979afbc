"""What readers of a target saw before and after its crash.

The target's log cannot show it: what a crash loses, recovery does not write again.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Readers:
    """Numbers of source transactions that a reader saw, by crash.

    ``before`` is the last read before SIGKILL. ``after`` is the first one after recovery, while no
    applier runs.
    """

    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)

    def note(self, *, before: int, after: int) -> None:
        """Add a crash."""
        self.before.append(before)
        self.after.append(after)

    @property
    def rounds(self) -> int:
        """Return the number of crashes."""
        return len(self.before)

    @property
    def lost(self) -> list[int]:
        """Return how many transactions a reader lost, for each crash that lost some."""
        pairs = zip(self.before, self.after, strict=True)
        return [before - after for before, after in pairs if after < before]
