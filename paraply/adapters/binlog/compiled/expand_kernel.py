"""Kernels that find compressed transactions in log bytes, and put unpacked ones together.

What is damaged, too large or of another form is left to the readable decoder.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.hashing import borrowing, unsigned
from paraply.adapters.binlog.compiled.rows_kernel import HEADER_BYTES
from paraply.adapters.binlog.compiled.scan_kernel import (
    ANONYMOUS,
    GTID,
    MARIADB_GTID,
    QUERY,
    XID,
    check_event,
)
from paraply.adapters.binlog.compiled.text_kernel import FINE
from paraply.vocabulary.kernel_cache import BORROWED

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

PAYLOAD, _XA_PREPARE, _QUERY_COMPRESSED = 40, 38, 165
_ROWS_V1, _ROWS_V2, _ROWS_END = 166, 169, 172
_PLAIN_ROWS_V1, _PLAIN_ROWS_V2 = 23, 30
_PAYLOAD_SIZE, _COMPRESSION, _UNPACKED_SIZE = 1, 2, 3
_ZSTD_MAGIC = 0xFD2FB528
_WINDOW_EXPONENT_MAX = 16
"""Above 1 KB: windows below 128 MB."""

# Columns of a compressed part of a run.
P_TRANSACTION, P_AT, P_HEAD_END, P_PLAIN, P_CODE, P_START, P_END, P_SIZE = range(8)
"""P_AT is the event's place, P_HEAD_END the end of what stays of it (P_AT: nothing), P_START and
P_END the place of the packed bytes, P_SIZE their size when unpacked. P_PLAIN is the type of the
unpacked event, 0 for several events."""
PART_COLUMNS = 8
PART_BYTES_MIN = 24
"""No compressed event, and no transaction, is shorter."""


@borrowing
def _is_gtid(kind: int) -> bool:
    return kind in (GTID, ANONYMOUS, MARIADB_GTID)


@borrowing
def _ends_transaction(kind: int) -> bool:
    return kind in (XID, QUERY, _QUERY_COMPRESSED, _XA_PREPARE)


@borrowing
def _packed(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return a length-encoded integer, -1 if there is none, and where it ends."""
    first = int(data[at]) if at < end else 255
    at += 1
    if first < 251:
        return first, at
    width = 2 if first == 252 else 3 if first == 253 else 8
    if first in (251, 255) or at + width > end or (width == 8 and data[at + 7]):
        return -1, at
    return unsigned(data, at, min(width, 7)), at + width


@borrowing
def _is_one_frame(data: Bytes, at: int, end: int, size: int) -> bool:
    """Return whether a zstd frame begins here that does not claim other memory than ``size``."""
    if at + 14 > end or unsigned(data, at, 4) != _ZSTD_MAGIC:
        return False
    flags = int(data[at + 4])
    at += 5
    is_whole = flags >> 5 & 1
    if not is_whole:
        if data[at] >> 3 > _WINDOW_EXPONENT_MAX:
            return False
        at += 1
    if flags & 3:  # Needs a dictionary.
        return False
    wide = flags >> 6
    if wide == 0:
        return not is_whole or data[at] == size
    if wide == 1:
        return unsigned(data, at, 2) + 256 == size
    return unsigned(data, at, 4) == size and (wide == 2 or unsigned(data, at + 4, 4) == 0)


@borrowing
def _find_payload(data: Bytes, at: int, end: int, part: Ints) -> bool:
    """Find the packed bytes of a MySQL transaction."""
    packed_bytes, compression, size = -1, -1, -1
    while True:
        field, at = _packed(data, at, end)
        if field == 0:
            break
        length, at = _packed(data, at, end)
        if field < 0 or length < 0 or at + length > end:
            return False
        value, _ = _packed(data, at, at + length)
        if field == _PAYLOAD_SIZE:
            packed_bytes = value
        elif field == _COMPRESSION:
            compression = value
        elif field == _UNPACKED_SIZE:
            size = value
        at += length
    part[P_START], part[P_END], part[P_SIZE] = at, end, size
    return (
        compression == 0
        and size > 0
        and packed_bytes in (-1, end - at)
        and _is_one_frame(data, at, end, size)
    )


@borrowing
def _find_rows(data: Bytes, at: int, end: int, kind: int, part: Ints) -> bool:
    """Find the packed rows of a MariaDB event."""
    at += 8
    if kind >= _ROWS_V2:
        extra = unsigned(data, at, 2) if at + 2 <= end else 0
        if extra < 2:
            return False
        at += extra
    columns, at = _packed(data, at, end)
    is_update = kind in (_ROWS_V1 + 1, _ROWS_V2 + 1)
    if columns < 0:
        return False
    at += (columns + 7) // 8 * (2 if is_update else 1)
    width = int(data[at]) & 0x07 if at < end else 0
    start = at + 1 + width
    if not 1 <= width <= 4 or data[at] & 0xF0 != 0x80 or start > end:
        return False
    size = 0
    for index in range(at + 1, start):
        size = size << 8 | int(data[index])
    part[P_HEAD_END], part[P_START], part[P_END], part[P_SIZE] = at, start, end, size
    return size > 0


@njit(nogil=True, **BORROWED)
def find_run(
    data: Bytes, trailer: int, crc: NDArray[np.uint32], run_bytes: int, plain_max: int,
    unpacked_max: int, ends: Ints, places: Ints, parts: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Return the numbers of transactions and of compressed parts of the run at ``data[0]``.

    The i-th transaction ends at ``places[i + 1]``, and unpacked at ``ends[i + 1]``. Its first
    transaction must be compressed, within ``plain_max`` bytes. Parts without a transaction ask for
    more bytes.
    """
    count, found, at, plain = 0, 0, 0, 0
    while plain < run_bytes:
        start, part, size, kind = at, found, 0, 0
        is_first, is_mariadb, done = True, False, False
        while not done:
            stop = check_event(data, at, len(data), trailer, crc)
            if stop != FINE:
                return count, found if stop == L.NEED_MORE and count == 0 else part
            kind = int(data[at + 4])
            if is_first:
                is_mariadb = kind == MARIADB_GTID
            if _is_gtid(kind) != is_first or not (is_first or is_mariadb or kind == PAYLOAD):
                return count, part
            is_first = False
            event = at
            length = unsigned(data, at + 9, 4)
            end = at + length - trailer
            at += length
            done = _ends_transaction(kind) or kind == PAYLOAD
            if kind == PAYLOAD:
                is_fine = _find_payload(data, event + HEADER_BYTES, end, parts[found])
                parts[found, P_HEAD_END], parts[found, P_PLAIN] = event, 0
            elif _ROWS_V1 <= kind < _ROWS_END:
                is_fine = _find_rows(data, event + HEADER_BYTES, end, kind, parts[found])
                parts[found, P_PLAIN] = kind - _ROWS_V1 + _PLAIN_ROWS_V1
                if kind >= _ROWS_V2:
                    parts[found, P_PLAIN] = kind - _ROWS_V2 + _PLAIN_ROWS_V2
            else:
                size += end - event
                if found == 0 and at - start > plain_max:
                    return 0, 0
                continue
            if not is_fine:
                return count, part
            size += parts[found, P_HEAD_END] - event + parts[found, P_SIZE]
            if size > unpacked_max:
                return count, part
            parts[found, P_TRANSACTION] = count
            parts[found, P_AT] = event
            parts[found, P_CODE] = kind
            found += 1
        if found == 0:
            return 0, 0
        plain += size
        count += 1
        ends[count], places[count] = plain, at
    return count, found


@borrowing
def _is_one_transaction(data: Bytes, at: int, end: int) -> bool:
    """Return whether the scanner would end a payload's transaction where it ends."""
    events = 0
    done = False
    while at + HEADER_BYTES <= end:
        kind = int(data[at + 4])
        length = unsigned(data, at + 9, 4)
        if length < HEADER_BYTES or done:
            return False
        done = events > 0 and _ends_transaction(kind)
        if events and _is_gtid(kind):
            return False
        events += 1
        at += length
    return done and at == end


@njit(nogil=True, **BORROWED)
def put_together(
    data: Bytes, places: Ints, trailer: int, parts: Ints, unpacked: Bytes, plain: Bytes
) -> int:
    """Write transactions that end at ``places`` without checksums, and with their unpacked parts.

    Return how many precede the first of another form.
    """
    at, to, taken, part = 0, 0, 0, 0
    while at < places[-1]:
        length = unsigned(data, at + 9, 4)
        head, size = length - trailer, 0
        is_part = part < len(parts) and parts[part, P_AT] == at
        if is_part:
            head, size = parts[part, P_HEAD_END] - at, parts[part, P_SIZE]
            if head == 0 and not _is_one_transaction(unpacked, taken, taken + size):
                return parts[part, P_TRANSACTION]
        for index in range(head):  # Slices would take seconds to compile.
            plain[to + index] = data[at + index]
        for index in range(size):
            plain[to + head + index] = unpacked[taken + index]
        if head:
            for index in range(4):
                plain[to + 9 + index] = head + size >> 8 * index & 0xFF
        if is_part:
            if head:
                plain[to + 4] = parts[part, P_PLAIN]
            part += 1
        to += head + size
        taken += size
        at += length
    return len(places) - 1
