"""The moments of a run on the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

NEVER = -1
"""An absent moment."""
NEWS_EVERY = 1024
"""Transactions per progress report."""

Advance = Callable[[float], None]


def no_news(done: float) -> None:
    """Report nothing."""
    del done


@dataclass(slots=True, kw_only=True)
class Run:
    """Moments of each transaction under one scheme; lists by number, from 1.

    Attributes:
        begun: its first row event could begin.
        done: its commit ended; NEVER after a stall.
        touched: its surviving attempt's row events.
        settled: (transaction, key) -> its part's commit; otherwise ``done`` counts.
        misapplied: row events on another version than the source's.
        retries: undone attempts.
        syncs: commits of the replica's log; a shared one counts once.
        versions: key -> final writer.
        job_of: its merged job; empty without merging.
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
        """Return the ticks until end or stall."""
        return max(self.done)

    def settled_at(self, number: int, key: int) -> int:
        """Return when a key's change became visible."""
        return self.settled.get((number, key), self.done[number])
