"""P1: a coordinator fills the job list; workers process jobs to commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from paraply.reference_impl.applier.replica import Replica
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.step import Step
from paraply.reference_impl.wl4648.coordinator import BlindCoordinator
from paraply.reference_impl.wl4648.recovery import CommitWatermark
from paraply.reference_impl.wl4648.stores import ReentrantStore
from paraply.vocabulary.events import DEFAULT_MEMBER, EventKind, Outcome
from paraply.vocabulary.transactions import INITIAL_STATE


class JobReplica(Replica):
    """A pool of |W| workers; |W| = 0 runs serially."""

    coordinator: BlindCoordinator
    recovery: CommitWatermark
    store: ReentrantStore

    def __init__(self, *arguments: Any, workers: int, **named: Any) -> None:
        super().__init__(*arguments, workers=workers, **named)
        if not workers:
            self.workers = [Worker(0)]
        self.furthest = INITIAL_STATE

    @property
    def has_finished(self) -> bool:
        """Return whether log and J are done."""
        return super().has_finished and not self.coordinator.job_list

    # The coordinator.

    def coordinator_steps(self) -> Iterator[Step]:
        """Yield fills and pops of J."""
        if self.next_entry < len(self.entries) and self.coordinator.has_room:
            yield Step("fill the job list", self.on_job_list_short)
        if self.coordinator.job_list:
            worker = self.worker_for(self.coordinator.job_list[0])
            if worker is not None:
                yield Step("pop", lambda: self.on_pop(worker))

    def on_job_list_short(self) -> None:
        """Read groups into J."""
        while self.next_entry < len(self.entries) and self.coordinator.has_room:
            self.coordinator.append(self.take_entry())

    def worker_for(self, transaction: Any) -> Worker | None:
        """Return the popping worker, or None."""
        if not self.coordinator.may_dispatch(transaction):
            return None
        return next((worker for worker in self.workers if worker.stage is Stage.IDLE), None)

    def on_pop(self, worker: Worker) -> None:
        """Start a worker on J's head."""
        transaction = self.coordinator.job_list.popleft()
        self.furthest = max(self.furthest, transaction.id)
        self.coordinator.on_dispatched(transaction, worker.number)
        self.register_for_commit(worker, transaction)
        worker.assign(transaction)
        self.record(EventKind.SCHEDULED, worker)
        self.on_begin(worker)

    # The workers.

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        """Return the next step, or None."""
        row = worker.row if worker.stage is Stage.APPLYING else None
        if row is not None and not self.coordinator.may_apply(worker.job_id, item_of(row)):
            return None
        return super().step_of(worker)

    def record_row(self, worker: Worker, outcome: Outcome, **fields: object) -> None:
        """Record the row's place in the log's transaction."""
        row = worker.row
        assert row is not None
        logged = (one.transaction for one in self.entries if one.transaction is not None)
        whole = next(one.rows for one in logged if one.id == worker.job_id)
        self.record(EventKind.ROW_APPLIED, worker, outcome=outcome, row=whole.index(row),
                    items=frozenset({item_of(row)}), **fields)  # fmt: skip

    def victim_of(self, waits: list[Worker], *, is_circle: bool) -> Worker | None:
        """Return None: wait cycles remain."""
        del waits, is_circle
        return None

    # Reads, faults and administration.

    def other_steps(self) -> Iterator[Step]:
        """Yield reads, crashes and watermarks."""
        for step in super().other_steps():
            if step.label != "checkpoint":
                yield step
        if self.checkpoints_left and self.recovery.is_due(self):
            yield Step("update rli info", self.on_checkpoint, DEFAULT_MEMBER)

    def on_crash(self) -> None:
        """Drop later commits for re-execution."""
        self.executed = self.recovery.covered(self)
        self.store.reentrant_up_to = max(self.store.reentrant_up_to, self.furthest)
        super().on_crash()
