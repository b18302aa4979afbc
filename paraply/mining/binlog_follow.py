"""Follows growing logs by whole transactions."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace

from paraply.adapters.binlog.blocks import Block, cut_file, head_of
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.format_description import HEADER_BYTES
from paraply.adapters.remote_files import open_range, size_of
from paraply.mining.binlog_rows import files_at
from paraply.vocabulary.errors import ParaplyError, register

LOG_WENT_BACK = register(
    "P741",
    "{file} is shorter than what was read of it ({size} of {read} bytes)",
    "the log was reset or replaced: begin a new query with a new checkpoint",
)

_TYPE_AND_LENGTH = struct.Struct("<4xB4xI")
_GTIDS = frozenset(
    {EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.MARIADB_GTID}
)
_ENDS = frozenset({EventType.ROTATE, EventType.STOP})


def available(path: str, start: Mapping[str, int], limit: int | None) -> dict[str, int]:
    """Return readable bytes per file, about ``limit`` beyond ``start``.

    Deleted files keep their offset. Raises ``ParaplyError`` P741 for shortened files.
    """
    found = dict(start)
    try:
        files = files_at(path)
    except ParaplyError:
        return found  # No log yet.
    left = limit
    for file in files:
        read, size = start.get(file, 0), size_of(file)
        if size < read:
            raise ParaplyError(LOG_WENT_BACK, file=file, size=size, read=read)
        ends = [size] if file != files[-1] and left is None else []
        ends = ends or list(_ends(file, read, size, is_last=file == files[-1]))
        chosen = read
        for end in ends:
            if left is not None and end - read > left and chosen > read:
                break
            chosen = end
            if left is not None and end - read >= left:
                break
        if chosen > read:
            found[file] = chosen
        if left is not None:
            left -= chosen - read
            if left <= 0 or (ends and chosen < ends[-1]):
                break
    return found


def _ends(file: str, read: int, size: int, *, is_last: bool) -> Iterator[int]:
    """Yield cuts behind ``read``: GTID events, file end."""
    head = head_of(file)
    if head is None:
        # Compressed, encrypted or empty: read whole once another file follows.
        if not is_last and size > read:
            yield size
        return
    at = max(read, head[0])
    first = at
    with open_range(file, at) as log:
        while at < size:
            log.seek(at)
            header = log.read(HEADER_BYTES)
            if len(header) < HEADER_BYTES:
                break
            code, length = _TYPE_AND_LENGTH.unpack_from(header)
            if length < HEADER_BYTES or at + length > size:
                break
            if code in _GTIDS and at > first:
                yield at
            at += length
            if code in _ENDS and at == size and size > read:
                yield size
                return
    if not is_last and size > read:
        yield size


def parts_between(
    start: Mapping[str, int], end: Mapping[str, int], part_bytes: int
) -> Iterator[Block]:
    """Return the file parts between two offsets."""
    for file, stop in end.items():
        begin = start.get(file, 0)
        if begin >= stop:
            continue
        head = head_of(file)
        if head is None:
            yield Block(file=file, begin=0, end=None)
            continue
        for block in cut_file(file, part_bytes):
            last = stop if block.end is None else min(stop, block.end)
            first = max(begin, block.begin)
            if first < last:
                yield replace(block, begin=first, end=last, head_end=head[0])
