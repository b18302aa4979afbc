"""Event verdicts for ``C.JUDGED``; they restate the properties and ask no state of the run."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.composed.table_kernel import has, row_at, rows_of, take_out
from paraply.mining.compiled.room import Ints
from paraply.vocabulary.kernel_cache import BORROWED


@njit(**BORROWED)
def judge(p: Ints, room: Room, count: int) -> int:
    """Return a bit per judged property that ``count`` events break."""
    events, judged = room.events, room.judged
    judged[:] = room.acknowledged[:] = room.held[:] = 0
    certified = 0
    for at in range(count):
        if events[at, C.E_KIND] == C.CERTIFIED and events[at, C.E_OUTCOME] == C.POSITIVE:
            certified |= 1 << events[at, C.E_TRANSACTION]
    broken = 0
    if _loses_update(p, room, certified):
        broken |= C.LOST_UPDATE
    for at in range(count):
        event = events[at]
        kind = event[C.E_KIND]
        if kind == C.SUBMITTED:
            room.snapshots[event[C.E_TRANSACTION]] = event[C.E_SEEN]
        elif kind == C.CERTIFIED:
            broken |= _on_certified(room, event)
        elif kind == C.BEGUN:
            if _begins_early(room, event):
                broken |= C.BEGUN_EARLY
        elif kind == C.ACKNOWLEDGED:
            room.acknowledged[event[C.E_TRANSACTION]] |= 1 << event[C.E_MEMBER]
        elif kind == C.FLUSHED:
            mine = judged[event[C.E_MEMBER]]
            room.flushed[event[C.E_MEMBER], mine[C.K_FLUSHED]] = event[C.E_TRANSACTION]
            mine[C.K_FLUSHED] += 1
        elif kind == C.ENGINE_COMMITTED:
            broken |= _on_committed(p, room, event)
        elif kind == C.CLIENT_ACKNOWLEDGED:
            if _is_early(p, room, event):
                broken |= C.ANSWERED_EARLY
        elif kind == C.ROW_APPLIED and event[C.E_OUTCOME] == A.OK:
            holders = room.held[event[C.E_MEMBER]]
            row = row_at(room.log[event[C.E_TRANSACTION]], event[C.E_ROW])
            if holders[row] == 0:
                holders[row] = event[C.E_TRANSACTION]
            elif holders[row] != event[C.E_TRANSACTION]:
                broken |= C.UNLOCKED
        elif kind == C.READ:
            broken |= _on_read(p, room, event, certified)
        elif kind == C.STOPPED:
            judged[event[C.E_MEMBER], C.K_ENDED] = 1
        elif kind == C.FAILED:
            broken |= C.GAVE_UP
        if kind == C.ENGINE_COMMITTED or kind == C.ROLLED_BACK or kind == C.FAILED:
            for row in range(p[A.P_ROWS]):
                if room.held[event[C.E_MEMBER], row] == event[C.E_TRANSACTION]:
                    room.held[event[C.E_MEMBER], row] = 0
    ended = 0
    for member in range(p[C.P_MEMBERS]):
        ended += judged[member, C.K_ENDED]
    if 0 < ended < p[C.P_MEMBERS]:
        broken |= C.NOT_AT_REST
    return broken & p[A.P_JUDGED]


@njit(**BORROWED)
def _loses_update(p: Ints, room: Room, certified: int) -> bool:
    """Return whether a certified change did not read what the one before it had left."""
    left = room.names
    left[:] = A.NONE
    for transaction in range(1, room.left[C.G_SENT] + 1):
        if not certified >> transaction & 1:
            continue
        one = room.log[transaction]
        for change in range(one[C.T_COUNT]):
            row = row_at(one, change)
            if left[row] != A.NONE and left[row] != room.images[transaction, change, 0]:
                return True
            left[row] = room.images[transaction, change, 1]
    return False


@njit(**BORROWED)
def _on_certified(room: Room, event: Ints) -> int:
    """Note a stamp; compare a certified transaction with the writers that it had not seen."""
    member, transaction = event[C.E_MEMBER], event[C.E_TRANSACTION]
    mine = room.judged[member]
    if event[C.E_OUTCOME] != C.POSITIVE:
        return 0
    if event[C.E_SN] != A.NONE:
        mine[C.K_STAMPED] |= 1 << transaction
        given = room.given[member, transaction]
        given[0], given[1] = event[C.E_LC], event[C.E_SN]
    broken = 0
    unseen = mine[C.K_POSITIVE] & ~room.snapshots[transaction]
    rows = rows_of(room.log[transaction])
    for earlier in range(1, transaction):
        if unseen >> earlier & 1 and rows & rows_of(room.log[earlier]):
            broken = C.BOTH_CERTIFIED
    mine[C.K_POSITIVE] |= 1 << transaction
    return broken


@njit(**BORROWED)
def _begins_early(room: Room, event: Ints) -> bool:
    """Return whether a worker begins before what its member's stamp waits for is committed."""
    member, transaction = event[C.E_MEMBER], event[C.E_TRANSACTION]
    given = room.given[member]
    stamped, done = room.judged[member, C.K_STAMPED], room.judged[member, C.K_DONE]
    is_fence = given[transaction, 0] == 0 and given[transaction, 1] == 0
    fence_follows = False
    for back in range(1, transaction):
        earlier = transaction - back
        if not stamped >> earlier & 1:
            continue
        if given[earlier, 0] == 0 and given[earlier, 1] == 0:
            fence_follows = True
        must_wait = is_fence or fence_follows or given[earlier, 1] <= given[transaction, 0]
        if must_wait and not done >> earlier & 1:
            return True
    return False


@njit(**BORROWED)
def _is_early(p: Ints, room: Room, event: Ints) -> bool:
    """Return whether too few others have acknowledged a member's own transaction."""
    member, transaction = event[C.E_MEMBER], event[C.E_TRANSACTION]
    heard = 0
    for other in range(p[C.P_MEMBERS]):
        if other != member:
            heard += room.acknowledged[transaction] >> other & 1
    return bool(heard < min(p[C.P_ACKNOWLEDGEMENTS], p[C.P_MEMBERS] - 1))


@njit(**BORROWED)
def _on_committed(p: Ints, room: Room, event: Ints) -> int:
    """Compare a commit with the member's order, binary log and acknowledgements."""
    member, transaction = event[C.E_MEMBER], event[C.E_TRANSACTION]
    mine, flushed = room.judged[member], room.flushed[member]
    broken = 0
    if transaction < mine[C.K_LAST]:
        broken |= C.ANOTHER_ORDER
    mine[C.K_LAST] = transaction
    mine[C.K_DONE] |= 1 << transaction
    if room.log[transaction, C.T_ORIGIN] == member:
        if _is_early(p, room, event):
            broken |= C.COMMITTED_EARLY
        if mine[C.K_FLUSHED] == 0 or flushed[0] != transaction:
            broken |= C.NOT_AS_FLUSHED
        if has(flushed, mine[C.K_FLUSHED], transaction):
            mine[C.K_FLUSHED] = take_out(flushed, mine[C.K_FLUSHED], transaction)
    return broken


@njit(**BORROWED)
def _on_read(p: Ints, room: Room, event: Ints, certified: int) -> int:
    """Compare a snapshot with what is committed here, and with prefixes of what is certified."""
    member = event[C.E_MEMBER]
    done = room.judged[member, C.K_DONE]
    newest, missed = 0, A.TRANSACTIONS_MAX + 1
    broken = 0
    for row in range(p[A.P_ROWS]):
        seen = event[C.E_SET] >> (A.SEEN_BITS * row) & ((1 << A.SEEN_BITS) - 1)
        newest = max(newest, seen)
        if seen and not done >> seen & 1:
            broken |= C.UNCOMMITTED_SHOWN
        last = 0
        for writer in range(1, room.left[C.G_SENT] + 1):
            if certified >> writer & 1 and rows_of(room.log[writer]) >> row & 1:
                last = writer
                if writer > seen:
                    missed = min(missed, writer)
        if event[C.E_OTHER] == C.AUDITOR and seen != last:
            broken |= C.ANOTHER_STATE
    if missed < newest:
        broken |= C.NO_PREFIX
    return broken
