"""Kernels that digest row images and keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.hashing import borrowing, finish, mix, mix_bytes, unsigned
from paraply.adapters.binlog.compiled.text_kernel import FINE, Texts, text_digest

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Units = NDArray[np.uint32]

HEADER_BYTES = 19


@borrowing
def _walk_image(
    data: Bytes, at: int, end: int, first: int, last: int, columns: Ints, places: Ints
) -> int:
    """``places[c]`` is (offset, length), offset -1 for NULL; returns -1 for a misfit."""
    count = last - first
    here = at + (count + 7) // 8
    if here > end:
        return -1
    for column in range(count):
        if data[at + (column >> 3)] >> (column & 7) & 1:
            places[column, 0] = -1
            places[column, 1] = 0
            continue
        start, length = _value_at(
            data, here, end, columns[first + column, L.C_STEP], columns[first + column, L.C_WIDTH]
        )
        if start < 0:
            return -1
        places[column, 0] = start
        places[column, 1] = length
        here = start + length
    return here


@borrowing
def _value_at(data: Bytes, here: int, end: int, step: int, width: int) -> tuple[int, int]:
    """Return where a value begins, -1 for a misfit, and its length."""
    length = width
    if step != L.FIXED:
        if here + width > end:
            return -1, 0
        length = unsigned(data, here, width)
        here += width
    return (here, length) if length <= end - here else (-1, 0)


@borrowing
def _is_set(data: Bytes, at: int, bit: int) -> bool:
    return data[at + (bit >> 3)] >> (bit & 7) & 1 != 0


@borrowing
def _walk_narrow_image(
    data: Bytes, shown: int, at: int, end: int, first: int, last: int, columns: Ints, places: Ints,
    operation: int, side: int,
) -> int:  # fmt: skip
    """Walk an image of the columns that the bits at ``shown`` name.

    What an update does not show after keeps its place from before.
    """
    count, place = 0, 0
    for column in range(last - first):
        count += _is_set(data, shown, column)
    here = at + (count + 7) // 8
    if here > end:
        return -1
    for column in range(last - first):
        if not _is_set(data, shown, column):
            need = columns[first + column, L.C_NEED]
            if operation == L.INSERT and need == L.NULL_IF_OMITTED:
                places[column, 0] = -1
            elif operation == L.INSERT or side == 0:
                places[column, 0] = L.UNSHOWN
            continue
        if _is_set(data, at, place):
            places[column, 0] = -1
            places[column, 1] = 0
        else:
            start, length = _value_at(
                data, here, end,
                columns[first + column, L.C_STEP], columns[first + column, L.C_WIDTH],
            )  # fmt: skip
            if start < 0:
                return -1
            places[column, 0] = start
            places[column, 1] = length
            here = start + length
        place += 1
    return here


@borrowing
def _narrow_digest(
    data: Bytes, places: Ints, first: int, last: int, columns: Ints, seed: np.uint64
) -> np.uint64:
    """Return the digest of the compared columns of an image."""
    state = mix(seed, np.uint64(last - first))
    for column in range(last - first):
        if columns[first + column, L.C_NEED] != L.COMPARED:
            continue
        start, length = places[column, 0], places[column, 1]
        state = mix(state, np.uint64(0 if start < 0 else length + 1))
        if start >= 0:
            state = mix_bytes(state, data, start, start + length)
    return finish(state)


@borrowing
def _shows_enough(
    data: Bytes, at: int, operation: int, first: int, last: int, columns: Ints, is_narrow: bool
) -> bool:
    """Return whether an event's images show what the table's descriptor says."""
    count = last - first
    enough = True
    for image in range(2 if operation == L.UPDATE else 1):
        for column in range(count):
            is_shown = _is_set(data, at, column)
            need = columns[first + column, L.C_NEED]
            if image == 1:
                enough &= is_shown or is_narrow
            elif operation == L.INSERT:
                enough &= is_shown or need == 0 or need == L.NULL_IF_OMITTED
            else:
                enough &= is_shown == (need == L.COMPARED)
        at += (count + 7) // 8
    return enough


@borrowing
def _tell_shown(data: Bytes, at: int, operation: int, count: int, places: Ints) -> None:
    """Let ``places`` say which columns images show, before and after."""
    places[:count] = 0
    for image in range(2 if operation == L.UPDATE else 1):
        for column in range(count):
            places[column, 1 if operation == L.INSERT else image] = _is_set(data, at, column)
        at += (count + 7) // 8


@borrowing
def image_digest(data: Bytes, at: int, end: int, count: int, seed: np.uint64) -> np.uint64:
    """Return the digest of ``data[at:end]``, a NULL bitmap and the values of ``count`` columns."""
    bitmap_end = at + (count + 7) // 8
    # Mixed, not only joined: a NULL bitmap could undo it, and equal images of two shapes result.
    state = mix(seed, np.uint64(count))
    for byte in range(at, bitmap_end):
        value = np.uint64(data[byte])
        if byte == bitmap_end - 1 and count & 7:
            value &= np.uint64((1 << (count & 7)) - 1)
        state = mix(state, value)
    return finish(mix_bytes(state, data, bitmap_end, end))


@borrowing
def _key_digest(
    data: Bytes, key: int, key_table: Ints, seed: np.uint64, parts: Ints,
    texts: Texts, room: Units, places: Ints,
) -> tuple[int, np.uint64]:  # fmt: skip
    """Return FINE and a digest, 0 for a NULL part; else what ``text_digest`` returns."""
    state, is_hidden = seed, False
    for part in range(key_table[key, L.K_PART_START], key_table[key, L.K_PART_END]):
        column, rule = parts[part, L.P_COLUMN], parts[part, L.P_RULE]
        start = places[column, 0]
        if start < 0:
            if rule & L.NULL_COUNTS:
                state = mix(state, np.uint64(1 << 42 if start == L.UNSHOWN else 1 << 41))
            elif start == L.UNSHOWN:
                is_hidden = True
            else:
                return FINE, np.uint64(0)
            continue
        end = start + places[column, 1]
        length_max = parts[part, L.P_LENGTH]
        if rule & L.TEXT:
            stop, state = text_digest(
                state, data, start, end, length_max, parts[part, L.P_FILLED], rule,
                parts[part, L.P_WEIGHTS], texts, room,
            )  # fmt: skip
            if stop != FINE:
                return stop, state
            continue
        if length_max and end - start > length_max:
            end = start + length_max
        if rule & L.NUMBER and data[end - 1] == 0x80:
            zero = True
            for at in range(start, end - 1):
                zero &= data[at] == 0
            state = mix_bytes(state, data, start, end - 1)
            state = mix(state, np.uint64(0 if zero else 0x80))
        elif rule & L.NUMBER:
            state = mix_bytes(state, data, start, end - 1)
            state = mix(state, np.uint64(data[end - 1]))
        else:
            if rule == L.RAW_FIXED:
                while end > start and data[end - 1] == 0:
                    end -= 1
            state = mix_bytes(state, data, start, end)
    return FINE, np.uint64(L.HIDDEN) if is_hidden else finish(state)


@borrowing
def _sets_part(data: Bytes, shown: int, key: int, key_table: Ints, parts: Ints) -> bool:
    """Return whether the image with the bits ``shown`` shows a part of a key."""
    for part in range(key_table[key, L.K_PART_START], key_table[key, L.K_PART_END]):
        if _is_set(data, shown, parts[part, L.P_COLUMN]):
            return True
    return False


@borrowing
def operation_of(kind: int) -> int:
    """Return a v1 or v2 rows event's operation, else -1."""
    if kind in (23, 30):
        return L.INSERT
    if kind in (24, 31):
        return L.UPDATE
    if kind in (25, 32):
        return L.DELETE
    return -1


@borrowing
def map_of(data: Bytes, at: int, numbers: Ints, maps: int) -> int:
    """Return which of the open table maps a rows event has, or -1."""
    number = unsigned(data, at + HEADER_BYTES, 6)
    for index in range(maps - 1, -1, -1):
        if numbers[index] == number:
            return index
    return -1


@borrowing
def columns_at(data: Bytes, at: int, end: int, is_v2: bool, count: int) -> int:
    """Return where a rows event of ``count`` columns shows which are there; -1 for a misfit."""
    here = at + HEADER_BYTES + 8
    if is_v2:
        if here + 2 > end:
            return -1
        # The length of the extra row information counts itself.
        extra = unsigned(data, here, 2)
        if extra < 2:
            return -1
        here += extra
    if here + 1 > end:
        return -1
    width = int(data[here])
    here += 1
    if width >= 251:
        if width != 252 or here + 2 > end:
            return -1
        width = unsigned(data, here, 2)
        here += 2
    return here if width == count else -1


@borrowing
def scan_rows(
    data: Bytes, at: int, end: int, operation: int, is_v2: bool,
    map_numbers: Ints, map_slots: Ints, maps: int,
    tables: Ints, columns: Ints, key_table: Ints, seeds: Words, parts: Ints,
    texts: Texts, room: Units, places: Ints,
    progress: Ints, rows: Ints, digests: Words, keys: Words, left: Ints,
) -> int:  # fmt: skip
    """Append one event's rows; return FINE, L.ODD, L.ODD_ROWS, L.BATCH_FULL
    or L.NEED_WEIGHTS.

    ``digests`` and ``keys`` have two columns (before, after), or two more for a second digest; the
    digests of images then depend on the table's seed.
    """
    body = at + HEADER_BYTES
    if body + 8 > end:
        return L.ODD
    index = map_of(data, at, map_numbers, maps)
    if index < 0:
        return L.ODD
    slot = map_slots[index]
    if tables[slot, L.D_SUPPORTED] == L.LEFT:
        event = progress[L.LEFT_EVENTS]
        if event == len(left):
            return L.BATCH_FULL
        left[event, L.V_TRANSACTION] = progress[L.TRANSACTIONS]
        left[event, L.V_ROW] = progress[L.ROWS]
        left[event, L.V_AT], left[event, L.V_LENGTH] = at, end - at
        left[event, L.V_TABLE] = slot
        progress[L.LEFT_EVENTS] = event + 1
        return FINE
    progress[L.DETAIL] = slot
    if tables[slot, L.D_SUPPORTED] != 1 or operation < 0:
        progress[L.REASON] = L.UNREAD
        return L.ODD_ROWS
    first, last = tables[slot, L.D_COLUMN_START], tables[slot, L.D_COLUMN_END]
    count = last - first
    here = columns_at(data, at, end, is_v2, count)
    if here < 0:
        return L.ODD
    unchecked = data[body + 6] & L.UNCHECKED
    shown, bits = here, (count + 7) // 8
    here += 2 * bits if operation == L.UPDATE else bits
    if here > end:
        return L.ODD
    is_narrow = tables[slot, L.D_NARROW] != 0
    if not _shows_enough(data, shown, operation, first, last, columns, is_narrow):
        _tell_shown(data, shown, operation, count, places)
        progress[L.REASON] = L.PARTIAL
        return L.ODD_ROWS
    key_first, key_last = tables[slot, L.D_KEY_START], tables[slot, L.D_KEY_END]
    key_count = key_last - key_first
    is_wide = digests.shape[1] > 2
    seed = seeds[key_first] if is_wide else np.uint64(0)
    if here >= end:
        return L.ODD
    while here < end:
        row, key = progress[L.ROWS], progress[L.KEYS]
        if row == len(rows) or key + key_count > len(keys):
            return L.BATCH_FULL
        rows[row, L.R_OPERATION] = operation
        rows[row, L.R_TABLE] = slot
        rows[row, L.R_UNCHECKED] = unchecked
        rows[row, L.R_KEY_START] = key
        for side in range(2):
            if (side == 0 and operation == L.INSERT) or (side == 1 and operation == L.DELETE):
                digests[row, side::2] = 0
                keys[key : key + key_count, side::2] = 0
                continue
            at_side = shown
            if is_narrow:
                at_side = shown + bits if side == 1 and operation == L.UPDATE else shown
                image_end = _walk_narrow_image(
                    data, at_side, here, end, first, last, columns, places, operation, side
                )  # fmt: skip
            else:
                image_end = _walk_image(data, here, end, first, last, columns, places)
            if image_end < 0:
                return L.ODD
            if is_narrow:
                digests[row, side] = _narrow_digest(data, places, first, last, columns, seed)
            else:
                digests[row, side] = image_digest(data, here, image_end, count, seed)
            if is_wide:
                digests[row, 2 + side] = image_digest(data, here, image_end, count, finish(seed))
            has_key = False
            for index in range(key_count):
                at_key = key_first + index
                role = key_table[at_key, L.K_ROLE]
                if role == L.CHECKED and operation != L.UPDATE:
                    keys[key + index, side] = 0
                    continue
                stop, digest = _key_digest(
                    data, at_key, key_table, seeds[at_key], parts, texts, room, places
                )
                if stop == L.NEED_WEIGHTS:
                    progress[L.DETAIL] = digest
                if stop != FINE:
                    progress[L.REASON] = L.OTHER_TEXTS
                    return stop
                if digest == L.HIDDEN and side == 1:
                    is_set = _sets_part(data, at_side, at_key, key_table, parts)
                    digest = np.uint64(L.LOST if is_set else L.HIDDEN)
                keys[key + index, side] = digest
                if is_wide:
                    _, keys[key + index, 2 + side] = _key_digest(
                        data, at_key, key_table, finish(seeds[at_key]), parts, texts, room, places
                    )
                # A primary key identifies a row, or else any key without a NULL part does.
                if role == L.UNIQUE and (index == 0 or not tables[slot, L.D_PRIMARY]):
                    has_key |= digest != 0
            # Without its key, a row of a table that has one may be hidden: the readable code knows.
            if not has_key and (is_wide or (operation != L.INSERT and tables[slot, L.D_KEYED])):
                progress[L.REASON] = L.SEARCHED
                return L.ODD_ROWS
            here = image_end
        progress[L.ROWS] = row + 1
        progress[L.KEYS] = key + key_count
    return FINE
