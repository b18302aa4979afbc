"""One schedule, timed for several worker counts.

Time vector columns: 0 is rounds, 1 work with unbounded workers, 2.. work with requested workers. In
log order, the first free worker waits for dependencies (list scheduling).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence

ROUND = 0
UNBOUNDED = 1
LEVELS_MAX = 50_000
"""Rounds that may grow; beyond, ``width_max`` is a lower bound."""


class WorkerTimeline:
    """Time vectors under one model."""

    def __init__(self, workers: Sequence[int]) -> None:
        self.workers = tuple(workers)
        self.columns = 2 + len(self.workers)
        self.work = 0
        self.transactions = 0
        self.end = [0] * self.columns
        """Latest finish per column."""
        self.width_max = 0
        self._free = [[0] * count for count in self.workers]
        self._levels: dict[int, int] = {}

    def start_of_log(self) -> list[int]:
        """Return the time before the first transaction."""
        return [0] * self.columns

    def schedule(self, ready: Sequence[int], work: int) -> list[int]:
        """Run ``work`` steps from ``ready``; return the finish."""
        self.work += work
        self.transactions += 1
        finish = [ready[ROUND] + 1, ready[UNBOUNDED] + work]
        for column, free in enumerate(self._free, start=2):
            begin = ready[column]
            if free[0] > begin:
                begin = free[0]
            finish.append(begin + work)
            heapq.heapreplace(free, begin + work)
        self._count_round(finish[ROUND])
        self.end = later_of(self.end, finish)
        return finish

    def _count_round(self, level: int) -> None:
        if self.end[ROUND] - level >= LEVELS_MAX:
            return
        levels = self._levels
        if level not in levels:
            levels.pop(level - LEVELS_MAX, None)
        levels[level] = levels.get(level, 0) + 1
        self.width_max = max(self.width_max, levels[level])

    @property
    def steps(self) -> int:
        """Return the rounds with unbounded workers."""
        return self.end[ROUND]

    @property
    def critical_path(self) -> int:
        """Return the work on the longest chain."""
        return self.end[UNBOUNDED]

    def speedups(self) -> dict[int, float]:
        """Return ``T1 / TN`` to 4 places; empty logs 1.0."""
        return {
            count: _ratio(self.work, self.end[column])
            for column, count in enumerate(self.workers, start=2)
        }

    @property
    def ideal_speedup(self) -> float:
        """Return ``T1 / T-infinity``, to 4 places."""
        return _ratio(self.work, self.critical_path)

    @property
    def width_mean(self) -> float:
        """Return transactions per round to 4 places."""
        return round(self.transactions / self.steps, 4) if self.steps else 0.0

    def knee(self) -> int:
        """Return workers past which more gain under 10 %."""
        speedup = self.speedups()
        counts = sorted(speedup)
        for count, more in itertools.pairwise(counts):
            if speedup[more] < 1.1 * speedup[count]:
                return count
        return counts[-1] if counts else 1


def later_of(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Return the later time per column."""
    return [a if a > b else b for a, b in zip(first, second, strict=True)]


def _ratio(work: int, time: int) -> float:
    return round(work / time, 4) if time else 1.0
