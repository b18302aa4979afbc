"""MySQL's LOGICAL_CLOCK and DATABASE on the clock, with and without commit order."""

from __future__ import annotations

from paraply.reference_impl.applier.coordinator import UNDEFINED
from paraply.reference_impl.comparison.runs import NEVER, Advance, no_news
from paraply.reference_impl.comparison.tasks import Task, TaskLog
from paraply.reference_impl.comparison.workers import Workers


class LogicalClock(Workers):
    """LOGICAL_CLOCK with replica_preserve_commit_order=ON.

    Reference: :class:`paraply.reference_impl.applier.coordinator.LogicalClock`.
    """

    commits_in_order = shares_syncs = True

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        super().__init__(log, workers, advance)
        self.last_number = UNDEFINED
        self.group_began = 1
        self.prefix = 0

    def place(self, number: int) -> int:
        """Wait for the group or prefix."""
        task = self.tasks[number]
        if number > 1 and task.clock != self.tasks[number - 1].clock:
            if self.completed < number - 1:
                return 0
            self.last_number = UNDEFINED
        lc, sn = self.usable(task)
        is_idle = self.completed == number - 1
        if self.opens_group(lc, sn):
            if not is_idle:
                return 0
        elif not is_idle and not self.has_committed_up_to(lc):
            return 0
        worker = super().place(number)
        if worker:
            if self.opens_group(lc, sn):
                self.group_began = number
            self.last_number = sn
        return worker

    def usable(self, task: Task) -> tuple[int, int]:
        """Return both numbers, or (0, 0)."""
        if task.stamp is None:
            return UNDEFINED, UNDEFINED
        lc, sn = int(task.stamp.last_committed), int(task.stamp.sequence_number)
        after_first = self.last_number != UNDEFINED
        if after_first and ((lc and sn <= lc) or (sn and sn <= self.last_number)):
            return UNDEFINED, UNDEFINED
        return lc, sn

    def opens_group(self, lc: int, sn: int) -> bool:
        """Return whether earlier dependencies are unknown."""
        return UNDEFINED in (self.last_number, lc, sn) or sn > self.last_number + 1

    def has_committed_up_to(self, last_committed: int) -> bool:
        """Return whether the low-water mark suffices."""
        while self.prefix + 1 < len(self.tasks) and self.done[self.prefix + 1] != NEVER:
            self.prefix += 1
        if self.prefix < self.group_began:
            return False
        stamp = self.tasks[self.prefix].stamp
        return stamp is not None and last_committed <= stamp.sequence_number


class LogicalClockUnordered(LogicalClock):
    """LOGICAL_CLOCK with replica_preserve_commit_order=OFF; syncs are still shared."""

    commits_in_order = False


class Database(Workers):
    """DATABASE: a running transaction binds its schemas to a worker."""

    commits_in_order = shares_syncs = True

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        super().__init__(log, workers, advance)
        self.schemas = [
            frozenset(table.partition(".")[0] for table in task.tables) for task in self.tasks
        ]
        self.running: dict[int, int] = {}
        """Running transaction -> its worker."""

    def place(self, number: int) -> int:
        """Wait around a barrier, or for schemas."""
        schemas = self.schemas[number]
        if self.running:
            if self.tasks[number].is_barrier or self.done[self.tasks[number].barrier_before] < 0:
                return 0
            # A schema's worker is busy: it takes one transaction at a time.
            if any(schemas & self.schemas[other] for other in self.running):
                return 0
        worker = super().place(number)
        if worker:
            self.running[number] = worker
        return worker

    def on_done(self, task: Task) -> None:
        """Free the schemas."""
        del self.running[task.number]


class DatabaseUnordered(Database):
    """DATABASE with replica_preserve_commit_order=OFF."""

    commits_in_order = False
