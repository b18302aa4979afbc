"""Changes events of a whole binary log file, and mends sizes, positions and checksums."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from paraply.adapters.binlog.framing import HEADER, MAGIC

FORMAT_DESCRIPTION = 15
_IN_USE = 1
_CHECKSUM_BYTES = 4


class RawEvent(NamedTuple):
    """An event as logged, and its body without checksum."""

    code: int
    flags: int
    start: int
    raw: bytes
    body: bytes
    has_checksum: bool

    @property
    def end(self) -> int:
        """Return the file offset after the event."""
        return self.start + len(self.raw)


def raw_events(data: bytes) -> Iterator[RawEvent]:
    """Yield the whole events of a file."""
    at, has_checksums = len(MAGIC), False
    while at + HEADER.size <= len(data):
        _, code, _, size, _, _ = HEADER.unpack_from(data, at)
        raw = data[at : at + size]
        if len(raw) < size or size < HEADER.size:
            return
        if code == FORMAT_DESCRIPTION:
            # The byte before its own checksum is the checksum algorithm of the other events.
            has_checksums = raw[-5] == 1
        yield raw_event(raw, at, has_checksums=has_checksums)
        at += size


def raw_event(raw: bytes, start: int, *, has_checksums: bool) -> RawEvent:
    """Return an event of a log with or without checksums."""
    _, code, _, _, _, flags = HEADER.unpack_from(raw)
    is_checked = has_checksums or code == FORMAT_DESCRIPTION
    body = raw[HEADER.size : -_CHECKSUM_BYTES] if is_checked else raw[HEADER.size :]
    return RawEvent(code, flags, start, raw, body, is_checked)


def repacked(event: RawEvent, body: bytes, start: int, *, end: int | None = None) -> bytes:
    """Return an event with another body at offset ``start``.

    ``end`` replaces the position in the header; 0 marks an event that no file contains.
    """
    time_s, code, server_id, _, _, flags = HEADER.unpack_from(event.raw)
    size = HEADER.size + len(body) + _CHECKSUM_BYTES * event.has_checksum
    end = start + size if end is None else end
    changed = HEADER.pack(time_s, code, server_id, size, end, flags) + body
    if not event.has_checksum:
        return changed
    # The server computes the checksum of a format description as if not in use.
    plain = flags & ~_IN_USE if code == FORMAT_DESCRIPTION else flags
    counted = HEADER.pack(time_s, code, server_id, size, end, plain) + body
    return changed + struct.pack("<I", zlib.crc32(counted))


def rewritten(data: bytes, change: Callable[[RawEvent], bytes]) -> bytes:
    """Return the file with the body ``change`` gives for each event."""
    log = bytearray(MAGIC)
    for event in raw_events(data):
        log += repacked(event, change(event), len(log))
    return bytes(log)
