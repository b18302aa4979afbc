"""Mutants of clients' locks and reads beside an applier."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from dataclasses import replace

from paraply.reference_impl.applier.worker import Worker
from paraply.reference_impl.certification.gtids import Gtid
from paraply.reference_impl.certification.write_set_items import ItemComposer
from paraply.reference_impl.composed.applier import Applier
from paraply.reference_impl.composed.group import ComposedGroup
from paraply.reference_impl.composed.member import ComposedMember
from paraply.reference_impl.composed.rows import Table, item_of_row
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.mutations.composed.registering import mutate
from paraply.vocabulary.events import Observation
from paraply.vocabulary.transactions import TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

MDEV_162 = "MDEV-162: row locks are held until the engine commit"
READS = "Bernstein, Hadzilacos, Goodman 1987: read, then write, under one lock"


class UnlocksWhenCertified(ComposedMember):
    """A certified transaction gives up its row locks."""

    def on_certified_here(self, transaction: TransactionId, gtid: Gtid) -> None:
        super().on_certified_here(transaction, gtid)
        self.table.unlock(transaction)


mutate(
    "composed_unlocks_when_certified",
    MDEV_162,
    "While a transaction waits for acknowledgements, another client reads and changes its row.",
    "rows_stay_locked_until_the_end",
    UnlocksWhenCertified,
)


class UnlocksWhenFlushed(ComposedMember):
    """A flushed group gives up its row locks."""

    def flush(self) -> None:
        group = self.flushable()
        super().flush()
        for transaction, _ in group:
            self.table.unlock(transaction)


mutate(
    "composed_unlocks_when_flushed",
    MDEV_162,
    "Row locks end with the binary log write, before the semi-sync wait.",
    "rows_stay_locked_until_the_end",
    UnlocksWhenFlushed,
)


class UnlocksWhenSent(ComposedMember):
    """Sending releases the row locks."""

    def change_rows(self, client: TransactionId, transaction: TransactionId) -> None:
        super().change_rows(client, transaction)
        self.table.unlock(transaction)


mutate(
    "composed_unlocks_when_sent",
    MDEV_162,
    "A transaction in flight to certification no longer holds its rows.",
    "rows_stay_locked_until_the_end",
    UnlocksWhenSent,
)


class ReadsWithoutLock(ComposedMember):
    """Clients read first and lock when they send."""

    def execute(self, kind: TransactionKind, rows: tuple[Item, ...]) -> None:
        super().execute(kind, rows)
        self.table.unlock(TransactionId(-self.clients))


mutate(
    "composed_client_reads_without_lock",
    READS,
    "The applier changes a row between a client's read and its write; the snapshot has the change.",
    "no_update_is_lost",
    ReadsWithoutLock,
)


class ForgetsThatItBrokeOff(ComposedMember):
    """A broken off transaction is sent all the same."""

    def break_off(self, client: TransactionId) -> None:
        self.table.roll_back(client)


mutate(
    "composed_broken_off_client_goes_on",
    "high-priority transactions of appliers: the victim must not commit",
    "The applier takes a client's row; the client sends what it had read before.",
    "no_update_is_lost",
    ForgetsThatItBrokeOff,
)


class SeesRelayLog(ComposedGroup):
    """Snapshots include what workers have begun."""

    def submit(self, member: Member, *args: object, **fields: object) -> TransactionId:
        one = self.members[member.name]
        before = one.executed
        begun = {worker.job_id for worker in one.applier.busy_workers}
        one.executed |= {one.gtids[transaction] for transaction in begun}
        transaction = super().submit(member, *args, **fields)  # type: ignore[arg-type]
        one.executed = before
        return transaction


mutate(
    "composed_snapshot_has_running_transactions",
    "WL#6833: snapshot_version is what has committed",
    "A client's snapshot names a transaction that a worker has begun and the client has not read.",
    "first_certified_wins",
    SeesRelayLog,
)


class KeepsRefusedRows(ComposedMember):
    """A refused transaction's changes become visible."""

    def on_refused_here(self, transaction: TransactionId) -> None:
        self.table.engine_commit(transaction)
        super().on_refused_here(transaction)


mutate(
    "composed_refused_rows_are_kept",
    "WL#6833: rollback of the refused transaction",
    "The origin keeps the rows of a transaction that certification refused.",
    "members_show_only_what_they_committed",
    KeepsRefusedRows,
)


class KeepsRefusedLocks(ComposedMember):
    """A refused transaction keeps its row locks."""

    def on_refused_here(self, transaction: TransactionId) -> None:
        holders = dict(self.table.holders)
        super().on_refused_here(transaction)
        self.table.holders = holders


mutate(
    "composed_refused_locks_are_kept",
    "InnoDB: lock_release at rollback",
    "An applier waits for ever for the row of a client that was refused.",
    "members_end_at_rest",
    KeepsRefusedLocks,
)


class RobsCertifiedClients(Applier):
    """Workers break off certified clients too."""

    def on_lock_wait(self, worker: Worker, item: Item, holder: TransactionId) -> None:
        if holder in self.member.sessions:
            self.store.roll_back(holder)
            self.on_row(worker)
        else:
            super().on_lock_wait(worker, item, holder)


mutate(
    "composed_applier_robs_sent_clients",
    "high-priority transactions of appliers: only uncertified victims",
    "A worker takes the row of a client's transaction that is on its way, without ending it.",
    "rows_stay_locked_until_the_end",
    RobsCertifiedClients,
)


class SkipsLockedRows(Applier):
    """Workers leave out rows that a client holds."""

    def on_lock_wait(self, worker: Worker, item: Item, holder: TransactionId) -> None:
        super().on_lock_wait(worker, item, holder)
        if holder in self.member.sessions:
            worker.waits_for_row = None
            worker.next_row += 1


mutate(
    "composed_applier_skips_locked_rows",
    "a lock wait is no permission to go on",
    "A worker goes on without the row that a client holds, and commits the rest.",
    "transactions_apply_whole",
    SkipsLockedRows,
)


class ShowsUncommittedRows(Table):
    """Readers see changes of clients before their commit."""

    def seen(self, composer: ItemComposer) -> tuple[Observation, ...]:
        latest = {
            item_of_row(composer, change.item): change.version.writer
            for changes in self.pending.values()
            for change in changes
        }
        return tuple(
            one._replace(writer=latest.get(one.item, one.writer)) for one in super().seen(composer)
        )


mutate(
    "composed_readers_see_waiting_transactions",
    "MDEV-162: phantom rows while the commit waits for acknowledgement",
    "A reader sees a transaction that still waits for acknowledgements.",
    "members_show_only_what_they_committed",
    ShowsUncommittedRows,
)


class WritesFirstRowOnly(ComposedGroup):
    """The write set that is sent has the first row only."""

    def send(self, message: object) -> None:
        request = getattr(message, "request", None)
        if request is not None:
            request = replace(request, items=request.items[:1])
            message = replace(message, request=request)  # type: ignore[type-var]
        super().send(message)  # type: ignore[arg-type]


mutate(
    "composed_write_set_is_cut_on_the_way",
    "WL#6833: certification needs every row",
    "Certification sees the first row of a transaction only.",
    "first_certified_wins",
    WritesFirstRowOnly,
)
