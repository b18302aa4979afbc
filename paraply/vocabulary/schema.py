"""Tables, columns and keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum


class SchemaSource(Enum):
    """Source of a table definition."""

    TABLE_MAP = "table-map metadata"
    LOGGED_DDL = "DDL in the log"
    DUMP = "--schema"
    LIVE = "live server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column; ``type_name`` is the lower-case SQL type.

    ``collation`` is ``binary`` for byte strings. ``length`` is in characters, or bytes for binary.
    """

    name: str
    type_name: str = ""
    collation: str = ""
    nullable: bool = True
    unsigned: bool = False
    length: int = 0
    generated: bool = False
    virtual: bool = False
    """Generated, and not stored."""
    visible: bool = True
    auto_increment: bool = False
    omitted_is_null: bool = False
    """An insert that gives no value leaves NULL, or what the type has for it."""
    omitted_value: int | None = field(default=None, compare=False)
    """The number that it leaves, if known: servers write a default in more than one way."""
    charset: str = ""
    """May be known without a collation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPart:
    """An indexed column, from 0; ``prefix_length`` in characters or bytes, 0 for all."""

    column: int
    prefix_length: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKey:
    """A key; the primary key's name is ``PRIMARY``."""

    name: str
    parts: tuple[KeyPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A foreign key to ``parent`` (``schema.table``)."""

    name: str
    columns: tuple[int, ...]
    parent: str
    parent_columns: tuple[str, ...]
    on_delete: str = "RESTRICT"
    on_update: str = "RESTRICT"
    index_columns: tuple[int, ...] = ()
    """Of indexes that begin with ``columns``, and of the clustered one. Other bytes in them repeat
    the check, before MySQL 9.6 and in MariaDB."""
    assumed: bool = False
    """Perhaps ignored: column-level REFERENCES before MySQL 9.0 and MariaDB 10.5."""


@dataclass(slots=True, kw_only=True)
class TableSchema:
    """A table definition, possibly partial.

    Without ``keys_known`` only types are known (minimal table maps). Without ``keys_complete``
    UNIQUE keys may be missing (full table maps).
    """

    name: str
    columns: tuple[Column, ...]
    unique_keys: tuple[UniqueKey, ...] = ()
    """PRIMARY first, then keys without NULL; a partial row image shows the first whole."""
    foreign_keys: tuple[ForeignKey, ...] = ()
    keys_known: bool = False
    keys_complete: bool = False
    foreign_keys_known: bool = False
    """A table map never names them."""
    has_hidden_columns: bool = False
    """In row images: functional keys (MySQL) or system versioning (MariaDB)."""
    sources: set[SchemaSource] = field(default_factory=set)
    unknown_because: str = ""

    def key_columns(self) -> Iterator[int]:
        """Yield the positions of columns in keys and foreign keys."""
        for unique in self.unique_keys:
            yield from (part.column for part in unique.parts)
        for foreign in self.foreign_keys:
            yield from (*foreign.columns, *foreign.index_columns)

    def columns_referenced_by(self, key: ForeignKey) -> tuple[int, ...] | None:
        """Return the positions of the columns that a foreign key refers to, if known."""
        if not key.parent_columns:
            primary = [unique for unique in self.unique_keys if unique.name == "PRIMARY"]
            return tuple(part.column for part in primary[0].parts) if primary else None
        positions = [self.column_index(name) for name in key.parent_columns]
        found = tuple(position for position in positions if position is not None)
        return found if len(found) == len(positions) == len(key.columns) else None

    def column_index(self, name: str) -> int | None:
        """Return a column's position, ignoring case."""
        wanted = name.lower()
        for position, column in enumerate(self.columns):
            if column.name.lower() == wanted:
                return position
        return None
