"""A log's width over its rounds.

A transaction's round is 1 without waits, else one more than the latest it waits for.
"""

from __future__ import annotations

SLICES_MAX = 400


class WidthOverTime:
    """Transactions per slice of rounds; slices may double."""

    def __init__(self, slices_max: int = SLICES_MAX) -> None:
        self.rounds = 0
        self.slice_rounds = 1
        """Rounds per slice, a power of two."""
        self.counts: list[int] = []
        self._slices_max = slices_max

    def observe(self, level: int) -> None:
        """Add a transaction of ``level`` from 1."""
        self._reach(level)
        self.counts[(level - 1) // self.slice_rounds] += 1

    def add(self, later: WidthOverTime, shift: int) -> None:
        """Add later counts, starting at round ``1 + shift``, at least 1.

        Slices spread evenly: exact for one round each.
        """
        size = later.slice_rounds
        for number, count in enumerate(later.counts):
            if count:
                first = max(1, number * size + 1 + shift)
                last = max(first, min((number + 1) * size, later.rounds) + shift)
                self._spread(first, last, count)

    def _spread(self, first: int, last: int, count: int) -> None:
        self._reach(last)
        size, spread = self.slice_rounds, 0
        for at in range((first - 1) // size, (last - 1) // size + 1):
            rounds = min(last, (at + 1) * size) - first + 1
            reached = count * rounds // (last - first + 1)
            self.counts[at] += reached - spread
            spread = reached

    def _reach(self, level: int) -> None:
        self.rounds = max(self.rounds, level)
        while level > self._slices_max * self.slice_rounds:
            self._double()
        slices = (level - 1) // self.slice_rounds + 1
        self.counts.extend([0] * (slices - len(self.counts)))

    def _double(self) -> None:
        counts = self.counts
        self.counts = [sum(counts[at : at + 2]) for at in range(0, len(counts), 2)]
        self.slice_rounds *= 2

    def slices(self) -> list[tuple[int, float]]:
        """Return (first round, mean width) per slice, oldest first.

        The last slice averages its own rounds.
        """
        size = self.slice_rounds
        return [
            (first, round(count / min(size, self.rounds - first + 1), 4))
            for first, count in zip(range(1, self.rounds + 1, size), self.counts, strict=True)
        ]
