"""A replica with several workers, on a schedule of choices.

Every step is atomic: dispatch, begin, row, engine commit, snapshot, crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from paraply.reference_impl.applier.commit_order import CommitOrderQueue, NoCommitOrder
from paraply.reference_impl.applier.coordinator import Coordinator
from paraply.reference_impl.applier.recovery import Recovery
from paraply.reference_impl.applier.row_store import RowStore, item_of
from paraply.reference_impl.applier.source_log import Part, RelayLog
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import DEFAULT_MEMBER, EventKind, Outcome
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item

READER, AUDITOR = "reader", "auditor"
HALF = "half a transaction"
"""Note of a rollback."""

RETRIES_MAX = 10
"""``replica_transaction_retries``; also bounds mutual rollbacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of optional steps."""

    reads: int
    crashes: int
    checkpoints: int


class Replica:
    """One replica over its relay log."""

    def __init__(
        self,
        log: RelayLog,
        recorder: Recorder,
        *,
        store: RowStore,
        coordinator: Callable[[], Coordinator],
        commit_order: Callable[[], CommitOrderQueue],
        recovery: Recovery,
        workers: int,
        budget: Budget,
        extra_locks: dict[TransactionId, Item],
        is_prompt: bool = False,
    ) -> None:
        self.log = log
        self.recorder = recorder
        self.store = store
        self.new_coordinator, self.new_commit_order = coordinator, commit_order
        self.coordinator, self.commit_order = coordinator(), commit_order()
        self.recovery = recovery
        self.workers = [Worker(number) for number in range(1, workers + 1)]
        self.reads_left, self.crashes_left = budget.reads, budget.crashes
        self.checkpoints_left = budget.checkpoints
        self.extra_locks = extra_locks
        """Transaction -> extra row lock (gap lock)."""
        self.is_prompt = is_prompt
        """Whether the coordinator takes its steps before all others."""
        self.entries = log.entries()
        self.next_entry = 0
        self.executed: list[TransactionId] = []
        """Durable engine commits, in order."""
        self.given_up: dict[TransactionId, int] = {}
        """Transaction of which half came -> attempts at it."""
        self.has_failed = False

    # Run.

    def run(self, schedule: Schedule) -> None:
        """Apply the log; a stuck run lacks STOPPED and FAILED."""
        self.record(EventKind.STARTED)
        while not self.has_failed and self.recorder.has_steps_left:
            first = next(self.coordinator_steps(), None) if self.is_prompt else None
            progress = list(self.progress_steps())
            if not progress:
                break
            step = first or schedule.choose([*progress, *self.other_steps()], "step")
            self.recorder.next_step()
            step.act()
        self.recorder.next_step()
        if self.has_finished and self.recorder.has_steps_left:
            self.read(AUDITOR)
            self.record(EventKind.STOPPED)

    @property
    def has_finished(self) -> bool:
        """Return whether the log is applied."""
        is_read = self.next_entry == len(self.entries)
        return is_read and not self.has_failed and not self.busy_workers

    @property
    def busy_workers(self) -> list[Worker]:
        """Return the workers with a transaction."""
        return [worker for worker in self.workers if worker.stage is not Stage.IDLE]

    def progress_steps(self) -> Iterator[Step]:
        """Yield the coordinator's and workers' steps."""
        yield from self.coordinator_steps()
        for worker in self.busy_workers:
            act = self.step_of(worker)
            if act is not None:
                yield Step(f"worker {worker.number} {worker.stage.value}", act)

    def other_steps(self) -> Iterator[Step]:
        """Yield optional steps."""
        has_begun = bool(self.executed or self.busy_workers)
        if self.reads_left and self.executed:
            yield Step("read", self.on_read)
        if self.checkpoints_left and self.executed:
            yield Step("checkpoint", self.on_checkpoint, DEFAULT_MEMBER)
        if self.crashes_left and has_begun:
            yield Step("crash", self.on_crash, DEFAULT_MEMBER)

    # Coordinator.

    def coordinator_steps(self) -> Iterator[Step]:
        """Yield the coordinator's possible step."""
        if self.next_entry == len(self.entries):
            return
        entry = self.entries[self.next_entry]
        if entry.transaction is None:
            if not self.busy_workers:
                yield Step("rotate", self.on_rotation)
            waiting = (one for one in self.busy_workers if one.is_half and not one.is_given_up)
            half = next(waiting, None)
            if half is not None:
                yield Step("give up", lambda: self.on_half(half))
            return
        # A transaction without its beginning has no GTID, so auto-skip cannot detect it.
        bears_gtid = entry.part is not Part.TAIL
        if bears_gtid and self.recovery.is_skipped(self, entry.transaction):
            if self.may_skip(entry.transaction):
                yield Step("skip", self.on_skip)
            return
        worker = self.worker_for(entry.transaction)
        if worker is not None:
            yield Step("dispatch", lambda: self.on_dispatch(worker))

    def may_skip(self, transaction: Transaction) -> bool:
        """Return whether the coordinator may skip an executed transaction now."""
        del transaction
        return True

    def worker_for(self, transaction: Transaction) -> Worker | None:
        """Return the next transaction's worker."""
        if not self.coordinator.may_dispatch(transaction):
            return None
        idle = [worker.number for worker in self.workers if worker.stage is Stage.IDLE]
        chosen = self.coordinator.workers_for(transaction, idle)
        return self.workers[chosen[0] - 1] if chosen else None

    def take_entry(self) -> Transaction:
        """Read the next transaction."""
        entry = self.entries[self.next_entry]
        self.next_entry += 2 if entry.part is Part.HEAD else 1
        assert entry.transaction is not None
        return entry.transaction

    def on_dispatch(self, worker: Worker) -> None:
        """Dispatch the next transaction."""
        is_half = self.entries[self.next_entry].part is Part.HALF
        transaction = self.take_entry()
        self.coordinator.on_dispatched(transaction, worker.number)
        self.register_for_commit(worker, transaction)
        worker.assign(transaction, is_half=is_half)
        worker.attempt += self.given_up.pop(transaction.id, 0)
        self.record(EventKind.SCHEDULED, worker)

    def register_for_commit(self, worker: Worker, transaction: Transaction) -> None:
        """Queue the engine commit."""
        del worker
        self.commit_order.register(transaction.id)

    def on_skip(self) -> None:
        """Skip an executed transaction (GTID auto-skip, worker bitmap)."""
        transaction = self.take_entry()
        self.coordinator.on_skipped(transaction)
        self.record(EventKind.SKIPPED, transaction=transaction.id)

    def on_half(self, worker: Worker) -> None:
        """Tell the worker that the rest of its transaction will not come."""
        worker.is_given_up = True

    def on_rotation(self) -> None:
        """Begin the source's next file."""
        self.next_entry += 1
        self.coordinator.on_rotation()
        self.record(EventKind.RELAY_ROTATED)

    # Workers.

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        """Return the worker's next step."""
        if worker.stage is Stage.ASSIGNED:
            return lambda: self.on_begin(worker)
        if worker.stage in (Stage.RETRYING, Stage.FINISHED):
            if not self.commit_order.is_turn_of(worker.job_id):
                return None
            if worker.stage is Stage.RETRYING:
                return lambda: self.on_begin(worker)
            if worker.is_half:
                return (lambda: self.on_given_up(worker)) if worker.is_given_up else None
            return lambda: self.on_engine_commit(worker)
        return None if self.is_blocked(worker) else (lambda: self.on_row(worker))

    def is_blocked(self, worker: Worker) -> bool:
        """Return whether the awaited transaction holds the row.

        If another one has taken it since, the server reports the wait again.
        """
        row = worker.waits_for_row
        return row is not None and self.store.holders.get(row) == worker.waits_for

    def on_begin(self, worker: Worker) -> None:
        """Begin an attempt."""
        worker.stage = Stage.APPLYING
        self.record(EventKind.BEGUN, worker)

    def on_row(self, worker: Worker) -> None:
        """Lock or apply a row."""
        worker.waits_for_row = None
        extra = self.extra_locks.get(worker.job_id)
        if extra is not None and (holder := self.store.lock(worker.job_id, extra)) is not None:
            self.on_lock_wait(worker, extra, holder)
            return
        row = worker.row
        if row is not None:
            applied = self.store.apply(worker.job_id, row)
            if applied.outcome is Outcome.LOCK_WAIT:
                assert applied.holder is not None
                self.on_lock_wait(worker, item_of(row), applied.holder)
                return
            self.record_row(worker, applied.outcome)
            if applied.outcome not in (Outcome.OK, Outcome.DISCARDED):
                self.on_error(worker)
                return
            worker.next_row += 1
        if worker.row is None:
            worker.stage = Stage.FINISHED

    def on_engine_commit(self, worker: Worker) -> None:
        """Commit, release the successor, and report."""
        transaction = worker.job_id
        self.store.engine_commit(transaction)
        self.executed.append(transaction)
        self.record(EventKind.ENGINE_COMMITTED, worker)
        self.commit_order.on_engine_commit(transaction)
        self.report(worker)

    def on_given_up(self, worker: Worker) -> None:
        """Roll half a transaction back, release the successor, and report."""
        transaction = worker.job_id
        self.store.roll_back(transaction)
        self.record(EventKind.ROLLED_BACK, worker, note=HALF)
        self.given_up[transaction] = worker.attempt
        self.commit_order.on_engine_commit(transaction)
        self.report(worker)

    def report(self, worker: Worker) -> None:
        """Report completion in one step."""
        self.coordinator.on_done(worker.job_id)
        worker.release()

    def on_lock_wait(self, worker: Worker, item: Item, holder: TransactionId) -> None:
        """Wait, and roll back a holder for which the wait would not end."""
        self.wait_for_row(worker, item, holder)
        waits = [worker]
        while (other := self.holder_for(waits[-1])) is not None and other not in waits:
            waits.append(other)
        victim = self.victim_of(waits, is_circle=other is worker)
        if victim is not None:
            self.on_deadlock(victim, to=waits[waits.index(victim) - 1])

    def wait_for_row(self, worker: Worker, item: Item, holder: TransactionId) -> None:
        """Wait for the holder's end."""
        self.record(
            EventKind.ROW_APPLIED,
            worker,
            outcome=Outcome.LOCK_WAIT,
            other=holder,
            row=worker.next_row if worker.row else None,
            items=frozenset({item}),
        )
        worker.waits_for_row, worker.waits_for = item, holder

    def holder_for(self, worker: Worker) -> Worker | None:
        """Return the worker that this one waits for, if any."""
        awaited = worker.waits_for if self.is_blocked(worker) else None
        return next((other for other in self.busy_workers if other.job_id == awaited), None)

    def victim_of(self, waits: list[Worker], *, is_circle: bool) -> Worker | None:
        """Return a holder that commits after its waiter; without commit order, a circle's latest.

        In ``waits`` each waits for the next.
        """
        if isinstance(self.commit_order, NoCommitOrder):
            return max(waits, key=lambda one: one.job_id) if is_circle else None
        waiter, holder = waits[:2]
        return holder if self.commit_order.is_before(waiter.job_id, holder.job_id) else None

    def on_deadlock(self, victim: Worker, *, to: Worker) -> None:
        """Roll the victim back."""
        self.store.roll_back(victim.job_id)
        self.record(EventKind.ROLLED_BACK, victim, other=to.job_id, note="commit order deadlock")
        if victim.attempt > RETRIES_MAX:
            self.on_error(victim)
            return
        victim.begin_again()
        self.record(EventKind.RETRIED, victim)

    def on_error(self, worker: Worker) -> None:
        """Fail and roll all back."""
        self.has_failed = True
        for other in self.busy_workers:
            if other.stage in (Stage.APPLYING, Stage.FINISHED):
                self.store.roll_back(other.job_id)
                if other is not worker:
                    self.record(EventKind.ROLLED_BACK, other)
        self.record(EventKind.FAILED, worker)

    # Optional steps.

    def on_read(self) -> None:
        """Take a reader's snapshot."""
        self.reads_left -= 1
        self.read(READER)

    def read(self, session: str) -> None:
        """Record a session's snapshot."""
        self.record(EventKind.READ, session=session, observed=self.store.snapshot())

    def on_checkpoint(self) -> None:
        """Save the executed prefix."""
        self.checkpoints_left -= 1
        saved = self.recovery.on_checkpoint(self)
        self.record(EventKind.POSITION_SAVED, transactions=tuple(saved))

    def on_crash(self) -> None:
        """Lose volatile state and restart."""
        self.crashes_left -= 1
        self.store.crash()
        for worker in self.workers:
            worker.release()
        self.given_up.clear()
        self.record(EventKind.CRASHED)
        self.record(EventKind.RECOVERED, transactions=tuple(self.executed))
        self.coordinator, self.commit_order = self.new_coordinator(), self.new_commit_order()
        self.next_entry = self.recovery.first_entry(self)

    # Recording.

    def record(self, kind: EventKind, worker: Worker | None = None, **fields: object) -> None:
        """Record an event."""
        if worker is not None:
            fields = {"worker": worker.number, "transaction": worker.job_id,
                      "attempt": worker.attempt, **fields}  # fmt: skip
        self.recorder.record(kind, **fields)

    def record_row(self, worker: Worker, outcome: Outcome) -> None:
        """Record the row change's result."""
        row = worker.row
        assert row is not None
        self.record(EventKind.ROW_APPLIED, worker, outcome=outcome, row=worker.next_row,
                    items=frozenset({item_of(row)}))  # fmt: skip
