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
    """Moments of each transaction; lists by number, from 1.

    Attributes:
        begun: its first row event could begin.
        done: its commit ended; NEVER after a stall.
        touched: its surviving attempt's row events.
        settled: (transaction, key) -> its part's commit, if separate.
        misapplied: row events on a wrong version.
        retries: undone attempts.
        syncs: syncs of the replica's log.
        versions: key -> final writer.
        job_of: its merged job, if any.
        has_spare_workers: nothing waited for a worker: with more of them, all moments are equal.
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
    has_spare_workers: bool = False

    @property
    def has_finished(self) -> bool:
        """Return whether the log was applied."""
        return NEVER not in self.done

    @property
    def makespan(self) -> int:
        """Return the ticks until the end."""
        return max(self.done)

    def settled_at(self, number: int, key: int) -> int:
        """Return when a change became visible."""
        return self.settled.get((number, key), self.done[number])
