"""A group member with tables, clients and a parallel applier.

A client's transaction locks and reads its rows, changes them, is certified, flushed, acknowledged
by other members, and committed in the engine in the order of certification. It holds its row locks
until then (MDEV-162).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, cast

from paraply.reference_impl.certification.dialects import Dialect
from paraply.reference_impl.certification.gtids import Gtid
from paraply.reference_impl.composed.applier import Applier
from paraply.reference_impl.composed.rows import TABLE, Table, item_of_row, row_write
from paraply.reference_impl.composed.settings import Composition
from paraply.reference_impl.group.member import Member
from paraply.reference_impl.group.messages import DonorState, RelayEntry
from paraply.reference_impl.group.settings import Settings
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.transactions import RowWrite, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

if TYPE_CHECKING:
    from paraply.reference_impl.composed.group import ComposedGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A client's transaction before it is sent, with the values that it read."""

    kind: TransactionKind
    read: dict[Item, object]
    deleted: frozenset[Item] = frozenset()

    @property
    def alters(self) -> str:
        """Return the table that it alters; empty for none."""
        return TABLE.name if self.kind is TransactionKind.DDL else ""

    @property
    def uses_table(self) -> bool:
        """Return whether it holds the table's metadata lock, shared or exclusive."""
        return bool(self.read or self.alters)

    def changes(self, writer: TransactionId) -> tuple[RowWrite, ...]:
        """Return the row changes."""
        return tuple(
            row_write(row, value, None if row in self.deleted else writer)
            for row, value in self.read.items()
        )


class ComposedMember(Member):
    """A member whose relay log is applied by workers.

    ``table`` survives a crash up to its engine commits, and ``flushed`` (own transactions in the
    binary log) does, too.
    """

    group: ComposedGroup

    def __init__(self, name: str, dialect: Dialect, settings: Settings, recorder: Recorder) -> None:
        self.composition = cast("Composition", settings)
        self.table = Table(self.composition.rows)
        self.flushed: list[tuple[TransactionId, Gtid]] = []
        self.groups_flushed = 0
        self.clients = 0
        super().__init__(name, dialect, settings, recorder)

    def start(self) -> None:
        """Start with table, binary log and relay log."""
        super().start()
        self.table.crash()
        self.gtids: dict[TransactionId, Gtid] = {}
        self.executing: dict[TransactionId, Execution] = {}
        self.acknowledged: dict[TransactionId, set[str]] = {}
        self.unanswered: list[TransactionId] = []
        self.applier = Applier(self)

    # Clients.

    def execute(
        self, kind: TransactionKind, rows: tuple[Item, ...], deleted: frozenset[Item] = frozenset()
    ) -> None:
        """Lock and read a new transaction's rows."""
        self.clients += 1
        client = TransactionId(-self.clients)
        for row in rows:
            self.table.lock(client, row)
        self.executing[client] = Execution(
            kind=kind,
            read={row: self.table.committed(row).value for row in rows},
            deleted=deleted,
        )

    def break_off(self, client: TransactionId) -> None:
        """Roll an unsent transaction back: an applier needs its row."""
        del self.executing[client]
        self.table.roll_back(client)

    def apply_rows(self, transaction: TransactionId) -> bool:
        """Change a transaction's rows; return whether each was as it had read it."""
        outcomes = []
        for number, row in enumerate(self.recorder.transactions[transaction - 1].rows):
            outcomes.append(self.table.apply(transaction, row).outcome)
            image = row.after or row.before
            assert image is not None
            self.recorder.record(
                EventKind.ROW_APPLIED, member=self.name, transaction=transaction, row=number,
                outcome=outcomes[-1],
                items=frozenset({item_of_row(cast("Item", image[0]))}),
            )  # fmt: skip
        return set(outcomes) <= {Outcome.OK}

    def on_refused_here(self, transaction: TransactionId) -> None:
        """Roll the rows back, too."""
        super().on_refused_here(transaction)
        self.table.roll_back(transaction)

    def on_certified_here(self, transaction: TransactionId, gtid: Gtid) -> None:
        """Take a place in commit order, and keep the locks."""
        self.sessions[transaction].gtid = gtid
        self.gtids[transaction] = gtid
        if self.composition.one_commit_order:
            self.applier.commit_order.register(transaction)

    def open_transactions(self) -> int:
        """Return the number of clients with a transaction."""
        return len(self.sessions) + len(self.executing) + len(self.unanswered)

    # Group commit of own transactions.

    def flushable(self) -> list[tuple[TransactionId, Gtid]]:
        """Return unflushed own transactions; in one order, only those before all others."""
        own = dict(self.certified_sessions())
        if self.composition.one_commit_order:
            first = takewhile(own.__contains__, self.applier.commit_order.queue)
        else:
            first = takewhile(self.is_in_committed_view, own)
        return [pair for one in first if (pair := (one, own[one])) not in self.flushed]

    def is_in_committed_view(self, transaction: TransactionId) -> bool:
        """Return whether every earlier view change has committed."""
        return not any(
            entry.timestamp.is_view_change and entry.transaction < transaction
            for entry in self.relay_log
        )

    def certified_sessions(self) -> list[tuple[TransactionId, Gtid]]:
        """Return certified own transactions, flushed or not."""
        return super().committing()

    def flush(self) -> None:
        """Write a group to the binary log, and sync it."""
        group = self.flushable()
        self.groups_flushed += 1
        for kind in (EventKind.FLUSHED, EventKind.SYNCED):
            for transaction, gtid in group:
                self.recorder.record(
                    kind, member=self.name, transaction=transaction, gtid=str(gtid),
                    group=self.groups_flushed,
                )  # fmt: skip
        self.flushed += group

    def has_certified_before(self, transaction: TransactionId) -> bool:
        """Return whether an own transaction that was certified earlier has yet to commit."""
        return any(one < transaction for one, _ in self.certified_sessions())

    def committing(self) -> list[tuple[TransactionId, Gtid]]:
        """Return flushed own transactions whose turn it is; AFTER_SYNC, acknowledged ones."""
        return [
            (transaction, gtid)
            for transaction, gtid in self.flushed
            if self.is_turn_of(transaction)
            and (self.composition.after_commit or self.group.is_acknowledged(self, transaction))
        ]

    def is_turn_of(self, transaction: TransactionId) -> bool:
        """Return whether an own transaction is next in binary log and commit order."""
        if self.composition.one_commit_order:
            return self.applier.commit_order.is_turn_of(transaction)
        return self.flushed[0][0] == transaction

    def commit_session(self, transaction: TransactionId, gtid: Gtid) -> None:
        """Commit in the engine, free the rows; AFTER_SYNC, answer the client."""
        self.table.engine_commit(transaction)
        self.flushed.remove((transaction, gtid))
        super().commit_session(transaction, gtid)
        if self.composition.one_commit_order:
            self.applier.commit_order.on_engine_commit(transaction)
        self.unanswered.append(transaction)
        if not self.composition.after_commit:
            self.answer(transaction)

    def answerable(self) -> list[TransactionId]:
        """Return committed and acknowledged own transactions whose clients wait."""
        return [one for one in self.unanswered if self.group.is_acknowledged(self, one)]

    def answer(self, transaction: TransactionId) -> None:
        """Confirm the commit to the client."""
        self.unanswered.remove(transaction)
        self.recorder.record(
            EventKind.CLIENT_ACKNOWLEDGED, member=self.name, transaction=transaction
        )

    # The applier.

    def queue(self, entry: RelayEntry) -> None:
        """Write to the relay log, and hand it to the applier."""
        super().queue(entry)
        self.gtids[entry.transaction] = entry.gtid
        self.applier.receive(entry)

    def leave_relay_log(self, transaction: TransactionId) -> None:
        """Purge an executed transaction."""
        self.relay_log = [one for one in self.relay_log if one.transaction != transaction]

    def on_applied(self, transaction: TransactionId) -> None:
        """Count an applied transaction as executed."""
        gtid = self.gtids[transaction]
        self.leave_relay_log(transaction)
        self.executed |= {gtid}
        self.binlog.append((transaction, gtid))

    def excludes(self, transaction: TransactionId) -> bool:
        """Return whether a client's metadata lock keeps an applier's transaction from beginning."""
        known = self.recorder.transactions
        users = {
            one: known[one - 1].kind is TransactionKind.DDL
            for one in (transaction, *self.sessions)
            if known[one - 1].rows or known[one - 1].kind is TransactionKind.DDL
        }
        return transaction in users and len(users) > 1 and any(users.values())

    def applicable(self) -> list[RelayEntry]:
        """Return nothing: the applier has steps of its own."""
        return []

    # Recovery.

    def recover_binary_log(self) -> None:
        """Commit what was flushed before a crash."""
        for transaction, gtid in self.flushed:
            self.copy(transaction, gtid)
        self.flushed.clear()

    def copy(self, transaction: TransactionId, gtid: Gtid) -> None:
        """Change the rows and commit."""
        if not self.apply_rows(transaction):
            self.recorder.record(EventKind.FAILED, member=self.name, transaction=transaction)
        self.table.engine_commit(transaction)
        super().copy(transaction, gtid)

    def on_recovered(self, state: DonorState) -> None:
        """Drop the relay log from before the crash: recovery has copied it."""
        self.relay_log.clear()
        super().on_recovered(state)

    # Readers.

    def read(self, session: str) -> None:
        """Record a snapshot of all rows."""
        self.recorder.record(
            EventKind.READ, member=self.name, session=session, observed=self.table.seen()
        )
