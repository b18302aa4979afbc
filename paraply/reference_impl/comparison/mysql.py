"""MySQL's LOGICAL_CLOCK and DATABASE on the clock, with and without commit order."""

from __future__ import annotations

from paraply.reference_impl.applier.coordinator import UNDEFINED
from paraply.reference_impl.applier.coordinator import LogicalClock as StartRule
from paraply.reference_impl.comparison.runs import NEVER, Advance, no_news
from paraply.reference_impl.comparison.tasks import Task, TaskLog
from paraply.reference_impl.comparison.workers import Workers


class PrefixRule(StartRule):
    """The coordinator's rule with the low-water mark of the done prefix."""

    def __init__(self) -> None:
        super().__init__()
        self.mark = UNDEFINED

    def low_water_mark(self) -> int:
        """Return the group's mark."""
        return self.mark


class LogicalClock(Workers):
    """LOGICAL_CLOCK with replica_preserve_commit_order=ON."""

    commits_in_order = shares_syncs = syncs_at_once = True

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        super().__init__(log, workers, advance)
        self.rule = PrefixRule()
        self.numbers = [UNDEFINED] * len(self.tasks)
        """Sequence numbers as used."""
        self.group_began = 1
        self.has_spare_workers = True
        self.prefix = 0

    def place(self, number: int) -> int:
        """Wait for the group or prefix."""
        task = self.tasks[number]
        is_idle = self.completed == number - 1
        if number > 1 and task.clock != self.tasks[number - 1].clock:
            if not is_idle:
                return 0
            self.rule.on_rotation()
        stamp = self.rule.usable(task.stamp)
        opens_group = self.rule.opens_group(stamp)
        if not is_idle and (opens_group or not self.has_committed_up_to(stamp.last_committed)):
            return 0
        worker = super().place(number)
        self.has_spare_workers &= worker > 0
        if worker:
            if opens_group:
                self.group_began = number
            self.numbers[number] = self.rule.last_sequence_number = stamp.sequence_number
        return worker

    def has_committed_up_to(self, last_committed: int) -> bool:
        """Return whether the group's mark suffices."""
        while self.prefix + 1 < len(self.tasks) and self.done[self.prefix + 1] != NEVER:
            self.prefix += 1
        is_in_group = self.prefix >= self.group_began
        self.rule.mark = self.numbers[self.prefix] if is_in_group else UNDEFINED
        return self.rule.has_committed_up_to(last_committed)


class LogicalClockUnordered(LogicalClock):
    """LOGICAL_CLOCK with replica_preserve_commit_order=OFF; syncs are still shared."""

    commits_in_order = syncs_at_once = False


class TablesToWorkers(Workers):
    """A running transaction binds its tables to a worker; commits have no order."""

    shares_syncs = True

    def __init__(self, log: TaskLog, workers: int, advance: Advance = no_news) -> None:
        super().__init__(log, workers, advance)
        self.parts = [frozenset(map(self.part_of, task.tables)) for task in self.tasks]
        self.running: dict[int, int] = {}
        """Running transaction -> its worker."""

    def part_of(self, table: str) -> str:
        """Return what a worker is bound to."""
        return table

    def place(self, number: int) -> int:
        """Wait around a barrier, or for parts."""
        parts = self.parts[number]
        if self.running:
            if self.tasks[number].is_barrier or self.done[self.tasks[number].barrier_before] < 0:
                return 0
            # A part's worker is busy: it takes one transaction at a time.
            if any(parts & self.parts[other] for other in self.running):
                return 0
        worker = super().place(number)
        if worker:
            self.running[number] = worker
        return worker

    def on_done(self, task: Task) -> None:
        """Free the parts."""
        del self.running[task.number]


class Database(TablesToWorkers):
    """DATABASE: a running transaction binds its schemas to a worker."""

    commits_in_order = syncs_at_once = True

    def part_of(self, table: str) -> str:
        """Return the schema."""
        return table.partition(".")[0]


class DatabaseUnordered(Database):
    """DATABASE with replica_preserve_commit_order=OFF."""

    commits_in_order = syncs_at_once = False
