"""Table definitions as statements that a case can run."""

from __future__ import annotations

from paraply.vocabulary.schema import Column, TableSchema, UniqueKey

_SIZED = frozenset({"char", "varchar", "binary", "varbinary"})
_DEFAULT_LENGTH = 255
_TYPES = {"": "varbinary(255)", "null": "varbinary(255)", "bit": "bit(64)"}
_LISTS = frozenset({"enum", "set"})


def create_table(table: TableSchema) -> str:
    """Return CREATE TABLE with the columns and unique keys."""
    parts = [_column(place, column) for place, column in enumerate(table.columns)]
    parts += [_key(table, key) for key in table.unique_keys]
    return f"CREATE TABLE {_quoted_table(table.name)} ({', '.join(parts)})"


def _quoted_table(name: str) -> str:
    schema, _, table = name.partition(".")
    return f"{_quoted(schema)}.{_quoted(table)}"


def column_name(place: int, column: Column) -> str:
    """Return a column's name; minimal table maps have none."""
    return column.name or f"c{place + 1}"


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _column(place: int, column: Column) -> str:
    kind = column.type_name.partition(" ")[0]
    text = f"{_quoted(column_name(place, column))} {_TYPES.get(kind, kind)}"
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


def _key(table: TableSchema, key: UniqueKey) -> str:
    parts = ", ".join(
        _quoted(column_name(part.column, table.columns[part.column]))
        + (f"({part.prefix_length})" if part.prefix_length else "")
        for part in key.parts
    )
    word = "PRIMARY KEY" if key.name == "PRIMARY" else f"UNIQUE KEY {_quoted(key.name)}"
    return f"{word} ({parts})"
