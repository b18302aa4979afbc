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


@cache
def crc32_tables() -> NDArray[np.uint32]:
    """Return the slice-by-8 tables of zlib's CRC-32."""
    tables = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        tables[0, byte] = value
    for byte in range(256):
        for index in range(1, 8):
            before = int(tables[index - 1, byte])
            tables[index, byte] = before >> 8 ^ int(tables[0, before & 0xFF])
    return tables


@borrowing
def unsigned(data: Bytes, at: int, width: int) -> int:
    """Return a little-endian integer of up to seven bytes."""
    value = 0
    for index in range(width):
        value |= int(data[at + index]) << (8 * index)
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
def crc32(data: Bytes, start: int, end: int, tables: NDArray[np.uint32]) -> int:
    """Return zlib's CRC-32 of ``data[start:end]``."""
    crc = np.uint32(0xFFFFFFFF)
    at = start
    byte = np.uint32(0xFF)
    while at + 8 <= end:
        crc ^= np.uint32(unsigned(data, at, 4))
        crc = (
            tables[7, crc & byte]
            ^ tables[6, (crc >> np.uint32(8)) & byte]
            ^ tables[5, (crc >> np.uint32(16)) & byte]
            ^ tables[4, crc >> np.uint32(24)]
            ^ tables[3, data[at + 4]]
            ^ tables[2, data[at + 5]]
            ^ tables[1, data[at + 6]]
            ^ tables[0, data[at + 7]]
        )
        at += 8
    while at < end:
        crc = tables[0, (crc ^ np.uint32(data[at])) & byte] ^ (crc >> np.uint32(8))
        at += 1
    return int(crc ^ np.uint32(0xFFFFFFFF))


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
def _word(data: Bytes, at: int, width: int) -> np.uint64:
    value = np.uint64(0)
    for index in range(width):
        value |= np.uint64(data[at + index]) << np.uint64(8 * index)
    return value


@borrowing
def mix_bytes(state: np.uint64, data: Bytes, start: int, end: int) -> np.uint64:
    """Fold bytes and their length into a digest."""
    state = mix(state, np.uint64(end - start))
    at = start
    while at + 8 <= end:
        state = mix(state, _word(data, at, 8))
        at += 8
    if at < end:
        state = mix(state, _word(data, at, end - at))
    return state
