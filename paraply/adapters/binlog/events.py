"""Decoded events, one record per kind.

A rows event stays encoded until ``rows_events.decode_rows``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.adapters.binlog.format_description import FormatDescription
from paraply.adapters.binlog.framing import EventHeader
from paraply.adapters.binlog.table_map import TableMap
from paraply.vocabulary.log import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatDescriptionEvent:
    """The server and the log's layout."""

    header: EventHeader
    description: FormatDescription


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateEvent:
    """The next file; final, or generated for the stream."""

    header: EventHeader
    next_file: str
    next_position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StopEvent:
    """An orderly stop of the server."""

    header: EventHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidEvent:
    """The start of a MySQL transaction: types 33, 34 (anonymous) and 42 (tagged).

    ``gtid`` is ``uuid:number`` or ``uuid:tag:number``, empty if anonymous. Logical timestamps are
    None before 5.7. Times (microseconds since 1970), length (bytes) and server versions (80021) are
    None before 8.0.
    """

    header: EventHeader
    gtid: str
    may_have_sbr: bool
    last_committed: int | None = None
    sequence_number: int | None = None
    immediate_commit_us: int | None = None
    original_commit_us: int | None = None
    transaction_length: int | None = None
    immediate_server_version: int | None = None
    original_server_version: int | None = None
    commit_group_ticket: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MariadbGtidEvent:
    """The start of a MariaDB event group (type 162).

    ``commit_id`` is None for a group of one. ``flags`` are those of
    ``paraply.vocabulary.log.LoggedTransaction.flags``. ``start_alter_sequence`` belongs to COMMIT
    or ROLLBACK ALTER.
    """

    header: EventHeader
    gtid: str
    domain: int
    sequence: int
    flags: frozenset[str]
    commit_id: int | None = None
    xa_id: str = ""
    extra_flags: int = 0
    start_alter_sequence: int | None = None
    thread_id: int | None = None

    @property
    def is_standalone(self) -> bool:
        """Return whether one statement without COMMIT follows."""
        return "standalone" in self.flags


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousGtidsEvent:
    """The GTID set of all earlier files (``uuid:1-5:7,uuid:tag:1``)."""

    header: EventHeader
    gtid_set: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MariadbGtidListEvent:
    """MariaDB's binlog state; a domain's last GTID counts."""

    header: EventHeader
    gtids: tuple[str, ...]
    flags: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEvent:
    """A statement, with the source's ``error_code``."""

    header: EventHeader
    schema: str
    sql: str
    thread_id: int = 0
    error_code: int = 0
    sql_mode: int | None = None
    client_collation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class XidEvent:
    """The engine commit of a transaction."""

    header: EventHeader
    xid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class XaPrepareEvent:
    """The end of XA's first part, or ``one_phase`` commit."""

    header: EventHeader
    xa_id: str
    one_phase: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMapEvent:
    """The table of rows events with this ``table_id``."""

    header: EventHeader
    table_id: int
    table: TableMap


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsEvent:
    """Encoded row changes of one table.

    Column bitmaps are bit *i* of byte *i // 8*; they differ only for updates. ``table`` is None for
    the dummy end of a statement. ``partial_json`` marks MySQL's type 39.
    """

    header: EventHeader
    table_id: int
    table: TableMap | None
    operation: Operation
    before_columns: bytes
    after_columns: bytes
    row_data: bytes = field(repr=False)
    ends_statement: bool
    partial_json: bool = False
    unchecked: bool = False
    """The flag NO_FOREIGN_KEY_CHECKS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionPayloadEvent:
    """A compressed transaction; its inner events follow."""

    header: EventHeader
    compression: str
    compressed_bytes: int
    uncompressed_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionContextEvent:
    """Group replication's certified snapshot and write set (type 36)."""

    header: EventHeader
    server_uuid: str
    thread_id: int
    gtid_specified: bool
    snapshot_version: str
    write_set: tuple[str, ...]
    read_set: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChangeEvent:
    """A group membership change (type 37)."""

    header: EventHeader
    view_id: str
    sequence: int
    certification_items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatEvent:
    """The source's heartbeat; rare in relay logs."""

    header: EventHeader
    file: str
    position: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEvent:
    """The source lost events."""

    header: EventHeader
    number: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationEvent:
    """The statement behind the rows (types 29 and 160)."""

    header: EventHeader
    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEvent:
    """The oldest file for MariaDB's crash recovery."""

    header: EventHeader
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedEvent:
    """Context (INTVAR, RAND ...) or an unknown type."""

    header: EventHeader
    known: bool


Event = (
    FormatDescriptionEvent
    | RotateEvent
    | StopEvent
    | GtidEvent
    | MariadbGtidEvent
    | PreviousGtidsEvent
    | MariadbGtidListEvent
    | QueryEvent
    | XidEvent
    | XaPrepareEvent
    | TableMapEvent
    | RowsEvent
    | TransactionPayloadEvent
    | TransactionContextEvent
    | ViewChangeEvent
    | HeartbeatEvent
    | IncidentEvent
    | AnnotationEvent
    | CheckpointEvent
    | SkippedEvent
)
