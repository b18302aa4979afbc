"""Tables, columns, indexes and foreign keys, as known from a log or a dump."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class SchemaSource(Enum):
    """The source of a table definition, printed with dependent verdicts."""

    TABLE_MAP = "table-map metadata"
    LOGGED_DDL = "DDL in the log"
    DUMP = "--schema"
    LIVE = "live server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column; ``type_name`` is the SQL type in lower case.

    ``collation`` is the server's name, ``binary`` for byte strings, empty for non-text. ``length``
    is in characters (bytes for binary strings), 0 if not applicable.
    """

    name: str
    type_name: str = ""
    collation: str = ""
    nullable: bool = True
    unsigned: bool = False
    length: int = 0
    generated: bool = False
    visible: bool = True
    auto_increment: bool = False
    charset: str = ""
    """Character set, empty if unknown or not text; may be known without a collation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPart:
    """An indexed column by position from 0; ``prefix_length`` in characters or bytes, 0 for all."""

    column: int
    prefix_length: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKey:
    """A PRIMARY or UNIQUE key; the primary key has the name ``PRIMARY``."""

    name: str
    parts: tuple[KeyPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A foreign key to columns of ``parent`` (``schema.table``).

    ``on_delete`` and ``on_update`` are ``RESTRICT``, ``CASCADE``, ``SET NULL``, ``NO ACTION``.
    """

    name: str
    columns: tuple[int, ...]
    parent: str
    parent_columns: tuple[str, ...]
    on_delete: str = "RESTRICT"
    on_update: str = "RESTRICT"
    assumed: bool = False
    """True if the server may not enforce it: a column-level REFERENCES clause, ignored by MySQL
    before 9.0 and MariaDB before 10.5.
    """


@dataclass(slots=True, kw_only=True)
class TableSchema:
    """A table definition, possibly partial.

    ``keys_known`` is False if only column types are known (minimal table-map metadata).
    ``keys_complete`` is False if further UNIQUE keys may exist (full table-map metadata has only
    the primary key).
    """

    name: str
    columns: tuple[Column, ...]
    unique_keys: tuple[UniqueKey, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    keys_known: bool = False
    keys_complete: bool = False
    foreign_keys_known: bool = False
    """Whether ``foreign_keys`` are all there are; a table map never names them."""
    has_hidden_columns: bool = False
    """Whether row images may hold columns behind ``columns``: those of functional keys (MySQL)
    and of system versioning (MariaDB)."""
    sources: set[SchemaSource] = field(default_factory=set)
    unknown_because: str = ""
    """Why keys are unknown or incomplete, for the report; else empty."""

    def column_index(self, name: str) -> int | None:
        """Return the position of a column by name, ignoring case; None if there is none."""
        wanted = name.lower()
        for position, column in enumerate(self.columns):
            if column.name.lower() == wanted:
                return position
        return None
