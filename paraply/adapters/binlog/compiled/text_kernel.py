"""Kernels that digest key texts, so that equal digests mean texts that a collation holds equal.

A character has *units* on each level of its collation: a letter has one, an expansion more, an
ignorable character none. A text is its units, level by level, without padding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.hashing import borrowing, mix
from paraply.vocabulary.kernel_cache import BORROWED

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Units = NDArray[np.uint32]

FINE = -1
"""No reason to stop; ``layout`` has the others."""
PLAIN, SEQUENCE, STARTS, OTHER = (1 << bit for bit in (60, 61, 62, 63))
"""Marks of a weight: one unit on each level, units at a place of ``units``, the first character of
a contraction, and a character without a weight. In ``Texts.bytes``, OTHER leaves the plain way.
"""
LEVELS_MAX = 3
BLOCK_BITS = 12
BLOCK = 1 << BLOCK_BITS
"""Characters whose weights are loaded together."""
BLOCKS = 0x110000 >> BLOCK_BITS
UNITS_MAX = 1 << 14
"""Per level of a text. An InnoDB key has at most 3,072 characters."""

# Columns of a text's rule.
X_LEVELS, X_PADS, X_DECODING, X_PAIRS, X_PAIRS_END, X_SPACE = range(6)
"""X_PADS has a bit per level on which spaces pad, X_SPACE and following the space's units."""
BY_TABLE, UTF8, UTF16_BE, UTF16_LE, UTF32_BE = range(5)
"""How bytes are characters, in X_DECODING."""
RULE_COLUMNS = X_SPACE + LEVELS_MAX


class Texts(NamedTuple):
    """Weights by collation and character set, one line for each pair that is in use."""

    bytes: Words
    """By byte, for texts without other bytes; column 256 has the space's weight."""
    characters: Ints
    """Of an 8-bit character set, by byte; -1 for none."""
    rules: Ints
    blocks: Ints
    """The line of ``weights`` by number of a block; 0 where it is not loaded."""
    weights: Words
    units: Units
    """Of sequences: per level the number of units, and the units."""
    pairs: Words
    """Contractions, in order within a line's range."""
    pair_weights: Words


@borrowing
def text_digest(
    state: np.uint64, data: Bytes, start: int, end: int, length_max: int, filled: int, rule: int,
    line: int, texts: Texts, room: Units,
) -> tuple[int, np.uint64]:  # fmt: skip
    """Digest at most ``length_max`` characters (0: all), with spaces up to ``filled``.

    Return FINE and a digest, L.ODD_ROWS, or L.NEED_WEIGHTS and the block to load.
    """
    stop, is_plain = end, rule & L.TEXT_DECODED == 0
    if length_max and end - start > length_max:
        stop = start + length_max
        # A longer text may be ill-formed behind its prefix.
        for at in range(stop, end):
            is_plain &= data[at] < 128
    if is_plain:
        is_plain, found = _plain_digest(state, data, start, stop, filled, rule, texts.bytes[line])
        if is_plain:
            return FINE, found
    return _other_digest(state, data, start, end, length_max, filled, rule, line, texts, room)


@borrowing
def _plain_digest(
    state: np.uint64, data: Bytes, start: int, end: int, filled: int, rule: int, weights: Words
) -> tuple[bool, np.uint64]:
    """Digest a text of bytes that have one unit on each level, or none."""
    if rule & L.TEXT_CHAR:
        while end > start and data[end - 1] == 32:
            end -= 1
    space = weights[256]
    spaces, length = 0, 0
    for at in range(start, end):
        weight = weights[data[at]]
        if weight == np.uint64(0):
            continue
        if weight == space:
            spaces += 1
            continue
        if weight == np.uint64(OTHER):
            return False, state
        for _ in range(spaces):
            state = mix(state, space)
        length += spaces + 1
        spaces = 0
        state = mix(state, weight)
    if not rule & L.TEXT_PADDED:
        spaces += max(0, filled - (end - start))
        for _ in range(spaces):
            state = mix(state, space)
        length += spaces
    return True, mix(state, np.uint64(length) | np.uint64(1 << 40))


@borrowing
def _character(
    data: Bytes, at: int, end: int, decoding: int, characters: Ints
) -> tuple[np.int64, np.int64]:
    """Return a character's code, or -1, and its width."""
    first = np.int64(data[at])
    if decoding == BY_TABLE:
        return characters[first], np.int64(1)
    if decoding != UTF8:
        return _wide_character(data, at, end, decoding)
    if first < 0x80:
        return first, np.int64(1)
    if first < 0xC2 or first > 0xF4:
        return np.int64(-1), np.int64(1)
    width = np.int64(2 if first < 0xE0 else 3 if first < 0xF0 else 4)
    if at + width > end:
        return np.int64(-1), width
    code = first & (0x7F >> width)
    for index in range(1, width):
        byte = np.int64(data[at + index])
        if byte & 0xC0 != 0x80:
            return np.int64(-1), width
        code = code << 6 | byte & 0x3F
    too_long = (width == 3 and code < 0x800) or (width == 4 and code < 0x10000)
    if too_long or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return np.int64(-1), width
    return code, width


@borrowing
def _wide_character(data: Bytes, at: int, end: int, decoding: int) -> tuple[np.int64, np.int64]:
    bad = np.int64(-1)
    if decoding == UTF32_BE:
        if at + 4 > end:
            return bad, np.int64(4)
        code = np.int64(data[at]) << 24 | np.int64(data[at + 1]) << 16
        code |= np.int64(data[at + 2]) << 8 | np.int64(data[at + 3])
        fits = code <= 0x10FFFF and not 0xD800 <= code < 0xE000
        return code if fits else bad, np.int64(4)
    high_byte = 0 if decoding == UTF16_BE else 1
    if at + 2 > end:
        return bad, np.int64(2)
    code = np.int64(data[at + high_byte]) << 8 | np.int64(data[at + 1 - high_byte])
    if not 0xD800 <= code < 0xE000:
        return code, np.int64(2)
    if code >= 0xDC00 or at + 4 > end:
        return bad, np.int64(2)
    low = np.int64(data[at + 2 + high_byte]) << 8 | np.int64(data[at + 3 - high_byte])
    if not 0xDC00 <= low < 0xE000:
        return bad, np.int64(4)
    return 0x10000 + ((code - 0xD800) << 10 | low - 0xDC00), np.int64(4)


@borrowing
def _end_of_prefix(
    data: Bytes, start: int, end: int, length_max: int, is_cut: int, decoding: int,
    characters: Ints,
) -> tuple[np.int64, np.int64]:  # fmt: skip
    """Return where the first ``length_max`` characters end (0: all), and their number.

    The end is -1 in an ill-formed text. With ``is_cut``, spaces at the end do not count.
    """
    at, found, kept, count = np.int64(start), np.int64(start), np.int64(0), np.int64(0)
    while at < end:
        code, width = _character(data, at, end, decoding, characters)
        if code < 0:
            return np.int64(-1), count
        at += width
        count += 1
        if (not length_max or count <= length_max) and not (is_cut and code == 32):
            found, kept = at, count
    return found, kept


@borrowing
def _pair(pairs: Words, first: int, last: int, wanted: np.uint64) -> int:
    while first < last:
        middle = (first + last) // 2
        if pairs[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first


@borrowing
def _append(weight: np.uint64, levels: int, texts: Texts, counts: Units, room: Units) -> bool:
    """Append a weight's units to each level; False if there is no room."""
    is_plain = weight & np.uint64(PLAIN) != np.uint64(0)
    place = np.int64(weight & np.uint64(0xFFFF_FFFF))
    for level in range(levels):
        count = counts[level]
        if is_plain:
            if count == UNITS_MAX:
                return False
            mask = np.uint64(0xFFFFFF if level == 0 else 0xFFFF)
            room[level, count] = weight >> np.uint64(0 if level == 0 else 8 + 16 * level) & mask
            counts[level] = count + 1
            continue
        more = np.int64(texts.units[place])
        if count + more > UNITS_MAX:
            return False
        for index in range(more):
            room[level, count + index] = texts.units[place + 1 + index]
        counts[level] = count + more
        place += 1 + more
    return True


@njit(**BORROWED)
def _other_digest(
    state: np.uint64, data: Bytes, start: int, end: int, length_max: int, filled: int, rule: int,
    line: int, texts: Texts, room: Units,
) -> tuple[int, np.uint64]:  # fmt: skip
    """Digest any text; an equal text that is plain has the same digest."""
    rules, characters = texts.rules[line], texts.characters[line]
    decoding, levels = rules[X_DECODING], rules[X_LEVELS]
    nothing = np.uint64(0)
    stop, count = _end_of_prefix(
        data, start, end, length_max, rule & L.TEXT_CHAR, decoding, characters
    )
    if stop < 0:
        return L.ODD_ROWS, nothing
    counts = room[LEVELS_MAX]
    counts[:LEVELS_MAX] = 0
    at = np.int64(start)
    while at < stop:
        code, width = _character(data, at, stop, decoding, characters)
        block = texts.blocks[line, code >> BLOCK_BITS]
        if block == 0:
            return L.NEED_WEIGHTS, np.uint64(line * BLOCKS + (code >> BLOCK_BITS))
        weight = texts.weights[block, code & (BLOCK - 1)]
        if weight & np.uint64(STARTS):
            weight ^= np.uint64(STARTS)
            if at + width < stop:
                second, more = _character(data, at + width, stop, decoding, characters)
                wanted = np.uint64(code << 21 | second)
                last = rules[X_PAIRS_END]
                found = _pair(texts.pairs, rules[X_PAIRS], last, wanted)
                if found < last and texts.pairs[found] == wanted:
                    weight = texts.pair_weights[found]
                    width += more
        at += width
        if weight == nothing:
            continue
        if weight & np.uint64(OTHER) or not _append(weight, levels, texts, counts, room):
            return L.ODD_ROWS, nothing
    for _ in range(filled - count):
        if not _append(texts.bytes[line, 256], levels, texts, counts, room):
            return L.ODD_ROWS, nothing
    return FINE, _digest_of_levels(state, levels, rules, counts, room)


@borrowing
def _digest_of_levels(
    state: np.uint64, levels: int, rules: Ints, counts: Units, room: Units
) -> np.uint64:
    length = np.int64(0)
    for level in range(levels):
        if rules[X_PADS] >> level & 1:
            space = rules[X_SPACE + level]
            while counts[level] > 0 and room[level, counts[level] - 1] == space:
                counts[level] -= 1
        length = max(length, np.int64(counts[level]))
    # Padded alike, levels of one length are the weights of a plain text.
    is_plain = True
    for level in range(levels):
        if rules[X_PADS] >> level & 1:
            for index in range(counts[level], length):
                room[level, index] = rules[X_SPACE + level]
            counts[level] = length
        is_plain &= counts[level] == length
    if is_plain:
        for index in range(length):
            weight = np.uint64(PLAIN)
            for level in range(levels):
                shift = np.uint64(0 if level == 0 else 8 + 16 * level)
                weight |= np.uint64(room[level, index]) << shift
            state = mix(state, weight)
        return mix(state, np.uint64(length) | np.uint64(1 << 40))
    for level in range(levels):
        for index in range(counts[level]):
            state = mix(state, np.uint64(room[level, index]))
        state = mix(state, np.uint64(counts[level]) | np.uint64(1 << 42))
    return state
