"""The coordinator R and its job list J, with each way to control conflicts: C0, C2, C3.

C1, to commit in the source's order, is a matter of commits alone: ``CommitOrderQueue``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from paraply.reference_impl.applier.coordinator import UNDEFINED, Coordinator, Job
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item

JOBS_PER_WORKER = 2
"""WL#4648, internal requirement 2: n <= |J| <= k * n, where k can be 2."""


class BlindCoordinator(Coordinator):
    """C0: whoever is idle takes the next job, whatever is under way.

    ``job_list`` is J, in log order; ``jobs`` are those that a worker popped.
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
        """Put a group that was read at the tail of J."""
        self.job_list.append(transaction)

    def pop(self) -> Transaction:
        """Take the job at the head of J."""
        return self.job_list.popleft()

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Return True: a blind eye on conflicts."""
        return True

    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return the first idle worker: nothing tells idle workers apart."""
        return idle[:1]

    def on_dispatched(self, transaction: Transaction, worker: int) -> None:
        """Count the job as popped (``went_through``)."""
        del worker
        self.jobs.append(Job(transaction.id, UNDEFINED))

    def may_apply(self, transaction: TransactionId, item: Item) -> bool:
        """Return whether a row event may be executed now."""
        del transaction, item
        return True

    def is_done(self, transaction: TransactionId) -> bool:
        """Return whether a job has committed since R started."""
        return any(job.is_done for job in self.jobs if job.transaction == transaction)


class BreakingCoordinator(BlindCoordinator):
    """C2: a job that conflicts with one not yet committed bears a break tag.

    Workers stop popping at the tag until all the jobs before it have committed.
    """

    def __init__(self, workers: int = 1) -> None:
        super().__init__(workers)
        self.read: list[Transaction] = []
        self.break_tags: set[TransactionId] = set()

    def append(self, transaction: Transaction) -> None:
        """Tag the job where an earlier one, not yet committed, conflicts with it."""
        if self.has_conflict(transaction):
            self.break_tags.add(transaction.id)
        self.read.append(transaction)
        super().append(transaction)

    def has_conflict(self, transaction: Transaction) -> bool:
        """Return whether an earlier job writes a row of this one and has not committed."""
        return any(
            earlier.conflicts_with(transaction) and not self.is_done(earlier.id)
            for earlier in self.read
        )

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Wait at a tag for everybody."""
        return transaction.id not in self.break_tags or self.is_idle


class GraphCoordinator(BlindCoordinator):
    """C3: a row event waits until the last writer of its row before it has committed.

    ``predecessors`` is the dependency graph, one edge per row event. Every edge leads to an earlier
    job, so that no cycle of waits can arise, whatever the order of the rows.
    """

    def __init__(self, workers: int = 1) -> None:
        super().__init__(workers)
        self.last_writer: dict[Item, TransactionId] = {}
        self.predecessors: dict[tuple[TransactionId, Item], TransactionId] = {}

    def append(self, transaction: Transaction) -> None:
        """Draw an edge from each row of the job to the job that wrote it last."""
        for item in transaction.write_set:
            if item in self.last_writer:
                self.predecessors[transaction.id, item] = self.last_writer[item]
            self.last_writer[item] = transaction.id
        super().append(transaction)

    def may_apply(self, transaction: TransactionId, item: Item) -> bool:
        """Return whether the predecessor of the row event is done."""
        predecessor = self.predecessors.get((transaction, item))
        return predecessor is None or self.is_done(predecessor)
