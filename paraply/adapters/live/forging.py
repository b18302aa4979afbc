"""Forge the parallelisation metadata of a stopped source's binary log: the positive control.

The log stays valid in lengths, positions and checksums; only its claim of parallelism is wrong.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from paraply.adapters.binlog.framing import HEADER, MAGIC

_FORMAT_DESCRIPTION, _MARIADB_GTID = 15, 162
_MYSQL_GTID = 33
_CLOCK_AT, _CLOCK = 26, struct.Struct("<qq")
"""They follow flags, source, number and kind of clock."""
_LOGICAL_CLOCK = 2
_FIRST = 1
_IN_USE = 1
_FLAGS_AT, _COMMIT_ID_AT = 12, 13
_COMMIT_ID_FLAG = 2
_LEFT_ALONE = 32 | 64 | 128
"""Schema changes run alone; XA transactions have a longer event."""
_GTID_BYTES_MIN = 19
_FORGED_ID = 777


def forge_commit_ids(file: Path, commit_id: int = _FORGED_ID) -> int:
    """Set one commit id for all transactions of a stopped server's log; return their number.

    Schema changes and XA transactions keep theirs.
    """
    data = file.read_bytes()
    forged, count = forged_log(data, commit_id)
    if count:
        file.write_bytes(forged)
    return count


def forged_log(data: bytes, commit_id: int) -> tuple[bytes, int]:
    """Return the changed log and the number of changes."""
    log = bytearray(MAGIC)
    at, count, has_checksums = len(MAGIC), 0, False
    while at + HEADER.size <= len(data):
        time_s, code, server_id, size, _, flags = HEADER.unpack_from(data, at)
        body = data[at + HEADER.size : at + size]
        if code == _FORMAT_DESCRIPTION:
            # The byte before its own checksum is the checksum algorithm of the other events.
            has_checksums = body[-5] == 1
        is_checked = has_checksums or code == _FORMAT_DESCRIPTION
        if is_checked:
            body = body[:-4]
        if code == _MARIADB_GTID and not body[_FLAGS_AT] & _LEFT_ALONE:
            body = _with_commit_id(body, commit_id)
            count += 1
        at += size
        new_size = HEADER.size + len(body) + 4 * is_checked
        end = len(log) + new_size
        event = HEADER.pack(time_s, code, server_id, new_size, end, flags) + body
        if is_checked:
            # The server computes the checksum of a format description as if not in use.
            plain = flags & ~_IN_USE if code == _FORMAT_DESCRIPTION else flags
            counted = HEADER.pack(time_s, code, server_id, new_size, end, plain) + body
            event += struct.pack("<I", zlib.crc32(counted))
        log += event
    return bytes(log), count


def forge_last_committed(file: Path) -> int:
    """Make all transactions of a stopped server's log depend on the first; return the changes.

    Lengths stay, as do transactions with a tagged GTID.
    """
    log = bytearray(file.read_bytes())
    at, count, has_checksums = len(MAGIC), 0, False
    while at + HEADER.size <= len(log):
        _, code, _, size, _, _ = HEADER.unpack_from(log, at)
        end = at + size
        if code == _FORMAT_DESCRIPTION:
            has_checksums = log[end - 5] == 1
        clock_at = at + HEADER.size + _CLOCK_AT
        if code == _MYSQL_GTID and log[clock_at - 1] == _LOGICAL_CLOCK:
            last_committed, number = _CLOCK.unpack_from(log, clock_at)
            if last_committed > _FIRST:
                _CLOCK.pack_into(log, clock_at, _FIRST, number)
                count += 1
                if has_checksums:
                    struct.pack_into("<I", log, end - 4, zlib.crc32(log[at : end - 4]))
        at = end
    if count:
        file.write_bytes(log)
    return count


def _with_commit_id(body: bytes, commit_id: int) -> bytes:
    flags = body[_FLAGS_AT]
    # Padding follows the id.
    rest = body[_COMMIT_ID_AT + 8 :] if flags & _COMMIT_ID_FLAG else body[_COMMIT_ID_AT:]
    start = body[:_FLAGS_AT] + bytes([flags | _COMMIT_ID_FLAG])
    forged = start + struct.pack("<Q", commit_id) + rest.rstrip(b"\0")
    return forged.ljust(_GTID_BYTES_MIN, b"\0")
