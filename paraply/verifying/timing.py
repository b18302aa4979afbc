"""Lag and shares of time."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from paraply.properties.two_logs.judgement import Stretch

SAMPLES_MAX = 2_000
_NONE = -1


class Progress:
    """Positions after target commits (24 bytes each)."""

    def __init__(self) -> None:
        self.positions = array("q")
        """Prefix; -1 for none."""
        self.furthest = array("q")

    def note(self, number: int, position: int | None, furthest: int) -> None:
        """Record target commit ``number``, in order."""
        assert number == len(self.positions) + 1
        self.positions.append(_NONE if position is None else position)
        self.furthest.append(furthest)

    def timeline(self) -> list[tuple[int, int | None, int]]:
        """Return ``SAMPLES_MAX`` samples, preferring those without prefix."""
        count = len(self.positions)
        step = max(1, -(-count // SAMPLES_MAX))
        samples = []
        for start in range(0, count, step):
            block = range(start, min(start + step, count))
            at = next((at for at in block if self.positions[at] == _NONE), block[-1])
            position = None if self.positions[at] == _NONE else self.positions[at]
            samples.append((at + 1, position, self.furthest[at]))
        return samples

    def steps(self) -> list[tuple[int, int, int]]:
        """Return (target commit, first, last source commit) of multi-commit advances."""
        found = []
        last = 0
        for number, position in enumerate(self.positions, start=1):
            if _NONE < last < position - 1:
                found.append((number, last + 1, position))
            last = position
        return found


def time_share(times_us: Sequence[int], positions: Sequence[int]) -> float | None:
    """Return the share in source states; None without time."""
    whole = times_us[-1] - times_us[0] if len(times_us) > 1 else 0
    if whole <= 0:
        return None
    outside = sum(
        max(0, times_us[at + 1] - times_us[at])
        for at in range(len(times_us) - 1)
        if positions[at] == _NONE
    )
    return max(0.0, 1 - outside / whole)


def seconds_of(stretch: Stretch, times_us: Sequence[int]) -> float:
    """Return the duration to the commit that ended a stretch."""
    end = min(stretch.last, len(times_us) - 1)
    return max(0, times_us[end] - times_us[stretch.first - 1]) / 1e6


def seconds_behind(
    source_times_us: Sequence[int], target_times_us: Sequence[int], positions: Sequence[int]
) -> list[float]:
    """Return each prefix's delay, ascending."""
    found = []
    last = 0
    for at, position in enumerate(positions):
        if position > last:
            found.append(max(0, target_times_us[at] - source_times_us[position - 1]) / 1e6)
            last = position
    return sorted(found)


def transactions_behind(
    source_times_us: Sequence[int], target_times_us: Sequence[int], positions: Sequence[int]
) -> int:
    """Return the largest backlog of source commits."""
    most = done = 0
    for at, position in enumerate(positions):
        while done < len(source_times_us) and source_times_us[done] < target_times_us[at]:
            done += 1
        if position != _NONE:
            most = max(most, done - position)
    return most
