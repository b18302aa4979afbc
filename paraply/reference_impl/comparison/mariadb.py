"""MariaDB's parallel modes on the clock.

:mod:`paraply.reference_impl.mariadb` has the full rules; tests require equal moments.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial

from paraply.reference_impl.comparison.runs import NEVER, Advance, Run, no_news
from paraply.reference_impl.comparison.tasks import NOBODY, RowEvent, Task, TaskLog
from paraply.reference_impl.comparison.workers import Workers
from paraply.reference_impl.mariadb.modes import Mode

QUEUED_MAX = 2
"""Worker queue size, as in :class:`paraply.reference_impl.mariadb.driver.Settings`."""


@dataclass(slots=True)
class Lane:
    """One domain's scheduling state."""

    slots: list[int]
    """Workers in turn, or 0."""
    next_slot: int = 0
    last: int = NOBODY
    queued: int = 0
    committing: int = 0
    """Unrevoked commit starts."""
    reached: list[int] = field(default_factory=lambda: [0])
    """Commit starts -> the moment when there were so many, if none was revoked."""
    waits_for: int = NEVER
    """Commit starts before the open batch."""
    is_mixed: bool = False
    is_closed: bool = False


class ParallelMode(Workers):
    """A replica with slave_parallel_mode."""

    commits_in_order = shares_syncs = True

    def __init__(
        self, log: TaskLog, workers: int, advance: Advance = no_news, *, mode: Mode
    ) -> None:
        self.mode = mode
        super().__init__(log, workers if mode else 1, advance)
        count = log.count + 1
        self.lane_of: dict[int, Lane] = {}
        self.lane_by_number = [Lane([]), *map(self.lane, self.tasks[1:])]
        self.wait_count = [0] * count
        self.may_fail, self.must_wait = bytearray(count), bytearray(count)
        self.slot_of: dict[int, tuple[int, int]] = {}
        """Busy worker -> its domain and slot."""

    def lanes(self) -> tuple[list[int], list[int]]:
        """Return the order within each domain."""
        if self.mode <= Mode.MINIMAL:
            return super().lanes()
        count = len(self.tasks)
        before, after = [NOBODY] * count, [NOBODY] * count
        last: dict[int, int] = {}
        for task in self.tasks[1:]:
            before[task.number] = last.get(task.domain, NOBODY)
            after[before[task.number]] = task.number
            last[task.domain] = task.number
        after[NOBODY] = NOBODY
        return before, after

    def lane(self, task: Task) -> Lane:
        """Return the transaction's lane."""
        domain = task.domain if self.mode > Mode.MINIMAL else 0
        if domain not in self.lane_of:
            self.lane_of[domain] = Lane([0] * self.workers)
        return self.lane_of[domain]

    def run(self) -> Run:
        """Apply the log."""
        run = super().run()
        run.has_spare_workers = self.needs_no_more()
        return run

    def needs_no_more(self) -> bool:
        """Return whether each transaction began as soon as its mode allowed.

        It is then the same with more workers: a lane's commits are in order, so the slots that more
        workers add become free earlier. Lanes share workers, and waits for rows depend on numbers
        of workers; both count as a need.
        """
        if len(self.lane_of) != 1 or self.has_waited or self.retries or NEVER in self.done:
            return False
        reached = self.lane_by_number[1].reached
        dealt = latest = 0
        for task in self.tasks[1:]:
            number = task.number
            if task.clock != self.tasks[number - 1].clock:
                dealt = max(dealt, latest)
            dealt = max(dealt, task.arrival)
            due = max(dealt, reached[self.wait_count[number]])
            if self.must_wait[number]:
                due = max(due, self.done[self.before[number]])
            if self.begun[number] != due:
                return False
            latest = max(latest, self.done[number])
        return True

    def place(self, number: int) -> int:
        """Return the slot's or an idle worker."""
        task = self.tasks[number]
        if self.completed < number - 1 and (
            not self.mode or task.clock != self.tasks[number - 1].clock
        ):
            return 0
        lane = self.lane_by_number[number]
        worker = lane.slots[lane.next_slot]
        if worker:
            return worker if len(self.queues[worker]) < QUEUED_MAX else 0
        return self.idle[0] if self.idle else 0

    def assign(self, worker: int, number: int) -> None:
        """Decide the batch, then queue."""
        task = self.tasks[number]
        lane = self.lane_by_number[number]
        self.decide(lane, task)
        lane.queued += 1
        lane.last = number
        lane.slots[lane.next_slot] = worker
        self.slot_of[worker] = (task.domain if self.mode > Mode.MINIMAL else 0, lane.next_slot)
        lane.next_slot = (lane.next_slot + 1) % len(lane.slots)
        super().assign(worker, number)

    def decide(self, lane: Lane, task: Task) -> None:
        """Put a transaction into a batch."""
        number = task.number
        self.must_wait[number] = task.is_barrier
        if lane.waits_for != NEVER:
            before = self.tasks[lane.last]
            is_together = self.mode > Mode.MINIMAL and lane.last and before.group == task.group
            lane.is_mixed |= not is_together
            lane.is_closed |= task.is_barrier
            if not lane.is_mixed and not lane.is_closed:
                self.wait_count[number] = lane.waits_for
                return
            if self.mode >= Mode.OPTIMISTIC and not lane.is_closed:
                self.wait_count[number] = lane.waits_for
                is_held = task.is_irreversible or (task.is_marked and self.mode < Mode.AGGRESSIVE)
                self.must_wait[number] |= is_held
                self.may_fail[number] = not is_held
                return
        lane.waits_for = self.wait_count[number] = lane.queued
        lane.is_mixed, lane.is_closed = False, task.is_barrier

    def may_begin(self, number: int) -> bool:
        """Wait for the batch barrier, or all commits."""
        if self.lane_by_number[number].committing < self.wait_count[number]:
            return False
        return not self.must_wait[number] or self.done[self.before[number]] != NEVER

    def on_rows_done(self, worker: int) -> None:
        """Open the next batch, except for a DDL."""
        number = self.queues[worker][0]
        if not self.tasks[number].is_barrier:
            self.start_commit(self.lane_by_number[number])
        super().on_rows_done(worker)

    def start_commit(self, lane: Lane) -> None:
        """Count a commit start."""
        lane.committing += 1
        lane.reached.append(self.now)

    def on_done(self, task: Task) -> None:
        """Count a DDL; free the worker."""
        if task.is_barrier:
            self.start_commit(self.lane_by_number[task.number])
        worker = self.worker_of[task.number]
        if not self.queues[worker]:
            domain, slot = self.slot_of.pop(worker)
            self.lane_of[domain].slots[slot] = 0

    def on_misapplied(self, worker: int, number: int) -> bool:
        """Retry a speculative attempt."""
        if not self.may_fail[number]:
            return super().on_misapplied(worker, number)
        self.undo(worker)
        return False

    def hand_on(self, key: int) -> None:
        """Give a row to its first waiter."""
        queue = self.waiters.get(key)
        if not queue or any(key not in self.next_row(worker).writes for worker in queue):
            super().hand_on(key)
            return
        worker = self.heir_of(queue)
        heir = self.queues[worker][0]
        self.holders[key] = heir
        self.held.setdefault(heir, []).append(key)
        self.blocked[worker] = None
        self.at(self.now).moving.append(worker)

    def order_of(self, worker: int) -> int:
        """Return the worker's number: queues are fair."""
        return worker

    def next_row(self, worker: int) -> RowEvent:
        """Return a worker's next row event."""
        return self.meetings.rows[self.queues[worker][0]][self.position[worker]]

    def heir_of(self, queue: deque[int]) -> int:
        """Return the first waiter that blocks none; undo others."""
        while True:
            worker = queue.popleft()
            number = self.queues[worker][0]
            earliest = min((self.queues[other][0] for other in queue), default=number)
            if earliest >= number or not self.may_fail[number]:
                return worker
            self.may_fail[number] = False
            self.blocked[worker] = None
            self.retries += 1
            self.touched[number].clear()
            self.position[worker] = 0
            self.on_undone(worker)

    def undo(self, worker: int) -> None:
        """Undo the attempt; end its speculation."""
        number = self.queues[worker][0]
        if self.is_ready[number]:
            self.lane_by_number[number].committing -= 1
        self.may_fail[number] = False
        super().undo(worker)


def parallel_mode(mode: Mode) -> partial[ParallelMode]:
    """Return a mode's clock factory."""
    return partial(ParallelMode, mode=mode)
