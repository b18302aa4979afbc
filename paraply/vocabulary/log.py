"""The content of a source's log: row changes, tables and transactions as recorded.

Adapters that read logs produce it, and properties judge it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from paraply.vocabulary.keys import ConflictKey


class _Absent(Enum):
    """The type of :data:`ABSENT`."""

    ABSENT = "ABSENT"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent.ABSENT
"""The value of a column that a row image does not record (minimal row images).

In an after-image the column then keeps its value.
"""


class _Unknown(Enum):
    """The type of :data:`UNKNOWN`."""

    UNKNOWN = "UNKNOWN"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown.UNKNOWN
"""The value of an after-image column that was set to a value missing from the input.

A text dump prints a partial JSON update as a call, ``JSON_REPLACE(@2, ...)``.
"""

RowImage = tuple[object, ...]
"""One value per column in table order; ``None`` is SQL NULL, :data:`ABSENT` was not recorded,
:data:`UNKNOWN` was set to something that the input does not show."""


STATEMENT_CHARACTERS_MAX = 4_096
"""Characters of a statement that a log hands over: enough to show what it is."""
DDL_CHARACTERS_MAX = 1 << 16
"""Characters of a schema-changing statement, which is parsed."""


RELEASED = "deleted or moved parent rows"
TAKEN = "new values of unique keys"


def aspect(table: str, what: str) -> str:
    """Return the name of one sort of change of ``table``, whatever the case of its name."""
    return f"{table.lower()}\0{what}"


def table_of(name: str) -> str:
    """Return the table of an aspect or of a plain table name; empty for :data:`ANY_ROWS`."""
    return name.partition("\0")[0]


ANY_ROWS = aspect("", "rows")
"""Met by every transaction that changes rows: the reach of a table with unknown foreign keys."""


class Operation(Enum):
    """What a row event did to one row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


class LoggedKind(Enum):
    """What sort of transaction the log recorded; all but ROWS and EMPTY are barriers."""

    ROWS = "rows"
    """Row changes only: conflicts are decided by keys."""
    EMPTY = "empty"
    """A GTID with nothing in it (GTID_NEXT with an empty transaction, filtered events)."""
    DDL = "ddl"
    """A statement that changes a schema, an account or a server object; implicit barrier."""
    STATEMENT = "statement"
    """Statement-based row changes: the rows are not in the log, so keys are unknown."""
    XA = "xa"
    """XA PREPARE, XA COMMIT or XA ROLLBACK; the prepared rows are in the PREPARE."""
    VIEW_CHANGE = "view_change"
    """A group replication view change, logged with (0, 0)."""
    INCIDENT = "incident"
    """The server lost events and said so; everything after it is suspect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPosition:
    """A place in a log: file name as given by the user, byte offset in the file.

    Inside a compressed transaction payload it is the offset of the payload event; in a text dump
    the dump's ``at N``.
    """

    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """One changed row; ``before`` is None for an insert, ``after`` is None for a delete."""

    table: str
    """``schema.table`` as the log spells it."""
    operation: Operation
    before: RowImage | None
    after: RowImage | None
    position: LogPosition
    """Start of the rows event that holds the row."""
    unchecked: bool = field(default=False, compare=False)
    """The rows event carries NO_FOREIGN_KEY_CHECKS; a text dump does not show it."""


@dataclass(slots=True, kw_only=True)
class LoggedTransaction:
    """One transaction (event group) as a log recorded it, from its GTID event to its end.

    ``ordinal`` counts from 1 over all files. ``last_committed`` and ``sequence_number`` are None
    without MySQL's logical timestamp (MariaDB, MySQL 5.6). ``commit_id`` is MariaDB's group commit
    id, None for a group of one. ``clock`` counts the runs of the logical clock from 0; sequence
    numbers are comparable only inside one run.
    """

    ordinal: int
    kind: LoggedKind
    start: LogPosition
    end_offset: int
    """First byte after the transaction, in the file where it ends."""
    gtid: str = ""
    """``uuid:number``, ``uuid:tag:number``, ``domain-server-sequence`` or empty (anonymous)."""
    server_id: int = 0
    last_committed: int | None = None
    sequence_number: int | None = None
    clock: int = 0
    commit_id: int | None = None
    domain: int | None = None
    """MariaDB replication domain."""
    flags: frozenset[str] = frozenset()
    """MariaDB: transactional, allow_parallel, waited, ddl, standalone; start_alter, commit_alter,
    rollback_alter where one ALTER is logged twice, at its start and at its end
    (binlog_alter_two_phase).
    MySQL: may_have_sbr; one_phase_xa (an XA transaction that was committed without a prepare).
    Both: prepared_xa (its rows wait for an XA COMMIT), completed_xa (XA COMMIT or XA ROLLBACK),
    rolled_back (it ends in ROLLBACK: only changes of tables without transactions stay),
    partly_rolled_back (it holds a ROLLBACK TO SAVEPOINT)."""
    committed_at_us: int | None = None
    """Commit time at the server that wrote this log, in microseconds since 1970, if recorded."""
    event_time_s: int = 0
    """Time of the first event, in seconds since 1970."""
    rows: list[RowChange] = field(default_factory=list)
    statements: tuple[str, ...] = ()
    """DDL and statement-based SQL, in order, the first 1,024 of them; each cut at
    :data:`STATEMENT_CHARACTERS_MAX` (DDL at :data:`DDL_CHARACTERS_MAX`)."""
    default_schema: str = ""
    """The schema the first statement ran in."""
    xa_id: str = ""
    keys: frozenset[ConflictKey] = frozenset()
    """Conflict keys of all rows, filled in by the key builder."""
    shared_keys: frozenset[ConflictKey] = frozenset()
    """Keys of parent rows that a foreign key makes the transaction read: two readers of one key
    do not conflict, a reader and a writer (``keys``) do."""
    unkeyed_tables: frozenset[str] = frozenset()
    """Changed tables whose keys are unknown: no schema, or no PRIMARY and no UNIQUE key (or only
    keys with a NULL part in the changed row). Two transactions that both list a table here may
    conflict in it although they share no key."""
    partly_keyed_tables: frozenset[str] = frozenset()
    """Changed tables of which some key may be missing from ``keys``: other UNIQUE keys than the
    known ones may exist, a minimal row image left out a value that the transaction released, or
    a value cannot be compared. Such a transaction may conflict, without a shared key, with any
    other one that changes the table; one of the two listing it is enough."""
    locked_keys: frozenset[ConflictKey] = frozenset()
    """PRIMARY keys of parent rows that an inserted child row locks: a change of such a row waits
    for the child, or the child for it, and both orders give the same result."""
    reached_tables: frozenset[str] = frozenset()
    """Tables in which a foreign key made the transaction read or change rows that the log does not
    name: a CASCADE or SET NULL, which the engine carries out below the log, or a parent whose key
    value is not recorded or cannot be compared. Such a transaction may conflict, without a shared
    key, with one that changes rows of the table itself; two that only reach it do not. An
    :func:`aspect` in place of a table is met by the transactions that have it in ``aspects``."""
    aspects: frozenset[str] = frozenset()
    """What the transaction does to tables, as far as the reach of others may depend on it."""
    uncertain_keys: frozenset[ConflictKey] = frozenset()
    """The part of ``keys`` and ``shared_keys`` that rests on an assumption (a collation folded too
    coarsely, say)."""
    undecoded_tables: frozenset[str] = frozenset()
    """Changed tables of which some rows are not in ``rows``: a column type that cannot be decoded,
    a missing table map, or more rows than the reader was allowed to keep."""
    complete: bool = True
    """False for a transaction whose end is missing from the log (crash, truncation)."""

    @property
    def size_bytes(self) -> int:
        """Return the bytes from the first event to the last, 0 if it spans two files."""
        return max(0, self.end_offset - self.start.offset)

    @property
    def is_barrier(self) -> bool:
        """Return whether its conflicts cannot be decided by keys, so that it must run alone."""
        return self.kind not in (LoggedKind.ROWS, LoggedKind.EMPTY)
