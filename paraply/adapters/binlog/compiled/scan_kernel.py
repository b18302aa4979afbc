"""The scanner kernel: from log bytes to transactions, rows and key digests.

It reads whole transactions of GTID event, BEGIN, annotations, table maps, full-image rows events
and XID or COMMIT, with right checksums. It stops before any other (``layout``: NEED_MORE, ODD,
NEED_TABLE, BATCH_FULL, ODD_ROWS, NEED_WEIGHTS). Rows of left tables are only listed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.hashing import (
    borrowing,
    crc32,
    finish,
    mix_bytes,
    signed64,
    unsigned,
)
from paraply.adapters.binlog.compiled.rows_kernel import HEADER_BYTES, operation_of, scan_rows
from paraply.adapters.binlog.compiled.text_kernel import FINE, LEVELS_MAX, UNITS_MAX, Texts
from paraply.vocabulary.kernel_cache import BORROWED

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

QUERY, XID, TABLE_MAP, ANNOTATE, ROWS_QUERY = 2, 16, 19, 160, 29
GTID, ANONYMOUS, MARIADB_GTID = 33, 34, 162
_PARTIAL_UPDATE = 39
MAPS_MAX = 64
_COLUMNS_MAX = 4096
_EVENT_BYTES_MAX = (1 << 30) + (1 << 16)
_MARIADB_PLAIN = 0x02 | 0x04 | 0x08 | 0x10
"""GROUP_COMMIT_ID, TRANSACTIONAL, ALLOW_PARALLEL, WAITED; other flags are ODD."""
_LOGICAL_TIMESTAMP = 2


class Scratch(NamedTuple):
    """Room for what the scanner knows of one transaction."""

    map_numbers: Ints
    map_slots: Ints
    types: Ints
    places: Ints
    """Of the columns of a row image."""
    room: NDArray[np.uint32]
    """For the units of a text, by level, and for their numbers."""


def new_scratch() -> Scratch:
    """Return room to scan with."""
    return Scratch(
        map_numbers=np.zeros(MAPS_MAX, np.int64),
        map_slots=np.zeros(MAPS_MAX, np.int64),
        types=np.zeros(256, np.int64),
        places=np.zeros((_COLUMNS_MAX, 2), np.int64),
        room=np.zeros((LEVELS_MAX + 1, UNITS_MAX), np.uint32),
    )


@borrowing
def check_event(data: Bytes, at: int, end: int, trailer: int, crc: NDArray[np.uint32]) -> int:
    """Return FINE for a whole event with a right checksum, else why the scanner stops."""
    if at + HEADER_BYTES > end:
        return L.NEED_MORE
    length = unsigned(data, at + 9, 4)
    if length < HEADER_BYTES + trailer or length > _EVENT_BYTES_MAX:
        return L.ODD
    if at + length > end:
        return L.NEED_MORE
    if trailer and crc32(data, at, at + length - 4, crc) != unsigned(data, at + length - 4, 4):
        return L.ODD
    return FINE


@borrowing
def is_query(data: Bytes, at: int, end: int, post_header: int, word: Bytes) -> bool:
    """Return whether a statement is this word."""
    body = at + HEADER_BYTES
    if post_header < 13 or body + post_header > end:
        return False
    schema_bytes = int(data[body + 8])
    status_bytes = unsigned(data, body + 11, 2)
    start = body + post_header + status_bytes + schema_bytes + 1
    if end - start != len(word) or unsigned(data, body + 9, 2) != 0:
        return False
    for index in range(len(word)):  # noqa: SIM110 - kernels know no generators
        if data[start + index] != word[index]:
            return False
    return True


@borrowing
def _source_index(data: Bytes, at: int, uuids: Bytes, progress: Ints) -> int:
    known = progress[L.UUIDS]
    for index in range(known - 1, -1, -1):
        same = True
        for byte in range(16):
            if uuids[index, byte] != data[at + byte]:
                same = False
                break
        if same:
            return index
    if known == len(uuids):
        return -1
    for byte in range(16):
        uuids[known, byte] = data[at + byte]
    progress[L.UUIDS] = known + 1
    return known


@borrowing
def _begin_mysql(data: Bytes, at: int, end: int, uuids: Bytes, progress: Ints, txn: Ints) -> bool:
    body = at + HEADER_BYTES
    if body + 42 > end or data[body + 25] != _LOGICAL_TIMESTAMP:
        return False
    txn[L.T_FLAGS] = data[body]
    source = _source_index(data, body + 1, uuids, progress)
    if source < 0:
        return False
    txn[L.T_SOURCE] = source
    txn[L.T_NUMBER] = signed64(data, body + 17)
    txn[L.T_LAST_COMMITTED] = signed64(data, body + 26)
    txn[L.T_SEQUENCE_NUMBER] = signed64(data, body + 34)
    if txn[L.T_LAST_COMMITTED] < 0 or txn[L.T_SEQUENCE_NUMBER] <= 0:
        return False
    if txn[L.T_NUMBER] <= 0 and data[at + 4] == GTID:
        return False
    rest = body + 42
    if rest + 7 <= end:
        time = unsigned(data, rest, 7)
        rest += 7
        txn[L.T_COMMITTED_US] = time & ((1 << 55) - 1)
        if time >> 55 & 1:
            rest += 7
    # Only the presence of the transaction's length matters.
    if rest >= end:
        return rest == end
    first = int(data[rest])
    wide = 1 if first < 251 else 3 if first == 252 else 4 if first == 253 else 9
    if first in (251, 255) or rest + wide > end:
        return False
    rest += wide
    return not (rest + 4 <= end and data[rest + 3] & 0x80 and rest + 8 > end)


@borrowing
def _begin_mariadb(data: Bytes, at: int, end: int, txn: Ints) -> bool:
    body = at + HEADER_BYTES
    if body + 19 > end:
        return False
    flags = int(data[body + 12])
    if flags & ~_MARIADB_PLAIN:
        return False
    txn[L.T_NUMBER] = signed64(data, body)
    txn[L.T_SOURCE] = unsigned(data, body + 8, 4)
    txn[L.T_FLAGS] = flags
    if txn[L.T_NUMBER] < 0:
        return False
    rest = body + 13
    if flags & 0x02:
        if rest + 8 > end:
            return False
        txn[L.T_COMMIT_ID] = signed64(data, rest)
        if txn[L.T_COMMIT_ID] < 0:
            return False
        rest += 8
    if rest == end:
        return True
    # Zero padding reads as "no extra flags"; several engines and a thread id change nothing.
    extra = int(data[rest])
    return not extra & ~0x11 and not (extra & 0x01 and rest + 2 > end)


@borrowing
def _find_table(data: Bytes, start: int, end: int, hashes: Words, slots: Ints) -> int:
    digest = finish(mix_bytes(np.uint64(end - start), data, start, end))
    mask = len(hashes) - 1
    at = np.int64(digest & np.uint64(mask))
    while hashes[at] != 0:
        if hashes[at] == digest:
            return slots[at]
        at = (at + 1) & mask
    return -1


@borrowing
def begin_transaction(
    data: Bytes, at: int, end: int, uuids: Bytes, progress: Ints, txn: Ints
) -> bool:
    """Read a GTID event into ``txn``; return whether it is a plain one."""
    if data[at + 4] == MARIADB_GTID:
        return _begin_mariadb(data, at, end, txn)
    return _begin_mysql(data, at, end, uuids, progress, txn)


@borrowing
def table_map_digest(data: Bytes, start: int, end: int) -> np.uint64:
    """Return a table map body's digest."""
    return finish(mix_bytes(np.uint64(end - start), data, start, end))


@njit(nogil=True, **BORROWED)
def scan(
    data: Bytes, end: int, base: int, trailer: int, query_post_header: int, is_mariadb: bool,
    crc: NDArray[np.uint32], words: Bytes, hashes: Words, slots: Ints,
    tables: Ints, columns: Ints, key_table: Ints, seeds: Words, parts: Ints,
    texts: Texts, uuids: Bytes, scratch: Scratch,
    progress: Ints, transactions: Ints, rows: Ints, digests: Words, keys: Words, counts: Ints,
    left: Ints,
) -> None:  # fmt: skip
    """Scan ``data[progress[POSITION]:end]`` until a stop code of ``layout``.

    ``base`` is the file offset of ``data[0]``; ``words`` has rows ``BEGIN`` and ``COMMIT``. On
    return everything before progress[POSITION] is in the batch or counted.
    """
    map_numbers, map_slots, types = scratch.map_numbers, scratch.map_slots, scratch.types
    while True:
        start = progress[L.POSITION]
        rows_before, keys_before = progress[L.ROWS], progress[L.KEYS]
        left_before = progress[L.LEFT_EVENTS]
        stop = check_event(data, start, end, trailer, crc)
        if stop != FINE:
            progress[L.STATUS] = stop
            return
        kind = int(data[start + 4])
        if kind != MARIADB_GTID if is_mariadb else kind not in (GTID, ANONYMOUS):
            progress[L.STATUS] = L.ODD
            return
        if progress[L.TRANSACTIONS] == len(transactions):
            progress[L.STATUS] = L.BATCH_FULL
            return
        txn = transactions[progress[L.TRANSACTIONS]]
        txn[:] = L.ABSENT
        length = unsigned(data, start + 9, 4)
        event_end = start + length - trailer
        if not begin_transaction(data, start, event_end, uuids, progress, txn):
            progress[L.STATUS] = L.ODD
            return
        begun = kind == MARIADB_GTID
        types[:] = 0
        types[kind] = 1
        events = 1
        maps = np.int64(0)  # A literal 0 would have scan_rows compiled once more for it.
        at = start + length
        done = False
        while not done:
            stop = check_event(data, at, end, trailer, crc)
            if stop != FINE:
                break
            kind = int(data[at + 4])
            length = unsigned(data, at + 9, 4)
            event_end = at + length - trailer
            if not begun:
                if kind != QUERY or not is_query(
                    data, at, event_end, query_post_header, words[0, :5]
                ):
                    stop = L.ODD
                    break
                begun = True
            elif kind == TABLE_MAP:
                slot = _find_table(data, at + HEADER_BYTES, event_end, hashes, slots)
                if slot < 0:
                    progress[L.DETAIL] = at
                    stop = L.NEED_TABLE
                    break
                if maps == MAPS_MAX or tables[slot, L.D_SUPPORTED] == L.MALFORMED:
                    stop = L.ODD
                    break
                map_numbers[maps] = unsigned(data, at + HEADER_BYTES, 6)
                map_slots[maps] = slot
                maps += 1
            elif kind == XID:
                if event_end - at < HEADER_BYTES + 8:
                    stop = L.ODD
                    break
                done = True
            elif kind == QUERY:
                if not is_query(data, at, event_end, query_post_header, words[1, :6]):
                    stop = L.ODD
                    break
                done = True
            elif kind not in (ANNOTATE, ROWS_QUERY):
                operation = operation_of(kind)
                if operation < 0 and kind != _PARTIAL_UPDATE:
                    stop = L.ODD
                    break
                stop = scan_rows(
                    data, at, event_end, operation, kind >= 30, map_numbers, map_slots,
                    maps, tables, columns, key_table, seeds, parts, texts,
                    scratch.room, scratch.places, progress, rows, digests, keys, left,
                )  # fmt: skip
                if stop != FINE:
                    break
                # The last rows event of a statement closes its tables.
                if unsigned(data, at + HEADER_BYTES + 6, 2) & 1:
                    maps = 0
            types[kind] += 1
            events += 1
            at += length
        if not done:
            progress[L.ROWS], progress[L.KEYS] = rows_before, keys_before
            progress[L.LEFT_EVENTS] = left_before
            progress[L.STATUS] = stop
            return
        txn[L.T_START] = base + start
        txn[L.T_END] = base + at
        txn[L.T_TYPE] = data[start + 4]
        txn[L.T_SERVER] = unsigned(data, start + 5, 4)
        txn[L.T_TIME] = unsigned(data, start, 4)
        txn[L.T_ROW_END] = progress[L.ROWS]
        txn[L.T_EVENTS] = events
        for code in range(len(types)):
            counts[code] += types[code]
        progress[L.TRANSACTIONS] += 1
        progress[L.POSITION] = at
