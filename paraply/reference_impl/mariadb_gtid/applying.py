"""Apply event groups in parallel and commit them in ordered groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from paraply.reference_impl.mariadb_gtid.event_groups import EventGroup
from paraply.reference_impl.mariadb_gtid.position_store import PositionRow, PositionStore
from paraply.reference_impl.mariadb_gtid.workers import MEMBER, SOURCE, Budget, Stage, Worker
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.mariadb_gtid import MariadbPosition
from paraply.vocabulary.transactions import TransactionId


@dataclass(eq=False)
class ApplyingReplica:
    """A replica that applies in parallel."""

    log: tuple[EventGroup, ...]
    recorder: Recorder
    store: PositionStore
    budget: Budget
    workers_max: int
    logs_updates: bool = True
    """log_slave_updates."""
    syncs_binlog: bool = True
    """sync_binlog=1."""
    workers: list[Worker] = field(default_factory=list)
    queue: list[Worker] = field(default_factory=list)
    """Commit group in order."""
    group_is_logged: bool = False
    groups_made: int = 0
    binlog: list[EventGroup] = field(default_factory=list)
    synced: int = 0
    """Durable length of ``binlog``."""
    data: list[TransactionId] = field(default_factory=list)
    """Engine commits, repeats included."""
    position: MariadbPosition = field(default_factory=MariadbPosition)
    """``@@gtid_slave_pos``."""
    is_stopping: bool = False
    is_stopped: bool = False
    has_unrecorded: Worker | None = None
    """Its final change lacks a position record."""
    sub_id: int = 0
    rest: list[EventGroup] = field(default_factory=list)
    """Groups without a worker."""

    @property
    def pending_rows(self) -> list[PositionRow]:
        """Return the uncommitted position rows."""
        return [worker.row for worker in self.workers if worker.row is not None]

    # Dispatching.

    @property
    def may_dispatch(self) -> bool:
        """Return whether a group may begin; nontransactional groups run alone."""
        if self.is_stopping or not self.rest or len(self.workers) >= self.workers_max:
            return False
        is_alone = not self.workers
        return is_alone or (
            self.rest[0].is_transactional and self.workers[-1].group.is_transactional
        )

    def on_dispatch(self) -> None:
        """Assign the next group."""
        busy = {worker.number for worker in self.workers}
        number = next(n for n in range(1, self.workers_max + 1) if n not in busy)
        worker = Worker(number, self.rest.pop(0), self.next_sub_id())
        self.workers.append(worker)
        self.record(EventKind.BEGUN, worker)

    def next_sub_id(self) -> int:
        """Return the next server-wide sub_id."""
        self.sub_id += 1
        return self.sub_id

    # A worker.

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        """Return the worker's next step, or None."""
        if worker is self.has_unrecorded:
            return lambda: self.on_recorded_apart(worker)
        if worker.stage is Stage.BEGUN:
            unsafe = self.on_unsafe_change
            execute = self.on_execute if worker.group.is_transactional else unsafe
            return lambda: execute(worker)
        if worker.stage is Stage.EXECUTED and worker.waits_for not in self.pending_rows:
            return lambda: self.on_record(worker)
        if worker.stage is Stage.RECORDED:
            return lambda: self.on_prepare(worker)
        return None

    def on_execute(self, worker: Worker) -> None:
        """Apply the row changes."""
        worker.stage = Stage.EXECUTED if self.store.needs_row else Stage.RECORDED
        items = frozenset({f"row{worker.group.transaction}"})
        self.record(EventKind.ROW_APPLIED, worker, outcome=Outcome.OK, items=items)

    def new_row(self, worker: Worker) -> PositionRow:
        """Return the transaction's position row."""
        return PositionRow(worker.sub_id, worker.group.gtid, worker.group.engine)

    def on_record(self, worker: Worker) -> None:
        """Write the position row, or wait for its lock.

        Roll back a later transaction in the way.
        """
        row = self.new_row(worker)
        held = self.store.holder(row, self.pending_rows)
        items = frozenset({f"rpl_slave_state {self.store.key_of(row)}"})
        if held is None:
            worker.row, worker.waits_for, worker.stage = row, None, Stage.RECORDED
            self.record(EventKind.ROW_APPLIED, worker, outcome=Outcome.OK, items=items)
            return
        holder = next(other for other in self.workers if other.row == held)
        self.record(
            EventKind.ROW_APPLIED, worker, outcome=Outcome.LOCK_WAIT, items=items,
            other=holder.group.transaction,
        )  # fmt: skip
        worker.waits_for = held
        if holder.sub_id > worker.sub_id:
            self.roll_back(holder, other=worker.group.transaction)
            self.on_begun_again(holder)
            # The lock goes to the head of its queue.
            self.on_record(worker)

    def on_temporary_error(self, worker: Worker) -> None:
        """Roll back and retry."""
        self.budget.retries -= 1
        self.roll_back(worker)
        self.on_begun_again(worker)

    def roll_back(self, worker: Worker, other: TransactionId | None = None) -> None:
        """Undo the attempt."""
        worker.row, worker.waits_for = None, None
        self.record(EventKind.ROLLED_BACK, worker, other=other)

    def on_begun_again(self, worker: Worker) -> None:
        """Begin the next attempt."""
        self.record(EventKind.RETRIED, worker)
        worker.attempt += 1
        worker.stage = Stage.BEGUN
        self.record(EventKind.BEGUN, worker)

    def on_prepare(self, worker: Worker) -> None:
        """Prepare; from here the binary log decides."""
        worker.stage = Stage.PREPARED
        self.record(EventKind.PREPARED, worker)

    # DDL and nontransactional engines.

    def on_unsafe_change(self, worker: Worker) -> None:
        """Apply a final change, without its position."""
        items = frozenset({f"row{worker.group.transaction}"})
        self.record(EventKind.ROW_APPLIED, worker, outcome=Outcome.OK, items=items)
        self.data.append(worker.group.transaction)
        self.record(EventKind.ENGINE_COMMITTED, worker)
        self.has_unrecorded = worker

    def on_recorded_apart(self, worker: Worker) -> None:
        """Log the change and its position."""
        self.has_unrecorded = None
        if self.logs_updates:
            self.binlog.append(worker.group)
            self.record(EventKind.FLUSHED, worker)
            if self.syncs_binlog:
                self.synced = len(self.binlog)
                self.record(EventKind.SYNCED, worker)
        self.store.on_engine_commit(
            worker.group, self.new_row(worker) if self.store.needs_row else None
        )
        self.finish(worker)

    # Group commit.

    def group_steps(self) -> Iterator[Step]:
        """Yield the leader's next step."""
        if not self.queue and self.ready():
            yield Step("leader takes the group", self.on_group)
        elif self.queue and not self.group_is_logged:
            yield Step("group synced", self.on_group_synced)
        elif self.queue:
            yield Step("engine commit", self.on_engine_commit)

    def ready(self) -> list[Worker]:
        """Return prepared transactions with prepared predecessors."""
        blocked: set[int] = set()
        ready = []
        for worker in sorted(self.workers, key=lambda one: one.sub_id):
            if worker.stage is Stage.PREPARED and worker.group.domain not in blocked:
                ready.append(worker)
            else:
                blocked.add(worker.group.domain)
        return ready

    def on_group(self) -> None:
        """Write all ready transactions as a group."""
        self.queue = self.ready()
        self.groups_made += 1
        self.group_is_logged = not (self.logs_updates and self.syncs_binlog)
        for worker in self.queue:
            worker.stage = Stage.IN_GROUP
            if self.logs_updates:
                self.binlog.append(worker.group)
                self.record(EventKind.FLUSHED, worker, group=self.groups_made)

    def on_group_synced(self) -> None:
        """Sync the whole group."""
        self.synced = len(self.binlog)
        self.group_is_logged = True
        for worker in self.queue:
            self.record(EventKind.SYNCED, worker, group=self.groups_made)

    def on_engine_commit(self) -> None:
        """Commit a transaction with its position row."""
        worker = self.queue.pop(0)
        self.data.append(worker.group.transaction)
        self.record(EventKind.ENGINE_COMMITTED, worker, group=self.groups_made)
        self.store.on_engine_commit(worker.group, worker.row)
        self.finish(worker)

    def finish(self, worker: Worker) -> None:
        """Release the worker; advance ``@@gtid_slave_pos``."""
        self.workers.remove(worker)
        self.position = self.position.advance(worker.group.gtid)

    # Recording.

    def report(self, kind: EventKind) -> None:
        """Record the stored position and data."""
        self.recorder.record(
            kind, member=MEMBER, gtid_set=str(self.store.load(self.binlog)),
            transactions=tuple(sorted(set(self.data))), members=(SOURCE,),
        )  # fmt: skip

    def record(self, kind: EventKind, worker: Worker, **fields: Any) -> None:
        """Record a worker event."""
        if kind in (EventKind.FLUSHED, EventKind.ENGINE_COMMITTED):
            fields["gtid"] = str(worker.group.gtid)
        self.recorder.record(
            kind, member=MEMBER, worker=worker.number, transaction=worker.group.transaction,
            attempt=worker.attempt, **fields,
        )  # fmt: skip
