"""The simulated clock: workers, row locks and commits, moment by moment.

At each moment commits end first, then attempts are undone, then whoever has applied its last row
starts its commit if it may, then the coordinator gives out what it can, and then every worker that
has a row event applies it, in the order of their numbers; the next moment is a tick later. A scheme
is a subclass: it says who may be given out (:meth:`Clock.place`) and how commits are ordered.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from reference_impl.comparison.tasks import NOBODY, RowEvent, Task, TaskLog

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


@dataclass(slots=True)
class Moment:
    """What happens at one moment, by worker."""

    ended: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)
    ready: list[int] = field(default_factory=list)
    moving: list[int] = field(default_factory=list)


class Clock:
    """One log under one scheme, from the first transaction until nothing can move."""

    commits_in_order: ClassVar[bool] = False
    shares_syncs: ClassVar[bool] = False
    """Whether commits that are ready at one moment are one group."""
    resolves_deadlocks: ClassVar[bool] = True
    """Whether a cycle of waits costs its latest transaction an attempt, or lasts for ever."""

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        count = log.count + 1
        self.log, self.tasks = log, log.tasks
        self.workers = max(1, workers)
        self.advance = advance
        self.now = 0
        self.agenda: dict[int, Moment] = {}
        self.moments: list[int] = []
        self.queues: list[deque[int]] = [deque() for _ in range(self.workers + 1)]
        self.idle = list(range(1, self.workers + 1))
        self.position = [0] * (self.workers + 1)
        self.blocked: list[int | None] = [None] * (self.workers + 1)
        """Worker -> the key that it waits for."""
        self.held_back: list[int] = []
        """Workers whose transaction may not begin yet."""
        self.worker_of = [0] * count
        self.next = 1
        self.completed = 0
        self.begun, self.done, self.committing = ([NEVER] * count for _ in range(3))
        self.done[NOBODY] = self.committing[NOBODY] = self.begun[NOBODY] = 0
        self.touched: list[list[int]] = [[] for _ in range(count)]
        self.is_ready = bytearray(count)
        self.before, self.after = self.lanes()
        self.holders: dict[int, int] = {}
        self.held: dict[int, list[int]] = {}
        self.waiters: dict[int, deque[int]] = {}
        self.awaiting: dict[int, list[int]] = {}
        """Task -> workers that go on when it has committed."""
        self.versions: dict[int, int] = {}
        self.misapplied = self.retries = self.syncs = 0
        self.synced_at = NEVER

    # To be overridden.

    def place(self, number: int) -> int:
        """Return the worker that gets the next transaction of the log, 0 while it must wait."""
        del number
        return self.idle[0] if self.idle else 0

    def may_begin(self, number: int) -> bool:
        """Return whether a transaction that has a worker may begin."""
        del number
        return True

    def may_apply(self, worker: int, number: int, row: RowEvent) -> bool:
        """Return whether a row event may be applied; if not, see to it that the worker moves on."""
        del worker, number, row
        return True

    def on_misapplied(self, worker: int, number: int) -> bool:
        """Return whether the attempt goes on after a row that is not as the source had it."""
        del worker, number
        self.misapplied += 1
        return True

    def on_done(self, task: Task) -> None:
        """Take note that a transaction has committed."""

    def lanes(self) -> tuple[list[int], list[int]]:
        """Return who commits right before and right after each transaction: one lane for all."""
        count = len(self.tasks)
        return [0, *range(count - 1)], [*range(1, count), NOBODY]

    # The run.

    def run(self) -> Run:
        """Apply the log until nothing can move."""
        self.settle()
        while self.moments:
            self.now = heapq.heappop(self.moments)
            moment = self.agenda[self.now]
            for worker in moment.ended:
                self.on_commit_ended(worker)
            for worker in moment.undone:
                self.on_undone(worker)
            for worker in moment.ready:
                self.on_rows_done(worker)
            if moment.ended or moment.ready or moment.undone:
                self.settle()
            moment.moving.sort()
            for worker in moment.moving:
                self.on_row(worker)
            del self.agenda[self.now]
        return Run(
            workers=self.workers, begun=self.begun, done=self.done, touched=self.touched,
            misapplied=self.misapplied, retries=self.retries, syncs=self.syncs,
            versions=self.versions,
        )  # fmt: skip

    def at(self, time: int) -> Moment:
        """Return what is to happen at a moment from now on."""
        moment = self.agenda.get(time)
        if moment is None:
            moment = self.agenda[time] = Moment()
            heapq.heappush(self.moments, time)
        return moment

    def settle(self) -> None:
        """Give out and begin all that may; this takes no time."""
        moved = True
        while moved:
            moved = False
            for worker in list(self.held_back):
                if self.may_begin(self.queues[worker][0]):
                    self.held_back.remove(worker)
                    self.begin(worker)
                    moved = True
            while self.next < len(self.tasks) and (worker := self.place(self.next)):
                self.assign(worker, self.next)
                moved = True

    def assign(self, worker: int, number: int) -> None:
        """Put the next transaction into a worker's queue."""
        self.next += 1
        self.worker_of[number] = worker
        queue = self.queues[worker]
        queue.append(number)
        if len(queue) == 1:
            if self.idle[0] == worker:
                heapq.heappop(self.idle)
            else:
                self.idle.remove(worker)
                heapq.heapify(self.idle)
            self.on_first(worker)

    def on_first(self, worker: int) -> None:
        """Begin what is first in the worker's queue, or hold it back."""
        if self.may_begin(self.queues[worker][0]):
            self.begin(worker)
        else:
            self.held_back.append(worker)

    def begin(self, worker: int) -> None:
        """Begin a transaction."""
        number = self.queues[worker][0]
        self.begun[number] = self.now
        self.position[worker] = 0
        if self.tasks[number].rows:
            self.at(self.now).moving.append(worker)
        else:
            self.on_rows_done(worker)

    # Rows.

    def on_row(self, worker: int) -> None:
        """Apply the next row event, or wait for what it needs."""
        number = self.queues[worker][0]
        rows = self.tasks[number].rows
        row = rows[self.position[worker]]
        if not self.may_apply(worker, number, row) or not self.lock(worker, number, row):
            return
        self.touched[number].append(self.now)
        if self.is_misapplied(number, row) and not self.on_misapplied(worker, number):
            return
        self.position[worker] += 1
        after = self.at(self.now + 1)
        (after.ready if self.position[worker] == len(rows) else after.moving).append(worker)

    def lock(self, worker: int, number: int, row: RowEvent) -> bool:
        """Lock the keys of a row event; return False and queue up where another holds one."""
        holders = self.holders
        for key in row.writes:
            holder = holders.get(key)
            if holder is None:
                holders[key] = number
                self.held.setdefault(number, []).append(key)
            elif holder != number:
                self.waiters.setdefault(key, deque()).append(worker)
                self.blocked[worker] = key
                self.on_wait(worker)
                return False
        return True

    def is_misapplied(self, number: int, row: RowEvent) -> bool:
        """Return whether a row is not as its last writer before, by the log, left it."""
        versions = self.versions
        for key, expected in zip(row.writes, row.expected, strict=True):
            if expected != number and versions.get(key, NOBODY) != expected:
                return True
        return False

    def release(self, number: int) -> None:
        """Free the row locks of a transaction; who waits for one tries again."""
        for key in self.held.pop(number, ()):
            del self.holders[key]
            for worker in self.waiters.pop(key, ()):
                self.blocked[worker] = None
                self.at(self.now).moving.append(worker)

    # Commits.

    def on_rows_done(self, worker: int) -> None:
        """Start the commit, if it is the transaction's turn."""
        number = self.queues[worker][0]
        self.is_ready[number] = True
        self.try_commit(number)
        if self.resolves_deadlocks and self.committing[number] == NEVER:
            self.on_wait(worker)

    def try_commit(self, number: int) -> None:
        """Start the commits of a transaction, and of those that it lets go, if they may."""
        while number and self.is_ready[number] and self.is_turn_of(number):
            self.committing[number] = self.now
            self.is_ready[number] = False
            self.at(self.now + 1).ended.append(self.worker_of[number])
            if not self.shares_syncs or self.synced_at != self.now:
                self.syncs += 1
                self.synced_at = self.now
            if not (self.commits_in_order and self.shares_syncs):
                return
            number = self.after[number]

    def is_turn_of(self, number: int) -> bool:
        """Return whether a transaction may start its commit now."""
        if not self.commits_in_order:
            return True
        stage = self.committing if self.shares_syncs else self.done
        return stage[self.before[number]] != NEVER

    def on_commit_ended(self, worker: int) -> None:
        """Make the changes visible, and let go whoever waited for them."""
        number = self.queues[worker].popleft()
        task = self.tasks[number]
        self.done[number] = self.now
        self.completed += 1
        if self.completed % NEWS_EVERY == 0:
            self.advance(self.completed)
        for row in task.rows:
            for key in row.writes:
                self.keep(key, number)
        self.release(number)
        for waiting in self.awaiting.pop(number, ()):
            self.at(self.now).moving.append(waiting)
        self.on_done(task)
        if self.commits_in_order and not self.shares_syncs:
            self.try_commit(self.after[number])
        if self.queues[worker]:
            self.on_first(worker)
        else:
            heapq.heappush(self.idle, worker)

    def keep(self, key: int, number: int) -> None:
        """Leave a transaction's change of a key."""
        self.versions[key] = number

    # Cycles of waits.

    def on_wait(self, worker: int) -> None:
        """Undo the latest transaction of a cycle that the worker's wait closes, if any."""
        if not self.resolves_deadlocks:
            return
        path = [worker]
        while (other := self.waits_for(path[-1])) and other not in path:
            path.append(other)
        if other:
            cycle = path[path.index(other) :]
            self.undo(max(cycle, key=lambda one: self.queues[one][0]))

    def waits_for(self, worker: int) -> int:
        """Return the worker whose transaction has to commit first, 0 for none."""
        key = self.blocked[worker]
        if key is not None:
            return self.worker_of[self.holders[key]]
        queue = self.queues[worker]
        if self.commits_in_order and queue and self.is_ready[queue[0]]:
            return self.worker_of[self.before[queue[0]]]
        return 0

    def undo(self, worker: int) -> None:
        """Take back an attempt: its locks are free in a tick, and then it begins again."""
        number = self.queues[worker][0]
        key = self.blocked[worker]
        if key is not None:
            self.waiters[key].remove(worker)
            self.blocked[worker] = None
        self.retries += 1
        self.is_ready[number] = False
        self.touched[number].clear()
        self.position[worker] = 0
        self.at(self.now + 1).undone.append(worker)

    def on_undone(self, worker: int) -> None:
        """Free the locks; begin again, or when all before it have committed, where that counts."""
        number = self.queues[worker][0]
        self.release(number)
        before = self.before[number]
        if self.commits_in_order and self.done[before] == NEVER:
            self.awaiting.setdefault(before, []).append(worker)
        else:
            self.at(self.now).moving.append(worker)
