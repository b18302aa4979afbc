"""Digests of courses, as ``paraply.mining.coverage.course_of`` distinguishes them."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.mining.compiled import columns as C
from paraply.mining.compiled.room import Ints, Room
from paraply.mining.sketches import BUCKETS, LEVELS
from paraply.vocabulary.kernel_cache import PART

Bytes = NDArray[np.uint8]

_MASK = (1 << 32) - 1
M1, M2 = 0x2C1B3C6D, 0x5BD1E995
"""Below 2^31, so that products fit in 63 bits, and compiled and interpreted results agree."""


@njit(**PART)
def mixed(word: int, factor: int) -> int:
    """Return a word whose bits depend on all bits of another."""
    for _ in range(3):
        word = ((word ^ word >> 15) * factor) & _MASK
    return word ^ word >> 16


@njit(**PART)
def course_digest(p: Ints, room: Room, count: int) -> int:
    """Return a 63-bit digest of writes and events, without times, workers and names of rows."""
    log, events, names = room.log, room.events, room.names
    names[:] = 0
    named = 0
    low, high = 1, 2
    for number in range(p[C.P_TRANSACTIONS]):
        # 32 is above every code, so that a transaction begins where the other one ends.
        word = 32 + log[number, C.L_KIND]
        low, high = mixed(low ^ word, M1), mixed(high ^ word, M2)
        rows = 0
        for change in range(log[number, C.L_COUNT]):
            rows |= 1 << (log[number, C.L_ITEMS] >> (3 * change) & 7)
        for row in range(p[C.P_ROWS]):
            if rows >> row & 1:
                if names[row] == 0:
                    named += 1
                    names[row] = named
                low, high = mixed(low ^ names[row], M1), mixed(high ^ names[row], M2)
    for at in range(count):
        one = events[at]
        other = 0 if one[C.E_KIND] == C.READ else one[C.E_OTHER]
        word = (one[C.E_KIND] << 6 | one[C.E_TRANSACTION]) << 4 | one[C.E_OUTCOME]
        low, high = mixed(low ^ word, M1), mixed(high ^ word, M2)
        word = one[C.E_ATTEMPT] << 16 | other
        if word:
            word |= 1 << 30
            low, high = mixed(low ^ word, M1), mixed(high ^ word, M2)
    return (high >> 1) << 32 | low


@njit(**PART)
def note_digest(sketch: Bytes, digest: int) -> None:
    """Set the bit of a digest, as ``paraply.mining.sketches.seen``."""
    rest, level = digest // BUCKETS, 0
    while level < LEVELS - 1 and rest >> level & 1 == 0:
        level += 1
    bit = digest % BUCKETS * LEVELS + level
    sketch[bit >> 3] |= 1 << (bit & 7)
