"""The source's log: row images from a database, timestamps from ``stamps`` or the case."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple

from paraply.adapters.conformance.database import Database
from paraply.adapters.conformance.stamps import SourceClock, Stamps, timestamp
from paraply.adapters.conformance.tables import tables_of
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LoggedTransaction, Operation, RowImage
from paraply.vocabulary.schema import TableSchema
from paraply.vocabulary.timestamps import CommitId
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

SOURCE_REFUSED = register(
    "P221",
    "the source refuses transaction {transaction} of the case: {reason}",
    "write a workload that a database accepts when it runs serially",
)

SOURCE_UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
_BYTES_PER_TRANSACTION = 100
_FIRST_OFFSET = 4


class EntryKind(Enum):
    """Kinds of log entries."""

    TRANSACTION = "transaction"
    ROTATE = "rotate"
    """A new file, where sequence numbers restart from 1."""
    DRAIN = "drain"
    """The applier must finish first (STOP, FTWRL, a backup)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A log entry; only some have ``transaction``."""

    kind: EntryKind
    file: str
    transaction: Transaction | None = None
    reads: tuple[Item, ...] = ()
    """Parent keys that must stay unchanged."""
    schema: tuple[TableSchema, ...] = ()
    """The replica's tables after a schema change."""


class Insert(NamedTuple):
    """INSERT of a row in column order."""

    table: str
    values: tuple[object, ...]


class Update(NamedTuple):
    """UPDATE of the row ``where`` identifies."""

    table: str
    where: Mapping[str, object]
    values: Mapping[str, object]


class Delete(NamedTuple):
    """DELETE of the row ``where`` identifies."""

    table: str
    where: Mapping[str, object]


Change = Insert | Update | Delete


def insert(table: str, *values: object) -> Insert:
    """Return an INSERT."""
    return Insert(table, values)


def update(table: str, where: Mapping[str, object], **values: object) -> Update:
    """Return an UPDATE of one row."""
    return Update(table, where, values)


def delete(table: str, **where: object) -> Delete:
    """Return a DELETE."""
    return Delete(table, where)


class SourceLog:
    """A source that runs and logs transactions serially.

    ``target`` gives differing replica tables. The source's keys decide timestamps, the replica's
    conflicts.
    """

    def __init__(
        self, *statements: str, target: tuple[str, ...] = (), stamps: Stamps = Stamps.WRITESET
    ) -> None:
        self.stamps = stamps
        self.target_schema = target or statements
        self._target_statements = target
        self.database = Database(statements)
        self.entries: list[Entry] = []
        self._target = tables_of(self.target_schema)
        self._clock = SourceClock(stamps)
        self._clock_run = 0
        self._file = 1
        self._offset = _FIRST_OFFSET
        self._items: dict[ConflictKey, Item] = {}
        self._items_of: dict[RowWrite, frozenset[Item]] = {}
        self._statements = statements
        self._script: list[tuple[TransactionId | None, Callable[[SourceLog], object]]] = []
        self._has_given_timestamps = False

    def only(self, kept: Collection[int]) -> SourceLog | None:
        """Return the log of these transaction ids alone.

        Dependents of others are left out. None for explicit timestamps, which would name missing
        transactions.
        """
        return self._again(self.stamps, kept)

    def stamped(self, stamps: Stamps) -> SourceLog:
        """Return the log with other timestamps, unless explicit."""
        return (None if stamps is self.stamps else self._again(stamps)) or self

    def _again(self, stamps: Stamps, kept: Collection[int] | None = None) -> SourceLog | None:
        if self._has_given_timestamps:
            return None
        log = SourceLog(*self._statements, target=self._target_statements, stamps=stamps)
        for number, step in self._script:
            if kept is not None and number is not None and number not in kept:
                continue
            try:
                step(log)
            except ParaplyError:
                log.forget_open_transaction()
        return log

    @property
    def transactions(self) -> tuple[Transaction, ...]:
        """Return the logged transactions."""
        return tuple(e.transaction for e in self.entries if e.transaction is not None)

    @property
    def source_schema(self) -> tuple[str, ...]:
        """Return the source's schema statements."""
        return self._statements

    @property
    def file(self) -> str:
        """Return the current file name."""
        return f"bin.{self._file:06d}"

    def transaction(
        self,
        *changes: Change,
        session: str = "",
        domain: int | None = None,
        last_committed: int | None = None,
        sequence_number: int | None = None,
        kind: TransactionKind = TransactionKind.ROWS,
    ) -> Transaction:
        """Run and log one transaction.

        ``last_committed`` and ``sequence_number`` override the clock from here on. ``ParaplyError``
        P221 if the source cannot run it.
        """
        number = TransactionId(len(self.transactions) + 1)
        rows = tuple(self._run(number, change) for change in changes)
        self._has_given_timestamps |= (last_committed, sequence_number) != (None, None)

        def again(log: SourceLog) -> object:
            return log.transaction(*changes, session=session, domain=domain, kind=kind)

        self._script.append((number, again))
        tables = self.database.tables
        logged = tables.keyed(rows) if rows else None
        self.database.engine_commit(number)
        is_same = logged is not None and self._target is tables
        there = logged if logged is not None and is_same else self._target.keyed(rows)
        return self._log(
            number,
            kind=kind,
            logged=logged if kind is TransactionKind.ROWS else None,
            # Servers log a transaction without rows as ordered with all others, but
            # running it in parallel is harmless.
            items=self._items_in(there) if rows else [f"nothing of {number}"],
            reads=tuple(self._item(key) for key in _sorted(there.shared_keys)),
            rows=rows,
            session=session,
            domain=domain,
            last_committed=last_committed,
            sequence_number=sequence_number,
        )

    def ddl(self, statement: str, *, session: str = "", domain: int | None = None) -> Transaction:
        """Run and log a schema change."""
        number = TransactionId(len(self.transactions) + 1)
        applied = self.database.execute(number, statement)
        if applied.outcome is not Outcome.OK:
            raise ParaplyError(SOURCE_REFUSED, transaction=number, reason=applied.note)
        self.database.engine_commit(number)
        self._target = self._target.after(statement)
        self._items_of.clear()
        again = partial(SourceLog.ddl, statement=statement, session=session, domain=domain)
        self._script.append((number, again))
        return self._log(
            number,
            kind=TransactionKind.DDL,
            logged=None,
            statement=statement,
            session=session,
            domain=domain,
        )

    def items_of(self, change: RowWrite) -> frozenset[Item]:
        """Return the items written at the replica."""
        try:
            return self._items_of[change]
        except KeyError:
            found = frozenset(self._items_in(self._target.keyed((change,))))
            self._items_of[change] = found
            return found
        except TypeError:  # A value that the applier composed cannot be hashed.
            return frozenset(self._items_in(self._target.keyed((change,))))

    def rotate(self) -> None:
        """Begin a file and clock; merged logs continue."""
        self._script.append((None, SourceLog.rotate))
        self._clock = self._clock.rotated()
        if self.stamps is Stamps.MERGED:
            return
        self._file += 1
        self._offset = _FIRST_OFFSET
        self._clock_run += 1
        self.entries.append(Entry(kind=EntryKind.ROTATE, file=self.file))

    def drain(self) -> None:
        """Require the applier to finish here."""
        self._script.append((None, SourceLog.drain))
        self.entries.append(Entry(kind=EntryKind.DRAIN, file=self.file))

    def forget_open_transaction(self) -> None:
        """Undo a refused transaction."""
        self.database.roll_back(len(self.transactions) + 1)

    def skip_numbers(self, count: int) -> None:
        """Skip sequence numbers, as filters do."""
        self._script.append((None, partial(SourceLog.skip_numbers, count=count)))
        self._clock.number += count

    def _log(
        self,
        number: TransactionId,
        *,
        kind: TransactionKind,
        logged: LoggedTransaction | None,
        items: Sequence[Item] = (),
        reads: tuple[Item, ...] = (),
        rows: tuple[RowWrite, ...] = (),
        statement: str = "",
        session: str = "",
        domain: int | None = None,
        last_committed: int | None = None,
        sequence_number: int | None = None,
    ) -> Transaction:
        if sequence_number is not None:
            self._clock.number = sequence_number - 1
        stamp = self._clock.stamp(logged, session)
        if last_committed is not None:
            stamp = timestamp(last_committed, stamp.sequence_number)
        transaction = Transaction(
            id=number,
            kind=kind,
            gtid=f"{SOURCE_UUID}:{number}",
            session=session,
            write_set=frozenset(items) if kind is TransactionKind.ROWS else frozenset(),
            timestamp=stamp,
            clock=self._clock_run,
            commit_id=CommitId(self._clock.group),
            domain=domain,
            rows=rows,
            statement=statement,
            position=f"{self.file}:{self._offset}",
        )
        self._offset += _BYTES_PER_TRANSACTION
        self.entries.append(
            Entry(
                kind=EntryKind.TRANSACTION,
                file=self.file,
                transaction=transaction,
                reads=reads,
                schema=self._target.schemas if statement else (),
            )
        )
        return transaction

    def _run(self, number: TransactionId, change: Change) -> RowWrite:
        row = self._row_write(number, change)
        applied = self.database.apply(number, row)
        if applied.outcome is not Outcome.OK:
            reason = applied.note or applied.outcome.value.replace("_", " ")
            raise ParaplyError(SOURCE_REFUSED, transaction=number, reason=reason)
        return row

    def _row_write(self, number: TransactionId, change: Change) -> RowWrite:
        if isinstance(change, Insert):
            return RowWrite(table=change.table, operation=Operation.INSERT, after=change.values)
        before = self._the_row(number, change.table, change.where)
        if isinstance(change, Delete):
            return RowWrite(table=change.table, operation=Operation.DELETE, before=before)
        after = list(before)
        for name, value in change.values.items():
            after[self._column(number, change.table, name)] = value
        return RowWrite(
            table=change.table, operation=Operation.UPDATE, before=before, after=tuple(after)
        )

    def _the_row(self, number: TransactionId, table: str, where: Mapping[str, object]) -> RowImage:
        wanted = {self._column(number, table, name): value for name, value in where.items()}
        found = [
            image
            for image in self.database.rows_of(table)
            if all(image[at] == value for at, value in wanted.items())
        ]
        if not found:
            raise ParaplyError(
                SOURCE_REFUSED, transaction=number, reason=f"{table} has no row with {where}"
            )
        return found[0]

    def _column(self, number: TransactionId, table: str, name: str) -> int:
        schema = self.database.tables.schema(table)
        position = None if schema is None else schema.column_index(name)
        if position is None:
            raise ParaplyError(
                SOURCE_REFUSED, transaction=number, reason=f"{table} has no column {name}"
            )
        return position

    def _items_in(self, logged: LoggedTransaction) -> list[Item]:
        """Keyless rows share one item per table."""
        keyless = [f"{table}.*" for table in sorted(logged.unkeyed_tables)]
        return [*(self._item(key) for key in _sorted(logged.keys)), *keyless]

    def _item(self, key: ConflictKey) -> Item:
        """One text for all spellings that collate alike."""
        return self._items.setdefault(key, str(key))


def _sorted(keys: frozenset[ConflictKey]) -> list[ConflictKey]:
    return sorted(keys, key=lambda key: (key.table, key.index, repr(key.values)))
