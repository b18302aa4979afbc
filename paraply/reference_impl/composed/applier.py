"""The parallel applier of a group member.

Its log grows as the member certifies, with the member's own stamps. Clients' transactions lock rows
of the same tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from paraply.reference_impl.applier.commit_order import CommitOrderQueue
from paraply.reference_impl.applier.coordinator import LogicalClock
from paraply.reference_impl.applier.recovery import Recovery
from paraply.reference_impl.applier.replica import Budget, Replica
from paraply.reference_impl.applier.source_log import Entry, Part, RelayLog
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.composed.rows import item_of_row
from paraply.reference_impl.group.messages import RelayEntry
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

if TYPE_CHECKING:
    from paraply.reference_impl.composed.member import ComposedMember


class CertificationOrder(CommitOrderQueue):
    """Transactions commit as certified, a member's own among those of others."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[TransactionId] = []

    def register(self, transaction: TransactionId) -> None:
        """Queue a certified transaction last."""
        self.queue.append(transaction)

    def is_turn_of(self, transaction: TransactionId) -> bool:
        """Return whether the transaction is first."""
        return self.queue[:1] == [transaction]

    def on_engine_commit(self, transaction: TransactionId) -> None:
        """Release the next transaction."""
        self.queue.remove(transaction)

    def is_before(self, one: TransactionId, other: TransactionId) -> bool:
        """Return whether ``one`` must commit first."""
        return self.queue.index(one) < self.queue.index(other)


class GtidSkip(Recovery):
    """Auto-skip by the member's executed set."""

    def __init__(self, member: ComposedMember) -> None:
        super().__init__()
        self.member = member

    def is_skipped(self, replica: Replica, transaction: Transaction) -> bool:
        """Return whether the member has executed its GTID."""
        del replica
        return self.member.gtids[transaction.id] in self.member.executed


class Applier(Replica):
    """A coordinator and workers behind a certifier."""

    commit_order: CertificationOrder

    def __init__(self, member: ComposedMember) -> None:
        super().__init__(
            RelayLog(),
            member.recorder,
            store=member.table,
            coordinator=LogicalClock,
            commit_order=CertificationOrder,
            recovery=GtidSkip(member),
            workers=member.composition.workers,
            budget=Budget(reads=0, crashes=0, checkpoints=0),
            extra_locks={},
        )
        self.member = member

    def receive(self, entry: RelayEntry) -> None:
        """Append a certified transaction with its stamp."""
        sent = self.recorder.transactions[entry.transaction - 1]
        self.entries.append(Entry(Part.WHOLE, replace(sent, timestamp=entry.timestamp)))
        self.commit_order.register(entry.transaction)

    def register_for_commit(self, worker: Worker, transaction: Transaction) -> None:
        """Keep the place from certification."""

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        """Return the worker's next step.

        It begins when no client's metadata lock excludes it. A view change commits after certified
        own ones.
        """
        if worker.stage is Stage.ASSIGNED and self.member.excludes(worker.job_id):
            return None
        is_last = worker.stage is Stage.FINISHED and worker.job.kind is TransactionKind.VIEW_CHANGE
        if is_last and self.member.has_certified_before(worker.job_id):
            return None
        return super().step_of(worker)

    def may_skip(self, transaction: Transaction) -> bool:
        """Wait as for dispatch: a skipped transaction may open a group, which forgets jobs."""
        return self.coordinator.may_dispatch(transaction)

    def on_skip(self) -> None:
        """Skip what recovery has copied."""
        transaction = self.entries[self.next_entry].transaction
        assert transaction is not None
        super().on_skip()
        self.commit_order.on_engine_commit(transaction.id)
        self.member.leave_relay_log(transaction.id)

    def on_engine_commit(self, worker: Worker) -> None:
        """Commit, and count the GTID as executed."""
        transaction = worker.job_id
        super().on_engine_commit(worker)
        self.member.on_applied(transaction)

    def on_lock_wait(self, worker: Worker, item: Item, holder: TransactionId) -> None:
        """Wait for a client's certification or commit, or break off its execution and try again."""
        if holder in self.member.executing:
            self.member.break_off(holder)
        elif any(other.job_id == holder for other in self.busy_workers):
            super().on_lock_wait(worker, item, holder)
        else:
            self.wait_for_row(worker, item, holder)

    def record(self, kind: EventKind, worker: Worker | None = None, **fields: object) -> None:
        """Record an event of the member, with items and GTID as certified."""
        transaction = worker.job_id if worker is not None else fields.get("transaction")
        if kind in (EventKind.ENGINE_COMMITTED, EventKind.SKIPPED):
            fields["gtid"] = str(self.member.gtids[TransactionId(int(str(transaction)))])
        items = fields.get("items")
        if isinstance(items, frozenset):
            fields["items"] = frozenset(item_of_row(row) for row in items)
        super().record(kind, worker, member=self.member.name, **fields)
