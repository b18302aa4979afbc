"""Appliers with one fault in scheduling, commit order or the row store.

:mod:`~paraply.reference_impl.mutations.applier.recovery` has the other faults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paraply.reference_impl.applier.commit_order import CommitOrderQueue
from paraply.reference_impl.applier.coordinator import Database, LogicalClock, schema_of
from paraply.reference_impl.applier.replica import ApplierParts, Replica
from paraply.reference_impl.applier.row_store import RowStore
from paraply.reference_impl.applier.subject import ApplierSubject
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.mutants import Mutant, register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind, Observation
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId


def applier_mutant(
    name: str,
    *,
    family: str,
    source: str,
    fault: str,
    caught_by: str,
    parts: ApplierParts,
    dialect: str = "logical_clock",
    transactions: int = 4,
    rows: int = 3,
    **options: OptionValue,
) -> Mutant:
    """Register a mutant with replaced ``parts``."""
    return register_mutant(written_mutant(
        name=name, family=family, source=source, fault=fault, caught_by=caught_by,
        subject=ApplierSubject(parts),
        workload=Workload(
            transactions=transactions, rows=rows, dialect=dialect, options=options
        ),
    ))  # fmt: skip


class DoneBeforeCommit(Replica):
    """A worker reports completion before its commit."""

    def on_row(self, worker: Worker) -> None:
        """Report at the last row."""
        super().on_row(worker)
        if worker.stage is Stage.FINISHED:
            self.coordinator.on_done(worker.job_id)


class IgnoresGaps(LogicalClock):
    """A gap opens no group."""

    def is_gap(self, timestamp: LogicalTimestamp) -> bool:
        """Return False."""
        return False

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Wait for the mark, even without jobs."""
        timestamp = self.usable(transaction.timestamp)
        if self.opens_group(timestamp):
            return self.is_idle
        return self.has_committed_up_to(timestamp.last_committed)


class Forgetful(Replica):
    """A rollback marks its transaction done."""

    def on_deadlock(self, victim: Worker, *, to: Worker) -> None:
        """Roll back without retry."""
        self.store.roll_back(victim.job_id)
        self.record(EventKind.ROLLED_BACK, victim, other=to.job_id)
        self.coordinator.on_done(victim.job_id)
        victim.stage = Stage.FINISHED


class RetryKeepsItsPlace(Replica):
    """A retry skips the rows already applied."""

    def on_deadlock(self, victim: Worker, *, to: Worker) -> None:
        """Retry at the failed row."""
        reached = victim.next_row
        super().on_deadlock(victim, to=to)
        victim.next_row = reached

    def on_row(self, worker: Worker) -> None:
        """Apply the remaining rows."""
        if worker.row is None:
            worker.stage = Stage.FINISHED
        else:
            super().on_row(worker)


class RetryForgetsItsTurn(Replica):
    """A retried transaction commits out of turn."""

    def may_retry(self, worker: Worker) -> bool:
        """Return True."""
        return True

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        """Let retries commit out of turn."""
        if worker.stage is Stage.FINISHED and worker.attempt > 1:
            return lambda: self.on_engine_commit(worker)
        return super().step_of(worker)


class LenientQueue(CommitOrderQueue):
    """Tolerates commits out of turn."""

    def on_engine_commit(self, transaction: TransactionId) -> None:
        """Remove the ticket anywhere."""
        del self.tickets[transaction]
        self.next_ticket = min(self.tickets.values(), default=self.given + 1)


class DeadlockUnreported(Replica):
    """A holder never yields."""

    def must_yield(self, holder: Worker, *, to: Worker) -> bool:
        """Return False."""
        return False


class QueueNotAsked(LenientQueue):
    """Workers commit without a turn."""

    def is_turn_of(self, transaction: TransactionId) -> bool:
        """Return True."""
        return True


class RegistersAtBegin(Replica):
    """Commits queue at the begin."""

    def register_for_commit(self, worker: Worker, transaction: Transaction) -> None:
        """Do nothing yet."""

    def on_begin(self, worker: Worker) -> None:
        """Queue the transaction."""
        if worker.job_id not in self.commit_order.tickets:
            self.commit_order.register(worker.job_id)
        super().on_begin(worker)


class TicketOverflows(CommitOrderQueue):
    """Two bits count the next ticket."""

    def on_engine_commit(self, transaction: TransactionId) -> None:
        """Wrap around."""
        super().on_engine_commit(transaction)
        self.next_ticket %= 4


class RollbackKeepsRows(RowStore):
    """A rollback keeps the changes."""

    def roll_back(self, transaction: TransactionId) -> None:
        """Only unlock."""
        self.unlock(transaction)


class ShowsPending(RowStore):
    """A reader sees uncommitted changes."""

    def snapshot(self) -> tuple[Observation, ...]:
        """Return the newest changes."""
        seen = {item: version.writer for item, version in self.newest()}
        for changes in self.pending.values():
            seen |= {change.item: change.version.writer for change in changes}
        return tuple(Observation(item, writer) for item, writer in seen.items())


class AnyWorker(Database):
    """A bound schema may change workers."""

    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return the first idle worker."""
        return idle[:1]


class FirstSchemaOnly(Database):
    """Only a transaction's first schema is bound."""

    def schemas(self, transaction: Transaction) -> frozenset[int]:
        """Return one schema."""
        return frozenset(map(schema_of, sorted(transaction.write_set, key=str)[:1]))


class BarrierByNobody(Database):
    """A missing write set is no barrier."""

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Return True."""
        return True


SCHEDULING, ORDER, STORE = "scheduling", "commit order", "row store"

applier_mutant(
    "done_before_engine_commit", family=SCHEDULING, source="slave_worker_ends_group, order of done",
    fault="a worker reports done when its rows are applied, before the engine commit",
    caught_by="starts_respect_last_committed", parts=ApplierParts(replica=DoneBeforeCommit),
)  # fmt: skip
applier_mutant(
    "gap_is_waited_for", family=SCHEDULING, source="gh-ost pull request 1692, sparse numbers",
    fault="a burned sequence number is waited for, and nobody bears it",
    caught_by="applier_reaches_the_end", parts=ApplierParts(logical_clock=IgnoresGaps),
)  # fmt: skip
applier_mutant(
    "schema_goes_to_any_worker", family=SCHEDULING, source="replica_parallel_type=DATABASE",
    fault="two transactions of one schema run in two workers",
    caught_by="rows_apply_as_logged", parts=ApplierParts(database=AnyWorker), dialect="database",
)  # fmt: skip
applier_mutant(
    "only_first_schema_is_bound", family=SCHEDULING, source="OVER_MAX_DBS",
    fault="a transaction over two schemas is ordered in the first one only",
    caught_by="rows_apply_as_logged", parts=ApplierParts(database=FirstSchemaOnly),
    dialect="database",
)  # fmt: skip
applier_mutant(
    "barrier_goes_to_any_worker", family=SCHEDULING, source="replica_parallel_type=DATABASE",
    fault="a transaction without write set runs beside others",
    caught_by="no_conflicting_parallel_apply", parts=ApplierParts(database=BarrierByNobody),
    dialect="database",
)  # fmt: skip
applier_mutant(
    "victim_is_forgotten", family=ORDER, source="gh-ost pull request 1454: errors only logged",
    fault="a transaction that was rolled back counts as done and is never retried",
    caught_by="final_state_is_the_sources", parts=ApplierParts(replica=Forgetful),
    extra_locks=True, sessions=1, rotations=0, collections=0, barriers=False,
)  # fmt: skip
applier_mutant(
    "retry_keeps_its_place", family=ORDER, source="MDEV-8302 and kin: what a retry repeats",
    fault="a retry does not repeat the rows that were rolled back",
    caught_by="final_state_is_the_sources", parts=ApplierParts(replica=RetryKeepsItsPlace),
    extra_locks=True, sessions=1, rotations=0, collections=0, barriers=False,
)  # fmt: skip
applier_mutant(
    "retry_forgets_its_turn", family=ORDER, source="MDEV-12746",
    fault="a retried transaction is no longer registered for the commit order",
    caught_by="engine_commits_follow_the_log",
    parts=ApplierParts(replica=RetryForgetsItsTurn, commit_order=LenientQueue),
    extra_locks=True, sessions=1, rotations=0, collections=0, barriers=False, workers=3,
)  # fmt: skip
applier_mutant(
    "deadlock_is_not_reported", family=ORDER, source="MySQL bugs 87796, 89247",
    fault="a row lock that waits for commit order is not reported, so nobody yields",
    caught_by="applier_reaches_the_end", parts=ApplierParts(replica=DeadlockUnreported),
    extra_locks=True, sessions=1, rotations=0, collections=0, barriers=False,
)  # fmt: skip
applier_mutant(
    "commit_order_is_not_asked", family=ORDER, source="MySQL bug 89195",
    fault="workers commit whenever they are ready",
    caught_by="engine_commits_follow_the_log", parts=ApplierParts(commit_order=QueueNotAsked),
)  # fmt: skip
applier_mutant(
    "registers_at_begin", family=ORDER, source="Commit_order_manager::register_trx",
    fault="the commit order is the order in which workers begin",
    caught_by="engine_commits_follow_the_log", parts=ApplierParts(replica=RegistersAtBegin),
)  # fmt: skip
applier_mutant(
    "commit_ticket_overflows", family=ORDER, source="MySQL bug 103636",
    fault="after the counter wraps nobody is granted the next turn",
    caught_by="applier_reaches_the_end", parts=ApplierParts(commit_order=TicketOverflows),
)  # fmt: skip
applier_mutant(
    "rollback_keeps_rows", family=STORE, source="MDEV-7458: what a rollback must undo",
    fault="a rolled back attempt leaves its row changes",
    caught_by="rows_apply_as_logged", parts=ApplierParts(store=RollbackKeepsRows),
    extra_locks=True, sessions=1, rotations=0, collections=0, barriers=False,
)  # fmt: skip
applier_mutant(
    "reader_sees_pending_rows", family=STORE, source="WL#4648, any-time consistency",
    fault="a snapshot shows rows of transactions that have not committed",
    caught_by="readers_see_prefixes", parts=ApplierParts(store=ShowsPending),
)  # fmt: skip
