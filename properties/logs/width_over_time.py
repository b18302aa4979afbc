"""How wide the log was, from its first round to its last, in bounded memory.

A round is a step of the schedule that starts every transaction as soon as the metadata allows:
1 for one that waits for nothing, else one more than the latest it waits for.
"""

from __future__ import annotations

SLICES_MAX = 400


class WidthOverTime:
    """Transactions per round in equal slices of rounds; slices double when there are too many."""

    def __init__(self, slices_max: int = SLICES_MAX) -> None:
        self.rounds = 0
        """The last round so far."""
        self.slice_rounds = 1
        """Rounds per slice, a power of two."""
        self.counts: list[int] = []
        """Transactions per slice."""
        self._slices_max = slices_max

    def observe(self, level: int) -> None:
        """Add a transaction of round ``level``, from 1."""
        self.rounds = max(self.rounds, level)
        while level > self._slices_max * self.slice_rounds:
            self._double()
        at = (level - 1) // self.slice_rounds
        counts = self.counts
        if at >= len(counts):
            counts.extend([0] * (at + 1 - len(counts)))
        counts[at] += 1

    def _double(self) -> None:
        counts = self.counts
        self.counts = [sum(counts[at : at + 2]) for at in range(0, len(counts), 2)]
        self.slice_rounds *= 2

    def slices(self) -> list[tuple[int, float]]:
        """Return (first round, mean transactions per round) per slice, oldest first.

        The last slice is averaged over the rounds it has.
        """
        size = self.slice_rounds
        return [
            (first, round(count / min(size, self.rounds - first + 1), 4))
            for first, count in zip(range(1, self.rounds + 1, size), self.counts, strict=True)
        ]
