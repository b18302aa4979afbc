"""A source's log as recorded: row changes, tables and transactions."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from paraply.vocabulary.keys import ConflictKey


class _Absent(Enum):
    ABSENT = "ABSENT"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent.ABSENT
"""A column value that a row image omits (minimal images); an after-image keeps the old value."""


class _Unknown(Enum):
    UNKNOWN = "UNKNOWN"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown.UNKNOWN
"""An after-image value missing from the input, such as a partial JSON update in a text dump."""

RowImage = tuple[object, ...]
"""Values in table order; ``None`` is SQL NULL; see also :data:`ABSENT` and :data:`UNKNOWN`."""


STATEMENT_CHARACTERS_MAX = 4_096
"""Kept characters of a statement."""
DDL_CHARACTERS_MAX = 1 << 16
"""Kept characters of a schema-changing statement, which is parsed."""


RELEASED = "deleted or moved parent rows"
TAKEN = "new values of unique keys"


def aspect(table: str, what: str) -> str:
    """Return the name of one sort of change of ``table``, ignoring the table's case."""
    return f"{table.lower()}\0{what}"


def table_of(name: str) -> str:
    """Return the table of an aspect or table name; empty for :data:`ANY_ROWS`."""
    return name.partition("\0")[0]


ANY_ROWS = aspect("", "rows")
"""Matches every transaction with row changes: the reach of a table with unknown foreign keys."""


class Operation(Enum):
    """Operation of a row event."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


class LoggedKind(Enum):
    """Sort of transaction; all but ROWS and EMPTY are barriers."""

    ROWS = "rows"
    """Row changes only."""
    EMPTY = "empty"
    """A GTID without content (GTID_NEXT, filtered events)."""
    DDL = "ddl"
    """Changes a schema, an account or a server object; implicit barrier."""
    STATEMENT = "statement"
    """Statement-based: the log has no rows, so keys are unknown."""
    XA = "xa"
    """XA PREPARE (has the rows), XA COMMIT or XA ROLLBACK."""
    VIEW_CHANGE = "view_change"
    """Group replication, logged with (0, 0)."""
    INCIDENT = "incident"
    """The server reported lost events; all later content is suspect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPosition:
    """A place in a log: file name as given and byte offset.

    In a compressed payload it is the payload event's offset; in a text dump the dump's ``at N``.
    """

    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """One changed row; an insert has no ``before``, a delete no ``after``."""

    table: str
    """``schema.table`` as logged."""
    operation: Operation
    before: RowImage | None
    after: RowImage | None
    position: LogPosition
    """Start of the rows event."""
    unchecked: bool = field(default=False, compare=False)
    """The rows event has NO_FOREIGN_KEY_CHECKS; text dumps do not show it."""


@dataclass(slots=True, kw_only=True)
class LoggedTransaction:
    """One logged transaction (event group), from its GTID event to its end.

    ``ordinal`` counts from 1 over all files. ``last_committed`` and ``sequence_number`` are None
    without MySQL's logical timestamp (MariaDB, MySQL 5.6). ``commit_id`` is MariaDB's group commit
    id, None for a group of one. ``clock`` numbers the runs of the logical clock from 0; sequence
    numbers compare only within one run.
    """

    ordinal: int
    kind: LoggedKind
    start: LogPosition
    end_offset: int
    """First byte after the transaction, in its last file."""
    gtid: str = ""
    """``uuid:number``, ``uuid:tag:number``, ``domain-server-sequence`` or empty (anonymous)."""
    server_id: int = 0
    last_committed: int | None = None
    sequence_number: int | None = None
    clock: int = 0
    commit_id: int | None = None
    domain: int | None = None
    flags: frozenset[str] = frozenset()
    """MariaDB: transactional, allow_parallel, waited, ddl, standalone; with binlog_alter_two_phase
    also start_alter, commit_alter, rollback_alter. MySQL: may_have_sbr; one_phase_xa (committed
    without a prepare). Both: prepared_xa (waits for XA COMMIT), completed_xa (XA COMMIT or XA
    ROLLBACK), rolled_back (ends in ROLLBACK: only nontransactional changes stay),
    partly_rolled_back (has a ROLLBACK TO SAVEPOINT)."""
    committed_at_us: int | None = None
    """Commit time at this server, in microseconds since 1970."""
    event_time_s: int = 0
    """First event, in seconds since 1970."""
    rows: list[RowChange] = field(default_factory=list)
    statements: tuple[str, ...] = ()
    """First 1,024 texts of DDL and statement-based SQL,
    each cut at :data:`STATEMENT_CHARACTERS_MAX` (DDL at :data:`DDL_CHARACTERS_MAX`)."""
    default_schema: str = ""
    """Schema of the first statement."""
    xa_id: str = ""
    keys: frozenset[ConflictKey] = frozenset()
    """Conflict keys of all rows, from the key builder."""
    shared_keys: frozenset[ConflictKey] = frozenset()
    """Parent rows that a foreign key reads: readers conflict only with writers (``keys``)."""
    unkeyed_tables: frozenset[str] = frozenset()
    """Changed tables with unknown keys: no schema, no unique key, or only keys with a NULL part.
    Two transactions that both list a table may conflict without a shared key."""
    partly_keyed_tables: frozenset[str] = frozenset()
    """Changed tables with possibly missing ``keys``: unknown UNIQUE keys, values omitted by a
    minimal row image, or incomparable values. The transaction may conflict, without a shared key,
    with any other that changes the table."""
    locked_keys: frozenset[ConflictKey] = frozenset()
    """PRIMARY keys of parent rows that an inserted child locks: changes wait, but in either order
    the result is the same."""
    reached_tables: frozenset[str] = frozenset()
    """Tables whose unlogged rows a foreign key reads or changes: CASCADE, SET NULL, or a parent
    with an unrecorded or incomparable key. The transaction may conflict, without a shared key, with
    one that changes rows of the table; two that only reach it do not. An :func:`aspect` here
    matches transactions that have it in ``aspects``."""
    aspects: frozenset[str] = frozenset()
    """Its changes to tables, as far as the reach of others may depend on them."""
    uncertain_keys: frozenset[ConflictKey] = frozenset()
    """Part of ``keys`` and ``shared_keys`` that rests on an assumption (coarse collation)."""
    undecoded_tables: frozenset[str] = frozenset()
    """Changed tables with rows missing from ``rows``: undecodable column type, no table map, or
    more rows than the limit."""
    complete: bool = True
    """False if the log lacks its end (crash, truncation)."""

    @property
    def size_bytes(self) -> int:
        """Return the bytes from first to last event, 0 if it spans two files."""
        return max(0, self.end_offset - self.start.offset)

    @property
    def is_barrier(self) -> bool:
        """Return whether keys cannot decide its conflicts, so it must run alone."""
        return self.kind not in (LoggedKind.ROWS, LoggedKind.EMPTY)
