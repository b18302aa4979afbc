"""A member's parallel applier: twin of ``composed.applier`` and ``applier.replica``."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.member_kernel import (
    break_off,
    count_as_executed,
    excludes,
    is_first,
)
from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.composed.table_kernel import (
    change_row,
    commit_rows,
    record,
    roll_back_rows,
    row_at,
    take_out,
)
from paraply.mining.compiled.coordinator_kernel import finish_job, may_dispatch, queue_job
from paraply.mining.compiled.room import Ints
from paraply.vocabulary.kernel_cache import BORROWED

RETRIES_MAX = 10


@njit(**BORROWED)
def idle_worker(p: Ints, room: Room, member: int) -> int:
    """Return the first idle worker."""
    for worker in range(p[A.P_WORKERS]):
        if room.workers[member, worker, A.W_STAGE] == A.IDLE:
            return worker
    return A.NONE


@njit(**BORROWED)
def can_coordinate(p: Ints, room: Room, member: int) -> bool:
    """Return whether the coordinator can dispatch the next transaction."""
    replica = room.replicas[member]
    if replica[A.R_NEXT] == room.members[member, C.N_ENTRIES]:
        return False
    if idle_worker(p, room, member) == A.NONE:
        return False
    transaction = room.entries[member, replica[A.R_NEXT]]
    return may_dispatch(p, replica, room.jobs[member], room.stamps[member, transaction])


@njit(**BORROWED)
def coordinate(p: Ints, room: Room, member: int) -> None:
    """Dispatch the next transaction."""
    replica = room.replicas[member]
    transaction = room.entries[member, replica[A.R_NEXT]]
    replica[A.R_NEXT] += 1
    queue_job(p, replica, room.jobs[member], room.stamps[member, transaction], transaction)
    worker = idle_worker(p, room, member)
    one = room.workers[member, worker]
    one[A.W_STAGE], one[A.W_JOB], one[A.W_ATTEMPT] = A.ASSIGNED, transaction, 1
    one[A.W_ROW], one[A.W_WAITS] = 0, A.NONE
    _record(room, C.SCHEDULED, member, worker)


@njit(**BORROWED)
def _record(room: Room, kind: int, member: int, worker: int) -> int:
    one = room.workers[member, worker]
    place = record(room, kind, member, one[A.W_JOB])
    room.events[place, C.E_WORKER] = worker + 1
    room.events[place, C.E_ATTEMPT] = one[A.W_ATTEMPT]
    return place


@njit(**BORROWED)
def can_work(p: Ints, room: Room, member: int, worker: int) -> bool:
    """Return whether a worker has a next step."""
    one = room.workers[member, worker]
    stage, waits = one[A.W_STAGE], one[A.W_WAITS]
    if stage == A.IDLE:
        return False
    if stage == A.ASSIGNED:
        return not (p[C.P_ALTERATIONS] and excludes(room, member, one[A.W_JOB]))
    if stage == A.APPLYING:
        return bool(waits == A.NONE or room.holders[member, waits] != one[C.W_WAITS_FOR])
    return is_first(p, room, member, one[A.W_JOB])


@njit(**BORROWED)
def work(p: Ints, room: Room, member: int, worker: int) -> None:
    """Take a worker's next step."""
    one = room.workers[member, worker]
    if one[A.W_STAGE] == A.ASSIGNED or one[A.W_STAGE] == A.RETRYING:
        one[A.W_STAGE] = A.APPLYING
        _record(room, C.BEGUN, member, worker)
    elif one[A.W_STAGE] == A.FINISHED:
        _commit(p, room, member, worker)
    else:
        _apply_row(p, room, member, worker)


@njit(**BORROWED)
def _commit(p: Ints, room: Room, member: int, worker: int) -> None:
    mine, one = room.members[member], room.workers[member, worker]
    transaction = one[A.W_JOB]
    if p[C.P_FAULT] == C.IGNORES_DELETES:
        for change in range(room.log[transaction, C.T_COUNT]):
            if room.images[transaction, change, 1] == 0:
                room.applied[member, transaction] &= ~(1 << change)
    commit_rows(room, member, transaction)
    event = room.events[_record(room, C.ENGINE_COMMITTED, member, worker)]
    event[C.E_GTID] = room.gtids[member, transaction]
    mine[C.N_QUEUE] = take_out(room.queue[member], mine[C.N_QUEUE], transaction)
    finish_job(room.replicas[member], room.jobs[member], transaction)
    one[A.W_STAGE], one[A.W_WAITS] = A.IDLE, A.NONE
    mine[C.N_RELAY] &= ~(1 << transaction)
    count_as_executed(room, member, transaction)


@njit(**BORROWED)
def _apply_row(p: Ints, room: Room, member: int, worker: int) -> None:
    one = room.workers[member, worker]
    job, change = one[A.W_JOB], one[A.W_ROW]
    one[A.W_WAITS] = A.NONE
    if change < room.log[job, C.T_COUNT]:
        outcome = change_row(room, member, job, change)
        if outcome == A.LOCK_WAIT:
            _on_lock_wait(p, room, member, worker, row_at(room.log[job], change))
            return
        event = room.events[_record(room, C.ROW_APPLIED, member, worker)]
        event[C.E_OUTCOME], event[C.E_ROW] = outcome, change
        if outcome != A.OK:
            _fail(p, room, member, worker)
            return
        one[A.W_ROW] = change + 1
    if one[A.W_ROW] == room.log[job, C.T_COUNT]:
        one[A.W_STAGE] = A.FINISHED


@njit(**BORROWED)
def _on_lock_wait(p: Ints, room: Room, member: int, worker: int, row: int) -> None:
    """Wait for a holder; break off a client, and call back a worker that commits later."""
    one = room.workers[member, worker]
    job, holder = one[A.W_JOB], room.holders[member, row]
    if break_off(room, member, -holder):
        return
    event = room.events[_record(room, C.ROW_APPLIED, member, worker)]
    event[C.E_OUTCOME], event[C.E_OTHER], event[C.E_ROW] = A.LOCK_WAIT, holder, one[A.W_ROW]
    one[A.W_WAITS], one[C.W_WAITS_FOR] = row, holder
    for victim in range(p[A.P_WORKERS]):
        other = room.workers[member, victim]
        if other[A.W_STAGE] == A.IDLE or other[A.W_JOB] != holder:
            continue
        for at in range(room.members[member, C.N_QUEUE]):
            if room.queue[member, at] == holder:
                break
            if room.queue[member, at] == job:
                _call_back(p, room, member, victim, job)
                break
        return


@njit(**BORROWED)
def _call_back(p: Ints, room: Room, member: int, victim: int, waiter: int) -> None:
    """Roll a worker back; it tries again when it is first."""
    other = room.workers[member, victim]
    roll_back_rows(room, member, other[A.W_JOB])
    event = room.events[_record(room, C.ROLLED_BACK, member, victim)]
    event[C.E_OTHER] = waiter
    if other[A.W_ATTEMPT] > RETRIES_MAX:
        _fail(p, room, member, victim)
        return
    other[A.W_ATTEMPT] += 1
    other[A.W_ROW], other[A.W_WAITS], other[A.W_STAGE] = 0, A.NONE, A.RETRYING
    _record(room, C.RETRIED, member, victim)


@njit(**BORROWED)
def _fail(p: Ints, room: Room, member: int, worker: int) -> None:
    """Roll all back; the member's applier ends."""
    room.replicas[member, A.R_FAILED] = 1
    for other in range(p[A.P_WORKERS]):
        stage = room.workers[member, other, A.W_STAGE]
        if stage == A.APPLYING or stage == A.FINISHED:
            roll_back_rows(room, member, room.workers[member, other, A.W_JOB])
            if other != worker:
                _record(room, C.ROLLED_BACK, member, other)
    _record(room, C.FAILED, member, worker)
