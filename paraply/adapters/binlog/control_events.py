"""Events other than GTIDs and rows: statements, commits, rotation."""

from __future__ import annotations

from functools import lru_cache

from paraply.adapters.binlog.charsets import text_decoder
from paraply.adapters.binlog.compressed import inflate
from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.events import (
    AnnotationEvent,
    CheckpointEvent,
    HeartbeatEvent,
    IncidentEvent,
    QueryEvent,
    RotateEvent,
    StopEvent,
    XaPrepareEvent,
    XidEvent,
)
from paraply.adapters.binlog.format_description import FormatDescription
from paraply.adapters.binlog.framing import RawEvent
from paraply.adapters.binlog.gtid_events import format_xid
from paraply.adapters.binlog.sql_modes import in_usual_mode

_QUERY_POST_HEADER_WITHOUT_STATUS = 11
_EXECUTE_LOAD_QUERY_EXTRA = 13
_SQL_BYTES_MAX = 1 << 16
"""Decoded part of a statement."""

# Length of each fixed-size status variable; the others are handled by name below. A code that is
# in neither ends the scan: its length cannot be known.
_STATUS_FIXED = {
    0: 4,  # flags2
    3: 4,  # auto_increment
    7: 2,  # lc_time_names
    8: 2,  # collation_database
    9: 8,  # table_map_for_update
    10: 4,  # master_data_written
    13: 3,  # microseconds
    14: 8,  # commit_ts, never released
    15: 8,  # commit_ts2, never released
    16: 1,  # explicit_defaults_for_timestamp
    17: 8,  # ddl_logged_with_xid
    18: 2,  # default_collation_for_utf8mb4
    19: 1,  # sql_require_primary_key
    20: 1,  # default_table_encryption
    128: 3,  # MariaDB hrnow
    129: 8,  # MariaDB xid
}
_STATUS_SQL_MODE = 1
_STATUS_CATALOG = 2
_STATUS_CHARSET = 4
_STATUS_TIME_ZONE = 5
_STATUS_CATALOG_WITHOUT_NUL = 6
_STATUS_INVOKER = 11
_STATUS_UPDATED_SCHEMAS = 12
_STATUS_GTID_FLAGS = 130
_START_ALTER_FOLLOWS = 0x04 | 0x08
_STATUS_CHARSET_COLLATIONS = 131
_SCHEMAS_MAX = 254  # OVER_MAX_DBS_IN_EVENT_MTS: no list follows


@lru_cache(maxsize=256)
def _parse_status(block: bytes) -> tuple[int | None, int | None]:
    cursor = Cursor(block)
    sql_mode = collation = None
    try:
        while cursor.remaining:
            code = cursor.unsigned(1)
            if code in _STATUS_FIXED:
                cursor.take(_STATUS_FIXED[code])
            elif code == _STATUS_SQL_MODE:
                sql_mode = cursor.unsigned(8)
            elif code == _STATUS_CHARSET:
                collation = cursor.unsigned(2)
                cursor.take(4)
            elif code in (_STATUS_TIME_ZONE, _STATUS_CATALOG_WITHOUT_NUL):
                cursor.take(cursor.unsigned(1))
            elif code == _STATUS_CATALOG:
                cursor.take(cursor.unsigned(1) + 1)
            elif code == _STATUS_INVOKER:
                cursor.take(cursor.unsigned(1))
                cursor.take(cursor.unsigned(1))
            elif code == _STATUS_GTID_FLAGS:
                if cursor.unsigned(1) & _START_ALTER_FOLLOWS:
                    cursor.take(8)
            elif code == _STATUS_CHARSET_COLLATIONS:
                cursor.take(4 * cursor.unsigned(1))
            elif code == _STATUS_UPDATED_SCHEMAS:
                count = cursor.unsigned(1)
                for _ in range(count if count < _SCHEMAS_MAX else 0):
                    cursor.terminated()
            else:
                break
    except MalformedError:
        # The block's length is known, so a variable of an unknown shape harms nothing after it.
        pass
    return sql_mode, collation


def parse_query(raw: RawEvent, description: FormatDescription) -> QueryEvent:
    """Decode a QUERY, EXECUTE_LOAD_QUERY or MariaDB compressed query.

    The client's character set and SQL mode apply; invalid bytes become U+FFFD.
    """
    cursor = Cursor(raw.body)
    kind = raw.header.type_code
    thread_id = cursor.unsigned(4)
    cursor.take(4)
    schema_bytes = cursor.unsigned(1)
    error_code = cursor.unsigned(2)
    status = b""
    post_header = description.post_header_length(EventType.QUERY, 13)
    if post_header > _QUERY_POST_HEADER_WITHOUT_STATUS:
        status_bytes = cursor.unsigned(2)
        if kind == EventType.EXECUTE_LOAD_QUERY:
            cursor.take(_EXECUTE_LOAD_QUERY_EXTRA)
        status = cursor.take(status_bytes)
    schema = cursor.take(schema_bytes).decode("utf-8", "replace")
    cursor.take(1)
    text = cursor.rest()
    if kind == EventType.QUERY_COMPRESSED:
        text = inflate(text)
    sql_mode, collation = _parse_status(status)
    decoded = text_decoder(collation)(text[:_SQL_BYTES_MAX])
    if isinstance(decoded, bytes):
        decoded = decoded.decode("utf-8", "replace")
    return QueryEvent(
        header=raw.header,
        schema=schema,
        sql=in_usual_mode(decoded, sql_mode),
        thread_id=thread_id,
        error_code=error_code,
        sql_mode=sql_mode,
        client_collation=collation,
    )


def parse_rotate(raw: RawEvent) -> RotateEvent:
    """Decode the name of the next file."""
    cursor = Cursor(raw.body)
    position = cursor.unsigned(8)
    return RotateEvent(
        header=raw.header,
        next_file=cursor.rest().decode("utf-8", "replace"),
        next_position=position,
    )


def parse_stop(raw: RawEvent) -> StopEvent:
    """Decode an orderly stop."""
    return StopEvent(header=raw.header)


def parse_xid(raw: RawEvent) -> XidEvent:
    """Decode an engine commit."""
    return XidEvent(header=raw.header, xid=Cursor(raw.body).unsigned(8))


def parse_xa_prepare(raw: RawEvent) -> XaPrepareEvent:
    """Decode an XA transaction's first-part end."""
    cursor = Cursor(raw.body)
    one_phase = cursor.unsigned(1)
    format_id = cursor.signed(4)
    gtrid_bytes = cursor.unsigned(4)
    bqual_bytes = cursor.unsigned(4)
    return XaPrepareEvent(
        header=raw.header,
        xa_id=format_xid(format_id, cursor.take(gtrid_bytes), cursor.take(bqual_bytes)),
        one_phase=bool(one_phase),
    )


def parse_incident(raw: RawEvent) -> IncidentEvent:
    """Decode an incident of lost events."""
    cursor = Cursor(raw.body)
    number = cursor.unsigned(2)
    message = cursor.take(cursor.unsigned(1)) if cursor.remaining else b""
    return IncidentEvent(
        header=raw.header, number=number, message=message.decode("utf-8", "replace")
    )


def parse_annotation(raw: RawEvent) -> AnnotationEvent:
    """Decode an annotation; MySQL's length byte is wrong past 255."""
    text = raw.body[1:] if raw.header.type_code == EventType.ROWS_QUERY else raw.body
    return AnnotationEvent(header=raw.header, sql=text[:_SQL_BYTES_MAX].decode("utf-8", "replace"))


def parse_checkpoint(raw: RawEvent) -> CheckpointEvent:
    """Decode MariaDB's oldest file for recovery."""
    cursor = Cursor(raw.body)
    name = cursor.take(cursor.unsigned(4))
    return CheckpointEvent(header=raw.header, file=name.decode("utf-8", "replace"))


def parse_heartbeat(raw: RawEvent) -> HeartbeatEvent:
    """Decode a heartbeat: 27 is a file name, 41 numbered fields."""
    if raw.header.type_code == EventType.HEARTBEAT:
        return HeartbeatEvent(
            header=raw.header,
            file=raw.body.decode("utf-8", "replace"),
            position=raw.header.end_position,
        )
    cursor = Cursor(raw.body)
    name = b""
    position = None
    while cursor.remaining:
        field = cursor.packed()
        if field == 0:
            break
        value = Cursor(cursor.packed_bytes())
        if field == 1:
            name = value.rest()
        elif field == 2:
            position = value.packed()
    return HeartbeatEvent(
        header=raw.header, file=name.decode("utf-8", "replace"), position=position
    )
