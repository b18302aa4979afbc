"""The serial applier, and P1 of WL#4648 with C0, C1, C2 and C3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paraply.reference_impl.comparison.runs import NEVER, Advance, Run, no_news
from paraply.reference_impl.comparison.tasks import NOBODY, RowEvent, TaskLog
from paraply.reference_impl.comparison.workers import Workers
from paraply.reference_impl.wl4648.coordinator import JOBS_PER_WORKER


class Serial(Workers):
    """One transaction after another."""

    def __init__(self, log: TaskLog, workers: int = 1, advance: Advance = no_news) -> None:
        del workers
        super().__init__(log, 1, advance)


class Blind(Workers):
    """C0: no conflict detection; deadlocks stay."""

    resolves_deadlocks = False

    def order_of(self, worker: int) -> int:
        """Return the worker's number."""
        return worker


class Timestamps(Blind):
    """C0 that discards older changes."""

    def is_misapplied(self, number: int, row: RowEvent) -> bool:
        """Return False: any version is valid."""
        del number, row
        return False

    def keep(self, key: int, number: int) -> None:
        """Keep the newer version."""
        self.versions[key] = max(self.versions.get(key, NOBODY), number)


class InOrder(Blind):
    """C1: commits in source order."""

    commits_in_order = True


class Breaking(Blind):
    """C2: a conflicting job waits for all."""

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        super().__init__(log, workers, advance)
        self.limit = JOBS_PER_WORKER * self.workers
        self.read = 1
        """Next unread group."""
        self.tags: set[int] = set()

    def place(self, number: int) -> int:
        """Fill the job list; dispatch its head."""
        while self.read < min(len(self.tasks), number + self.limit):
            if self.has_conflict(self.read):
                self.tags.add(self.read)
            self.read += 1
        if number in self.tags and self.completed < number - 1:
            return 0
        return super().place(number)

    def has_conflict(self, number: int) -> bool:
        """Return whether an uncommitted job conflicts."""
        task = self.tasks[number]
        if task.is_barrier:
            return self.completed < number - 1
        return self.done[task.barrier_before] == NEVER or any(
            self.done[other] == NEVER for row in task.rows for other in row.follows
        )


class BreakingInOrder(Breaking):
    """C2 with commits in source order."""

    commits_in_order = True


class Graph(Blind):
    """C3: row events, sorted by their keys, wait for conflicting commits."""

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        # Keys are numbered as they are first met, which is the reference's order of rows.
        self.orders = [lock_order(task.rows) for task in log.tasks]
        tasks = [
            task if order == sorted(order)
            else replace(task, rows=tuple(task.rows[place] for place in order))
            for task, order in zip(log.tasks, self.orders, strict=True)
        ]  # fmt: skip
        super().__init__(replace(log, tasks=tasks), workers, advance)

    def run(self) -> Run:
        """Apply the log; moments of row events are in the log's order."""
        run = super().run()
        for number, order in enumerate(self.orders):
            moments = dict(zip(order, run.touched[number], strict=False))
            run.touched[number] = [moments[place] for place in sorted(moments)]
        return run

    def place(self, number: int) -> int:
        """Dispatch; a barrier runs alone."""
        task = self.tasks[number]
        is_held = task.is_barrier and self.completed < number - 1
        if is_held or self.done[task.barrier_before] == NEVER:
            return 0
        return super().place(number)

    def may_apply(self, worker: int, number: int, row: RowEvent) -> bool:
        """Wait for the first uncommitted predecessor."""
        for other in row.follows:
            if self.done[other] == NEVER:
                self.awaiting.setdefault(other, []).append(worker)
                return False
        return True


def lock_order(rows: Sequence[RowEvent]) -> list[int]:
    """Return the places of row events by least key; events with a common key keep their order."""
    last: dict[int, int] = {}
    ranks = []
    for row in rows:
        keys = (*row.writes, *row.reads)
        rank = max((min(keys, default=0), *(last.get(key, 0) for key in keys)))
        last.update(dict.fromkeys(keys, rank))
        ranks.append(rank)
    return sorted(range(len(ranks)), key=ranks.__getitem__)


class GraphInOrder(Graph):
    """C3 with commits in source order."""

    commits_in_order = True
