"""Translate the source's binary log into transactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.live.observed import Tag
from paraply.vocabulary.log import LoggedKind, LoggedTransaction, RowChange
from paraply.vocabulary.timestamps import CommitId, LogicalTimestamp
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item, WriteSet

JOURNAL = ".journal"


class Keys:
    """The tables' keys after statements and log."""

    def __init__(self, statements: Iterable[str] = ()) -> None:
        self._registry = SchemaRegistry()
        self._builder = KeyBuilder(self._registry)
        for statement in statements:
            self._registry.observe_statement(statement, "", where="set-up")

    def complete(self, logged: LoggedTransaction) -> None:
        """Fill in a source transaction's keys, in log order."""
        self._builder.complete_transaction(logged)

    def items_of(self, change: RowChange) -> WriteSet:
        """Return the row's keys before and after."""
        images = (image for image in (change.before, change.after) if image is not None)
        return frozenset(
            str(key) for image in images for key in self._builder.keys_of(change.table, image) or ()
        )

    def primary(self, table: str, row: tuple[object, ...]) -> Item | None:
        """Return a row's item; None without a key."""
        keys = self._builder.keys_of(table, row)
        return str(keys[0]) if keys else None


@dataclass(slots=True)
class SourceLog:
    """The round's transactions and their rows."""

    transactions: tuple[Transaction, ...] = ()
    ids: dict[str, TransactionId] = field(default_factory=dict)
    """By GTID."""
    tags: dict[Tag, TransactionId] = field(default_factory=dict)
    tag_of: dict[TransactionId, Tag] = field(default_factory=dict)
    touched: dict[TransactionId, tuple[tuple[str, int, WriteSet], ...]] = field(
        default_factory=dict
    )
    """In order: table, first column, items."""
    writers: dict[Item, list[tuple[TransactionId, bool]]] = field(default_factory=dict)
    """In order, with the row's existence afterwards."""
    inserted_first: set[Item] = field(default_factory=set)
    """Rows absent at the start."""


def source_log(
    logged: Sequence[LoggedTransaction], keys: Keys, *, origin: str = "source"
) -> SourceLog:
    """Return the transactions, numbered from 1."""
    return numbered_log(
        ((TransactionId(number), one) for number, one in enumerate(logged, start=1)), keys, origin
    )


def numbered_log(
    logged: Iterable[tuple[TransactionId, LoggedTransaction]], keys: Keys, origin: str
) -> SourceLog:
    """Return the transactions under the given numbers."""
    log = SourceLog()
    transactions = []
    for transaction_id, one in logged:
        keys.complete(one)
        transactions.append(_transaction(one, transaction_id, origin))
        if one.gtid:
            log.ids[one.gtid] = transaction_id
        touched = []
        for change in one.rows:
            if change.table.endswith(JOURNAL) and change.after is not None:
                tag = change.after[0]
                if isinstance(tag, int):
                    log.tags[tag] = transaction_id
                    log.tag_of[transaction_id] = tag
            items = keys.items_of(change)
            image = change.after if change.after is not None else change.before
            if items and image is not None and isinstance(image[0], int):
                touched.append((change.table, image[0], items))
            _note_writer(log, keys, change, transaction_id)
        log.touched[transaction_id] = tuple(touched)
    log.transactions = tuple(transactions)
    return log


def _note_writer(log: SourceLog, keys: Keys, change: RowChange, writer: TransactionId) -> None:
    for image, is_there in ((change.before, False), (change.after, True)):
        item = None if image is None else keys.primary(change.table, image)
        if item is None:
            continue
        if item not in log.writers and is_there:
            log.inserted_first.add(item)
        versions = log.writers.setdefault(item, [])
        if versions and versions[-1][0] == writer:
            versions.pop()
        versions.append((writer, is_there))


def _transaction(
    logged: LoggedTransaction, transaction_id: TransactionId, origin: str
) -> Transaction:
    items: set[Item] = {str(key) for key in logged.keys}
    # Rows without a key share one item, their table.
    items |= set(logged.unkeyed_tables)
    if logged.kind is LoggedKind.DDL:
        kind = TransactionKind.DDL
    elif logged.kind is LoggedKind.ROWS:
        kind = TransactionKind.ROWS
    else:
        kind = TransactionKind.NO_WRITE_SET
    timestamp = None
    if logged.last_committed is not None and logged.sequence_number is not None:
        timestamp = LogicalTimestamp.as_recorded(logged.last_committed, logged.sequence_number)
    return Transaction(
        id=transaction_id,
        kind=kind,
        gtid=logged.gtid,
        origin=origin,
        write_set=frozenset(items) if kind is TransactionKind.ROWS else frozenset(),
        timestamp=timestamp,
        clock=logged.clock,
        commit_id=None if logged.commit_id is None else CommitId(logged.commit_id),
        domain=logged.domain,
        flags=logged.flags,
        rows=tuple(
            RowWrite(table=row.table, operation=row.operation, before=row.before, after=row.after)
            for row in logged.rows
        ),
        statement=" ".join(logged.statements)[:200],
        position=f"{logged.start.file.rpartition('/')[2]}:{logged.start.offset}",
    )
