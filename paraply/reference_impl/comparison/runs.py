"""The moments of a run on the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

NEVER = -1
"""A moment that does not come."""
NEWS_EVERY = 1024
"""Transactions between two progress reports."""

Advance = Callable[[float], None]


def no_news(done: float) -> None:
    """Report nothing."""
    del done


@dataclass(slots=True, kw_only=True)
class Run:
    """Moments of each transaction under one scheme; lists by number, from 1.

    Attributes:
        begun: when its first row event could begin.
        done: when its commit ended; NEVER after a stall.
        touched: moments of the surviving attempt's row events.
        settled: (transaction, key) -> commit of its part; otherwise ``done`` counts.
        misapplied: row events that met another version than at the source.
        retries: undone attempts.
        syncs: commits of the replica's log; a shared one counts once.
        versions: key -> final writer.
        job_of: the merged job of a transaction; empty without merging.
    """

    workers: int
    begun: list[int]
    done: list[int]
    touched: list[list[int]]
    settled: dict[tuple[int, int], int] = field(default_factory=dict)
    misapplied: int = 0
    retries: int = 0
    syncs: int = 0
    versions: dict[int, int] = field(default_factory=dict)
    job_of: list[int] = field(default_factory=list)

    @property
    def has_finished(self) -> bool:
        """Return whether the whole log was applied."""
        return NEVER not in self.done

    @property
    def makespan(self) -> int:
        """Return the ticks until the end or the stall."""
        return max(self.done)

    def settled_at(self, number: int, key: int) -> int:
        """Return when a change of a key became visible."""
        return self.settled.get((number, key), self.done[number])
