"""Streamed compressed transactions (TRANSACTION_PAYLOAD, MySQL 8.0.20).

Inner events have no checksums. They unpack singly, to bound memory.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

import zstandard

from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.event_types import EventType, event_name
from paraply.adapters.binlog.events import TransactionPayloadEvent
from paraply.adapters.binlog.format_description import HEADER_BYTES
from paraply.adapters.binlog.framing import EVENT_BYTES_MAX, HEADER, EventHeader, RawEvent
from paraply.adapters.binlog.memory import BUDGET

_FIELD_END = 0
_FIELD_PAYLOAD_SIZE = 1
_FIELD_COMPRESSION = 2
_FIELD_UNCOMPRESSED_SIZE = 3
_ZSTD = 0
_UNCOMPRESSED = 255
WINDOW_BYTES_MAX = 1 << 27
_CHUNK_BYTES = 1 << 20
_NEVER_INSIDE = frozenset(
    {EventType.TRANSACTION_PAYLOAD, EventType.FORMAT_DESCRIPTION, EventType.START_ENCRYPTION}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A payload event's header fields and compressed bytes."""

    event: TransactionPayloadEvent
    data: bytes


def parse_payload(raw: RawEvent) -> Payload:
    """Decode the fields before the payload.

    Raises ``MalformedError`` for unknown compression or size.
    """
    cursor = Cursor(raw.body)
    size: int | None = None
    uncompressed: int | None = None
    compression = _UNCOMPRESSED
    while (field := cursor.packed()) != _FIELD_END:
        value = Cursor(cursor.packed_bytes())
        if field == _FIELD_PAYLOAD_SIZE:
            size = value.packed()
        elif field == _FIELD_COMPRESSION:
            compression = value.packed()
        elif field == _FIELD_UNCOMPRESSED_SIZE:
            uncompressed = value.packed()
    if compression not in (_ZSTD, _UNCOMPRESSED):
        raise MalformedError(f"payload compression {compression} is unknown")
    data = cursor.rest()
    if size is not None and size != len(data):
        raise MalformedError(f"a payload of {size} bytes where {len(data)} are left")
    event = TransactionPayloadEvent(
        header=raw.header,
        compression="zstd" if compression == _ZSTD else "none",
        compressed_bytes=len(data),
        uncompressed_bytes=uncompressed,
    )
    return Payload(event=event, data=data)


def inner_events(payload: Payload) -> Iterator[RawEvent]:
    """Yield a payload's events, with its file place.

    Raises ``MalformedError`` for damage, nested payloads and format descriptions.
    """
    outer = payload.event.header
    stream: BinaryIO = io.BytesIO(payload.data)
    if payload.event.compression == "zstd":
        decompressor = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES_MAX)
        unpacked = decompressor.stream_reader(payload.data, read_across_frames=True)
        stream = cast("BinaryIO", io.BufferedReader(unpacked, _CHUNK_BYTES))
    unpacked_bytes = 0
    while True:
        head = _read(stream, HEADER_BYTES)
        if not head:
            break
        if len(head) < HEADER_BYTES:
            raise MalformedError(f"the payload ends after {len(head)} bytes of an event header")
        timestamp_s, code, server_id, length, end_position, flags = HEADER.unpack(head)
        if not HEADER_BYTES <= length <= EVENT_BYTES_MAX:
            raise MalformedError(f"an inner {event_name(code)} of {length} bytes")
        BUDGET.require(length)
        if code in _NEVER_INSIDE:
            raise MalformedError(f"{event_name(code)} inside a transaction payload")
        body = _read(stream, length - HEADER_BYTES)
        if len(body) < length - HEADER_BYTES:
            raise MalformedError(f"the payload ends inside an inner {event_name(code)}")
        unpacked_bytes += length
        header = EventHeader(
            timestamp_s,
            code,
            server_id,
            length,
            end_position,
            flags,
            outer.offset,
            outer.next_offset,
        )
        yield RawEvent(header, body)
    claimed = payload.event.uncompressed_bytes
    if claimed is not None and claimed != unpacked_bytes:
        raise MalformedError(f"the payload unpacks to {unpacked_bytes} bytes, claims {claimed}")


def _read(stream: BinaryIO, count: int) -> bytes:
    """Memory follows the data, not ``count``."""
    chunks: list[bytes] = []
    while count:
        try:
            chunk = stream.read(min(count, _CHUNK_BYTES))
        except zstandard.ZstdError as fault:
            raise MalformedError(f"zstd: {fault}") from None
        if not chunk:
            break
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)
