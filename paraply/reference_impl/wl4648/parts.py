"""P2 and P3: workers commit parts of a transaction.

P2 queues parts by table. P3 hands rows one by one to workers by a hash, commits transactions one by
one, and cancels a transaction's parts if one of its rows fails.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from paraply.reference_impl.applier.replica import READER
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.step import Step
from paraply.reference_impl.wl4648.replica import JobReplica
from paraply.vocabulary.events import EventKind, Observation, Outcome
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId
from paraply.vocabulary.write_set import Item

LOCAL_READER = TransactionId(-1)
"""Local SERIALIZABLE lock holder, absent from the log."""


class TableReplica(JobReplica):
    """P2: a worker executes its tables' events in source order.

    Rows represent tables; numbers modulo workers assign them.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.queues: dict[int, deque[Transaction]] = {w.number: deque() for w in self.workers}
        self.parts_left: dict[TransactionId, int] = {}
        self.tables = sorted(self.store.versions, key=str)

    @property
    def has_finished(self) -> bool:
        """Return whether all is applied."""
        return super().has_finished and not any(self.queues.values())

    def coordinator_steps(self) -> Iterator[Step]:
        """Yield the next distribution."""
        if self.next_entry < len(self.entries) and self.may_distribute:
            yield Step("distribute", self.on_distribute)

    @property
    def may_distribute(self) -> bool:
        """Return whether queues have room."""
        return sum(map(len, self.queues.values())) < self.coordinator.limit

    def on_distribute(self) -> None:
        """Distribute the next transaction's parts."""
        transaction = self.take_entry()
        self.furthest = max(self.furthest, transaction.id)
        self.coordinator.on_dispatched(transaction, 0)
        parts: dict[int, list[RowWrite]] = {}
        for row in transaction.rows:
            parts.setdefault(self.worker_of(row).number, []).append(row)
        self.parts_left[transaction.id] = len(parts)
        self.recorder.record(EventKind.SCHEDULED, worker=0, transaction=transaction.id)
        self.recorder.record(EventKind.BEGUN, worker=0, transaction=transaction.id)
        self.hand_out(transaction, parts)

    def worker_of(self, row: RowWrite) -> Worker:
        """Return the row's worker."""
        return self.workers[self.tables.index(item_of(row)) % len(self.workers)]

    def hand_out(self, transaction: Transaction, parts: dict[int, list[RowWrite]]) -> None:
        """Queue the parts."""
        for number, rows in parts.items():
            self.queues[number].append(replace(transaction, rows=tuple(rows)))
        for worker in self.workers:
            self.on_idle(worker)

    def on_idle(self, worker: Worker) -> None:
        """Begin the next part if idle."""
        if worker.stage is Stage.IDLE and self.queues[worker.number]:
            worker.assign(self.queues[worker.number].popleft())
            worker.stage = Stage.APPLYING

    def on_engine_commit(self, worker: Worker) -> None:
        """Commit a part; the last completes the transaction."""
        transaction = worker.job_id
        items = frozenset(map(item_of, worker.job.rows))
        self.store.commit_part(transaction, items)
        self.parts_left[transaction] -= 1
        if self.parts_left[transaction]:
            self.record(EventKind.VISIBLE, worker, items=items)
        else:
            del self.parts_left[transaction]
            self.executed.append(transaction)
            self.record(EventKind.ENGINE_COMMITTED, worker)
            self.coordinator.on_done(transaction)
        worker.release()
        self.on_idle(worker)

    def on_error(self, worker: Worker) -> None:
        """Fail, and roll back what only waits in queues, too."""
        held = {other.job_id for other in self.busy_workers}
        for transaction in sorted(self.parts_left.keys() - held):
            self.store.roll_back(transaction)
            self.recorder.record(EventKind.ROLLED_BACK, worker=0, transaction=transaction)
        super().on_error(worker)

    def on_crash(self) -> None:
        """Clear the queues too."""
        for queue in self.queues.values():
            queue.clear()
        self.parts_left.clear()
        super().on_crash()


class RowsReplica(TableReplica):
    """P3: parts commit after all are prepared.

    A worker's channel holds one row, whose table instance is free when the row is executed. Reads
    take one CONSISTENT SNAPSHOT.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.rows_left: deque[RowWrite] = deque()
        """Of the transaction, not handed out."""
        self.failed: list[Worker] = []
        """Their last row is not okay."""

    def coordinator_steps(self) -> Iterator[Step]:
        """Yield the emergency, the next row, or the next transaction."""
        if self.failed:
            yield Step("cancel", self.on_emergency)
        elif not self.rows_left:
            yield from super().coordinator_steps()
        elif self.is_channel_empty(self.worker_of(self.rows_left[0])):
            yield Step("hand out a row", self.on_row_read)

    @property
    def may_distribute(self) -> bool:
        """Return whether no part remains."""
        return not self.parts_left

    def hand_out(self, transaction: Transaction, parts: dict[int, list[RowWrite]]) -> None:
        """Keep the rows for the channels."""
        del parts
        self.open = transaction
        self.rows_left.extend(transaction.rows)

    def is_channel_empty(self, worker: Worker) -> bool:
        """Return whether the worker has executed its row."""
        if worker.stage is Stage.IDLE or worker in self.failed:
            return True
        return worker.stage is Stage.FINISHED and worker.job_id == self.open.id

    def on_row_read(self) -> None:
        """Give the next row to its worker; the first begins its part."""
        row = self.rows_left.popleft()
        worker = self.worker_of(row)
        if worker.stage is Stage.IDLE:
            worker.assign(replace(self.open, rows=()))
        worker.transaction = replace(worker.job, rows=(*worker.job.rows, row))
        worker.stage = Stage.APPLYING
        self.record(EventKind.SCHEDULED, worker, row=self.open.rows.index(row),
                    items=frozenset({item_of(row)}))  # fmt: skip

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        """Delay commits until all are prepared."""
        is_finished = worker.stage is Stage.FINISHED
        if worker in self.failed or (is_finished and not self.is_prepared(worker.job_id)):
            return None
        return super().step_of(worker)

    def is_prepared(self, transaction: TransactionId) -> bool:
        """Return whether all its rows are applied."""
        if self.rows_left and transaction == self.open.id:
            return False
        applied = [w for w in self.busy_workers if w.job_id == transaction]
        is_done = all(w.stage is Stage.FINISHED for w in applied)
        return is_done and len(applied) == self.parts_left[transaction]

    def on_error(self, worker: Worker) -> None:
        """Leave it to the coordinator, which checks before each row and at the end."""
        self.failed.append(worker)

    def on_emergency(self) -> None:
        """Cancel every part, and fail."""
        super().on_error(self.failed[0])

    def on_crash(self) -> None:
        """Clear the channels too."""
        self.rows_left.clear()
        self.failed.clear()
        super().on_crash()


class SerializableRowsReplica(RowsReplica):
    """P3 with a row-locking SERIALIZABLE reader."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.seen: list[Observation] = []

    def progress_steps(self) -> Iterator[Step]:
        """Yield the reader's next row too; if all wait, the ends of waits for the reader."""
        steps = list(super().progress_steps())
        if self.seen and self.can_read_on:
            steps.append(Step("read on", self.on_read_row))
        yield from steps or [
            Step("time out", partial(self.on_lock_timeout, worker))
            for worker in self.busy_workers
            if self.is_blocked(worker)
        ]

    def on_lock_timeout(self, worker: Worker) -> None:
        """End a wait: the row is not okay (innodb_lock_wait_timeout)."""
        self.record_row(worker, Outcome.ERROR, note="lock wait timeout")
        self.on_error(worker)

    def other_steps(self) -> Iterator[Step]:
        """Yield reader starts instead of snapshots."""
        for step in super().other_steps():
            if step.label != "read":
                yield step
        if self.reads_left and not self.seen and self.can_read_on:
            yield Step("begin to read", self.on_read_row)

    @property
    def can_read_on(self) -> bool:
        """Return whether the row is free."""
        item = self.tables[len(self.seen)]
        return self.store.holders.get(item, LOCAL_READER) == LOCAL_READER

    def on_read_row(self) -> None:
        """Read a row, and finally commit."""
        item = self.tables[len(self.seen)]
        self.store.lock(LOCAL_READER, item)
        self.seen.append(Observation(item, self.store.committed(item).writer))
        if len(self.seen) == len(self.tables):
            self.reads_left -= 1
            self.record(EventKind.READ, session=READER, observed=tuple(self.seen))
            self.seen.clear()
            self.store.unlock(LOCAL_READER)

    def on_lock_wait(self, worker: Worker, item: Item, holder: TransactionId) -> None:
        """Wait for readers like holders."""
        if holder != LOCAL_READER:
            super().on_lock_wait(worker, item, holder)
            return
        worker.waits_for_row, worker.waits_for = item, holder
        self.record(EventKind.ROW_APPLIED, worker, outcome=Outcome.LOCK_WAIT, note="local reader",
                    row=None, items=frozenset({item}))  # fmt: skip

    def on_crash(self) -> None:
        """Drop the reader too."""
        self.seen.clear()
        super().on_crash()
