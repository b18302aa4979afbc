"""Event type codes of MySQL 5.0 to 9.x and MariaDB 5.1 to 12.x.

Sources: libs/mysql/binlog/event/binlog_event.h (0 to 42), MariaDB sql/log_event.h (160 to 171);
both share the first 39.
"""

from __future__ import annotations

from enum import IntEnum


class EventType(IntEnum):
    """A known event type; readers skip others."""

    START_V3 = 1
    QUERY = 2
    STOP = 3
    ROTATE = 4
    INTVAR = 5
    APPEND_BLOCK = 9
    DELETE_FILE = 11
    RAND = 13
    USER_VAR = 14
    FORMAT_DESCRIPTION = 15
    XID = 16
    BEGIN_LOAD_QUERY = 17
    EXECUTE_LOAD_QUERY = 18
    TABLE_MAP = 19
    WRITE_ROWS_V0 = 20
    UPDATE_ROWS_V0 = 21
    DELETE_ROWS_V0 = 22
    WRITE_ROWS_V1 = 23
    UPDATE_ROWS_V1 = 24
    DELETE_ROWS_V1 = 25
    INCIDENT = 26
    HEARTBEAT = 27
    IGNORABLE = 28
    ROWS_QUERY = 29
    WRITE_ROWS = 30
    UPDATE_ROWS = 31
    DELETE_ROWS = 32
    GTID = 33
    ANONYMOUS_GTID = 34
    PREVIOUS_GTIDS = 35
    TRANSACTION_CONTEXT = 36
    VIEW_CHANGE = 37
    XA_PREPARE = 38
    PARTIAL_UPDATE_ROWS = 39
    TRANSACTION_PAYLOAD = 40
    HEARTBEAT_V2 = 41
    GTID_TAGGED = 42
    ANNOTATE_ROWS = 160
    BINLOG_CHECKPOINT = 161
    MARIADB_GTID = 162
    MARIADB_GTID_LIST = 163
    START_ENCRYPTION = 164
    QUERY_COMPRESSED = 165
    WRITE_ROWS_COMPRESSED_V1 = 166
    UPDATE_ROWS_COMPRESSED_V1 = 167
    DELETE_ROWS_COMPRESSED_V1 = 168
    WRITE_ROWS_COMPRESSED = 169
    UPDATE_ROWS_COMPRESSED = 170
    DELETE_ROWS_COMPRESSED = 171


class HeaderFlag:
    """Flag bits of an event's common header."""

    IN_USE = 0x1
    """Format descriptions only: the file is open."""
    ARTIFICIAL = 0x20
    """Generated, absent from the source's file."""
    RELAY_LOG = 0x40
    """The replica's own event."""
    IGNORABLE = 0x80
    """May be skipped, as START_ENCRYPTION in a log that its server sends decrypted."""


_NAMES = {int(kind): kind.name for kind in EventType}


def event_name(code: int) -> str:
    """Return an event type's name, or ``UNKNOWN_<code>``."""
    return _NAMES.get(code) or f"UNKNOWN_{code}"
