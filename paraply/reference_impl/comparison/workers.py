"""Workers, row locks and commits of an applier on the simulated clock, moment by moment.

Order within a moment: commits end, attempts are undone, commits start, the coordinator deals, each
worker applies one row event. Row events that no other task can meet are applied at once, with their
moments. A subclass defines dispatch (:meth:`Workers.place`) and commit order.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import ClassVar

from paraply.reference_impl.clock import Clock
from paraply.reference_impl.comparison.runs import NEVER, NEWS_EVERY, Advance, Run, no_news
from paraply.reference_impl.comparison.tasks import NOBODY, RowEvent, Task, TaskLog


class Moment:
    """One moment's actions, by worker."""

    __slots__ = ("ended", "is_awaited", "moving", "queued", "ready", "undone")

    def __init__(self) -> None:
        self.ended: list[int] = []
        self.undone: list[int] = []
        self.ready: list[int] = []
        self.queued: list[int] = []
        """Transactions that waited for the previous sync."""
        self.moving: list[int] = []
        self.is_awaited = False
        """Forces another coordinator step."""


class Workers(Clock[Moment]):
    """One log under one scheme."""

    commits_in_order: ClassVar[bool] = False
    shares_syncs: ClassVar[bool] = False
    syncs_at_once: ClassVar[bool] = False
    """Whether a commit that meets no sync begins its own without those behind it."""
    resolves_deadlocks: ClassVar[bool] = True
    """Whether deadlocks cost an attempt, or stall."""

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        super().__init__(Moment)
        count = log.count + 1
        self.log, self.tasks, self.costs, self.meetings = log, log.tasks, log.costs, log.meetings
        self.stops = self.meetings.stops
        self.workers = max(1, workers)
        self.advance = advance
        self.queues: list[deque[int]] = [deque() for _ in range(self.workers + 1)]
        self.idle = list(range(1, self.workers + 1))
        self.position = [0] * (self.workers + 1)
        self.blocked: list[int | None] = [None] * (self.workers + 1)
        """Worker -> awaited key."""
        self.held_back: list[int] = []
        """Workers that must not begin yet."""
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
        self.sharers: dict[int, set[int]] = {}
        """Key -> uncommitted readers."""
        self.shared: dict[int, list[int]] = {}
        self.waiters: dict[int, deque[int]] = {}
        self.undone_for: dict[int, int] = {}
        self.awaiting: dict[int, list[int]] = {}
        """Task -> waiting workers."""
        self.versions: dict[int, int] = {}
        self.misapplied = self.retries = self.syncs = 0
        self.has_spare_workers = self.has_waited = False
        self.synced_at = self.sync_ends = NEVER
        self.synced_alone = False

    # Overridable.

    def place(self, number: int) -> int:
        """Return the next worker, or 0."""
        del number
        return self.idle[0] if self.idle else 0

    def may_begin(self, number: int) -> bool:
        """Return whether a transaction may begin."""
        del number
        return True

    def may_apply(self, worker: int, number: int, row: RowEvent) -> bool:
        """Return whether a row event may run; else arrange a wake-up."""
        del worker, number, row
        return True

    def on_misapplied(self, worker: int, number: int) -> bool:
        """Return whether the attempt continues."""
        del worker, number
        self.misapplied += 1
        return True

    def on_done(self, task: Task) -> None:
        """Handle a commit."""

    def order_of(self, worker: int) -> int:
        """Return the sort key, oldest first, which ends deadlocks."""
        return self.queues[worker][0]

    def lanes(self) -> tuple[list[int], list[int]]:
        """Return commit order predecessors and successors."""
        count = len(self.tasks)
        return [0, *range(count - 1)], [*range(1, count), NOBODY]

    # Run.

    def run(self) -> Run:
        """Apply the log."""
        self.settle()
        for moment in self.moments():
            for worker in moment.ended:
                self.on_commit_ended(worker)
            for worker in moment.undone:
                self.on_undone(worker)
            moment.ready.sort(key=self.order_of)
            for worker in moment.ready:
                self.on_rows_done(worker)
            for number in moment.queued:
                self.try_commit(number)
            if moment.ended or moment.ready or moment.undone or moment.is_awaited:
                self.settle()
            moment.moving.sort(key=self.order_of)
            for worker in moment.moving:
                self.on_row(worker)
        if NEVER not in self.done:
            self.versions |= self.meetings.alone
        else:
            self.versions |= {
                key: one for key, one in self.meetings.alone.items() if self.done[one] != NEVER
            }
        return Run(
            workers=self.workers, begun=self.begun, done=self.done, touched=self.touched,
            misapplied=self.misapplied, retries=self.retries, syncs=self.syncs,
            versions=self.versions, has_spare_workers=self.has_spare_workers,
        )  # fmt: skip

    def settle(self) -> None:
        """Deal and begin transactions."""
        moved = True
        while moved:
            moved = False
            for worker in list(self.held_back):
                if self.may_begin(self.queues[worker][0]):
                    self.held_back.remove(worker)
                    self.begin(worker)
                    moved = True
            while self.has_arrived() and (worker := self.place(self.next)):
                self.assign(worker, self.next)
                moved = True

    def has_arrived(self) -> bool:
        """Return whether the next transaction is there; else wake up for it."""
        if self.next >= len(self.tasks):
            return False
        arrival = self.tasks[self.next].arrival
        if arrival > self.now:
            self.at(arrival).is_awaited = True
        return arrival <= self.now

    def assign(self, worker: int, number: int) -> None:
        """Queue a transaction at a worker."""
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
        """Begin or hold the first transaction."""
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
            self.go_on(worker, number, self.now)
        else:
            self.on_rows_done(worker)

    # Rows.

    def go_on(self, worker: int, number: int, since: int) -> None:
        """Apply row events, from a moment on, up to one that another task may meet."""
        position = self.position[worker]
        stops = self.stops[number]
        stop = stops[position]
        if stop > position:
            cost = self.costs.row
            then = since + (stop - position) * cost
            self.touched[number].extend(range(since, then, cost))
            self.position[worker] = stop
            since = then
        after = self.at(since)
        (after.ready if stop == len(stops) - 1 else after.moving).append(worker)

    def on_row(self, worker: int) -> None:
        """Apply a row event, or wait."""
        number = self.queues[worker][0]
        position = self.position[worker]
        if self.stops[number][position] > position:
            self.go_on(worker, number, self.now)
            return
        row = self.meetings.rows[number][position]
        if not self.may_apply(worker, number, row) or not self.lock(worker, number, row):
            return
        self.touched[number].append(self.now)
        if self.is_misapplied(number, row) and not self.on_misapplied(worker, number):
            return
        self.position[worker] += 1
        self.go_on(worker, number, self.now + self.costs.row)

    def lock(self, worker: int, number: int, row: RowEvent) -> bool:
        """Lock a row event's keys, or queue."""
        holders = self.holders
        for key in row.writes:
            holder = holders.get(key)
            if holder is None and (not self.sharers or self.may_exclude(number, key)):
                holders[key] = number
                self.held.setdefault(number, []).append(key)
            elif holder != number:
                return self.wait(worker, key)
        for key in row.reads:
            if holders.get(key, number) != number:
                return self.wait(worker, key)
            self.sharers.setdefault(key, set()).add(number)
            self.shared.setdefault(number, []).append(key)
        return True

    def may_exclude(self, number: int, key: int) -> bool:
        """Return whether no other reads a key."""
        return not self.sharers.get(key, set()) - {number}

    def wait(self, worker: int, key: int) -> bool:
        """Queue for a key; return False."""
        self.has_waited = True
        self.waiters.setdefault(key, deque()).append(worker)
        self.blocked[worker] = key
        self.on_wait(worker)
        return False

    def is_misapplied(self, number: int, row: RowEvent) -> bool:
        """Return whether a row's version is wrong."""
        versions = self.versions
        keys = row.writes + row.reads if row.reads else row.writes
        for key, expected in zip(keys, row.expected, strict=True):
            if expected != number and versions.get(key, NOBODY) != expected:
                return True
        return False

    def release(self, number: int) -> None:
        """Free a transaction's row locks."""
        for key in self.held.pop(number, ()):
            self.hand_on(key)
        for key in self.shared.pop(number, ()):
            readers = self.sharers.get(key, set())
            readers.discard(number)
            if not readers:
                self.sharers.pop(key, None)
                self.wake(key)

    def hand_on(self, key: int) -> None:
        """Free an exclusive key."""
        del self.holders[key]
        self.wake(key)

    def wake(self, key: int) -> None:
        """Wake a key's waiters."""
        for worker in self.waiters.pop(key, ()):
            self.blocked[worker] = None
            self.at(self.now).moving.append(worker)

    # Commits.

    def on_rows_done(self, worker: int) -> None:
        """Start a due commit."""
        number = self.queues[worker][0]
        self.is_ready[number] = True
        self.try_commit(number)
        if self.resolves_deadlocks and self.committing[number] == NEVER:
            self.on_wait(worker)

    def try_commit(self, number: int) -> None:
        """Start a transaction's and its successors' commits."""
        while number and self.is_ready[number] and self.is_turn_of(number):
            if self.shares_syncs and self.is_late():
                self.at(self.sync_ends).queued.append(number)
                return
            self.committing[number] = self.now
            self.is_ready[number] = False
            ends = self.now + self.costs.of_commit(self.tasks[number])
            self.at(ends).ended.append(self.worker_of[number])
            if not self.shares_syncs or self.synced_at != self.now:
                self.syncs += 1
                self.synced_alone = self.syncs_at_once and self.sync_ends < self.now
                self.synced_at, self.sync_ends = self.now, ends
            if not (self.commits_in_order and self.shares_syncs):
                return
            number = self.after[number]

    def is_late(self) -> bool:
        """Return whether a sync has begun that a commit cannot join now."""
        return self.now < self.sync_ends and (self.synced_at < self.now or self.synced_alone)

    def is_turn_of(self, number: int) -> bool:
        """Return whether a commit is due."""
        if not self.commits_in_order:
            return True
        stage = self.committing if self.shares_syncs else self.done
        return stage[self.before[number]] != NEVER

    def on_commit_ended(self, worker: int) -> None:
        """Publish the changes and release waiters."""
        number = self.queues[worker].popleft()
        task = self.tasks[number]
        self.done[number] = self.now
        self.completed += 1
        if self.completed % NEWS_EVERY == 0:
            self.advance(self.completed)
        for key in self.meetings.writes[number]:
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
        """Set a key's version."""
        self.versions[key] = number

    # Cycles of waits.

    def on_wait(self, worker: int) -> None:
        """Undo each cycle's latest transaction."""
        while self.resolves_deadlocks and (cycle := self.cycle_through(worker)):
            victim = max(cycle, key=self.number_of)
            self.undone_for[self.number_of(victim)] = min(map(self.number_of, cycle))
            self.undo(victim)

    def number_of(self, worker: int) -> int:
        """Return a worker's transaction."""
        return self.queues[worker][0]

    def cycle_through(self, worker: int) -> list[int]:
        """Return a cycle of workers."""
        seen: set[int] = set()
        paths = [[worker]]
        while paths:
            path = paths.pop()
            for other in self.waits_for(path[-1]):
                if other == worker:
                    return path
                if other not in seen:
                    seen.add(other)
                    paths.append([*path, other])
        return []

    def waits_for(self, worker: int) -> list[int]:
        """Return workers whose commits come first."""
        key = self.blocked[worker]
        if key is not None:
            number = self.number_of(worker)
            holder = self.holders.get(key)
            holders = self.sharers.get(key, set()) - {number} if holder is None else {holder}
            return [self.worker_of[one] for one in sorted(holders)]
        queue = self.queues[worker]
        is_held = queue and self.is_ready[queue[0]] and not self.is_turn_of(queue[0])
        if self.commits_in_order and is_held:
            return [self.worker_of[self.before[queue[0]]]]
        return []

    def undo(self, worker: int) -> None:
        """Undo an attempt within a tick."""
        number = self.queues[worker][0]
        key = self.blocked[worker]
        if key is not None:
            self.waiters[key].remove(worker)
            self.blocked[worker] = None
        self.retries += 1
        self.is_ready[number] = False
        self.touched[number].clear()
        self.position[worker] = 0
        self.at(self.now + self.costs.undo).undone.append(worker)

    def on_undone(self, worker: int) -> None:
        """Free the locks; retry after the predecessor or the cycle's oldest."""
        number = self.queues[worker][0]
        self.release(number)
        before = self.before[number] if self.commits_in_order else NOBODY
        # An immediate retry could take the same locks again, forever: the oldest of the cycle may
        # be of another domain.
        for first in (before, self.undone_for.pop(number, NOBODY)):
            if self.done[first] == NEVER:
                self.awaiting.setdefault(first, []).append(worker)
                return
        self.at(self.now).moving.append(worker)
