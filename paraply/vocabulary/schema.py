"""Tables, columns, indexes and foreign keys, as far as a log or a dump tells them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class SchemaSource(Enum):
    """Where the knowledge of a table came from; printed with every verdict that rests on it."""

    TABLE_MAP = "table-map metadata"
    LOGGED_DDL = "DDL in the log"
    DUMP = "--schema"
    LIVE = "live server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column; ``type_name`` is the SQL type in lower case (``varchar``, ``int unsigned``).

    ``collation`` is a server collation name, ``binary`` for byte strings, empty for non-text.
    ``length`` is in characters for text, bytes for binary strings, 0 where it does not apply.
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
    """Server name of the character set, empty where unknown or not text. Text whose collation is
    unknown has an empty ``collation`` and may have a charset all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPart:
    """One part of an index: a column by its position from 0, and how much of it is indexed.

    ``prefix_length`` is in characters (bytes for binary strings), 0 for the whole column.
    """

    column: int
    prefix_length: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueKey:
    """A PRIMARY or UNIQUE key; the primary key is named ``PRIMARY``."""

    name: str
    parts: tuple[KeyPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """A foreign key from columns of this table to columns of ``parent`` (``schema.table``).

    ``on_delete`` and ``on_update`` are ``RESTRICT``, ``CASCADE``, ``SET NULL``, ``NO ACTION``.
    """

    name: str
    columns: tuple[int, ...]
    parent: str
    parent_columns: tuple[str, ...]
    on_delete: str = "RESTRICT"
    on_update: str = "RESTRICT"
    assumed: bool = False
    """True where the server may not enforce it: a REFERENCES clause inside a column definition,
    which MySQL before 9.0 and MariaDB before 10.5 ignore."""


@dataclass(slots=True, kw_only=True)
class TableSchema:
    """What is known of one table.

    ``keys_known`` is False where only column types are known (minimal table-map metadata): then
    an empty ``unique_keys`` says nothing. ``keys_complete`` is False where PRIMARY is known but
    other UNIQUE keys may exist (full table-map metadata names only the primary key).
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
    """Why keys are unknown or incomplete, for the report; empty where nothing is missing."""

    def column_index(self, name: str) -> int | None:
        """Return the position of a column by name, ignoring case; None if there is none."""
        wanted = name.lower()
        for position, column in enumerate(self.columns):
            if column.name.lower() == wanted:
                return position
        return None
