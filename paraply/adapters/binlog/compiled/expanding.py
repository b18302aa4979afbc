"""Compressed transactions as the plain ones that the scanner reads.

MySQL packs all events of a transaction behind its GTID (TRANSACTION_PAYLOAD), MariaDB the rows of
single events. A run of them unpacks to plain events without checksums, which are checked here.
What is damaged, too large or of another form is left to the readable decoder.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import zstandard
from numpy.typing import NDArray

from paraply.adapters.binlog.compressed import inflate
from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.format_description import CHECKSUM_BYTES, HEADER_BYTES
from paraply.adapters.binlog.framing import HEADER, EventHeader, RawEvent
from paraply.adapters.binlog.payload import WINDOW_BYTES_MAX, parse_payload
from paraply.adapters.binlog.rows_events import rows_head_bytes

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

RUN_BYTES = 1 << 20
"""Plain bytes after which a run ends."""
_PLAIN_BYTES_MAX = 1 << 20
"""Within which the first compressed event of a run must come."""
PAYLOAD_BYTES_MAX = 32 << 20
"""Larger payloads unpack event by event in the readable decoder."""
_ROWS = {
    EventType.WRITE_ROWS_COMPRESSED_V1: EventType.WRITE_ROWS_V1,
    EventType.UPDATE_ROWS_COMPRESSED_V1: EventType.UPDATE_ROWS_V1,
    EventType.DELETE_ROWS_COMPRESSED_V1: EventType.DELETE_ROWS_V1,
    EventType.WRITE_ROWS_COMPRESSED: EventType.WRITE_ROWS,
    EventType.UPDATE_ROWS_COMPRESSED: EventType.UPDATE_ROWS,
    EventType.DELETE_ROWS_COMPRESSED: EventType.DELETE_ROWS,
}
_GTIDS = frozenset({EventType.GTID, EventType.ANONYMOUS_GTID, EventType.MARIADB_GTID})
_ENDS = frozenset(
    {EventType.XID, EventType.QUERY, EventType.QUERY_COMPRESSED, EventType.XA_PREPARE}
)


class _OddError(Exception):
    """What the readable decoder shall read."""


class _MoreError(Exception):
    """The transaction goes on behind the bytes at hand."""


@dataclass(slots=True)
class Run:
    """Unpacked transactions.

    ``ends[i]`` is where the i-th begins in ``data`` (the last: where all end), ``places[i]`` where
    it begins in the file.
    """

    data: Bytes
    ends: Ints
    places: Ints
    hidden: list[Counter[int]]
    """By transaction: events of the file that the scanner counts too seldom, or (below zero) too
    often."""
    position: int = 0
    """Of the next transaction in ``data``."""

    def seek(self, offset: int) -> bool:
        """Go to a transaction by its place in the file, if the run has it."""
        at = int(np.searchsorted(self.places, offset))
        if at >= len(self.places) - 1 or self.places[at] != offset:
            return False
        self.position = int(self.ends[at])
        return True

    @property
    def place(self) -> int:
        """Return the place of the next transaction in the file."""
        return int(self.places[np.searchsorted(self.ends, self.position)])


def expand(data: Bytes, offset: int, *, checked: bool) -> Run | None:
    """Return the run at ``data[0]``, at ``offset`` of the file; None if none begins there.

    Its first transaction is compressed. An empty run asks for more bytes.
    """
    view = memoryview(data).toreadonly()
    plain = bytearray()
    ends, places, all_hidden = [0], [offset], list[Counter[int]]()
    at = 0
    while len(plain) < RUN_BYTES:
        hidden = Counter[int]()
        try:
            for size, part in _transaction(view, at, hidden, checked=checked):
                at += size
                plain += part
                if not (all_hidden or hidden) and len(plain) > _PLAIN_BYTES_MAX:
                    return None
        except _MoreError:
            if not (all_hidden or hidden):
                return None
            break
        except (_OddError, MalformedError, zstandard.ZstdError):
            if not all_hidden:
                return None
            break
        if not (all_hidden or hidden):
            return None
        all_hidden.append(hidden)
        ends.append(len(plain))
        places.append(offset + at)
    return Run(
        data=np.frombuffer(plain[: ends[-1]], np.uint8),
        ends=np.array(ends),
        places=np.array(places),
        hidden=all_hidden,
    )


def _transaction(
    view: memoryview, at: int, hidden: Counter[int], *, checked: bool
) -> Iterator[tuple[int, bytes]]:
    """Yield a transaction's events: bytes in the file, and plain ones."""
    first = event = _event(view, at, checked=checked)
    if first.type_code not in _GTIDS:
        raise _OddError
    while True:
        size, code = event.length, event.type_code
        body = bytes(view[at + HEADER_BYTES : at + size - (CHECKSUM_BYTES if checked else 0)])
        at += size
        if code == EventType.TRANSACTION_PAYLOAD:
            hidden[code] += 1
            yield size, _unpacked(RawEvent(event, body))
            return
        if code in _ROWS:
            hidden[code] += 1
            code, body = as_plain_rows(code, body)
            hidden[code] -= 1
        plain = HEADER.pack(
            event.timestamp_s, code, event.server_id, HEADER_BYTES + len(body),
            event.end_position, event.flags,
        )  # fmt: skip
        yield size, plain + body
        if code in _ENDS:
            return
        event = _event(view, at, checked=checked)
        if event.type_code in _GTIDS:
            raise _OddError
        if first.type_code != EventType.MARIADB_GTID and (
            event.type_code != EventType.TRANSACTION_PAYLOAD
        ):
            raise _OddError  # Plain: the scanner reads it as it is.


def as_plain_rows(code: int, body: bytes) -> tuple[int, bytes]:
    """Return an event's type and body with MariaDB's compressed rows unpacked."""
    if code not in _ROWS:
        return code, body
    head = rows_head_bytes(code, body)
    rows = inflate(body[head:]) if head < len(body) else b""
    return _ROWS[EventType(code)], body[:head] + rows


def _unpacked(raw: RawEvent) -> bytes:
    payload = parse_payload(raw)
    claimed = payload.event.uncompressed_bytes
    if claimed is None or claimed > PAYLOAD_BYTES_MAX:
        raise _OddError
    found = payload.data
    if payload.event.compression == "zstd":
        reader = _decompressor().stream_reader(payload.data, read_across_frames=True)
        found = reader.read(claimed + 1)
    if len(found) != claimed:
        raise _OddError
    _require_one_transaction(found)
    return found


@cache
def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES_MAX)


def _event(view: memoryview, at: int, *, checked: bool) -> EventHeader:
    if at + HEADER_BYTES > len(view):
        raise _MoreError
    time_s, code, server_id, length, end, flags = HEADER.unpack_from(view, at)
    trailer = CHECKSUM_BYTES if checked else 0
    if length < HEADER_BYTES + trailer:
        raise _OddError
    if at + length > len(view):
        raise _MoreError
    if checked:
        stored = int.from_bytes(view[at + length - trailer : at + length], "little")
        if zlib.crc32(view[at : at + length - trailer]) != stored:
            raise _OddError
    return EventHeader(time_s, code, server_id, length, end, flags, at, at + length)


def _require_one_transaction(events: bytes) -> None:
    """Refuse what the scanner would not end where the payload ends."""
    at, kinds = 0, []
    while at + HEADER_BYTES <= len(events):
        kinds.append(events[at + 4])
        length = int.from_bytes(events[at + 9 : at + 13], "little")
        if length < HEADER_BYTES:
            raise _OddError
        at += length
    if at != len(events) or len(kinds) < 2 or kinds[-1] not in _ENDS:
        raise _OddError
    if any(kind in _ENDS or kind in _GTIDS for kind in kinds[1:-1]):
        raise _OddError
