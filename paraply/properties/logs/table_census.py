"""Changed tables, change counts and known keys."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from paraply.vocabulary.audit_result import TableSummary
from paraply.vocabulary.keys import RowKeys
from paraply.vocabulary.log import LoggedTransaction, Operation
from paraply.vocabulary.schema import TableSchema, UniqueKey

TABLES_MAX = 100_000
"""Summarised tables, in order of appearance."""

Schemas = Mapping[str, TableSchema | None]
NO_SCHEMAS: Schemas = MappingProxyType({})
JUDGE_TARGET = "judge a replica's own log with paraply verify"

_COLUMN = {Operation.INSERT: 0, Operation.UPDATE: 1, Operation.DELETE: 2}


class TableCensus:
    """Counts one log's changes per table."""

    def __init__(self, row_keys: RowKeys) -> None:
        self._row_keys = row_keys
        self._counts: dict[str, list[int]] = {}
        self._schemas: dict[str, TableSchema | None] = {}

    def observe(self, txn: LoggedTransaction) -> None:
        """Count the next transaction's rows."""
        for row in txn.rows:
            counts = self._counts.get(row.table)
            if counts is None:
                if len(self._counts) >= TABLES_MAX:
                    continue
                counts = self._counts[row.table] = [0, 0, 0]
            counts[_COLUMN[row.operation]] += 1
        for table in {row.table for row in txn.rows} & self._counts.keys():
            # Read the schema now, before a later DROP TABLE.
            self._schemas[table] = self._row_keys.schema_of(table)

    @property
    def schemas(self) -> Schemas:
        """Return changed tables' last definitions."""
        return self._schemas

    def forget(self) -> None:
        """Reset the counts."""
        self._counts.clear()
        self._schemas.clear()

    def summaries(self) -> list[TableSummary]:
        """Return changed tables' summaries, by name."""
        return [self._summary(table) for table in sorted(self._counts)]

    def _summary(self, table: str) -> TableSummary:
        inserts, updates, deletes = self._counts[table]
        schema = self._schemas.get(table)
        return TableSummary(
            name=table,
            inserts=inserts,
            updates=updates,
            deletes=deletes,
            keys=tuple(_show_key(schema, key) for key in schema.unique_keys) if schema else (),
            keys_known=schema is not None and schema.keys_known,
            sources=tuple(sorted(s.value for s in schema.sources)) if schema else (),
        )


def because(schema: TableSchema | None) -> str:
    """Return in parentheses why a table's keys are unknown, if that is known."""
    return f" ({schema.unknown_because})" if schema and schema.unknown_because else ""


def remedy_for_keys(schema: TableSchema | None, definition: str) -> str:
    """Return ``definition``, unless no definition makes the keys known."""
    if schema is not None and schema.unknown_because and schema.has_hidden_columns:
        return f"no definition helps: {JUDGE_TARGET}"
    return definition


def _show_key(schema: TableSchema, key: UniqueKey) -> str:
    parts = []
    for part in key.parts:
        known = part.column < len(schema.columns)
        name = schema.columns[part.column].name if known else ""
        length = f"({part.prefix_length})" if part.prefix_length else ""
        parts.append((name or f"@{part.column + 1}") + length)
    return f"{key.name}({','.join(parts)})"
