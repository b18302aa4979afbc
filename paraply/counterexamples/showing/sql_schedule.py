"""A history as SQL to run by hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.log import ABSENT, Operation, RowImage
from paraply.vocabulary.schema import Column, TableSchema
from paraply.vocabulary.sql_text import quoted, unique_key
from paraply.vocabulary.transactions import RowWrite

_SIZED = ("varchar", "char", "varbinary", "binary")


def sql_schedule(history: History) -> str:
    """Return SQL by session; empty without known rows.

    Each session (``w1>``) is one connection. Lock waits recur as in the history.
    """
    tables = {table.name: table for table in history.header.schema}
    if not tables or not any(one.rows for one in history.transactions):
        return ""
    lines = [f"{statement};" for statement in _setup(history)]
    lines.append("")
    for event in history.events:
        lines += _lines_of(event, history, tables)
    return "\n".join([*lines, ""])


def _setup(history: History) -> Iterator[str]:
    schemas = dict.fromkeys(
        table.name.partition(".")[0] for table in history.header.schema if "." in table.name
    )
    for name in schemas:
        yield f"CREATE DATABASE IF NOT EXISTS {quoted(name)}"
    yield from (_create(table) for table in _parents_first(history.header.schema))


def _parents_first(tables: Iterable[TableSchema]) -> Iterator[TableSchema]:
    left = {table.name: table for table in tables}
    while left:
        ready = [
            table
            for table in left.values()
            if not any(key.parent in left for key in table.foreign_keys if key.parent != table.name)
        ]
        for table in ready or list(left.values()):
            del left[table.name]
            yield table


def _create(table: TableSchema) -> str:
    parts = [_column(column) for column in table.columns]
    parts += [unique_key(table, key) for key in table.unique_keys]
    for key in table.foreign_keys:
        columns = ", ".join(quoted(table.columns[one].name) for one in key.columns)
        parents = ", ".join(map(quoted, key.parent_columns))
        parts.append(
            f"FOREIGN KEY ({columns}) REFERENCES {_table(key.parent)} ({parents}) "
            f"ON DELETE {key.on_delete} ON UPDATE {key.on_update}"
        )
    return f"CREATE TABLE {_table(table.name)} (\n  " + ",\n  ".join(parts) + "\n)"


def _column(column: Column) -> str:
    text = f"{quoted(column.name)} {column.type_name or 'int'}"
    if column.length and column.type_name in _SIZED:
        text += f"({column.length})"
    if column.collation not in ("", "binary"):
        text += f" COLLATE {column.collation}"
    return text if column.nullable else f"{text} NOT NULL"


def _lines_of(event: Event, history: History, tables: dict[str, TableSchema]) -> Iterator[str]:
    session = f"w{event.worker}" if event.worker else "reader"
    number = event.transaction
    match event.kind:
        case EventKind.BEGUN:
            yield f"{session}> BEGIN;  -- T{number}"
        case EventKind.ROW_APPLIED:
            yield f"{session}> {_change(event, history, tables)}"
        case EventKind.ENGINE_COMMITTED:
            yield f"{session}> COMMIT;  -- T{number}"
        case EventKind.ROLLED_BACK:
            yield f"{session}> ROLLBACK;  -- T{number}"


def _change(event: Event, history: History, tables: dict[str, TableSchema]) -> str:
    assert event.transaction is not None
    transaction = history.transaction(event.transaction)
    remark = ""
    if event.outcome not in (None, Outcome.OK):
        remark = f"  -- {event.outcome.value.replace('_', ' ')}"
    if transaction.statement:
        return f"{transaction.statement};{remark}"
    if event.row is None or event.row >= len(transaction.rows):
        return f"-- a change of its own for T{transaction.id}, not one of the log{remark}"
    row = transaction.rows[event.row]
    table = tables.get(row.table)
    if table is None:
        return f"-- a row of {row.table}, whose columns are not known{remark}"
    return f"{_statement(row, table)};{remark}"


def _statement(row: RowWrite, table: TableSchema) -> str:
    name = _table(row.table)
    if row.operation is Operation.INSERT:
        values = ", ".join(_literal(value) for value in row.after or ())
        return f"INSERT INTO {name} VALUES ({values})"
    where = " AND ".join(_equals(table, row.before, " <=> "))
    if row.operation is Operation.DELETE:
        return f"DELETE FROM {name} WHERE {where}"
    return f"UPDATE {name} SET {', '.join(_equals(table, row.after, ' = '))} WHERE {where}"


def _equals(table: TableSchema, image: RowImage | None, sign: str) -> Iterator[str]:
    for column, value in zip(table.columns, image or (), strict=False):
        if value is not ABSENT:
            yield f"{quoted(column.name)}{sign}{_literal(value)}"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return str(int(value)) if isinstance(value, bool) else str(value)
    if isinstance(value, bytes | bytearray):
        return f"X'{bytes(value).hex()}'"
    escaped = str(value).replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def _table(name: str) -> str:
    return ".".join(quoted(part) for part in name.split("."))
