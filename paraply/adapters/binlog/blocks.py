"""Division of log files into independent blocks at transaction boundaries.

A boundary is a checked GTID event before another checked event. Row data may imitate one on
purpose. So the last event of the block before must end there; otherwise read the whole file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO
from zlib import crc32

from paraply.adapters.binlog.errors import UNREADABLE_FILE
from paraply.adapters.binlog.event_types import EventType, HeaderFlag
from paraply.adapters.binlog.format_description import CHECKSUM_BYTES, HEADER_BYTES, Checksum
from paraply.adapters.binlog.framing import HEADER, MAGIC, BinlogReader
from paraply.adapters.binlog.source import Source, open_source, source_of_stream
from paraply.adapters.remote_files import is_url, open_range, open_unbuffered, size_of
from paraply.vocabulary.errors import ParaplyError

BLOCK_BYTES = 32 << 20
"""A third of a second for the compiled audit."""

_GTID_CODES = frozenset(
    {EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.MARIADB_GTID}
)
_SCAN_BYTES = 1 << 16
_HEAD_BYTES_MAX = 1 << 12
_GTID_BYTES_MAX = 1 << 12
_POSITIONS = 1 << 32
"""Width of recorded event ends; files may be longer."""
_LENGTH_AND_END = struct.Struct("<II")
_CODE_AT, _LENGTH_AT = 4, 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Bytes ``begin`` to ``end`` of a file.

    ``begin`` is 0 or a GTID event's offset; ``end`` is None at the file's end.
    """

    file: str
    begin: int
    end: int | None
    head_end: int = 0

    def open(self) -> Source:
        """Open the file, or its head and the block."""
        return open_source(self.file) if self.is_file else BlockSource(self)

    @property
    def name(self) -> str:
        """Return the file's name."""
        return self.file

    @property
    def is_file(self) -> bool:
        """Return whether the block is a whole file."""
        return self.begin == 0 and self.end is None


class BlockSource(Source):
    """A file's head and block; ``offset`` is the file's."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self.resumes = block.begin > 0
        end = block.head_end if self.resumes else block.end
        super().__init__(block.file, _opened(block.file, 0, end))

    def read(self, count: int) -> bytes:
        """Return up to ``count`` next bytes."""
        in_head = self.resumes and self.offset < self._block.head_end
        end = self._block.head_end if in_head else self._block.end
        data = super().read(count if end is None else min(count, end - self.offset))
        if in_head and self.offset == self._block.head_end:
            self._stream.close()
            self._stream = _opened(self.name, self._block.begin, self._block.end)
            self.offset = self._block.begin
        return data


def _opened(file: str, begin: int, end: int | None) -> BinaryIO:
    try:
        return open_range(file, begin, end)
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise ParaplyError(UNREADABLE_FILE, where=file, reason=reason) from None


def cut_file(file: str, block_bytes: int = BLOCK_BYTES) -> list[Block]:
    """Return blocks of at least ``block_bytes``, except the last.

    Compressed, encrypted and relay logs (changing formats and clocks) and logs without GTIDs are
    one block.
    """
    head = head_of(file)
    if head is None:
        return [Block(file=file, begin=0, end=None)]
    head_end, checksummed = head
    begins = [0]
    with open_unbuffered(file) as log:
        size = log.seek(0, 2)
        at = head_end + block_bytes
        while at < size:
            found = _next_boundary(log, at, size, checksummed)
            if found is None:
                break
            begins.append(found)
            at = found + block_bytes
    return [
        Block(file=file, begin=begin, end=end, head_end=head_end)
        for begin, end in zip(begins, [*begins[1:], None], strict=True)
    ]


def head_of(file: str) -> tuple[int, bool] | None:
    """Return the format description's end and the presence of checksums."""
    # The head is short, so a URL fetch stays small.
    head = min(_HEAD_BYTES_MAX, size_of(file)) if is_url(file) else None
    source = source_of_stream(file, _opened(file, 0, head))
    with source:
        if source.compression != "plain":
            return None
        reader = BinlogReader(source)
        try:
            first = next(iter(reader.raw_events()), None)
        except ParaplyError:
            return None
        description = reader.format_description
        if first is None or description is None or description.header_length != HEADER_BYTES:
            return None
        header = first.header
        foreign = header.flags & (HeaderFlag.RELAY_LOG | HeaderFlag.ARTIFICIAL)
        if foreign or header.end_position == 0 or header.offset != len(MAGIC):
            return None
        return header.next_offset, description.checksum is Checksum.CRC32


def _next_boundary(log: BinaryIO, begin: int, size: int, checksummed: bool) -> int | None:
    at = begin
    while at < size:
        log.seek(at)
        data = log.read(_SCAN_BYTES + _GTID_BYTES_MAX)
        for place in _candidates(data, at):
            if place >= _SCAN_BYTES:
                break
            if _is_event(log, at + place, size, checksummed=checksummed):
                return at + place
        at += _SCAN_BYTES
    return None


def _candidates(data: bytes, base: int) -> Iterator[int]:
    found: set[int] = set()
    for code in _GTID_CODES:
        sought = bytes([code])
        at = data.find(sought, _CODE_AT)
        while at >= 0:
            place = at - _CODE_AT
            if place + HEADER_BYTES > len(data):
                break
            length, end = _LENGTH_AND_END.unpack_from(data, place + _LENGTH_AT)
            if HEADER_BYTES < length <= _GTID_BYTES_MAX and end == (
                (base + place + length) % _POSITIONS
            ):
                found.add(place)
            at = data.find(sought, at + 1)
    yield from sorted(found)


def _is_event(log: BinaryIO, offset: int, size: int, *, checksummed: bool) -> bool:
    log.seek(offset)
    head = log.read(HEADER_BYTES)
    length = int(HEADER.unpack(head)[3])
    body = log.read(length - HEADER_BYTES)
    if len(body) < length - HEADER_BYTES:
        return False
    if checksummed:
        stored = int.from_bytes(body[-CHECKSUM_BYTES:], "little")
        if crc32(body[:-CHECKSUM_BYTES], crc32(head)) != stored:
            return False
    following = log.read(HEADER_BYTES)
    if not following:
        return offset + length == size
    if len(following) < HEADER_BYTES:
        return False
    length_after, end_after = _LENGTH_AND_END.unpack_from(following, _LENGTH_AT)
    fits: bool = end_after == (offset + length + length_after) % _POSITIONS
    return fits
