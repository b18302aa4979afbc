"""Event verdicts for ``C.JUDGED``."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as C
from paraply.mining.compiled.room import Ints, Room
from paraply.vocabulary.kernel_cache import PART


@njit(**PART)
def judge(p: Ints, room: Room, count: int) -> int:
    """Return a bit per judged property that ``count`` events break."""
    events, committed = room.events, room.committed
    committed[:] = C.EVENTS_MAX
    broken = 0
    previous = 0
    is_given = has_ended = has_stopped = False
    for at in range(count):
        kind, transaction = events[at, C.E_KIND], events[at, C.E_TRANSACTION]
        if kind == C.ENGINE_COMMITTED:
            committed[transaction] = min(committed[transaction], at)
            if transaction < previous:
                broken |= 8
            previous = transaction
        elif kind == C.ROW_APPLIED and events[at, C.E_OUTCOME] >= C.MISSING_BEFORE_IMAGE:
            broken |= 4
        elif kind == C.SCHEDULED:
            is_given = True
        elif kind == C.STOPPED:
            has_stopped = has_ended = True
        elif kind == C.FAILED:
            has_ended = True
    if is_given and not has_ended:
        broken |= 16
    if has_stopped:
        for row in range(p[C.P_ROWS]):
            if room.last[row] != 0 and room.rows[row, 1] != room.last[row]:
                broken |= 32
    if _starts_too_early(room.log, events, count, committed):
        broken |= 2
    if _overlaps(p, room, count):
        broken |= 1
    return broken & p[C.P_JUDGED]


@njit(**PART)
def _starts_too_early(log: Ints, events: Ints, count: int, committed: Ints) -> bool:
    for at in range(count):
        if events[at, C.E_KIND] != C.BEGUN:
            continue
        transaction = events[at, C.E_TRANSACTION]
        one = log[transaction - 1]
        if one[C.L_SN] == 0:
            continue
        for earlier in range(1, transaction):
            other = log[earlier - 1]
            is_covered = other[C.L_CLOCK] == one[C.L_CLOCK] and 0 < other[C.L_SN] <= one[C.L_LC]
            if is_covered and committed[earlier] > at:
                return True
    return False


@njit(**PART)
def _overlaps(p: Ints, room: Room, count: int) -> bool:
    log, events, committed = room.log, room.events, room.committed
    begun, touched = room.begun, room.touched
    begun[:] = touched[:] = C.NONE
    for at in range(count):
        transaction = events[at, C.E_TRANSACTION]
        if events[at, C.E_KIND] == C.BEGUN and committed[transaction] > at:
            begun[transaction] = at
            touched[transaction, :] = C.NONE
        elif events[at, C.E_KIND] == C.ROW_APPLIED and events[at, C.E_OUTCOME] == C.OK:
            row = log[transaction - 1, C.L_ITEMS] >> (3 * events[at, C.E_ROW]) & 7
            if touched[transaction, row] == C.NONE:
                touched[transaction, row] = at
    last_writer = room.writers
    last_writer[:] = 0
    last_barrier = 0
    for transaction in range(1, p[C.P_TRANSACTIONS] + 1):
        one = log[transaction - 1]
        is_barrier = one[C.L_KIND] != C.KIND_ROWS
        if committed[transaction] < C.EVENTS_MAX:
            if is_barrier:
                for earlier in range(1, transaction):
                    if committed[earlier] > begun[transaction]:
                        return True
            elif last_barrier and committed[last_barrier] > begun[transaction]:
                return True
            for change in range(0 if is_barrier else one[C.L_COUNT]):
                row = one[C.L_ITEMS] >> (3 * change) & 7
                if last_writer[row] and committed[last_writer[row]] > touched[transaction, row]:
                    return True
        if is_barrier:
            last_barrier = transaction
        for change in range(one[C.L_COUNT]):
            last_writer[one[C.L_ITEMS] >> (3 * change) & 7] = transaction
    return False
