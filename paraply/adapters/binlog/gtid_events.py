"""GTID events of MySQL (33, 34, 35, 42) and MariaDB (162, 163).

Layouts: MySQL libs/mysql/binlog/event/control_events.h and libs/mysql/serialization; MariaDB
Knowledge Base "GTID_EVENT" and "GTID_LIST_EVENT", corrected against 10.11.
"""

from __future__ import annotations

import re
from functools import lru_cache
from uuid import UUID

from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.events import (
    GtidEvent,
    MariadbGtidEvent,
    MariadbGtidListEvent,
    PreviousGtidsEvent,
)
from paraply.adapters.binlog.framing import EventHeader, RawEvent

_LOGICAL_TIMESTAMP = 2
_TIME_BYTES = 7
_ORIGINAL_TIME_FOLLOWS = 1 << 55
_ORIGINAL_VERSION_FOLLOWS = 1 << 31
_MAY_HAVE_SBR = 1
_TAG = re.compile(r"(?:[a-z_][a-z0-9_]*)?")
_TAG_BYTES_MAX = 32


@lru_cache(maxsize=256)
def _uuid_text(data: bytes) -> str:
    return str(UUID(bytes=data))


def parse_gtid(raw: RawEvent) -> GtidEvent:
    """Decode a GTID or anonymous GTID event.

    Later fields are optional (5.7.5, 8.0.1, 8.0.2, 8.0.14, 8.0.x group replication).
    """
    cursor = Cursor(raw.body)
    flags = cursor.unsigned(1)
    uuid = cursor.take(16)
    number = cursor.signed(8)
    anonymous = raw.header.type_code == EventType.ANONYMOUS_GTID
    if not anonymous and number <= 0:
        raise MalformedError(f"GTID number {number} is not positive")
    gtid = "" if anonymous else f"{_uuid_text(uuid)}:{number}"
    last_committed = sequence_number = None
    immediate = original = length = version = original_version = ticket = None
    if cursor.remaining >= 17 and cursor.unsigned(1) == _LOGICAL_TIMESTAMP:
        last_committed = cursor.signed(8)
        sequence_number = cursor.signed(8)
        if cursor.remaining >= _TIME_BYTES:
            immediate = original = cursor.unsigned(_TIME_BYTES)
            if immediate & _ORIGINAL_TIME_FOLLOWS:
                immediate &= _ORIGINAL_TIME_FOLLOWS - 1
                original = cursor.unsigned(_TIME_BYTES)
        if cursor.remaining:
            length = cursor.packed()
        if cursor.remaining >= 4:
            version = original_version = cursor.unsigned(4)
            if version & _ORIGINAL_VERSION_FOLLOWS:
                version &= _ORIGINAL_VERSION_FOLLOWS - 1
                original_version = cursor.unsigned(4)
        if cursor.remaining >= 8:
            ticket = cursor.unsigned(8)
    return GtidEvent(
        header=raw.header,
        gtid=gtid,
        may_have_sbr=bool(flags & _MAY_HAVE_SBR),
        last_committed=last_committed,
        sequence_number=sequence_number,
        immediate_commit_us=immediate,
        original_commit_us=original,
        transaction_length=length,
        immediate_server_version=version,
        original_server_version=original_version,
        commit_group_ticket=ticket,
    )


def _parse_tag(cursor: Cursor) -> str:
    length = cursor.varlen()
    if length > _TAG_BYTES_MAX:
        raise MalformedError(f"a GTID tag of {length} bytes (at most {_TAG_BYTES_MAX})")
    tag = cursor.take(length).decode("latin-1")
    if not _TAG.fullmatch(tag):
        raise MalformedError(f"a GTID tag {tag!r} (lower-case letters, digits and _)")
    return tag


def parse_tagged_gtid(raw: RawEvent) -> GtidEvent:
    """Decode a tagged GTID event (type 42, 8.3 and newer).

    Fields are optional; an unknown one ends decoding and must be ignorable.
    """
    cursor = Cursor(raw.body)
    version = cursor.varlen()
    size = cursor.varlen()
    last_required_field = cursor.varlen()
    if version != 1:
        raise MalformedError(f"serialization version {version} (only 1 is known)")
    if size > len(raw.body):
        raise MalformedError(f"a message of {size} bytes in a body of {len(raw.body)}")
    cursor.data = raw.body[:size]
    uuid = b""
    tag = ""
    values: dict[int, int] = {}
    previous_field = -1
    while cursor.remaining:
        field = cursor.varlen()
        if field <= previous_field:
            raise MalformedError(f"field {field} after field {previous_field}")
        previous_field = field
        if field == 1:
            uuid = bytes(_octet(cursor) for _ in range(16))
        elif field == 3:
            tag = _parse_tag(cursor)
        elif field in (2, 4, 5):
            values[field] = cursor.varlen_signed()
        elif field in (0, 6, 7, 8, 9, 10, 11):
            values[field] = cursor.varlen()
        elif field <= last_required_field:
            raise MalformedError(f"field {field} is unknown and may not be ignored")
        else:
            break
    number = values.get(2, 0)
    if len(uuid) != 16 or number <= 0:
        raise MalformedError("a tagged GTID without UUID or number")
    prefix = f"{_uuid_text(uuid)}:{tag}" if tag else _uuid_text(uuid)
    immediate = values.get(6)
    immediate_version = values.get(9)
    return GtidEvent(
        header=raw.header,
        gtid=f"{prefix}:{number}",
        may_have_sbr=bool(values.get(0, 0) & _MAY_HAVE_SBR),
        last_committed=values.get(4),
        sequence_number=values.get(5),
        immediate_commit_us=immediate,
        original_commit_us=values.get(7, immediate),
        transaction_length=values.get(8),
        immediate_server_version=immediate_version,
        original_server_version=values.get(10, immediate_version),
        commit_group_ticket=values.get(11),
    )


def _octet(cursor: Cursor) -> int:
    value = cursor.varlen()
    if value > 255:
        raise MalformedError(f"{value} is not a byte of a UUID")
    return value


def parse_gtid_set(data: bytes) -> str:
    """Decode a GTID set into text.

    The count's last byte is the format: 0 plain, 1 tags (8.3 and newer). Intervals exclude their
    end.
    """
    cursor = Cursor(data)
    count = cursor.unsigned(8)
    tagged = count >> 56 == 1
    if tagged:
        count = (count >> 8) & ((1 << 48) - 1)
    sources: list[str] = []
    previous_uuid = ""
    for _ in range(count):
        uuid = _uuid_text(cursor.take(16))
        tag = _parse_tag(cursor) if tagged else ""
        intervals: list[str] = []
        for _ in range(cursor.unsigned(8)):
            first = cursor.unsigned(8)
            end = cursor.unsigned(8)
            if not 0 < first < end:
                raise MalformedError(f"GTID interval [{first}, {end}) is empty or starts at 0")
            intervals.append(str(first) if end == first + 1 else f"{first}-{end - 1}")
        spelled = ":".join([tag, *intervals] if tag else intervals)
        if uuid == previous_uuid:
            sources[-1] += f":{spelled}"
        else:
            sources.append(f"{uuid}:{spelled}")
        previous_uuid = uuid
    return ",".join(sources)


def parse_previous_gtids(raw: RawEvent) -> PreviousGtidsEvent:
    """Decode all earlier files' GTID set."""
    return PreviousGtidsEvent(header=raw.header, gtid_set=parse_gtid_set(raw.body))


_MARIADB_FLAGS = (
    (0x01, "standalone"),
    (0x02, "group_commit_id"),
    (0x04, "transactional"),
    (0x08, "allow_parallel"),
    (0x10, "waited"),
    (0x20, "ddl"),
    (0x40, "prepared_xa"),
    (0x80, "completed_xa"),
)
_FLAG_WORDS = tuple(
    frozenset(word for bit, word in _MARIADB_FLAGS if flags & bit and bit != 0x02)
    for flags in range(256)
)
_GROUP_COMMIT_ID = 0x02
_XA = 0x40 | 0x80
_EXTRA_MULTI_ENGINE = 0x01
_EXTRA_START_ALTER_FOLLOWS = 0x04 | 0x08
_EXTRA_THREAD_ID = 0x10
_EXTRA_FLAGS = ((0x02, "start_alter"), (0x04, "commit_alter"), (0x08, "rollback_alter"))


def format_xid(format_id: int, gtrid: bytes, bqual: bytes) -> str:
    """Return an XID in XA notation."""
    return f"X'{gtrid.hex()}',X'{bqual.hex()}',{format_id}"


def parse_mariadb_gtid(raw: RawEvent) -> MariadbGtidEvent:
    """Decode a MariaDB GTID event."""
    return parse_mariadb_gtid_body(raw.header, raw.body)


def parse_mariadb_gtid_body(header: EventHeader, body: bytes) -> MariadbGtidEvent:
    """Decode a MariaDB GTID event's body."""
    cursor = Cursor(body)
    sequence = cursor.unsigned(8)
    domain = cursor.unsigned(4)
    flags = cursor.unsigned(1)
    commit_id = cursor.unsigned(8) if flags & _GROUP_COMMIT_ID else None
    xa_id = ""
    if flags & _XA:
        format_id = cursor.signed(4)
        gtrid_bytes = cursor.unsigned(1)
        bqual_bytes = cursor.unsigned(1)
        xa_id = format_xid(format_id, cursor.take(gtrid_bytes), cursor.take(bqual_bytes))
    extra = 0
    start_alter = thread_id = None
    if cursor.remaining:
        # Zero padding of short events reads as "no extra flags".
        extra = cursor.unsigned(1)
        if extra & _EXTRA_MULTI_ENGINE:
            cursor.unsigned(1)
        if extra & _EXTRA_START_ALTER_FOLLOWS:
            start_alter = cursor.unsigned(8)
        if extra & _EXTRA_THREAD_ID and cursor.remaining >= 4:
            thread_id = cursor.unsigned(4)
    return MariadbGtidEvent(
        header=header,
        gtid=f"{domain}-{header.server_id}-{sequence}",
        domain=domain,
        sequence=sequence,
        flags=_FLAG_WORDS[flags] | {word for bit, word in _EXTRA_FLAGS if extra & bit},
        commit_id=commit_id,
        xa_id=xa_id,
        extra_flags=extra,
        start_alter_sequence=start_alter,
        thread_id=thread_id,
    )


def parse_mariadb_gtid_list(raw: RawEvent) -> MariadbGtidListEvent:
    """Decode MariaDB's binlog state (28-bit count)."""
    cursor = Cursor(raw.body)
    word = cursor.unsigned(4)
    gtids: list[str] = []
    for _ in range(word & 0x0FFFFFFF):
        domain = cursor.unsigned(4)
        server = cursor.unsigned(4)
        gtids.append(f"{domain}-{server}-{cursor.unsigned(8)}")
    return MariadbGtidListEvent(header=raw.header, gtids=tuple(gtids), flags=word >> 28)
