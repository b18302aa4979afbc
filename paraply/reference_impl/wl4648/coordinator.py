"""Coordinator R, job list J, and conflict controls C0, C2, C3.

C1, source commit order, is ``CommitOrderQueue``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from paraply.reference_impl.applier.coordinator import UNDEFINED, Coordinator, Job
from paraply.reference_impl.applier.row_store import item_of
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item

JOBS_PER_WORKER = 2
"""WL#4648, internal requirement 2: n <= |J| <= k * n, k = 2."""


class BlindCoordinator(Coordinator):
    """C0: idle workers ignore conflicts.

    ``job_list`` is J; ``jobs`` are popped jobs.
    """

    def __init__(self, workers: int = 1) -> None:
        super().__init__()
        self.job_list: deque[Transaction] = deque()
        self.limit = JOBS_PER_WORKER * max(1, workers)

    @property
    def has_room(self) -> bool:
        """Return whether J may grow."""
        return len(self.job_list) < self.limit

    def append(self, transaction: Transaction) -> None:
        """Append a group to J."""
        self.job_list.append(transaction)

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Return True."""
        return True

    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return the first; idle workers are equivalent."""
        return idle[:1]

    def on_dispatched(self, transaction: Transaction, worker: int) -> None:
        """Count it as popped (``went_through``)."""
        del worker
        self.jobs.append(Job(transaction.id, UNDEFINED))

    def may_apply(self, transaction: TransactionId, item: Item) -> bool:
        """Return whether the event may run."""
        del transaction, item
        return True

    def is_done(self, transaction: TransactionId) -> bool:
        """Return whether it committed since R's start."""
        return any(job.is_done for job in self.jobs if job.transaction == transaction)


class BreakingCoordinator(BlindCoordinator):
    """C2: break tags mark jobs with uncommitted conflicts.

    Workers stop there until earlier jobs commit.
    """

    def __init__(self, workers: int = 1) -> None:
        super().__init__(workers)
        self.read: list[Transaction] = []
        self.break_tags: set[TransactionId] = set()

    def append(self, transaction: Transaction) -> None:
        """Tag a job with an uncommitted conflict."""
        if any(
            earlier.conflicts_with(transaction) and not self.is_done(earlier.id)
            for earlier in self.read
        ):
            self.break_tags.add(transaction.id)
        self.read.append(transaction)
        super().append(transaction)

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Return whether it is untagged, or R idle."""
        return transaction.id not in self.break_tags or self.is_idle


class GraphCoordinator(BlindCoordinator):
    """C3: a row event waits for its row's last writer, and a job's events are sorted.

    ``predecessors`` has an edge per row event. Edges lead to earlier jobs, so waits are acyclic.

    The text sorts "to avoid deadlocks", "at conflicts lookup time", and E4 fears deadlocks without
    it; it does not say by what. Here all jobs take rows in one order: that in which R first looked
    them up. Events of one row keep the log's order.
    """

    def __init__(self, workers: int = 1) -> None:
        super().__init__(workers)
        self.is_sorting = workers > 0
        """Without workers R applies as a serial replica does (E1)."""
        self.places: dict[Item, int] = {}
        self.last_writer: dict[Item, TransactionId] = {}
        self.predecessors: dict[tuple[TransactionId, Item], TransactionId] = {}

    def append(self, transaction: Transaction) -> None:
        """Add edges to last writers, and sort."""
        for item in transaction.write_set:
            if item in self.last_writer:
                self.predecessors[transaction.id, item] = self.last_writer[item]
            self.last_writer[item] = transaction.id
        rows = transaction.rows
        for row in rows:
            self.places.setdefault(item_of(row), len(self.places))
        if self.is_sorting:
            rows = tuple(sorted(rows, key=lambda row: self.places[item_of(row)]))
        super().append(replace(transaction, rows=rows))

    def may_apply(self, transaction: TransactionId, item: Item) -> bool:
        """Return whether its predecessor is done."""
        predecessor = self.predecessors.get((transaction, item))
        return predecessor is None or self.is_done(predecessor)
