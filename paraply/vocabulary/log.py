"""A source's log as recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from hashlib import blake2b
from itertools import chain

from paraply.vocabulary.keys import ConflictKey


class _Absent(Enum):
    ABSENT = "ABSENT"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent.ABSENT
"""Omitted from a minimal row image; an after-image keeps the old value."""


class _Unknown(Enum):
    UNKNOWN = "UNKNOWN"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown.UNKNOWN
"""Not in the input, such as a partial JSON update in a text dump."""

RowImage = tuple[object, ...]
"""Values in table order, :data:`ABSENT`, :data:`UNKNOWN` or ``None`` (SQL NULL)."""


def image_digest(image: RowImage) -> bytes | None:
    """Return what equal row images share: 16 bytes, None if a value is unknown."""
    # A record instead of a value (a partial JSON update) contains the change only.
    if any(value is ABSENT or value is UNKNOWN or is_dataclass(value) for value in image):
        return None
    return blake2b(repr(image).encode("utf-8", "surrogatepass"), digest_size=16).digest()


STATEMENT_CHARACTERS_MAX = 4_096
DDL_CHARACTERS_MAX = 1 << 16


WHOLE_ROW = "ROW"
"""The index of rows named by all columns."""
RELEASED = "deleted or moved parent rows"
TAKEN = "new values of unique keys"
FREED = "freed values of unique keys"
SEARCHED = "rows without a key that are searched for"


def aspect(table: str, what: str) -> str:
    """Name a sort of change of ``table``, ignoring case."""
    return f"{table.lower()}\0{what}"


def table_of(name: str) -> str:
    """Return an aspect's table; empty for :data:`ANY_ROWS`."""
    return name.partition("\0")[0]


ANY_ROWS = aspect("", "rows")
"""Matches all row changes: the reach of a table with unknown foreign keys."""


CREATES_NOTHING = "creates_nothing"


class Operation(Enum):
    """Operation of a row event."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


class LoggedKind(Enum):
    """All but ROWS and EMPTY are barriers."""

    ROWS = "rows"
    EMPTY = "empty"
    """For example GTID_NEXT or filtered events."""
    DDL = "ddl"
    """Also changes of accounts and server objects."""
    STATEMENT = "statement"
    """Keys are unknown without rows. Also in XA transactions, and beside temporary tables."""
    XA = "xa"
    """PREPARE (has the rows), COMMIT or ROLLBACK."""
    VIEW_CHANGE = "view_change"
    """Logged with (0, 0)."""
    INCIDENT = "incident"
    """Lost events: all later content is suspect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPosition:
    """File name as given and byte offset.

    A payload's offset if compressed; ``at N`` in a text dump.
    """

    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """One changed row; an insert has no ``before``, a delete no ``after``."""

    table: str
    operation: Operation
    before: RowImage | None
    after: RowImage | None
    position: LogPosition
    unchecked: bool = field(default=False, compare=False)
    """NO_FOREIGN_KEY_CHECKS; text dumps do not show it."""

    @property
    def whole_after(self) -> RowImage | None:
        """The after image, with what a minimal one omits, as far as the before image has it."""
        before, after = self.before, self.after
        if before is None or after is None or ABSENT not in after:
            return after
        padded = (*before, *(ABSENT for _ in range(len(after) - len(before))))
        return tuple(old if new is ABSENT else new for new, old in zip(after, padded, strict=False))


@dataclass(slots=True, kw_only=True)
class LoggedTransaction:
    """One logged transaction (event group).

    ``ordinal`` counts from 1 over all files. ``last_committed`` and ``sequence_number`` are None
    without MySQL's logical timestamp (MariaDB, MySQL 5.6). ``commit_id`` is MariaDB's group commit
    id, None for a group of one. ``clock`` numbers logical clock runs from 0; sequence numbers
    compare only within one.
    """

    ordinal: int
    kind: LoggedKind
    start: LogPosition
    end_offset: int
    """Exclusive, in its last file."""
    gtid: str = ""
    """In the server's notation; empty if anonymous."""
    server_id: int = 0
    last_committed: int | None = None
    sequence_number: int | None = None
    clock: int = 0
    commit_id: int | None = None
    domain: int | None = None
    session: int | None = field(default=None, compare=False)
    """Thread id of the client's connection, where the readable decoder finds one."""
    is_relayed: bool = field(default=False, compare=False)
    """Whether its commit at this server is not its first, where the readable decoder sees that."""
    flags: frozenset[str] = frozenset()
    """MariaDB: transactional, allow_parallel, waited, ddl, standalone; with binlog_alter_two_phase
    also start_alter, commit_alter, rollback_alter. MySQL: may_have_sbr; one_phase_xa (no prepare).
    Both: prepared_xa, completed_xa (XA COMMIT or XA ROLLBACK), rolled_back (only nontransactional
    changes stay), partly_rolled_back (ROLLBACK TO SAVEPOINT), and from the key builder
    creates_nothing (CREATE ... IF NOT EXISTS of what exists)."""
    committed_at_us: int | None = None
    """At this server, since 1970."""
    event_time_s: int = 0
    """First event, since 1970."""
    rows: list[RowChange] = field(default_factory=list)
    undone: tuple[range, ...] = field(default=(), compare=False)
    """Numbers of the rows that ROLLBACK TO SAVEPOINT took back, where ``rows`` are kept."""
    statements: tuple[str, ...] = ()
    """First 1,024, cut at :data:`STATEMENT_CHARACTERS_MAX` (DDL :data:`DDL_CHARACTERS_MAX`)."""
    default_schema: str = ""
    xa_id: str = ""
    keys: frozenset[ConflictKey] = frozenset()
    shared_keys: frozenset[ConflictKey] = frozenset()
    """Parent rows that a foreign key reads: only writers (``keys``) conflict."""
    unkeyed_tables: frozenset[str] = frozenset()
    """Tables with changed rows that no known unique key free of NULL names."""
    searched_rows: frozenset[ConflictKey] = frozenset()
    """Those among them that an update or delete searches, by all columns (:data:`WHOLE_ROW`)."""
    left_rows: frozenset[ConflictKey] = frozenset()
    """Those that it leaves. One that another transaction searches may be this one, or its like."""
    unidentified_tables: frozenset[str] = frozenset()
    """Those with a row of which a column is unknown. Two transactions with a common one may
    conflict."""
    partly_keyed_tables: frozenset[str] = frozenset()
    """Changed tables with possibly missing ``keys``: unknown UNIQUE keys, minimal row images, or
    incomparable values. The transaction may conflict with any that changes the table."""
    locked_keys: frozenset[ConflictKey] = frozenset()
    """PRIMARY keys of parents that an inserted child locks: changes wait, with one result in either
    order."""
    reached_tables: frozenset[str] = frozenset()
    """Tables whose unlogged rows a foreign key reads or changes: CASCADE, SET NULL, or a parent
    with an unrecorded or incomparable key. The transaction may conflict with one that changes the
    table's rows, not with one that only reaches it. An :func:`aspect` here matches ``aspects``."""
    aspects: frozenset[str] = frozenset()
    """Its table changes that the reach of others may depend on."""
    uncertain_keys: frozenset[ConflictKey] = frozenset()
    """Those that rest on an assumption (coarse collation)."""
    undecoded_tables: frozenset[str] = frozenset()
    """Changed tables with missing rows: undecodable type, no table map, or too many."""
    complete: bool = True
    """False if the end is missing (crash, truncation), or the beginning."""
    lacks_beginning: bool = False
    """Whether the log has only its end, as a relay log may whose file before is not read."""

    @property
    def size_bytes(self) -> int:
        """Return the size, 0 if it spans two files."""
        return max(0, self.end_offset - self.start.offset)

    @property
    def lasting_rows(self) -> Sequence[RowChange]:
        """Return the rows that its end leaves.

        Rows in a log that ends or goes back by ROLLBACK are of tables with transactions: servers
        log those of others at once, on their own.
        """
        if "rolled_back" in self.flags:
            return ()
        if not self.undone:
            return self.rows
        undone = frozenset(chain.from_iterable(self.undone))
        return [row for at, row in enumerate(self.rows) if at not in undone]

    @property
    def is_ddl(self) -> bool:
        """Return whether statement or MariaDB flag is DDL."""
        return self.kind is LoggedKind.DDL or "ddl" in self.flags

    @property
    def schema_statements(self) -> tuple[str, ...]:
        """Return the statements that change definitions.

        A two-phase ALTER takes effect at COMMIT ALTER, which repeats the text of START ALTER.
        """
        if not self.is_ddl or self.flags & {"start_alter", "rollback_alter"}:
            return ()
        return self.statements

    @property
    def xa_keys(self) -> tuple[ConflictKey, ...]:
        """Return the key that the transactions of one XID share, if this is one."""
        if not self.xa_id:
            return ()
        return (ConflictKey(table="", index="XA", values=(self.xa_id,), shown=self.xa_id),)

    @property
    def is_barrier(self) -> bool:
        """Return whether it must run alone, without keys to decide."""
        return self.kind not in (LoggedKind.ROWS, LoggedKind.EMPTY)
