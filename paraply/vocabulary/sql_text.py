"""Names and keys as SQL of MySQL and MariaDB writes them."""

from __future__ import annotations

from paraply.vocabulary.schema import Column, TableSchema, UniqueKey


def quoted(name: str) -> str:
    """Return a quoted name."""
    return "`" + name.replace("`", "``") + "`"


def column_name(place: int, column: Column) -> str:
    """Return a column's name; minimal table maps have none."""
    return column.name or f"c{place + 1}"


def unique_key(table: TableSchema, key: UniqueKey) -> str:
    """Return a PRIMARY or UNIQUE key as CREATE TABLE defines it."""
    parts = ", ".join(
        quoted(column_name(part.column, table.columns[part.column]))
        + (f"({part.prefix_length})" if part.prefix_length else "")
        for part in key.parts
    )
    word = "PRIMARY KEY" if key.name == "PRIMARY" else f"UNIQUE KEY {quoted(key.name)}"
    return f"{word} ({parts})"
