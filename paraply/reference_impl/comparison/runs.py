"""What a run on the clock leaves: the moments at which everything happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

NEVER = -1
"""Stands for a moment that has not come."""
NEWS_EVERY = 1024
"""Transactions between two reports of progress."""

Advance = Callable[[float], None]


def no_news(done: float) -> None:
    """Report nothing."""
    del done


@dataclass(slots=True, kw_only=True)
class Run:
    """When each transaction began and ended under one scheme; lists by number, from 1.

    Attributes:
        begun: the moment its first row event could begin.
        done: the moment its commit ended, NEVER where the scheme stalled before.
        touched: the moment of each row event of the attempt that survived.
        settled: (transaction, key) -> the moment a part of it committed, where parts commit apart;
            for all others ``done`` counts.
        misapplied: row events that met a row as another transaction left it than at the source.
        retries: attempts that were undone.
        syncs: commits of the replica's log; those that share one are counted once.
        versions: key -> who wrote it last, when all is over.
        job_of: the job that a transaction was merged into; empty where each is its own.
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
        """Return the ticks until all is applied, or until the scheme stalled."""
        return max(self.done)

    def settled_at(self, number: int, key: int) -> int:
        """Return when a transaction's change of a key was there for others."""
        return self.settled.get((number, key), self.done[number])
