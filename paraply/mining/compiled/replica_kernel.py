"""The replica: twin of ``paraply.reference_impl.applier.replica``.

Crashes, checkpoints, extra locks and sleeping coordinators require the reference.
"""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as C
from paraply.mining.compiled.coordinator_kernel import finish_job, may_dispatch, queue_job
from paraply.mining.compiled.room import Ints, Room
from paraply.mining.compiled.source_kernel import choose
from paraply.vocabulary.kernel_cache import PART

_COORDINATOR, _READ = -1, -2


@njit(**PART)
def apply_log(p: Ints, room: Room, length: int) -> int:
    """Apply the log; return the events, or C.OVERFLOWN."""
    log, images, entries, events, rows = (
        room.log, room.images, room.entries, room.events, room.rows,
    )  # fmt: skip
    replica, jobs, workers, holders, tickets, steps = (
        room.replica, room.jobs, room.workers, room.holders, room.tickets, room.steps,
    )  # fmt: skip
    rows[:] = replica[:] = workers[:] = holders[:] = 0
    replica[C.R_TURN] = 1
    replica[C.R_READS] = p[C.P_READS]
    _record(events, replica, C.STARTED, 0, 0, 1, 0, 0, C.NONE)
    while not replica[C.R_FAILED]:
        count = _list_progress(
            p, replica, jobs, workers, holders, tickets, log, entries, length, steps
        )
        if count == 0:
            break
        if replica[C.R_READS] > 0 and replica[C.R_EXECUTED] > 0:
            steps[count] = _READ
            count += 1
        step = steps[choose(room.dice, room.program, count)]
        replica[C.R_NOW] += 1
        if replica[C.R_EVENTS] + 2 * C.WORKERS_MAX >= len(events):
            return C.OVERFLOWN
        if step == _READ:
            replica[C.R_READS] -= 1
            _read(events, replica, p, rows)
        elif step == _COORDINATOR:
            _coordinate(p, replica, jobs, workers, tickets, log, entries, events)
        else:
            _work(p, replica, jobs, workers, holders, tickets, log, images, events, rows, step)
    replica[C.R_NOW] += 1
    if not replica[C.R_FAILED] and replica[C.R_NEXT] == length and not _busy(p, workers):
        _read(events, replica, p, rows)
        _record(events, replica, C.STOPPED, 0, 0, 1, 0, 0, C.NONE)
    return int(replica[C.R_EVENTS])


@njit(**PART)
def _record(
    events: Ints,
    replica: Ints,
    kind: int,
    worker: int,
    transaction: int,
    attempt: int,
    outcome: int,
    other: int,
    row: int,
) -> None:
    event = events[replica[C.R_EVENTS]]
    replica[C.R_EVENTS] += 1
    event[C.E_TIME], event[C.E_KIND] = replica[C.R_NOW], kind
    event[C.E_WORKER], event[C.E_TRANSACTION] = worker, transaction
    event[C.E_ATTEMPT], event[C.E_OUTCOME] = attempt, outcome
    event[C.E_OTHER], event[C.E_ROW] = other, row


@njit(**PART)
def _read(events: Ints, replica: Ints, p: Ints, rows: Ints) -> None:
    seen = 0
    for row in range(p[C.P_ROWS]):
        seen |= rows[row, 1] << (C.SEEN_BITS * row)
    _record(events, replica, C.READ, 0, 0, 1, 0, seen, C.NONE)


@njit(**PART)
def _busy(p: Ints, workers: Ints) -> bool:
    for worker in range(p[C.P_WORKERS]):  # noqa: SIM110 - kernels know no generators
        if workers[worker, C.W_STAGE] != C.IDLE:
            return True
    return False


@njit(**PART)
def _first_idle(p: Ints, workers: Ints) -> int:
    for worker in range(p[C.P_WORKERS]):
        if workers[worker, C.W_STAGE] == C.IDLE:
            return worker
    return C.NONE


@njit(**PART)
def _list_progress(
    p: Ints,
    replica: Ints,
    jobs: Ints,
    workers: Ints,
    holders: Ints,
    tickets: Ints,
    log: Ints,
    entries: Ints,
    length: int,
    steps: Ints,
) -> int:
    count = 0
    if replica[C.R_NEXT] < length:
        transaction = entries[replica[C.R_NEXT]]
        if transaction == 0:
            can_move = not _busy(p, workers)
        else:
            can_move = _first_idle(p, workers) != C.NONE and may_dispatch(
                p, replica, jobs, log[transaction - 1]
            )
        if can_move:
            steps[0] = _COORDINATOR
            count = 1
    for worker in range(p[C.P_WORKERS]):
        one = workers[worker]
        stage, job = one[C.W_STAGE], one[C.W_JOB]
        can_move = stage == C.ASSIGNED
        if stage == C.RETRYING or stage == C.FINISHED:
            can_move = not p[C.P_ORDERED] or tickets[job] == replica[C.R_TURN]
        elif stage == C.APPLYING:
            waits = one[C.W_WAITS]
            can_move = waits == C.NONE or holders[waits] == 0 or holders[waits] == job
        if can_move:
            steps[count] = worker
            count += 1
    return count


@njit(**PART)
def _coordinate(
    p: Ints,
    replica: Ints,
    jobs: Ints,
    workers: Ints,
    tickets: Ints,
    log: Ints,
    entries: Ints,
    events: Ints,
) -> None:
    transaction = entries[replica[C.R_NEXT]]
    replica[C.R_NEXT] += 1
    if transaction == 0:
        replica[C.R_JOBS] = 0
        replica[C.R_LAST_SN] = 0
        _record(events, replica, C.RELAY_ROTATED, 0, 0, 1, 0, 0, C.NONE)
        return
    queue_job(p, replica, jobs, log[transaction - 1], transaction)
    replica[C.R_GIVEN] += 1
    tickets[transaction] = replica[C.R_GIVEN]
    worker = _first_idle(p, workers)
    one = workers[worker]
    one[C.W_STAGE], one[C.W_JOB], one[C.W_ATTEMPT] = C.ASSIGNED, transaction, 1
    one[C.W_ROW], one[C.W_WAITS] = 0, C.NONE
    _record(events, replica, C.SCHEDULED, worker + 1, transaction, 1, 0, 0, C.NONE)


@njit(**PART)
def _work(
    p: Ints,
    replica: Ints,
    jobs: Ints,
    workers: Ints,
    holders: Ints,
    tickets: Ints,
    log: Ints,
    images: Ints,
    events: Ints,
    rows: Ints,
    worker: int,
) -> None:
    one = workers[worker]
    job, attempt = one[C.W_JOB], one[C.W_ATTEMPT]
    if one[C.W_STAGE] == C.ASSIGNED or one[C.W_STAGE] == C.RETRYING:
        one[C.W_STAGE] = C.APPLYING
        _record(events, replica, C.BEGUN, worker + 1, job, attempt, 0, 0, C.NONE)
    elif one[C.W_STAGE] == C.FINISHED:
        for change in range(log[job - 1, C.L_COUNT]):
            row = log[job - 1, C.L_ITEMS] >> (3 * change) & 7
            rows[row, 0], rows[row, 1] = images[job - 1, change, 1], job
            holders[row] = 0
        replica[C.R_EXECUTED] += 1
        _record(events, replica, C.ENGINE_COMMITTED, worker + 1, job, attempt, 0, 0, C.NONE)
        replica[C.R_TURN] += 1
        finish_job(replica, jobs, job)
        one[C.W_STAGE], one[C.W_WAITS] = C.IDLE, C.NONE
    else:
        _apply_row(p, replica, workers, holders, tickets, log, images, events, rows, worker)


@njit(**PART)
def _apply_row(
    p: Ints,
    replica: Ints,
    workers: Ints,
    holders: Ints,
    tickets: Ints,
    log: Ints,
    images: Ints,
    events: Ints,
    rows: Ints,
    worker: int,
) -> None:
    one = workers[worker]
    job, attempt, change = one[C.W_JOB], one[C.W_ATTEMPT], one[C.W_ROW]
    one[C.W_WAITS] = C.NONE
    if change < log[job - 1, C.L_COUNT]:
        row = log[job - 1, C.L_ITEMS] >> (3 * change) & 7
        holder = holders[row]
        if holder != 0 and holder != job:
            _record(
                events,
                replica,
                C.ROW_APPLIED,
                worker + 1,
                job,
                attempt,
                C.LOCK_WAIT,
                holder,
                change,
            )
            one[C.W_WAITS] = row
            # Rows are locked in one order: without commit order no waits form a circle.
            if p[C.P_ORDERED] and tickets[job] < tickets[holder]:
                _call_back(p, replica, workers, holders, events, holder, job)
            return
        holders[row] = job
        outcome = C.OK
        if rows[row, 0] != images[job - 1, change, 0]:
            is_insert = images[job - 1, change, 0] == 0
            outcome = C.DUPLICATE_KEY if is_insert else C.MISSING_BEFORE_IMAGE
        _record(events, replica, C.ROW_APPLIED, worker + 1, job, attempt, outcome, 0, change)
        if outcome != C.OK:
            _fail(p, replica, workers, events, worker)
            return
        one[C.W_ROW] = change + 1
    if one[C.W_ROW] == log[job - 1, C.L_COUNT]:
        one[C.W_STAGE] = C.FINISHED


@njit(**PART)
def _fail(p: Ints, replica: Ints, workers: Ints, events: Ints, worker: int) -> None:
    replica[C.R_FAILED] = 1
    for other in range(p[C.P_WORKERS]):
        is_begun = workers[other, C.W_STAGE] in (C.APPLYING, C.FINISHED)
        if is_begun and other != worker:
            job, attempt = workers[other, C.W_JOB], workers[other, C.W_ATTEMPT]
            _record(events, replica, C.ROLLED_BACK, other + 1, job, attempt, 0, 0, C.NONE)
    job, attempt = workers[worker, C.W_JOB], workers[worker, C.W_ATTEMPT]
    _record(events, replica, C.FAILED, worker + 1, job, attempt, 0, 0, C.NONE)


@njit(**PART)
def _call_back(
    p: Ints, replica: Ints, workers: Ints, holders: Ints, events: Ints, holder: int, waiter: int
) -> None:
    """Roll back a holder that commits after its waiter; it tries again when it is first."""
    victim = 0
    while workers[victim, C.W_STAGE] == C.IDLE or workers[victim, C.W_JOB] != holder:
        victim += 1
    one = workers[victim]
    for row in range(p[C.P_ROWS]):
        if holders[row] == holder:
            holders[row] = 0
    attempt = one[C.W_ATTEMPT]
    _record(events, replica, C.ROLLED_BACK, victim + 1, holder, attempt, 0, waiter, C.NONE)
    one[C.W_ATTEMPT] += 1
    one[C.W_ROW], one[C.W_WAITS], one[C.W_STAGE] = 0, C.NONE, C.RETRYING
    _record(events, replica, C.RETRIED, victim + 1, holder, one[C.W_ATTEMPT], 0, 0, C.NONE)
