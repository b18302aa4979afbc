"""Short ways to write a schema and row changes for the tests of keys."""

from __future__ import annotations

from itertools import count

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.vocabulary.log import (
    LoggedKind,
    LoggedTransaction,
    LogPosition,
    Operation,
    RowChange,
    table_of,
)

HERE = LogPosition(file="bin.000001", offset=4)
_ordinals = count(1)


def registry_of(*statements, default_schema="d"):
    """Return a registry that has followed these statements."""
    registry = SchemaRegistry()
    for sql in statements:
        registry.observe_statement(sql, default_schema, where="bin.000001:4")
    return registry


def insert(table, *values):
    return _change(table, Operation.INSERT, None, values)


def delete(table, *values):
    return _change(table, Operation.DELETE, values, None)


def update(table, before, after):
    return _change(table, Operation.UPDATE, before, after)


def _change(table, operation, before, after):
    return RowChange(
        table=f"d.{table}", operation=operation, before=before, after=after, position=HERE
    )


def transaction(*rows, kind=LoggedKind.ROWS, statements=()):
    return LoggedTransaction(
        ordinal=next(_ordinals),
        kind=kind,
        start=HERE,
        end_offset=100,
        rows=list(rows),
        statements=statements,
        default_schema="d",
    )


def keyed(registry, *rows):
    """Return a transaction of these rows with its keys filled in."""
    txn = transaction(*rows)
    KeyBuilder(registry).complete_transaction(txn)
    return txn


def conflict(one, two):
    """Return what two transactions conflict by, as the fields of a transaction define it."""
    found = {(key.table, key.index) for key in one.keys & (two.keys | two.shared_keys)}
    found |= {(key.table, key.index) for key in two.keys & one.shared_keys}
    return found


def may_conflict(one, two):
    """Return the tables in which they may conflict although they share no key."""

    def changed(txn):
        return {row.table for row in txn.rows} | txn.aspects

    both = changed(one) & changed(two)
    found = one.unkeyed_tables & two.unkeyed_tables
    found |= both & (one.partly_keyed_tables | two.partly_keyed_tables)
    found |= (one.reached_tables & changed(two)) | (two.reached_tables & changed(one))
    return {table_of(name) for name in found} - {""}
