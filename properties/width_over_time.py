"""How wide the log was, slice by slice, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence

from properties.worker_timeline import ROUND

SLICES_MAX = 400


class WidthOverTime:
    """Transactions per round in equal slices of the log; slices double when there are too many."""

    def __init__(self, slices_max: int = SLICES_MAX) -> None:
        self._slices_max = slices_max
        self._size = 1
        self._slices: list[tuple[int, int, int]] = []  # First ordinal, transactions, new rounds.
        self._rounds = 0

    def observe(self, ordinal: int, finish: Sequence[int]) -> None:
        """Add the next transaction, with its time vector under the model that is drawn."""
        rounds = max(0, finish[ROUND] - self._rounds)
        self._rounds += rounds
        if self._slices and self._slices[-1][1] < self._size:
            first, count, before = self._slices[-1]
            self._slices[-1] = (first, count + 1, before + rounds)
            return
        if len(self._slices) >= self._slices_max:
            self._double()
        self._slices.append((ordinal, 1, rounds))

    def _double(self) -> None:
        pairs = zip(self._slices[::2], self._slices[1::2], strict=True)
        self._slices = [(a[0], a[1] + b[1], a[2] + b[2]) for a, b in pairs]
        self._size *= 2

    def slices(self) -> list[tuple[int, float]]:
        """Return (first ordinal, mean width) per slice, oldest first.

        The mean width is transactions by rounds begun in the slice; a slice that begins none
        counts as one round.
        """
        return [(first, round(count / max(1, rounds), 4)) for first, count, rounds in self._slices]
