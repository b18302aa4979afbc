"""Logged transactions as steps of a case, or why they cannot be one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from decimal import Decimal
from enum import Enum

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.keys.collations import text_of
from paraply.adapters.binlog.schema.ddl import CreateTable
from paraply.adapters.binlog.schema.ddl_parser import parse_statement
from paraply.vocabulary.log import (
    ABSENT,
    UNKNOWN,
    LoggedKind,
    LoggedTransaction,
    Operation,
    RowChange,
    RowImage,
)
from paraply.vocabulary.schema import Column, TableSchema
from paraply.vocabulary.transactions import RowWrite

TEXT_TYPES = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext"})
ROWS_MAX = 300
"""Row changes of a transaction; more take seconds a run."""


class Unusable(Enum):
    """Why a transaction is in no case: what it is, and a remedy."""

    CUT = ("without its end", "give the following file, too")
    STATEMENT = ("without recorded rows (a statement)", "log with binlog_format=ROW")
    XA = ("an XA transaction", "none: cases have no XA transactions")
    EVENT = ("a view change or an incident", "none: it has no rows")
    DDL = (
        "another statement than CREATE TABLE",
        "none: the log is cut there, and a new case begins",
    )
    UNDECODED = (
        "with rows that cannot be decoded",
        "see what `paraply audit` reports about the file, or raise --memory",
    )
    NO_SCHEMA = (
        "on a table with unknown columns or keys",
        "give --schema, or log with binlog_row_metadata=FULL",
    )
    FOREIGN_KEY = (
        "on a table with a foreign key, or its parent",
        "none: the log does not show all rows that a foreign key reads or changes",
    )
    HIDDEN = ("on a table with hidden columns", "none: cases have no functional keys")
    MISFIT = (
        "with rows that do not fit the table definition",
        "give the --schema of the time when the log begins",
    )
    PARTIAL = (
        "with partial row images",
        "log with binlog_row_image=FULL and without PARTIAL_JSON",
    )
    LARGE = (f"with more than {ROWS_MAX} row changes", "none: a run would take too long")
    ALONE = ("without rows, between two borders", "none: there is nothing to apply")
    CONTRADICTORY = (
        "that contradicts itself or its table definition",
        "give the --schema of the time when the log begins",
    )

    @property
    def what(self) -> str:
        """Return what the transaction is."""
        return self.value[0]

    @property
    def remedy(self) -> str:
        """Return what makes such transactions usable."""
        return self.value[1]


class UnusableError(Exception):
    """The transaction cannot be a step."""

    def __init__(self, reason: Unusable) -> None:
        super().__init__(reason.what)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A transaction of a case: rows, or one CREATE TABLE.

    ``tables`` are the definitions of changed or created tables. Without recorded metadata,
    ``last_committed`` and ``sequence_number`` are None.
    """

    rows: tuple[RowWrite, ...] = ()
    tables: tuple[TableSchema, ...] = ()
    creates: bool = False
    clock: int = 0
    last_committed: int | None = None
    sequence_number: int | None = None


def take(txn: LoggedTransaction, keys: KeyBuilder) -> Step:
    """Return the step and complete the transaction's keys; raises ``UnusableError``."""
    statement = parse_statement(txn.statements[0]) if len(txn.statements) == 1 else None
    created, is_new = "", False
    if txn.is_ddl and isinstance(statement, CreateTable) and not statement.from_query:
        created = statement.table.within(txn.default_schema)
        is_new = keys.registry.table(created) is None
    keys.complete_transaction(txn)
    step = Step(
        clock=txn.clock, last_committed=txn.last_committed, sequence_number=txn.sequence_number
    )
    _require_kind(txn)
    if not txn.is_ddl:
        return _with_rows(step, txn, keys)
    if txn.rows:
        raise UnusableError(Unusable.DDL)
    if is_new:
        return replace(step, tables=(_usable(created, keys),), creates=True)
    raise UnusableError(Unusable.DDL)


def _require_kind(txn: LoggedTransaction) -> None:
    reasons = {
        LoggedKind.STATEMENT: Unusable.STATEMENT,
        LoggedKind.XA: Unusable.XA,
        LoggedKind.VIEW_CHANGE: Unusable.EVENT,
        LoggedKind.INCIDENT: Unusable.EVENT,
    }
    if not txn.complete:
        raise UnusableError(Unusable.CUT)
    if txn.undecoded_tables:
        raise UnusableError(Unusable.UNDECODED)
    if txn.kind in reasons:
        raise UnusableError(reasons[txn.kind])
    if txn.flags & {"rolled_back", "partly_rolled_back"}:
        raise UnusableError(Unusable.STATEMENT)


def _with_rows(step: Step, txn: LoggedTransaction, keys: KeyBuilder) -> Step:
    if len(txn.rows) > ROWS_MAX:
        raise UnusableError(Unusable.LARGE)
    tables = {name: _usable(name, keys) for name in dict.fromkeys(row.table for row in txn.rows)}
    rows = tuple(_row(row, tables[row.table]) for row in txn.rows)
    return replace(step, rows=rows, tables=tuple(tables.values()))


def _usable(name: str, keys: KeyBuilder) -> TableSchema:
    table = keys.registry.table(name)
    if table is None or not table.columns or not table.keys_known:
        raise UnusableError(Unusable.NO_SCHEMA)
    if table.foreign_keys or keys.registry.referencing(name):
        raise UnusableError(Unusable.FOREIGN_KEY)
    if table.has_hidden_columns:
        raise UnusableError(Unusable.HIDDEN)
    return table


def _row(row: RowChange, table: TableSchema) -> RowWrite:
    before, after = row.before, row.after
    if before is not None and after is not None and len(before) == len(after):
        after = tuple(old if new is ABSENT else new for old, new in zip(before, after, strict=True))
    return RowWrite(
        table=table.name,
        operation=row.operation,
        before=_image(before, table) if row.operation is not Operation.INSERT else None,
        after=_image(after, table) if row.operation is not Operation.DELETE else None,
    )


def _image(image: RowImage | None, table: TableSchema) -> RowImage:
    if image is None or len(image) != len(table.columns):
        raise UnusableError(Unusable.MISFIT)
    return tuple(_value(*one) for one in zip(image, table.columns, strict=True))


def _value(value: object, column: Column) -> object:
    """Return a value as clients see it."""
    if value is ABSENT or value is UNKNOWN or is_dataclass(value):
        raise UnusableError(Unusable.PARTIAL)
    if isinstance(value, bytes | bytearray):
        data = bytes(value)
        is_text = column.type_name in TEXT_TYPES and column.collation != "binary"
        text = text_of(column.charset)(data) if is_text else None
        return data if text is None else text
    if value is None or isinstance(value, int | float | str):
        return value
    return str(value) if isinstance(value, Decimal) else repr(value)


def rows_count(steps: Sequence[Step]) -> int:
    """Return the number of row changes."""
    return sum(len(step.rows) for step in steps)
