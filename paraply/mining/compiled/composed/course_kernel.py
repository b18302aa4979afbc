"""Digests of courses, as ``paraply.mining.coverage.course_of`` distinguishes them."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.composed.table_kernel import rows_of
from paraply.mining.compiled.course_kernel import M1, M2, mixed
from paraply.mining.compiled.room import Ints
from paraply.vocabulary.kernel_cache import BORROWED


@njit(**BORROWED)
def course_digest(p: Ints, room: Room, count: int) -> int:
    """Return a 63-bit digest of writes and events, without times, workers and names of rows."""
    log, events, names = room.log, room.events, room.names
    names[:] = 0
    named = 0
    low, high = 1, 2
    for number in range(1, room.left[C.G_SENT] + 1):
        # 32 is above every code, so that a transaction begins where the other one ends.
        word = 32 + log[number, C.T_KIND]
        low, high = mixed(low ^ word, M1), mixed(high ^ word, M2)
        rows = rows_of(log[number])
        for place in range(p[A.P_ROWS]):
            row = p[C.P_ROW_OF_PLACE + place]
            if rows >> row & 1:
                if names[row] == 0:
                    named += 1
                    names[row] = named
                low, high = mixed(low ^ names[row], M1), mixed(high ^ names[row], M2)
    for at in range(count):
        one = events[at]
        kind = one[C.E_KIND]
        word = ((kind << 6 | one[C.E_TRANSACTION]) << 4 | one[C.E_OUTCOME]) << 3 | one[C.E_MEMBER]
        low, high = mixed(low ^ word, M1), mixed(high ^ word, M2)
        is_other = kind == C.ROW_APPLIED or kind == C.ROLLED_BACK
        word = one[C.E_ATTEMPT] << 16 | (one[C.E_OTHER] if is_other else 0)
        if word:
            word |= 1 << 30
            low, high = mixed(low ^ word, M1), mixed(high ^ word, M2)
    return (high >> 1) << 32 | low
