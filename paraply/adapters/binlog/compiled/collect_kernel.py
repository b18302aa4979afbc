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
_UNSURE = L.UNCERTAIN_KEY | L.UNSURE_KEY
_PLACE_BITS = 28
"""Of a key among those of its transaction."""


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
    distinct: Words, marks: Marks, first: int, kind_start: int, count: int,
) -> int:  # fmt: skip
    """Add a key of a transaction, whose keys start at ``first``, and those of the kind later."""
    at = np.int64(key & np.uint64(mask))
    while seen_at[at] >> _PLACE_BITS == stamp and seen_keys[at] != key:
        at = (at + 1) & mask
    if seen_at[at] >> _PLACE_BITS == stamp:
        known = first + (seen_at[at] & ((1 << _PLACE_BITS) - 1))
        if known >= kind_start:
            if mark & L.DOUBTED_KEY:
                marks[known] |= mark
            elif not mark & L.UNCERTAIN_KEY and not marks[known] & L.DOUBTED_KEY:
                marks[known] &= ~np.uint8(L.UNCERTAIN_KEY | L.UNSURE_KEY)
        return count
    seen_at[at] = np.int64(stamp) << _PLACE_BITS | (count - first)
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
        needed += 2 * (4 * (table[L.D_KEY_END] - table[L.D_KEY_START]) + 2)
    size = np.int64(1)
    while size < needed and size < slots:
        size *= 2
    return size - 1


@borrowing
def _is_written_again(
    key_table: Ints, first: int, keys: Words, start: int, index: int, count: int
) -> bool:
    """Return whether an update writes a foreign key's or a referenced value again, by its bytes."""
    index += 1
    if index < count and key_table[first + index, L.K_ROLE] == L.LOCKED:
        index += 1
    return (
        index < count
        and key_table[first + index, L.K_ROLE] == L.CHECKED
        and keys[start + index, 0] != keys[start + index, 1]
    )


@borrowing
def row_keys(
    operation: int, unchecked: int, keys: Words, start: int, count: int, key_table: Ints,
    table: Ints, images: Words, kind: int, found: Words, marks: Marks,
) -> tuple[int, bool, int]:  # fmt: skip
    """List a row's keys of a kind, with their marks.

    Return their number, if the row has an own key, and what it adds to the role of its table.
    Without an own key it is named by all its columns. Twin of ``KeyBuilder._take_row``.
    """
    number, role_of_row = 0, 0
    first, has_primary = table[L.D_KEY_START], table[L.D_PRIMARY] != 0
    identified = operation != L.INSERT and table[L.D_KEYED] != 0
    same = False
    for index in range(count):
        line = key_table[first + index]
        role, flags = line[L.K_ROLE], line[L.K_FLAGS]
        before, after = keys[start + index, 0], keys[start + index, 1]
        if role == L.UNIQUE:
            if index == 0 or not has_primary:
                identified |= after != 0
            if kind == WRITTEN:
                if before == L.HIDDEN and after != before:
                    role_of_row |= line[L.K_MARK_OTHER]
                if after == L.LOST:
                    role_of_row |= line[L.K_MARK_AGAIN]
                elif after != 0 and after != before:
                    role_of_row |= line[L.K_MARK]
                for side in range(2):
                    key = keys[start + index, side]
                    if key > L.LOST:
                        found[number] = key
                        marks[number] = L.PRIMARY_KEY if has_primary and index == 0 else 0
                        number += 1
            continue
        if role == L.CHECKED:
            continue
        if role == L.LOCKED:
            if kind == LOCKED and after > L.LOST and not same and not unchecked:
                found[number], marks[number] = after, 0
                number += 1
            continue
        same = operation == L.UPDATE and before == after
        again = same and _is_written_again(key_table, first, keys, start, index, count)
        if role == L.CHILD:
            # Such rows are found by their primary key, also after a cascade.
            is_found = has_primary and operation != L.INSERT and flags & L.KEEPS_DELETES != 0
            is_found_delete = is_found and operation == L.DELETE
            if operation != L.INSERT and before <= L.HIDDEN and not is_found_delete:
                role_of_row |= line[L.K_MARK]
            if is_found_delete and flags & L.ALWAYS_KEEPS:
                continue
            again = again and not unchecked
            if same and not (flags & L.BELOW or again):
                continue
            if before == L.HIDDEN:
                role_of_row |= line[L.K_MARK_OTHER]
                role_of_row |= line[L.K_MARK_AGAIN] if again or after == L.LOST else 0
            if kind != READ:
                continue
            needs_parent = not same or flags & L.BELOW != 0
            if before > L.LOST:
                found[number], marks[number] = (
                    before,
                    0 if needs_parent and not is_found else _UNSURE,
                )
                number += 1
            if after > L.LOST:
                found[number], marks[number] = after, 0 if needs_parent else _UNSURE
                number += 1
                if (not same or again) and not unchecked:
                    is_sure = needs_parent and (not same or flags & L.SURELY_CHECKED != 0)
                    found[number], marks[number] = (
                        derived(after, L.NEW_ROW),
                        0 if is_sure else _UNSURE,
                    )
                    number += 1
                if flags & L.FOLLOWS:
                    found[number] = derived(after, L.MOVED_ROW)
                    marks[number] = 0 if needs_parent and not unchecked else _UNSURE
                    number += 1
        # Another spelling of an equal value cascades all the same.
        elif kind == WRITTEN and (not same or again):
            is_followed = operation == L.UPDATE and flags & L.FOLLOWED != 0 and not unchecked
            if operation != L.INSERT and not unchecked:
                role_of_row |= line[L.K_MARK if operation == L.DELETE else L.K_MARK_OTHER]
            for side in range(2):
                key = keys[start + index, side]
                if key == 0:
                    continue
                found[number], marks[number] = key, 0
                if is_followed:
                    marks[number] = _UNSURE | L.DOUBTED_KEY
                    number += 1
                    found[number], marks[number] = derived(key, L.MOVED_ROW), 0
                elif unchecked or (side == 1 and not same):
                    found[number] = derived(key, L.NEW_ROW)
                    marks[number] = _UNSURE if unchecked else 0
                number += 1
    # What is searched for is written, and what is left behind is read.
    side = 1 if kind == READ else 0
    if not identified and kind != LOCKED and operation != (L.DELETE if side else L.INSERT):
        found[number] = whole_row(images[side], table[L.D_SEED])
        marks[number] = L.UNCERTAIN_KEY
        number += 1
    return number, identified, role_of_row


@njit(nogil=True, **BORROWED)
def collect(
    transactions: Ints, count: int, rows: Ints, keys: Words, digests: Words, tables: Ints,
    key_table: Ints, left_ends: Ints, left_keys: Words, left_kinds: Ints, left_marks: Marks,
    seen_keys: Words, seen_at: Ints, table_seen: Ints, stamp: int,
    key_ends: Ints, distinct: Words, marks: Marks, table_ends: Ints, numbers: Ints, roles: Ints,
    census: Ints, found: Words, found_marks: Marks,
) -> int:  # fmt: skip
    """List each transaction's distinct keys and tables; return the next stamp.

    Written keys come first, then those only read, then those only locked. ``seen_keys`` and
    ``seen_at`` form a scratch hash table twice the key count, of which a transaction uses the
    beginning; ``stamp`` separates transactions.
    ``table_seen`` has stamps, and places in ``numbers`` and ``roles``; ``census`` counts operations
    per table, and rows without a key. Rows of left tables have their keys in ``left_*``, of which
    ``left_ends`` may be empty, and their roles elsewhere. ``found`` and ``found_marks`` are scratch
    for a row's keys.
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
        first_key = key_count
        for kind in range(3):
            kind_start = key_count
            for row in range(first_row, row_end if kind == WRITTEN or tied else first_row):
                slot = rows[row, L.R_TABLE]
                table = tables[slot]
                number, identified, role_of_row = 0, True, np.int64(0)
                if table[L.D_SUPPORTED] != L.LEFT:
                    number, identified, role_of_row = row_keys(
                        rows[row, L.R_OPERATION], rows[row, L.R_UNCHECKED],
                        keys, rows[row, L.R_KEY_START],
                        table[L.D_KEY_END] - table[L.D_KEY_START], key_table, table,
                        digests[row], kind, found, found_marks,
                    )  # fmt: skip
                for at in range(number):
                    key_count = _add(
                        found[at], found_marks[at], stamp, seen_keys, seen_at, mask, distinct,
                        marks, first_key, kind_start, key_count,
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
                    role = table[L.D_ROLES] | role_of_row
                    if not identified:
                        role |= L.UNKEYED_ROWS
                        role |= 0 if operation == L.INSERT else L.SEARCHED_ROWS
                    roles[table_seen[named, 1]] |= role
            for at in range(left_start, left_end):
                if left_kinds[at] == kind:
                    key_count = _add(
                        left_keys[at], left_marks[at], stamp, seen_keys, seen_at, mask, distinct,
                        marks, first_key, kind_start, key_count,
                    )  # fmt: skip
            key_ends[index, kind] = key_count
        first_row = row_end
        table_ends[index] = table_count
    return stamp
