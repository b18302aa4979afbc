"""The kernels: from sent bytes to plain transactions, and the comparison of two.

A plain transaction has a GTID event, BEGIN, annotations, table maps, rows events and XID or COMMIT,
with right checksums, and rows that the readable decoder accepts. The scanner stops before any other
(``compiled.layout``: NEED_MORE, ODD, NEED_TABLE, BATCH_FULL).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.hashing import unsigned
from paraply.adapters.binlog.compiled.rows_kernel import (
    HEADER_BYTES,
    columns_at,
    map_of,
    operation_of,
)
from paraply.adapters.binlog.compiled.scan_kernel import (
    ANNOTATE,
    ANONYMOUS,
    GTID,
    MAPS_MAX,
    MARIADB_GTID,
    QUERY,
    ROWS_QUERY,
    TABLE_MAP,
    XID,
    begin_transaction,
    check_event,
    is_query,
    table_map_digest,
)
from paraply.adapters.binlog.compiled.sent import layout as S
from paraply.adapters.binlog.compiled.text_kernel import FINE

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_TOUCHED_MAX = 64
_ROW_OVERHEAD_BYTES = 16
_ENDS_STATEMENT = 1


@njit(cache=True)
def _find_map(
    data: Bytes, start: int, end: int, hashes: Words, slots: Ints, maps: Ints, bodies: Bytes
) -> int:
    digest = table_map_digest(data, start, end)
    mask = len(hashes) - 1
    at = np.int64(digest & np.uint64(mask))
    while hashes[at] != 0:
        slot = slots[at]
        body = maps[slot, S.M_BODY]
        if hashes[at] == digest and maps[slot, S.M_BODY_END] - body == end - start:
            differences = 0
            for byte in range(end - start):
                differences |= bodies[body + byte] ^ data[start + byte]
            if differences == 0:
                return slot
        at = (at + 1) & mask
    return -1


@njit(cache=True)
def _is_not_a_number(data: Bytes, at: int, width: int) -> bool:
    high = int(data[at + width - 1]) & 0x7F
    second = int(data[at + width - 2])
    mask = 0x7F if width == 4 else 0x0F
    exponent = 0x80 if width == 4 else 0xF0
    if high != 0x7F or second & exponent != exponent:
        return False
    rest = second & mask
    for index in range(width - 2):
        rest |= data[at + index]
    return rest != 0


@njit(cache=True)
def _skip_image(
    data: Bytes, at: int, end: int, bitmap: int, present: int, first: int, last: int, columns: Ints
) -> int:
    """Return where an image ends; -1 for one that the readable decoder may refuse."""
    here = at + (present + 7) // 8
    if here > end:
        return -1
    count = last - first
    index = 0
    for column in range(count):
        if present != count and not data[bitmap + (column >> 3)] >> (column & 7) & 1:
            continue
        is_null = data[at + (index >> 3)] >> (index & 7) & 1
        index += 1
        if is_null:
            continue
        operation, width = columns[first + column, 0], columns[first + column, 1]
        length = width
        if operation == S.PREFIXED:
            if here + width > end:
                return -1
            length = unsigned(data, here, width)
            here += width
        if length > end - here:
            return -1
        if operation == S.LIMITED and unsigned(data, here, width) > columns[first + column, 2]:
            return -1
        if operation == S.FLOATING and _is_not_a_number(data, here, width):
            return -1
        here += length
    return here


@njit(cache=True)
def _present(data: Bytes, bitmap: int, count: int) -> int:
    found = 0
    for column in range(count):
        found += data[bitmap + (column >> 3)] >> (column & 7) & 1
    return found


@njit(cache=True)
def _count_rows(
    data: Bytes, at: int, end: int, kind: int, slot: int, maps: Ints, columns: Ints
) -> int:
    """Return the number of rows of an event, at least one; -1 for one that is not plain."""
    operation = operation_of(kind)
    first, last = maps[slot, S.M_FIRST], maps[slot, S.M_LAST]
    count = last - first
    here = columns_at(data, at, end, kind >= 30, count)
    if here < 0:
        return -1
    bitmap_bytes = (count + 7) // 8
    images = 2 if operation == L.UPDATE else 1
    if here + images * bitmap_bytes > end:
        return -1
    bitmap = here
    after = bitmap + (images - 1) * bitmap_bytes
    present = _present(data, bitmap, count)
    present_after = _present(data, after, count)
    here += images * bitmap_bytes
    rows = 0
    while here < end:
        begun = here
        here = _skip_image(data, here, end, bitmap, present, first, last, columns)
        if here >= 0 and images == 2:
            here = _skip_image(data, here, end, after, present_after, first, last, columns)
        if here <= begun:
            return -1
        rows += 1
    return rows if rows else -1


@njit(cache=True, nogil=True)
def scan_sent(
    data: Bytes, begin: int, trailer: int, query_post_header: int, is_mariadb: bool,
    row_bytes_max: int, crc: NDArray[np.uint32], words: Bytes, hashes: Words, slots: Ints,
    maps: Ints, bodies: Bytes, columns: Ints, uuids: Bytes, progress: Ints, transactions: Ints,
    touched: Ints,
) -> None:  # fmt: skip
    """Scan ``data[begin:]`` until a stop code.

    On return everything before progress[POSITION] is in ``transactions``.
    """
    end = len(data)
    numbers = np.empty(MAPS_MAX, np.int64)
    open_slots = np.empty(MAPS_MAX, np.int64)
    progress[L.POSITION] = begin
    progress[L.TRANSACTIONS] = 0
    touched_count = 0
    while True:
        start = progress[L.POSITION]
        stop = check_event(data, start, end, trailer, crc)
        if stop == FINE:
            kind = int(data[start + 4])
            if kind != MARIADB_GTID if is_mariadb else kind not in (GTID, ANONYMOUS):
                stop = L.ODD
            elif progress[L.TRANSACTIONS] == len(
                transactions
            ) or touched_count + _TOUCHED_MAX > len(touched):
                stop = L.BATCH_FULL
        if stop != FINE:
            progress[L.STATUS] = stop
            return
        line = transactions[progress[L.TRANSACTIONS]]
        txn = line[S.T_HEAD :]
        txn[:] = L.ABSENT
        length = unsigned(data, start + 9, 4)
        offset = unsigned(data, start + 13, 4)
        event_end = start + length - trailer
        if not begin_transaction(data, start, event_end, uuids, progress, txn):
            progress[L.STATUS] = L.ODD
            return
        txn[L.T_TYPE] = kind
        txn[L.T_SERVER] = unsigned(data, start + 5, 4)
        begun = kind == MARIADB_GTID
        rows = 0
        known = 0
        touched_first = touched_count
        at = start + length
        done = False
        while not done:
            stop = check_event(data, at, end, trailer, crc)
            if stop != FINE:
                break
            stop = L.ODD
            kind = int(data[at + 4])
            length = unsigned(data, at + 9, 4)
            position = unsigned(data, at + 13, 4)
            if position:
                offset = position
            event_end = at + length - trailer
            body = at + HEADER_BYTES
            if not begun:
                if kind != QUERY or not is_query(
                    data, at, event_end, query_post_header, words[0, :5]
                ):
                    break
                begun = True
            elif kind == TABLE_MAP:
                if body + 8 >= event_end or known == MAPS_MAX:
                    break
                slot = _find_map(data, body + 8, event_end, hashes, slots, maps, bodies)
                if slot < 0:
                    progress[L.DETAIL] = at
                    stop = L.NEED_TABLE
                    break
                if not maps[slot, S.M_IS_PLAIN]:
                    break
                numbers[known] = unsigned(data, body, 6)
                open_slots[known] = slot
                known += 1
            elif kind == XID:
                if body + 8 > event_end:
                    break
                done = True
            elif kind == QUERY:
                if not is_query(data, at, event_end, query_post_header, words[1, :6]):
                    break
                done = True
            elif kind not in (ANNOTATE, ROWS_QUERY):
                if operation_of(kind) < 0 or body + 8 > event_end:
                    break
                index = map_of(data, at, numbers, known)
                if index < 0:
                    break
                slot = open_slots[index]
                found = _count_rows(data, at, event_end, kind, slot, maps, columns)
                if found < 0:
                    break
                rows += found
                is_new = True
                for each in range(touched_first, touched_count):
                    is_new &= touched[each] != slot
                if is_new:
                    if touched_count - touched_first == _TOUCHED_MAX:
                        break
                    touched[touched_count] = slot
                    touched_count += 1
                if data[body + 6] & _ENDS_STATEMENT:
                    known = 0
            stop = FINE
            at += length
        if stop == FINE and at - start + _ROW_OVERHEAD_BYTES * rows > row_bytes_max:
            stop = L.ODD
        if stop != FINE:
            progress[L.STATUS] = stop
            return
        line[S.T_START] = start
        line[S.T_END] = at
        line[S.T_ROWS] = rows
        line[S.T_TOUCHED_END] = touched_count
        line[S.T_OFFSET] = offset
        progress[L.TRANSACTIONS] += 1
        progress[L.POSITION] = at


@njit(cache=True)
def _next_content(data: Bytes, at: int) -> int:
    """Return the next table map or rows event from ``at`` on, or the end."""
    end = len(data)
    while at < end:
        kind = int(data[at + 4])
        if kind == TABLE_MAP or operation_of(kind) >= 0:
            return at
        at += unsigned(data, at + 9, 4)
    return at


@njit(cache=True)
def is_same_content(mine: Bytes, theirs: Bytes, my_trailer: int, their_trailer: int) -> bool:
    """Return whether two plain transactions have the same table maps and rows, byte by byte.

    Table ids only bind rows to their table maps.
    """
    my_numbers = np.empty(MAPS_MAX, np.int64)
    their_numbers = np.empty(MAPS_MAX, np.int64)
    known = 0
    here = _next_content(mine, 0)
    there = _next_content(theirs, 0)
    while here < len(mine) and there < len(theirs):
        kind = int(mine[here + 4])
        my_length = unsigned(mine, here + 9, 4)
        their_length = unsigned(theirs, there + 9, 4)
        size = my_length - my_trailer
        if theirs[there + 4] != kind or their_length - their_trailer != size:
            return False
        # The flags of a table map do not define the table.
        skipped = HEADER_BYTES + (8 if kind == TABLE_MAP else 6)
        differences = 0
        for byte in range(skipped, size):
            differences |= mine[here + byte] ^ theirs[there + byte]
        if differences:
            return False
        if kind == TABLE_MAP:
            my_numbers[known] = unsigned(mine, here + HEADER_BYTES, 6)
            their_numbers[known] = unsigned(theirs, there + HEADER_BYTES, 6)
            known += 1
        else:
            index = map_of(mine, here, my_numbers, known)
            if index != map_of(theirs, there, their_numbers, known):
                return False
            if mine[here + HEADER_BYTES + 6] & _ENDS_STATEMENT:
                known = 0
        here = _next_content(mine, here + my_length)
        there = _next_content(theirs, there + their_length)
    return here >= len(mine) and there >= len(theirs)
