"""P2 and P3 of WL#4648 on the clock: parts with separate commits.

A part waits only for its worker, so one pass in log order suffices.
"""

from __future__ import annotations

import heapq

from paraply.reference_impl.comparison.runs import NEWS_EVERY, Advance, Run, no_news
from paraply.reference_impl.comparison.tasks import NOBODY, RowEvent, Task, TaskLog
from paraply.reference_impl.wl4648.coordinator import JOBS_PER_WORKER


class Parts:
    """Common steps of P2 and P3."""

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        self.log, self.advance = log, advance
        self.workers = max(1, workers)
        self.free = [0] * self.workers
        """When each worker is idle."""
        count = log.count + 1
        self.run_so_far = Run(
            workers=self.workers, begun=[0] * count, done=[0] * count,
            touched=[[] for _ in range(count)],
        )  # fmt: skip

    def worker_of(self, row: RowEvent) -> int:
        """Return a row event's worker."""
        raise NotImplementedError

    def parts_of(self, task: Task) -> dict[int, list[int]]:
        """Return row event indexes by worker."""
        parts: dict[int, list[int]] = {}
        for place, row in enumerate(task.rows):
            parts.setdefault(self.worker_of(row), []).append(place)
        return parts or {0: []}

    def apply(self, task: Task, worker: int, places: list[int], begun: int) -> None:
        """Apply a part from ``begun``."""
        touched = self.run_so_far.touched[task.number]
        touched.extend([0] * (len(task.rows) - len(touched)))
        for step, place in enumerate(places):
            touched[place] = begun + step * self.log.costs.row
        self.free[worker] = begun + len(places) * self.log.costs.row

    def settle(self, task: Task, places: list[int], done: int) -> None:
        """Record a part's commit."""
        run = self.run_so_far
        run.syncs += 1
        run.done[task.number] = max(run.done[task.number], done)
        for place in places:
            for key in task.rows[place].writes:
                run.settled[task.number, key] = max(done, run.settled.get((task.number, key), 0))

    def tell(self, number: int) -> None:
        """Report progress periodically."""
        if number % NEWS_EVERY == 0:
            self.advance(number)

    def finish(self) -> Run:
        """Find each row's last part."""
        run = self.run_so_far
        for (number, key), done in run.settled.items():
            present = run.versions.get(key, NOBODY)
            if done >= run.settled.get((present, key), 0):
                run.versions[key] = number
        return run


class ByTable(Parts):
    """P2: a worker executes its tables' events.

    The queues have room for twice as many parts as workers.
    """

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        super().__init__(log, workers, advance)
        tables = sorted({row.table for task in log.tasks for row in task.rows})
        self.worker_by_table = {table: place % self.workers for place, table in enumerate(tables)}

    def worker_of(self, row: RowEvent) -> int:
        """Return the table's worker."""
        return self.worker_by_table[row.table]

    def run(self) -> Run:
        """Deal the parts of each transaction."""
        queued: list[int] = []
        limit = JOBS_PER_WORKER * self.workers
        handed_out = 0
        for task in self.log.tasks[1:]:
            while queued and (queued[0] <= handed_out or len(queued) >= limit):
                handed_out = max(handed_out, heapq.heappop(queued))
            if task.is_barrier:
                handed_out = max(handed_out, *self.free)
            parts = self.parts_of(task)
            self.run_so_far.begun[task.number] = handed_out
            for worker, places in parts.items():
                begun = max(handed_out, self.free[worker])
                if begun > handed_out:
                    heapq.heappush(queued, begun)
                self.apply(task, worker, places, begun)
                self.free[worker] += self.log.costs.of_commit(task)
                self.settle(task, places, self.free[worker])
            if task.is_barrier:
                handed_out = max(self.free)
            self.tell(task.number)
        return self.finish()


class ByRow(Parts):
    """P3: row hashes choose workers; prepared parts commit together."""

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        super().__init__(log, workers, advance)
        names = list(map(str, log.numbers))
        order = sorted(range(len(names)), key=names.__getitem__)
        self.worker_by_key = [0] * len(order)
        for place, key in enumerate(order):
            self.worker_by_key[key] = place % self.workers

    def worker_of(self, row: RowEvent) -> int:
        """Return the first key's worker."""
        return self.worker_by_key[row.writes[0]] if row.writes else 0

    def run(self) -> Run:
        """Apply transactions one at a time."""
        now = 0
        for task in self.log.tasks[1:]:
            parts = self.parts_of(task)
            self.run_so_far.begun[task.number] = now
            for worker, places in parts.items():
                self.apply(task, worker, places, now)
            now += max(map(len, parts.values())) * self.log.costs.row
            now += self.log.costs.of_commit(task)
            for places in parts.values():
                self.settle(task, places, now)
            self.tell(task.number)
        return self.finish()
