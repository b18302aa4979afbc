"""Kernel that finds each transaction's distinct keys and tables."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.hashing import borrowing, finish, mix
from paraply.vocabulary.kernel_cache import BORROWED

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Marks = NDArray[np.uint8]

WRITTEN, READ, LOCKED = range(3)


@borrowing
def derived(key: np.uint64, word: int) -> np.uint64:
    """Return the digest of a key made from another."""
    return finish(mix(key, np.uint64(word)))


@borrowing
def whole_row(image: np.uint64, seed: int) -> np.uint64:
    """Return the key of a row that all its columns name, by its image's digest."""
    return derived(mix(image, np.uint64(seed)), L.WHOLE_ROW)


@borrowing
def _add(
    key: np.uint64, mark: int, stamp: int, seen_keys: Words, seen_at: Ints, mask: int,
    distinct: Words, marks: Marks, count: int,
) -> int:  # fmt: skip
    at = np.int64(key & np.uint64(mask))
    while seen_at[at] == stamp and seen_keys[at] != key:
        at = (at + 1) & mask
    if seen_at[at] == stamp:
        return count
    seen_at[at] = stamp
    seen_keys[at] = key
    distinct[count] = key
    marks[count] = mark
    return count + 1


@borrowing
def _mask_for(rows: Ints, tables: Ints, first_row: int, row_end: int, more: int, slots: int) -> int:
    """Return the mask of as many slots as a transaction needs, which then stay in the cache.

    ``more`` are its keys of left rows.
    """
    needed = 2 * more
    for row in range(first_row, row_end):
        table = tables[rows[row, L.R_TABLE]]
        needed += 2 * (3 * (table[L.D_KEY_END] - table[L.D_KEY_START]) + 2)
    size = np.int64(1)
    while size < needed and size < slots:
        size *= 2
    return size - 1


@borrowing
def row_keys(
    operation: int, keys: Words, start: int, count: int, key_table: Ints, table: Ints,
    images: Words, kind: int, found: Words, lines: Ints,
) -> tuple[int, bool]:  # fmt: skip
    """List a row's keys of a kind, with their lines; return their number, and if it has an own key.

    Without one it is named by all its columns, on line -1. Twin of ``KeyBuilder._take_row``.
    """
    number = 0
    first, has_primary = table[L.D_KEY_START], table[L.D_PRIMARY] != 0
    identified = operation != L.INSERT and table[L.D_KEYED] != 0
    same = False
    for index in range(count):
        role = key_table[first + index, L.K_ROLE]
        before, after = keys[start + index, 0], keys[start + index, 1]
        if role == L.UNIQUE:
            if index == 0 or not has_primary:
                identified |= after != 0
            if kind == WRITTEN:
                for side in range(2):
                    key = keys[start + index, side]
                    if key != 0:
                        found[number], lines[number] = key, index
                        number += 1
            continue
        if role == L.CHECKED:
            continue
        if role != L.LOCKED:
            same = operation == L.UPDATE and before == after
        if same:
            continue
        if role == L.LOCKED:
            if kind == LOCKED and after != 0:
                found[number], lines[number] = after, index
                number += 1
        elif kind == (READ if role == L.CHILD else WRITTEN):
            if before != 0:
                found[number], lines[number] = before, index
                number += 1
            if after != 0:
                if role == L.CHILD:
                    found[number], lines[number] = after, index
                    number += 1
                found[number], lines[number] = derived(after, L.NEW_ROW), index
                number += 1
    # What is searched for is written, and what is left behind is read.
    side = 1 if kind == READ else 0
    if not identified and kind != LOCKED and operation != (L.DELETE if side else L.INSERT):
        found[number], lines[number] = whole_row(images[side], table[L.D_SEED]), -1
        number += 1
    return number, identified


@njit(nogil=True, **BORROWED)
def collect(
    transactions: Ints, count: int, rows: Ints, keys: Words, digests: Words, tables: Ints,
    key_table: Ints, left_ends: Ints, left_keys: Words, left_kinds: Ints, left_marks: Marks,
    seen_keys: Words, seen_at: Ints, table_seen: Ints, stamp: int,
    key_ends: Ints, distinct: Words, marks: Marks, table_ends: Ints, numbers: Ints, roles: Ints,
    census: Ints, found: Words, lines: Ints,
) -> int:  # fmt: skip
    """List each transaction's distinct keys and tables; return the next stamp.

    Written keys come first, then those only read, then those only locked. ``seen_keys`` and
    ``seen_at`` form a scratch hash table twice the key count, of which a transaction uses the
    beginning; ``stamp`` separates transactions.
    ``table_seen`` has stamps, and places in ``numbers`` and ``roles``; ``census`` counts operations
    per table, and rows without a key. Rows of left tables have their keys in ``left_*``, of which
    ``left_ends`` may be empty, and their roles elsewhere. ``found`` and ``lines`` are scratch for
    a row's keys.
    """
    first_row, key_count, table_count = 0, 0, 0
    for index in range(count):
        stamp += 1
        row_end = transactions[index, L.T_ROW_END]
        left_start, left_end = np.int64(0), np.int64(0)
        if index < len(left_ends):
            left_start, left_end = left_ends[index - 1] if index else 0, left_ends[index]
        mask = _mask_for(rows, tables, first_row, row_end, left_end - left_start, len(seen_at))
        tied = False
        for kind in range(3):
            for row in range(first_row, row_end if kind == WRITTEN or tied else first_row):
                slot = rows[row, L.R_TABLE]
                table = tables[slot]
                has_primary = table[L.D_PRIMARY] != 0
                number, identified = 0, True
                if table[L.D_SUPPORTED] != L.LEFT:
                    number, identified = row_keys(
                        rows[row, L.R_OPERATION], keys, rows[row, L.R_KEY_START],
                        table[L.D_KEY_END] - table[L.D_KEY_START], key_table, table,
                        digests[row], kind, found, lines,
                    )  # fmt: skip
                for at in range(number):
                    mark = L.PRIMARY_KEY if has_primary and lines[at] == 0 else 0
                    key_count = _add(
                        found[at], mark if lines[at] >= 0 else L.UNCERTAIN_KEY, stamp,
                        seen_keys, seen_at, mask, distinct, marks, key_count,
                    )  # fmt: skip
                if kind == WRITTEN:
                    named, operation = table[L.D_NUMBER], rows[row, L.R_OPERATION]
                    census[named, operation] += 1
                    census[named, 3] += not identified
                    tied |= table[L.D_TIED] != 0 or not identified
                    if table_seen[named, 0] != stamp:
                        table_seen[named, 0], table_seen[named, 1] = stamp, table_count
                        numbers[table_count], roles[table_count] = named, 0
                        table_count += 1
                    role = table[L.D_ROLES]
                    if not identified:
                        role |= L.UNKEYED_ROWS
                        role |= 0 if operation == L.INSERT else L.SEARCHED_ROWS
                    roles[table_seen[named, 1]] |= role
            for at in range(left_start, left_end):
                if left_kinds[at] == kind:
                    key_count = _add(
                        left_keys[at], left_marks[at], stamp, seen_keys, seen_at, mask, distinct,
                        marks, key_count,
                    )  # fmt: skip
            key_ends[index, kind] = key_count
        first_row = row_end
        table_ends[index] = table_count
    return stamp
