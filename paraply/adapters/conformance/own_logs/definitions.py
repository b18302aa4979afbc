"""Table definitions as statements that a case can run."""

from __future__ import annotations

from paraply.vocabulary.schema import Column, TableSchema
from paraply.vocabulary.sql_text import column_name, quoted, unique_key

_SIZED = frozenset({"char", "varchar", "binary", "varbinary"})
_DEFAULT_LENGTH = 255
_TYPES = {"": "varbinary(255)", "null": "varbinary(255)", "bit": "bit(64)"}
_LISTS = frozenset({"enum", "set"})


def create_table(table: TableSchema) -> str:
    """Return CREATE TABLE with the columns and unique keys."""
    parts = [_column(place, column) for place, column in enumerate(table.columns)]
    parts += [unique_key(table, key) for key in table.unique_keys]
    return f"CREATE TABLE {_quoted_table(table.name)} ({', '.join(parts)})"


def _quoted_table(name: str) -> str:
    schema, _, table = name.partition(".")
    return f"{quoted(schema)}.{quoted(table)}"


def _column(place: int, column: Column) -> str:
    kind = column.type_name.partition(" ")[0]
    text = f"{quoted(column_name(place, column))} {_TYPES.get(kind, kind)}"
    if kind in _SIZED:
        text += f"({column.length or _DEFAULT_LENGTH})"
    if kind in _LISTS:
        text += "('')"
    if column.unsigned:
        text += " unsigned"
    if column.charset not in ("", "binary"):
        text += f" CHARACTER SET {column.charset}"
    if column.collation not in ("", "binary"):
        text += f" COLLATE {column.collation}"
    return text if column.nullable else f"{text} NOT NULL"
