"""Checksums and 64-bit digests of byte arrays, for kernels.

The digest folds eight-byte words, with SplitMix64's finaliser. It does not resist an adversary; a
million rows collide with probability 3e-8. So the readable code confirms findings from equal
digests.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.vocabulary.kernel_cache import PART

Bytes = NDArray[np.uint8]

borrowing = njit(**PART)

_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(0xBF58476D1CE4E5B9)
_LAST = np.uint64(0x94D049BB133111EB)
_EIGHT = np.uint64(8)


@cache
def crc32_tables() -> NDArray[np.uint32]:
    """Return the slice-by-16 tables of zlib's CRC-32, one after the other."""
    tables = np.zeros((16, 256), np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        tables[0, byte] = value
    for byte in range(256):
        for index in range(1, 16):
            before = int(tables[index - 1, byte])
            tables[index, byte] = before >> 8 ^ int(tables[0, before & 0xFF])
    # Kernels know where a table of one long array begins.
    return tables.reshape(-1)


@borrowing
def unsigned(data: Bytes, at: int, width: int) -> int:
    """Return a little-endian integer of up to seven bytes."""
    # Only unsigned indexes never count from the end, so that one load can take all bytes.
    first, value = np.uint64(at), 0
    for index in range(width):
        value |= int(data[first + np.uint64(index)]) << (8 * index)
    return value


@borrowing
def signed64(data: Bytes, at: int) -> int:
    """Return a signed little-endian 64-bit integer."""
    low = unsigned(data, at, 7)
    high = int(data[at + 7])
    if high >= 128:
        high -= 256
    return low + (high << 56)


@borrowing
def _of_byte(tables: NDArray[np.uint32], table: int, word: np.uint64, shift: int) -> np.uint64:
    byte = (word >> np.uint64(shift)) & np.uint64(0xFF)
    return np.uint64(tables[np.uint64(table * 256) + byte])


@borrowing
def _folded(tables: NDArray[np.uint32], first: int, word: np.uint64) -> np.uint64:
    """Return the CRC-32 of eight bytes, followed by ``first`` zeros."""
    # Those that wait for the previous word, the low ones, come last.
    return (
        _of_byte(tables, first, word, 56)
        ^ _of_byte(tables, first + 1, word, 48)
        ^ _of_byte(tables, first + 2, word, 40)
        ^ _of_byte(tables, first + 3, word, 32)
        ^ _of_byte(tables, first + 4, word, 24)
        ^ _of_byte(tables, first + 5, word, 16)
        ^ _of_byte(tables, first + 6, word, 8)
        ^ _of_byte(tables, first + 7, word, 0)
    )


@borrowing
def crc32(data: Bytes, start: int, end: int, tables: NDArray[np.uint32]) -> int:
    """Return zlib's CRC-32 of ``data[start:end]``."""
    crc = np.uint64(0xFFFFFFFF)
    at, last = np.uint64(start), np.uint64(end)
    while at + _EIGHT + _EIGHT <= last:
        crc = _folded(tables, 0, _word(data, at + _EIGHT, 8)) ^ _folded(
            tables, 8, _word(data, at, 8) ^ crc
        )
        at += _EIGHT + _EIGHT
    if at + _EIGHT <= last:
        crc = _folded(tables, 0, _word(data, at, 8) ^ crc)
        at += _EIGHT
    if at < last:
        # Zero bytes before a word change nothing.
        bits = _EIGHT * (last - at)
        word = _rest(data, at, last) ^ crc
        crc = _folded(tables, 0, word << (np.uint64(64) - bits)) ^ (word >> bits)
    return int(crc ^ np.uint64(0xFFFFFFFF))


@borrowing
def mix(state: np.uint64, word: np.uint64) -> np.uint64:
    """Fold one word into a digest."""
    state = (state ^ word) * _MIX
    return state ^ (state >> np.uint64(29))


@borrowing
def finish(state: np.uint64) -> np.uint64:
    """Spread a digest's bits; 0 is reserved for 'none'."""
    state = (state ^ (state >> np.uint64(30))) * _FOLD
    state = (state ^ (state >> np.uint64(27))) * _LAST
    state ^= state >> np.uint64(31)
    return state if state != np.uint64(0) else np.uint64(1)


@borrowing
def _word(data: Bytes, at: np.uint64, width: int) -> np.uint64:
    value = np.uint64(0)
    for index in range(width):
        value |= np.uint64(data[at + np.uint64(index)]) << np.uint64(8 * index)
    return value


@borrowing
def _rest(data: Bytes, at: np.uint64, last: np.uint64) -> np.uint64:
    """Return the last one to seven bytes as a word."""
    if last >= _EIGHT:  # One load, with bytes before them: a loop of unknown length is slower.
        return _word(data, last - _EIGHT, 8) >> (np.uint64(64) - _EIGHT * (last - at))
    return _word(data, at, np.int64(last - at))


@borrowing
def mix_bytes(state: np.uint64, data: Bytes, start: int, end: int) -> np.uint64:
    """Fold bytes and their length into a digest."""
    state = mix(state, np.uint64(end - start))
    at, last = np.uint64(start), np.uint64(end)
    while at + _EIGHT <= last:
        state = mix(state, _word(data, at, 8))
        at += _EIGHT
    if at < last:
        state = mix(state, _rest(data, at, last))
    return state
