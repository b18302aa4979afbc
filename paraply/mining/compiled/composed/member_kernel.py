"""Clients, certification and commits: twins of ``composed.member`` and ``composed.group``."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.gtid_kernel import next_gtid
from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.composed.table_kernel import (
    change_row,
    commit_rows,
    has,
    record,
    roll_back_rows,
    row_at,
    take_out,
    unlock,
)
from paraply.mining.compiled.room import Ints
from paraply.mining.compiled.source_kernel import choose, list_writes
from paraply.vocabulary.kernel_cache import BORROWED

# Clients.


@njit(**BORROWED)
def may_submit(p: Ints, room: Room, member: int) -> bool:
    """Return whether a member takes another transaction."""
    if room.left[C.G_TRANSACTIONS] == 0 or (p[C.P_SINGLE_PRIMARY] and member != 0):
        return False
    if open_transactions(room, member) >= p[A.P_SESSIONS]:
        return False
    if p[A.P_BARRIERS] or list_free_rows(p, room, member):
        return True
    return may_alter_table(p, room, member)


@njit(**BORROWED)
def list_free_rows(p: Ints, room: Room, member: int) -> int:
    """Write the rows that a client can lock to ``room.free``; return how many there are."""
    room.free[:] = A.NONE
    if not may_use_table(p, room, member):
        return 0
    count = 0
    for row in range(p[A.P_ROWS]):
        if room.holders[member, row] == 0:
            room.free[row] = room.writers[row]
            count += 1
    return count


@njit(**BORROWED)
def may_use_table(p: Ints, room: Room, member: int) -> bool:
    """Return whether a shared metadata lock is free; a DDL may not run beside it on any member."""
    mine = room.members[member]
    if p[C.P_ALTERATIONS] == 0:
        return True
    for transaction in range(1, room.left[C.G_SENT] + 1):
        is_here = (mine[C.N_SESSIONS] | mine[C.N_RELAY]) >> transaction & 1
        if is_here and room.log[transaction, C.T_KIND] == C.KIND_DDL:
            return False
    for at in range(mine[C.N_NEXT], room.left[C.G_MESSAGES]):
        transaction = room.order[at, C.M_TRANSACTION]
        if transaction != 0 and room.log[transaction, C.T_KIND] == C.KIND_DDL:
            return False
    return not _is_executing(p, room, False)


@njit(**BORROWED)
def may_alter_table(p: Ints, room: Room, member: int) -> bool:
    """Return whether an exclusive lock is free, and no member's client uses the table."""
    mine = room.members[member]
    is_behind = mine[C.N_NEXT] < room.left[C.G_MESSAGES] or mine[C.N_RELAY] != 0
    if room.left[C.G_ALTERATIONS] == 0 or is_behind:
        return False
    for transaction in range(1, room.left[C.G_SENT] + 1):
        if mine[C.N_SESSIONS] >> transaction & 1 and _uses_table(room, transaction):
            return False
    return not _is_executing(p, room, True)


@njit(**BORROWED)
def _uses_table(room: Room, transaction: int) -> bool:
    one = room.log[transaction]
    return bool(one[C.T_COUNT] != 0 or one[C.T_KIND] == C.KIND_DDL)


@njit(**BORROWED)
def _is_executing(p: Ints, room: Room, with_rows: bool) -> bool:
    """Return whether a client of any member has a DDL in hand, or rows."""
    for member in range(p[C.P_MEMBERS]):
        for at in range(room.members[member, C.N_EXECUTING]):
            one = room.executing[member, at]
            if one[C.X_KIND] == C.KIND_DDL or (with_rows and one[C.X_COUNT] != 0):
                return True
    return False


@njit(**BORROWED)
def excludes(room: Room, member: int, transaction: int) -> bool:
    """Return whether a client's metadata lock keeps an applier's transaction from beginning."""
    if not _uses_table(room, transaction):
        return False
    is_ddl = room.log[transaction, C.T_KIND] == C.KIND_DDL
    for other in range(1, room.left[C.G_SENT] + 1):
        is_here = room.members[member, C.N_SESSIONS] >> other & 1 and _uses_table(room, other)
        if is_here and (is_ddl or room.log[other, C.T_KIND] == C.KIND_DDL):
            return True
    return False


@njit(**BORROWED)
def execute(p: Ints, room: Room, member: int) -> None:
    """Choose a client's transaction, lock its rows and read them; it is sent later."""
    dice, program, mine = room.dice, room.program, room.members[member]
    count = 0
    if list_free_rows(p, room, member):
        count = list_writes(room.free, p[A.P_ROWS], room.heads, room.options)
    # Without rows, there is nothing to create a table from.
    barriers = (2 if count else 1) if p[A.P_BARRIERS] else 0
    may_alter = may_alter_table(p, room, member)
    chosen = choose(dice, program, count + barriers + may_alter)
    kind = max(0, chosen - count + 1)
    if chosen == count + barriers:
        kind = C.KIND_DDL
    has_rows = kind == A.KIND_ROWS or kind == A.KIND_CTAS
    packed = room.options[0 if kind else chosen] if has_rows else 0
    changes, items = packed >> 32, packed & 0xFFFFFFFF
    room.left[C.G_TRANSACTIONS] -= 1
    room.left[C.G_ALTERATIONS] -= kind == C.KIND_DDL
    one = room.executing[member, mine[C.N_EXECUTING]]
    mine[C.N_EXECUTING] += 1
    mine[C.N_CLIENTS] += 1
    one[C.X_CLIENT], one[C.X_KIND] = mine[C.N_CLIENTS], kind
    one[C.X_COUNT], one[C.X_ITEMS], one[C.X_DELETED] = changes, items, 0
    for change in range(changes):
        row = items >> (3 * change) & 7
        value = room.rows[member, row, 0]
        one[C.X_READ + change] = value
        may_delete = p[C.P_DELETES] and kind == A.KIND_ROWS and value != 0
        if may_delete and choose(dice, program, 2) == 1:
            one[C.X_DELETED] |= 1 << change
        if p[C.P_FAULT] != C.READS_WITHOUT_LOCK:
            room.holders[member, row] = -one[C.X_CLIENT]


@njit(**BORROWED)
def forget_execution(room: Room, member: int, at: int) -> None:
    """Remove the execution at a place."""
    mine = room.members[member]
    mine[C.N_EXECUTING] -= 1
    for place in range(at, mine[C.N_EXECUTING]):
        for what in range(C.X_SIZE):
            room.executing[member, place, what] = room.executing[member, place + 1, what]


@njit(**BORROWED)
def break_off(room: Room, member: int, client: int) -> bool:
    """Roll an unsent transaction back; return whether there is one."""
    for at in range(room.members[member, C.N_EXECUTING]):
        if room.executing[member, at, C.X_CLIENT] == client:
            forget_execution(room, member, at)
            unlock(room, member, -client)
            return True
    return False


@njit(**BORROWED)
def send(p: Ints, room: Room, member: int, at: int) -> None:
    """Send an executed transaction to all, and change its rows."""
    mine, left = room.members[member], room.left
    execution = room.executing[member, at]
    client = execution[C.X_CLIENT]
    left[C.G_SENT] += 1
    transaction = left[C.G_SENT]
    one = room.log[transaction]
    one[C.T_KIND], one[C.T_COUNT] = execution[C.X_KIND], execution[C.X_COUNT]
    one[C.T_ITEMS], one[C.T_ORIGIN] = execution[C.X_ITEMS], member
    one[C.T_SNAPSHOT] = mine[C.N_EXECUTED]
    for change in range(one[C.T_COUNT]):
        is_delete = execution[C.X_DELETED] >> change & 1
        image = room.images[transaction, change]
        image[0], image[1] = execution[C.X_READ + change], 0 if is_delete else transaction
        # A deleted row is no longer like a written one.
        room.writers[row_at(one, change)] |= (1 + is_delete) << (2 * transaction - 2)
    forget_execution(room, member, at)
    event = room.events[record(room, C.SUBMITTED, member, transaction)]
    event[C.E_SET], event[C.E_SEEN] = mine[C.N_EXECUTED], mine[C.N_COMMITTED]
    mine[C.N_SESSIONS] |= 1 << transaction
    message = room.order[left[C.G_MESSAGES]]
    left[C.G_MESSAGES] += 1
    message[C.M_TRANSACTION], message[C.M_SENDER] = transaction, member
    for row in range(p[A.P_ROWS]):
        if room.holders[member, row] == -client:
            room.holders[member, row] = transaction
    for change in range(one[C.T_COUNT]):
        outcome = change_row(room, member, transaction, change)
        event = room.events[record(room, C.ROW_APPLIED, member, transaction)]
        event[C.E_ROW], event[C.E_OUTCOME] = change, outcome
    if p[C.P_FAULT] == C.UNLOCKS_WHEN_SENT:
        unlock(room, member, transaction)


# Messages.


@njit(**BORROWED)
def broadcast(room: Room, member: int) -> None:
    """Send a member's executed set."""
    mine, left = room.members[member], room.left
    left[C.G_BROADCASTS] -= 1
    event = room.events[record(room, C.EXECUTED_SET_BROADCAST, member, 0)]
    event[C.E_SET], event[C.E_SEEN] = mine[C.N_EXECUTED], mine[C.N_COMMITTED]
    message = room.order[left[C.G_MESSAGES]]
    left[C.G_MESSAGES] += 1
    message[C.M_TRANSACTION], message[C.M_SENDER] = 0, member
    message[C.M_EXECUTED] = mine[C.N_EXECUTED]


@njit(**BORROWED)
def is_broadcasting(room: Room, member: int) -> bool:
    """Return whether a member's executed set has yet to reach itself."""
    for at in range(room.members[member, C.N_NEXT], room.left[C.G_MESSAGES]):
        if room.order[at, C.M_TRANSACTION] == 0 and room.order[at, C.M_SENDER] == member:
            return True
    return False


@njit(**BORROWED)
def deliver(p: Ints, room: Room, member: int) -> None:
    """Deliver the next message."""
    mine = room.members[member]
    message = room.order[mine[C.N_NEXT]]
    mine[C.N_NEXT] += 1
    if message[C.M_TRANSACTION] == 0:
        _on_executed_set(p, room, member, message)
    else:
        _on_transaction(p, room, member, message[C.M_TRANSACTION])


@njit(**BORROWED)
def _on_executed_set(p: Ints, room: Room, member: int, message: Ints) -> None:
    mine, count = room.members[member], p[C.P_MEMBERS]
    sender = message[C.M_SENDER]
    if mine[C.N_REPORTED] >> sender & 1:
        return
    mine[C.N_REPORTED] |= 1 << sender
    room.reports[member, sender] = message[C.M_EXECUTED]
    if mine[C.N_REPORTED] != (1 << count) - 1:
        return
    mine[C.N_REPORTED] = 0
    stable = room.reports[member, 0]
    for other in range(1, count):
        stable &= room.reports[member, other]
    has_grown = stable & ~mine[C.N_STABLE] != 0
    mine[C.N_STABLE] |= stable
    if not has_grown and p[C.P_COLLECTS_IF_GROWN]:
        return
    stable = mine[C.N_STABLE]
    purged = 0
    for row in range(p[A.P_ROWS]):
        version = room.versions[member, row]
        # Strictly older versions only: the newest stable one stays.
        is_older = version[C.V_VERSION] & ~stable == 0 and version[C.V_VERSION] != stable
        if version[C.V_VERSION] != 0 and is_older:
            version[C.V_VERSION] = 0
            purged |= 1 << row
    if p[A.P_COLLECTION_RULE] == 0:
        mine[C.N_LC_GLOBAL] = mine[C.N_SN] - 1
    else:
        mine[C.N_LC_GLOBAL] = mine[C.N_SN]
        mine[C.N_SN] += p[A.P_COLLECTION_RULE] - 1
    event = room.events[record(room, C.GARBAGE_COLLECTED, member, 0)]
    event[C.E_OTHER], event[C.E_SET] = purged, stable
    for transaction in range(1, room.left[C.G_SENT] + 1):
        gtid = room.gtids[member, transaction]
        if gtid and stable >> gtid & 1:
            event[C.E_SEEN] |= 1 << transaction


@njit(**BORROWED)
def _on_transaction(p: Ints, room: Room, member: int, transaction: int) -> None:
    mine, one = room.members[member], room.log[transaction]
    is_local = mine[C.N_SESSIONS] >> transaction & 1
    record(room, C.DELIVERED, member, transaction)
    items = one[C.T_COUNT]
    if p[C.P_FAULT] == C.CUTS_WRITE_SETS:
        items = min(items, 1)
    conflict = A.NONE
    for change in range(items):
        version = room.versions[member, row_at(one, change), C.V_VERSION]
        if version & ~one[C.T_SNAPSHOT] != 0 and not p[C.P_SINGLE_PRIMARY]:
            conflict = row_at(one, change)
            break
    if conflict != A.NONE:
        event = room.events[record(room, C.CERTIFIED, member, transaction)]
        event[C.E_OUTCOME], event[C.E_OTHER] = C.NEGATIVE, conflict
        if is_local:
            _on_refused_here(p, room, member, transaction)
    else:
        gtid = next_gtid(p, room, member, one[C.T_ORIGIN])
        room.gtids[member, transaction] = gtid
        stamp = room.stamps[member, transaction]
        _stamp(p, room, member, transaction, items, is_local)
        mine[C.N_TAKEN] |= 1 << gtid
        event = room.events[record(room, C.CERTIFIED, member, transaction)]
        event[C.E_OUTCOME], event[C.E_GTID] = C.POSITIVE, gtid
        if not is_local:
            event[C.E_LC], event[C.E_SN] = stamp[A.L_LC], stamp[A.L_SN]
            if p[C.P_FAULT] == C.DROPS_LAST_COMMITTED:
                stamp[A.L_LC] = min(stamp[A.L_LC], 1)
            mine[C.N_RELAY] |= 1 << transaction
            room.entries[member, mine[C.N_ENTRIES]] = transaction
            mine[C.N_ENTRIES] += 1
        elif p[C.P_FAULT] == C.UNLOCKS_WHEN_CERTIFIED:
            unlock(room, member, transaction)
        if not is_local or p[C.P_ONE_ORDER]:
            room.queue[member, mine[C.N_QUEUE]] = transaction
            mine[C.N_QUEUE] += 1
        if not is_local:
            record(room, C.ACKNOWLEDGED, member, transaction)
            room.heard[one[C.T_ORIGIN], transaction] |= 1 << member
    if p[C.P_FAULT] == C.FORGETS_DELETES:
        for change in range(one[C.T_COUNT]):
            if room.images[transaction, change, 1] == 0:
                room.versions[member, row_at(one, change), C.V_VERSION] = 0


@njit(**BORROWED)
def _on_refused_here(p: Ints, room: Room, member: int, transaction: int) -> None:
    room.members[member, C.N_SESSIONS] &= ~(1 << transaction)
    record(room, C.ROLLED_BACK, member, transaction)
    if p[C.P_FAULT] == C.KEEPS_REFUSED_ROWS:
        commit_rows(room, member, transaction)
    elif p[C.P_FAULT] == C.KEEPS_REFUSED_LOCKS:
        room.applied[member, transaction] = 0
    else:
        roll_back_rows(room, member, transaction)


@njit(**BORROWED)
def _stamp(p: Ints, room: Room, member: int, transaction: int, items: int, is_local: int) -> None:
    """Store a certified writer; give a remote one its timestamp (AL1)."""
    mine, one, stamp = room.members[member], room.log[transaction], room.stamps[member, transaction]
    number = mine[C.N_SN]
    last_committed = mine[C.N_LC_GLOBAL]
    version = one[C.T_SNAPSHOT] | 1 << room.gtids[member, transaction]
    for change in range(items):
        stored = room.versions[member, row_at(one, change)]
        if stored[C.V_VERSION] != 0:
            last_committed = max(last_committed, stored[C.V_SN])
        stored[C.V_VERSION], stored[C.V_SN] = version, 0 if is_local else number
    if is_local:
        return
    is_ctas = one[C.T_KIND] == A.KIND_CTAS and p[C.P_CTAS_IS_BARRIER]
    if items == 0 or is_ctas:
        last_committed = mine[C.N_LC_GLOBAL] if p[A.P_BARRIER_RULE] else number - 1
        mine[C.N_LC_GLOBAL] = number
    mine[C.N_SN] = number + 1
    stamp[A.L_LC], stamp[A.L_SN] = last_committed, number
    if mine[C.N_MARKED] == 0:
        mine[C.N_MARKED] = 1
        stamp[A.L_LC], stamp[A.L_SN] = 0, 0


# Group commit of own transactions.


@njit(**BORROWED)
def is_acknowledged(p: Ints, room: Room, member: int, transaction: int) -> bool:
    """Return whether enough others have a transaction."""
    if p[C.P_FAULT] == C.COMMIT_DOES_NOT_WAIT:
        return True
    heard = 0
    for other in range(p[C.P_MEMBERS]):
        heard += room.heard[member, transaction] >> other & 1
    return int(heard) >= min(p[C.P_ACKNOWLEDGEMENTS], p[C.P_MEMBERS] - 1)


@njit(**BORROWED)
def is_first(p: Ints, room: Room, member: int, transaction: int) -> bool:
    """Return whether a transaction is first in commit order."""
    if p[C.P_FAULT] == C.ORDER_BINDS_NOBODY:
        return True
    return room.members[member, C.N_QUEUE] > 0 and room.queue[member, 0] == transaction


@njit(**BORROWED)
def is_own_turn(p: Ints, room: Room, member: int, transaction: int) -> bool:
    """Return whether a flushed transaction may commit now."""
    if not (p[C.P_AFTER_COMMIT] or is_acknowledged(p, room, member, transaction)):
        return False
    if p[C.P_FAULT] == C.COMMITS_OUT_OF_TURN:
        return True
    if p[C.P_ONE_ORDER]:
        return is_first(p, room, member, transaction)
    return bool(room.flushed[member, 0] == transaction)


@njit(**BORROWED)
def flush(p: Ints, room: Room, member: int, is_only_asked: bool) -> bool:
    """Write a group to the binary log, if any; return whether there is one."""
    mine, flushed, queue = room.members[member], room.flushed[member], room.queue[member]
    before = mine[C.N_FLUSHED]
    count = before
    length = mine[C.N_QUEUE] if p[C.P_ONE_ORDER] else room.left[C.G_SENT]
    for at in range(length):
        transaction = queue[at] if p[C.P_ONE_ORDER] else at + 1
        is_certified = (
            mine[C.N_SESSIONS] >> transaction & 1 and room.gtids[member, transaction] != 0
        )
        if not p[C.P_ONE_ORDER] and is_certified and _waits_for_fence(room, member, transaction):
            break
        if p[C.P_ONE_ORDER] and not is_certified:
            break
        if is_certified and not has(flushed, before, transaction):
            if is_only_asked:
                return True
            flushed[count] = transaction
            count += 1
    if is_only_asked:
        return False
    mine[C.N_FLUSHED] = count
    mine[C.N_GROUPS] += 1
    for kind in (C.FLUSHED, C.SYNCED):
        for at in range(before, count):
            event = room.events[record(room, kind, member, flushed[at])]
            event[C.E_GTID], event[C.E_OTHER] = room.gtids[member, flushed[at]], mine[C.N_GROUPS]
    return True


@njit(**BORROWED)
def _waits_for_fence(room: Room, member: int, transaction: int) -> bool:
    """Return whether an earlier (0, 0) has yet to be applied."""
    for earlier in range(1, transaction):
        is_queued = room.members[member, C.N_RELAY] >> earlier & 1
        if is_queued and room.stamps[member, earlier, A.L_SN] == 0:
            return True
    return False


@njit(**BORROWED)
def count_as_executed(room: Room, member: int, transaction: int) -> None:
    """Add to the executed set and the binary log."""
    mine = room.members[member]
    mine[C.N_EXECUTED] |= 1 << room.gtids[member, transaction]
    mine[C.N_COMMITTED] |= 1 << transaction


@njit(**BORROWED)
def commit_own(p: Ints, room: Room, member: int, transaction: int) -> None:
    """Commit in the engine, free the rows; AFTER_SYNC, answer the client."""
    mine = room.members[member]
    commit_rows(room, member, transaction)
    mine[C.N_FLUSHED] = take_out(room.flushed[member], mine[C.N_FLUSHED], transaction)
    mine[C.N_SESSIONS] &= ~(1 << transaction)
    count_as_executed(room, member, transaction)
    event = room.events[record(room, C.ENGINE_COMMITTED, member, transaction)]
    event[C.E_GTID] = room.gtids[member, transaction]
    if p[C.P_ONE_ORDER]:
        mine[C.N_QUEUE] = take_out(room.queue[member], mine[C.N_QUEUE], transaction)
    room.unanswered[member, mine[C.N_UNANSWERED]] = transaction
    mine[C.N_UNANSWERED] += 1
    if not p[C.P_AFTER_COMMIT]:
        answer(room, member, transaction)


@njit(**BORROWED)
def answer(room: Room, member: int, transaction: int) -> None:
    """Confirm the commit to the client."""
    mine = room.members[member]
    mine[C.N_UNANSWERED] = take_out(room.unanswered[member], mine[C.N_UNANSWERED], transaction)
    record(room, C.CLIENT_ACKNOWLEDGED, member, transaction)


@njit(**BORROWED)
def is_answerable(p: Ints, room: Room, member: int, transaction: int) -> bool:
    """Return whether a committed transaction's client may be answered."""
    if p[C.P_FAULT] == C.ANSWER_DOES_NOT_WAIT:
        return True
    return is_acknowledged(p, room, member, transaction)


@njit(**BORROWED)
def open_transactions(room: Room, member: int) -> int:
    """Return the number of clients with a transaction."""
    mine = room.members[member]
    count = mine[C.N_EXECUTING] + mine[C.N_UNANSWERED]
    for transaction in range(1, room.left[C.G_SENT] + 1):
        count += mine[C.N_SESSIONS] >> transaction & 1
    return int(count)
