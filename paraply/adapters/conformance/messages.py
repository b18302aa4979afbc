"""Encode the harness' messages, and decode row changes."""

from __future__ import annotations

from collections.abc import Iterable

from paraply.adapters.conformance.protocol import PROTOCOL_VERSION, ProtocolError, Role
from paraply.adapters.conformance.source import Entry
from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.schema import TableSchema
from paraply.vocabulary.transactions import RowWrite
from paraply.vocabulary.write_set import sorted_items

RETRIES_MAX = 20
"""Consecutive errors 1205 and 1213 of an attempt."""
_LETTER = {Operation.INSERT: "I", Operation.UPDATE: "U", Operation.DELETE: "D"}
_OPERATION = {letter: operation for operation, letter in _LETTER.items()}


def init_message(
    number: int,
    *,
    workers: int,
    seed: int,
    schemas: Iterable[TableSchema],
    commit_order: bool,
    resume: dict[str, object] | None,
    role: Role = Role.APPLIER,
) -> dict[str, object]:
    """Return ``init``."""
    return {
        "type": "init",
        "msg_id": number,
        "protocol": PROTOCOL_VERSION,
        "role": role.value,
        "workers": workers,
        "seed": seed,
        "schema": [schema_object(schema) for schema in schemas],
        "options": {"commit_order": commit_order, "retries": RETRIES_MAX},
        "resume": resume,
    }


def schema_object(schema: TableSchema) -> dict[str, object]:
    """Return a table's message form."""
    names = [column.name for column in schema.columns]
    return {
        "name": schema.name,
        "columns": [
            {
                "name": column.name,
                "type": column.type_name,
                "collation": column.collation,
                "nullable": column.nullable,
            }
            for column in schema.columns
        ],
        "keys": [
            {
                "name": key.name,
                "columns": [part.column for part in key.parts],
                "prefixes": [part.prefix_length for part in key.parts],
            }
            for key in schema.unique_keys
        ],
        "foreign_keys": [
            {
                "columns": [names[column] for column in key.columns],
                "parent": key.parent,
                "parent_columns": list(key.parent_columns),
                "on_delete": key.on_delete,
                "on_update": key.on_update,
            }
            for key in schema.foreign_keys
        ],
    }


def transaction_message(entry: Entry) -> dict[str, object]:
    """Return ``txn`` for a transaction entry."""
    transaction = entry.transaction
    assert transaction is not None
    assert transaction.timestamp is not None
    return {
        "type": "txn",
        "id": transaction.id,
        "gtid": transaction.gtid,
        "position": transaction.position,
        "lc": transaction.timestamp.last_committed,
        "sn": transaction.timestamp.sequence_number,
        "commit_id": transaction.commit_id,
        "domain": transaction.domain,
        "session": transaction.session,
        "kind": "ddl" if transaction.statement else "rows",
        "keys": sorted_items(transaction.write_set),
        "reads": list(entry.reads),
        "rows": [row_object(row) for row in transaction.rows],
        "statement": transaction.statement,
        "schema": [schema_object(one) for one in entry.schema] if transaction.statement else None,
    }


def row_object(row: RowWrite) -> dict[str, object]:
    """Return a row change's message form."""
    return {
        "op": _LETTER[row.operation],
        "table": row.table,
        "before": None if row.before is None else list(row.before),
        "after": None if row.after is None else list(row.after),
    }


def change_of(value: object) -> RowWrite:
    """Return an applier's row change, or raise ``ProtocolError``."""
    if not isinstance(value, dict):
        raise ProtocolError(f"'change' is {value!r}, no object")
    operation = _OPERATION.get(str(value.get("op")))
    table = value.get("table")
    before, after = _image(value.get("before")), _image(value.get("after"))
    if operation is None or not isinstance(table, str):
        raise ProtocolError(f"'change' has op {value.get('op')!r} on table {table!r}")
    if (before is None) != (operation is Operation.INSERT) or (after is None) != (
        operation is Operation.DELETE
    ):
        raise ProtocolError(f"'change' with op {value['op']} has the wrong images")
    return RowWrite(table=table, operation=operation, before=before, after=after)


def _image(value: object) -> RowImage | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise ProtocolError(f"a row image is {value!r}, no array")
    return tuple(_value(one) for one in value)


def _value(value: object) -> object:
    if isinstance(value, dict):
        try:
            return bytes.fromhex(str(value["hex"]))
        except (KeyError, ValueError):
            raise ProtocolError(f"a row value is {value!r}") from None
    return value
