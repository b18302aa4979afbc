"""Requirements of WL#4648 on the clock: unfair dealing (E3), napping coordinator (1, 2)."""

from __future__ import annotations

from typing import ClassVar

from paraply.reference_impl.comparison.jobs import Blind
from paraply.reference_impl.comparison.runs import Advance, no_news
from paraply.reference_impl.comparison.tasks import TaskLog
from paraply.reference_impl.wl4648.coordinator import JOBS_PER_WORKER

NAP_SHRINKS = 0.9
"""An empty J's effect on the nap: "the constant is heuristics"."""


class DealtInBlocks(Blind):
    """P1+C0 with several jobs in a row per worker."""

    def __init__(
        self, log: TaskLog, workers: int, advance: Advance = no_news, *, block: int = 1
    ) -> None:
        super().__init__(log, workers, advance)
        self.block = block

    def place(self, number: int) -> int:
        """Return the next worker with room."""
        worker = (number - 1) // self.block % self.workers + 1
        return worker if len(self.queues[worker]) < JOBS_PER_WORKER * self.block else 0


class DealtInBlocksInOrder(DealtInBlocks):
    """DealtInBlocks with C1."""

    commits_in_order: ClassVar[bool] = True


class Napping(Blind):
    """P1+C0 whose coordinator fills J, then naps.

    Args:
        jobs_per_worker: room of J per worker.
        nap: ticks between fills.
        adapts: whether an empty J shortens the nap.
    """

    def __init__(
        self,
        log: TaskLog,
        workers: int,
        advance: Advance = no_news,
        *,
        jobs_per_worker: int = JOBS_PER_WORKER,
        nap: int = 1,
        adapts: bool = False,
    ) -> None:
        super().__init__(log, workers, advance)
        self.limit = jobs_per_worker * self.workers
        self.nap, self.adapts = float(nap), adapts
        self.read = 1
        self.wakes_at = 0
        self.hungry_ticks = 0
        """Worker ticks spent waiting for unread jobs."""
        self.longest_list = 0
        self._looked_at = self._hungry = 0

    def settle(self) -> None:
        """Count waiting workers; fill and pop J."""
        self.hungry_ticks += self._hungry * (self.now - self._looked_at)
        if self.now >= self.wakes_at:
            self.read = min(len(self.tasks), self.next + self.limit)
            self.longest_list = max(self.longest_list, self.read - self.next)
        super().settle()
        if self.now >= self.wakes_at and self.read < len(self.tasks):
            self.wakes_at = self.now + max(1, int(self.nap))
            self.at(self.wakes_at).is_awaited = True
        is_short = self.next == self.read < len(self.tasks)
        hungry = len(self.idle) if is_short else 0
        if self.adapts and hungry > self._hungry:
            self.nap *= NAP_SHRINKS
        self._hungry, self._looked_at = hungry, self.now

    def place(self, number: int) -> int:
        """Pop from J."""
        return super().place(number) if number < self.read else 0
