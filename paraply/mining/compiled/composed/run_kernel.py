"""A run of the composed system: twin of ``composed.run`` and ``group.run``."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.applier_kernel import (
    can_coordinate,
    can_work,
    coordinate,
    work,
)
from paraply.mining.compiled.composed.member_kernel import (
    answer,
    broadcast,
    commit_own,
    deliver,
    execute,
    flush,
    is_answerable,
    is_broadcasting,
    is_own_turn,
    may_submit,
    open_transactions,
    send,
)
from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.composed.table_kernel import read_rows, record
from paraply.mining.compiled.room import Ints
from paraply.mining.compiled.source_kernel import choose
from paraply.vocabulary.kernel_cache import BORROWED


@njit(**BORROWED)
def run_group(p: Ints, room: Room) -> int:
    """Take steps until none is possible; return the events, or A.OVERFLOWN."""
    left = room.left
    _boot(p, room)
    while True:
        count = _list_actions(p, room)
        if count == 0:
            break
        if left[C.G_NOW] >= C.STEPS_OF_A_TRANSACTION * (left[C.G_SENT] + 1):
            return int(left[C.G_EVENTS])
        action = room.actions[_choose(room, count)]
        left[C.G_NOW] += 1
        if left[C.G_EVENTS] + C.EVENTS_OF_A_STEP >= len(room.events):
            return A.OVERFLOWN
        _act(p, room, action[C.S_CODE], action[C.S_MEMBER], action[C.S_SUBJECT])
    left[C.G_NOW] += 1
    for member in range(p[C.P_MEMBERS]):
        mine = room.members[member]
        if mine[C.N_RELAY] == 0 and open_transactions(room, member) == 0:
            read_rows(p, room, member, C.AUDITOR)
            event = room.events[record(room, C.STOPPED, member, 0)]
            event[C.E_SEEN] = mine[C.N_COMMITTED]
    return int(left[C.G_EVENTS])


@njit(**BORROWED)
def _boot(p: Ints, room: Room) -> None:
    left, members = room.left, room.members
    left[:] = 0
    left[C.G_TRANSACTIONS], left[C.G_READS] = p[A.P_TRANSACTIONS], p[A.P_READS]
    left[C.G_BROADCASTS], left[C.G_ALTERATIONS] = p[C.P_BROADCASTS], p[C.P_ALTERATIONS]
    room.writers[:] = 0
    members[:] = room.gtids[:] = room.heard[:] = room.holders[:] = room.applied[:] = 0
    room.versions[:] = room.rows[:] = room.replicas[:] = room.workers[:] = room.blocks[:] = 0
    for member in range(p[C.P_MEMBERS]):
        members[member, C.N_LC_GLOBAL], members[member, C.N_SN] = 1, 2
        members[member, C.N_MARKED] = 1 - p[A.P_MARKS_FIRST]
        for kind in (C.STARTED, C.VIEW_INSTALLED, C.ONLINE):
            record(room, kind, member, 0)


@njit(**BORROWED)
def _list_actions(p: Ints, room: Room) -> int:
    """List the possible actions in the reference's order."""
    left, actions = room.left, room.actions
    count = 0
    for member in range(p[C.P_MEMBERS]):
        mine = room.members[member]
        if mine[C.N_NEXT] < left[C.G_MESSAGES]:
            count = _offer(actions, count, C.DELIVER, member, 0)
        for at in range(mine[C.N_FLUSHED]):
            transaction = room.flushed[member, at]
            if is_own_turn(p, room, member, transaction):
                count = _offer(actions, count, C.COMMIT, member, transaction)
        if may_submit(p, room, member):
            count = _offer(actions, count, C.SUBMIT, member, 0)
        if left[C.G_BROADCASTS] and not is_broadcasting(room, member):
            count = _offer(actions, count, C.BROADCAST, member, 0)
        for at in range(mine[C.N_EXECUTING]):
            count = _offer(actions, count, C.SEND, member, at)
        for at in range(mine[C.N_UNANSWERED]):
            transaction = room.unanswered[member, at]
            if is_answerable(p, room, member, transaction):
                count = _offer(actions, count, C.ANSWER, member, transaction)
        if flush(p, room, member, True):
            count = _offer(actions, count, C.FLUSH, member, 0)
        if not room.replicas[member, A.R_FAILED]:
            if can_coordinate(p, room, member):
                count = _offer(actions, count, C.COORDINATE, member, 0)
            for worker in range(p[A.P_WORKERS]):
                if can_work(p, room, member, worker):
                    count = _offer(actions, count, C.WORK, member, worker)
        if left[C.G_READS]:
            count = _offer(actions, count, C.READ_ROWS, member, 0)
    return count


@njit(**BORROWED)
def _offer(actions: Ints, count: int, code: int, member: int, subject: int) -> int:
    one = actions[count]
    one[C.S_CODE], one[C.S_MEMBER], one[C.S_SUBJECT] = code, member, subject
    return count + 1


@njit(**BORROWED)
def _choose(room: Room, count: int) -> int:
    """Choose an action; optional ones seldom."""
    optional = 0
    for at in range(count):
        if room.actions[at, C.S_CODE] >= C.OPTIONAL_FROM:
            optional += 1
    if optional == 0 or optional == count:
        return choose(room.dice, room.program, count)
    asked = room.dice[A.D_ASKED]
    is_optional = choose(room.dice, room.program, C.ONE_IN) == C.ONE_IN - 1
    if asked < len(room.program):
        room.program[asked, A.G_OPTIONS] = -C.ONE_IN
    among = optional if is_optional else count - optional
    rest = choose(room.dice, room.program, among)
    for at in range(count):
        if (room.actions[at, C.S_CODE] >= C.OPTIONAL_FROM) == is_optional:
            if rest == 0:
                return at
            rest -= 1
    return 0


@njit(**BORROWED)
def _act(p: Ints, room: Room, code: int, member: int, subject: int) -> None:
    if code == C.DELIVER:
        deliver(p, room, member)
    elif code == C.COMMIT:
        commit_own(p, room, member, subject)
    elif code == C.SUBMIT:
        execute(p, room, member)
    elif code == C.BROADCAST:
        broadcast(room, member)
    elif code == C.SEND:
        send(p, room, member, subject)
    elif code == C.ANSWER:
        answer(room, member, subject)
    elif code == C.FLUSH:
        flush(p, room, member, False)
    elif code == C.COORDINATE:
        coordinate(p, room, member)
    elif code == C.WORK:
        work(p, room, member, subject)
    else:
        room.left[C.G_READS] -= 1
        read_rows(p, room, member, C.READER)
