"""Division of a log into events: magic, headers, lengths, checksums.

Only format descriptions (checksum algorithm; relay logs may have two) and encryption starts are
read inside.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.errors import (
    CHECKSUM_MISMATCH,
    ENCRYPTED_LOG,
    IMPOSSIBLE_LENGTH,
    MALFORMED_EVENT,
    NOT_A_BINARY_LOG,
    TRUNCATED_LOG,
    UNSUPPORTED_FORMAT,
)
from paraply.adapters.binlog.event_types import EventType, HeaderFlag, event_name
from paraply.adapters.binlog.format_description import (
    CHECKSUM_BYTES,
    HEADER_BYTES,
    Checksum,
    FormatDescription,
    parse_format_description,
)
from paraply.adapters.binlog.source import Source
from paraply.vocabulary.errors import ErrorCode, ParaplyError

MAGIC = b"\xfebin"
MYSQL_ENCRYPTED_MAGIC = b"\xfdbin"
EVENT_BYTES_MAX = (1 << 30) + (1 << 16)
"""The largest max_allowed_packet (1 GiB) plus headers."""

HEADER = struct.Struct("<IBIIIH")
_CRC = struct.Struct("<I")
_FLAGS_OFFSET = 17


class EventHeader(NamedTuple):
    """The common header and file offset of an event.

    A relay log's ``end_position`` is the source's. ``offset`` and ``next_offset`` bound the event
    or its payload.
    """

    timestamp_s: int
    type_code: int
    server_id: int
    length: int
    end_position: int
    flags: int
    offset: int
    next_offset: int

    @property
    def name(self) -> str:
        """Return the event type's name."""
        return event_name(self.type_code)


class RawEvent(NamedTuple):
    """One event: header, and body without checksum."""

    header: EventHeader
    body: bytes


class BinlogReader:
    """Reads one log file's events and verifies checksums.

    ``checksums_seen`` are in order of appearance.
    """

    def __init__(self, source: Source, *, event_bytes_max: int = EVENT_BYTES_MAX) -> None:
        self.source = source
        self.event_bytes_max = event_bytes_max
        self.format_description: FormatDescription | None = None
        self.checksums_seen: list[Checksum] = []

    @property
    def name(self) -> str:
        """Return the file's name as given."""
        return self.source.name

    def error(self, code: ErrorCode, offset: int | None, **details: object) -> ParaplyError:
        """Return an error at ``offset`` or the file."""
        where = self.name if offset is None else f"{self.name}:{offset}"
        return ParaplyError(code, where=where, **details)

    def raw_events(self) -> Iterator[RawEvent]:
        """Yield events until a fault raises ``ParaplyError``.

        P102 not a log, P103 encrypted, P104 truncated, P105 checksum, P106 impossible length, P107
        broken format description, P108 too old.
        """
        self._read_magic()
        read = self.source.read
        unpack = HEADER.unpack
        format_description = int(EventType.FORMAT_DESCRIPTION)
        start_encryption = int(EventType.START_ENCRYPTION)
        verifies = False
        trailer = 0
        extra_header = 0
        length_min = HEADER_BYTES
        while True:
            offset = self.source.offset
            head = read(HEADER_BYTES)
            if len(head) < HEADER_BYTES:
                if head or self.format_description is None:
                    raise self.error(
                        TRUNCATED_LOG,
                        offset,
                        what="an event header",
                        needed=HEADER_BYTES,
                        available=len(head),
                    )
                return
            timestamp_s, code, server_id, length, end_position, flags = unpack(head)
            if self.format_description is None:
                self._check_first(code, offset)
            if length < length_min or length > self.event_bytes_max:
                raise self.error(
                    IMPOSSIBLE_LENGTH,
                    offset,
                    event=event_name(code),
                    length=length,
                    length_min=length_min,
                    length_max=self.event_bytes_max,
                )
            body = read(length - HEADER_BYTES)
            if len(body) < length - HEADER_BYTES:
                raise self.error(
                    TRUNCATED_LOG,
                    offset,
                    what=event_name(code),
                    needed=length,
                    available=HEADER_BYTES + len(body),
                )
            header = EventHeader(
                timestamp_s, code, server_id, length, end_position, flags, offset, offset + length
            )
            if code == format_description:
                described = self._on_format_description(header, head, body)
                verifies = described.checksum is Checksum.CRC32
                trailer = CHECKSUM_BYTES if verifies else 0
                extra_header = described.header_length - HEADER_BYTES
                length_min = described.header_length + trailer
                yield RawEvent(header, body)
                continue
            if verifies:
                computed = crc32(body[:-CHECKSUM_BYTES], crc32(head))
                stored = _CRC.unpack_from(body, len(body) - CHECKSUM_BYTES)[0]
                if computed != stored:
                    raise self._checksum_error(header, stored, computed)
            if code == start_encryption and not flags & HeaderFlag.IGNORABLE:
                raise self.error(ENCRYPTED_LOG, offset, scheme="MariaDB START_ENCRYPTION event")
            yield RawEvent(header, body[extra_header : len(body) - trailer])

    def _read_magic(self) -> None:
        magic = self.source.read(len(MAGIC))
        if magic == MAGIC:
            return
        if magic == MYSQL_ENCRYPTED_MAGIC:
            raise self.error(ENCRYPTED_LOG, None, scheme="MySQL binlog_encryption")
        if not magic:
            raise self.error(NOT_A_BINARY_LOG, None, reason="it is empty")
        raise self.error(
            NOT_A_BINARY_LOG,
            None,
            reason=f"it starts with {magic.hex(' ')}, not {MAGIC.hex(' ')}",
        )

    def _check_first(self, code: int, offset: int) -> None:
        if code == EventType.START_V3:
            raise self.error(
                UNSUPPORTED_FORMAT, offset, reason="it begins with the START event of MySQL 4.1"
            )
        if code != EventType.FORMAT_DESCRIPTION:
            raise self.error(
                NOT_A_BINARY_LOG,
                offset,
                reason=f"its first event is {event_name(code)}, not FORMAT_DESCRIPTION",
            )

    def _on_format_description(
        self, header: EventHeader, head: bytes, body: bytes
    ) -> FormatDescription:
        try:
            described = parse_format_description(body)
        except MalformedError as fault:
            raise self.error(
                MALFORMED_EVENT, header.offset, event=header.name, reason=fault
            ) from None
        if described.checksum is Checksum.CRC32:
            # The server sets the in-use bit after it has computed the checksum, and clears it
            # without computing it anew.
            cleared = bytearray(head)
            cleared[_FLAGS_OFFSET] &= ~HeaderFlag.IN_USE & 0xFF
            computed = crc32(body[:-CHECKSUM_BYTES], crc32(cleared))
            stored = _CRC.unpack_from(body, len(body) - CHECKSUM_BYTES)[0]
            if computed != stored:
                raise self._checksum_error(header, stored, computed)
        self.format_description = described
        if described.checksum not in self.checksums_seen:
            self.checksums_seen.append(described.checksum)
        return described

    def _checksum_error(self, header: EventHeader, stored: int, computed: int) -> ParaplyError:
        return self.error(
            CHECKSUM_MISMATCH,
            header.offset,
            event=header.name,
            stored=stored,
            computed=computed,
        )
