"""Safety and parallelism of a batch of transactions: the twin of ``DependencySafety`` and
``ParallelismJudge`` for transactions whose conflicts are decided by written keys alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from properties.compiled import columns as C
from properties.compiled.rule_kernel import (
    mark_may_overlap,
    may_overlap,
    place_by_clock,
    place_by_group,
    same_run,
)
from properties.compiled.state import State
from properties.compiled.timeline_kernel import (
    observe_width,
    place_in_group,
    place_on_clock,
    schedule,
    take_later,
)
from properties.compiled.touch_kernel import (
    add_touch,
    find_newest,
    forget_beyond_horizon,
    touches_of,
)

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]

_STATEMENTS, _ROWS, _DDL = 0, 1, 2
TIME_MAX = (1 << 31) - 1
WORK_SHIFT = 8


@njit(cache=True)
def _missing_room(state: State, keys: int) -> int:
    """Return which array is too small for a transaction with ``keys`` keys, DONE if none is."""
    scalars = state.scalars
    ordinal = scalars[C.S_ORDINAL] + 1
    oldest = min(scalars[C.S_OLDEST], ordinal - state.limits[C.L_LINKS])
    if ordinal + 1 - max(1, oldest) >= len(state.past):
        return C.GROW_PAST
    if scalars[C.S_TOUCH_NEXT] + keys - scalars[C.S_TOUCH_OLD] > len(state.touches.keys):
        return C.GROW_TOUCHES
    if scalars[C.S_PREFIXES] + 1 >= len(state.prefix_ranks):
        return C.GROW_PREFIXES
    first_link = max(1, ordinal - state.limits[C.L_LINKS])
    if ordinal > 1:
        kept = state.past[first_link % len(state.past), C.H_TIE_START]
        if scalars[C.S_TIE_NEXT] + keys - kept > len(state.ties):
            return C.GROW_TIES
    elif keys > len(state.ties):
        return C.GROW_TIES
    return C.DONE


@njit(cache=True)
def _add_finding(state: State, rule: int, earlier: int, key: np.uint64) -> bool:
    at = state.scalars[C.S_FINDINGS]
    if at == len(state.findings):
        return False
    state.findings[at, 0], state.findings[at, 1] = rule, earlier
    state.finding_keys[at] = key
    state.scalars[C.S_FINDINGS] = at + 1
    return True


@njit(cache=True)
def _meet(
    state: State, rule: int, place: Ints, keys: Words, heads: Ints, listing: bool, stamp: int
) -> int:
    """Walk the chain of every key; return how many earlier transactions overlap, -1 for room.

    Sets the mark of each to ``stamp``; a head that overlaps is made negative: -2 - touch.
    """
    met = 0
    ring, size = len(state.touches.keys), len(state.past)
    for index in range(len(keys)):
        touch = heads[index]
        while touch >= state.scalars[C.S_TOUCH_OLD]:
            owner = state.touches.owner[touch % ring]
            ranks = state.ranks[owner % size]
            if may_overlap(rule, place, ranks):
                if heads[index] >= 0:
                    heads[index] = -2 - heads[index]
                if state.past[owner % size, C.H_MARK] != stamp:
                    state.past[owner % size, C.H_MARK] = stamp
                    met += 1
                if not listing:
                    break
                if not _add_finding(state, rule, owner, keys[index]):
                    return -1
            elif same_run(rule, place, ranks) or rule == C.CLOCK:
                break
            distance = state.touches.distance[touch % ring]
            if distance == 0:
                break
            touch -= distance
    return met


@njit(cache=True)
def _judge_safety(
    state: State, rule: int, place: Ints, keys: Words, heads: Ints, ordinal: int, listed: int
) -> int:
    """Judge one transaction by one rule; return the violations listed so far, -1 for room."""
    evidence = state.evidence[rule]
    listing = listed < state.limits[C.L_VIOLATIONS]
    lost = mark_may_overlap(place, state.forgotten[rule, place[C.P_LANE]])
    stamp = ordinal * 8 + rule * 2
    met = _meet(state, rule, place, keys, heads, listing, stamp)
    if met < 0:
        return -1
    evidence[C.E_VIOLATIONS] += met
    ring, size = len(state.touches.keys), len(state.past)
    for index in range(len(keys)):
        head = heads[index]
        if head == -1:
            evidence[C.E_FORGOTTEN] += lost
        elif head < -1:
            heads[index] = -2 - head
        else:
            owner = state.touches.owner[head % ring]
            if same_run(rule, place, state.ranks[owner % size]):
                past = state.past[owner % size]
                if past[C.H_MARK] != stamp and past[C.H_MARK] != stamp + 1:
                    past[C.H_MARK] = stamp + 1
                    evidence[C.E_ORDERED] += 1
            elif rule == C.GROUP:
                # Conflicts across replication domains are named: the readable judge does that.
                return -1
    return listed + (met if listing else 0)


@njit(cache=True)
def _observe_barriers(state: State, rule: int, kind: int, place: Ints) -> None:
    """Twin of ``SafetyEvidence.observe_barriers``."""
    evidence = state.evidence[rule]
    if kind == C.INCIDENT:
        evidence[C.E_INCIDENTS] += 1
    if kind in (C.EMPTY, C.VIEW_CHANGE):
        return
    lane = state.barriers[rule, place[C.P_LANE]]
    undecidable = kind in (C.STATEMENT, C.INCIDENT)
    if mark_may_overlap(place, lane[_ROWS if undecidable else _STATEMENTS]):
        evidence[C.E_STATEMENTS] += 1
    if mark_may_overlap(place, lane[_ROWS if kind == C.DDL else _DDL]):
        evidence[C.E_DDL] += 1
    for what in range(3):
        if (
            what == _ROWS
            or (what == _STATEMENTS and undecidable)
            or (what == _DDL and kind == C.DDL)
        ):
            lane[what, 0], lane[what, 1], lane[what, 2] = 1, place[C.P_RUN], place[C.P_RANK]


@njit(cache=True)
def _place_partitions(
    state: State, model: int, numbers: Ints, is_barrier: bool, work: int, finish: Ints
) -> bool:
    """Schedule by table or by schema: the twin of ``PartitionModel``."""
    side = model - C.M_TABLE
    levels_max = state.limits[C.L_LEVELS]
    barrier = state.barrier_finish[model]
    if is_barrier:
        fine = schedule(state.line, model, levels_max, state.line.end[model], work, finish)
        barrier[:] = finish
        return fine
    ready = state.ready[0]
    ready[:] = barrier
    epoch = state.scalars[C.S_BARRIER_EPOCH]
    for number in numbers:
        part = number if model == C.M_TABLE else state.table_schema[number]
        if state.part_epoch[side, part] == epoch:
            take_later(ready, state.part_times[side, part])
    fine = schedule(state.line, model, levels_max, ready, work, finish)
    for number in numbers:
        part = number if model == C.M_TABLE else state.table_schema[number]
        state.part_epoch[side, part] = epoch
        state.part_times[side, part] = finish
    return fine


@njit(cache=True)
def _note_path(state: State, ordinal: int, finish: int) -> int:
    """Follow the longest chain; TRACE if its links will be overwritten soon, else DONE."""
    scalars = state.scalars
    if finish > scalars[C.S_PATH_TIME]:
        scalars[C.S_PATH_END], scalars[C.S_PATH_TIME] = ordinal, finish
        scalars[C.S_PATH_TRACED] = 0
    if finish > scalars[C.S_LATEST_FINISH]:
        scalars[C.S_LATEST], scalars[C.S_LATEST_FINISH] = ordinal, finish
    half = state.limits[C.L_LINKS] // 2
    if not scalars[C.S_PATH_TRACED] and scalars[C.S_PATH_END] <= ordinal - half:
        return C.TRACE
    return C.DONE


@njit(cache=True)
def _run_alone(state: State, ordinal: int, kind: int, work: int, past: Ints) -> bool:
    """Schedule a barrier under the models by keys."""
    scalars = state.scalars
    rows, keys = state.ready[1], state.ready[2]
    levels_max = state.limits[C.L_LEVELS]
    fine = schedule(state.line, C.M_ROWS, levels_max, state.line.end[C.M_ROWS], work, rows)
    fine &= schedule(state.line, C.M_KEY, levels_max, state.line.end[C.M_KEY], work, keys)
    state.barrier_finish[C.M_ROWS] = rows
    state.barrier_finish[C.M_KEY] = keys
    past[C.H_WAITS_FOR] = scalars[C.S_LATEST]
    cause = C.CAUSE_SELF if scalars[C.S_LATEST] else C.CAUSE_START
    past[C.H_META] = kind | cause << 4 | work << WORK_SHIFT
    scalars[C.S_BARRIER] = ordinal
    return fine


@njit(cache=True)
def _follow_keys(
    state: State, ordinal: int, kind: int, work: int, past: Ints,
    keys: Words, primary: Flags, heads: Ints,
) -> bool:  # fmt: skip
    """Schedule a transaction behind the last writers of its keys."""
    scalars = state.scalars
    ring, size = len(state.touches.keys), len(state.past)
    row_ready, key_ready = state.ready[0], state.ready[3]
    levels_max = state.limits[C.L_LEVELS]
    row_ready[:] = state.barrier_finish[C.M_ROWS]
    key_ready[:] = state.barrier_finish[C.M_KEY]
    barrier = scalars[C.S_BARRIER]
    best, before = row_ready[C.UNBOUNDED], barrier
    for index in range(len(keys)):
        if heads[index] < 0:
            continue
        owner = state.touches.owner[heads[index] % ring]
        finish = state.finish[owner % size]
        for column in range(len(row_ready)):
            row_ready[column] = max(row_ready[column], np.int64(finish[0, column]))
        if primary[index]:
            for column in range(len(key_ready)):
                key_ready[column] = max(key_ready[column], np.int64(finish[1, column]))
        time = np.int64(finish[0, C.UNBOUNDED])
        if time > best or (time == best and owner > before):
            best, before = time, owner
    rows_finish, keys_finish = state.ready[1], state.ready[2]
    fine = schedule(state.line, C.M_ROWS, levels_max, row_ready, work, rows_finish)
    fine &= schedule(state.line, C.M_KEY, levels_max, key_ready, work, keys_finish)
    cause = C.CAUSE_KEY
    if before == barrier:
        cause = C.CAUSE_BARRIER if barrier else C.CAUSE_START
    past[C.H_WAITS_FOR] = before
    past[C.H_META] = kind | cause << 4 | work << WORK_SHIFT
    if cause == C.CAUSE_KEY:
        for index in range(len(keys)):
            if heads[index] >= 0 and state.touches.owner[heads[index] % ring] == before:
                state.ties[scalars[C.S_TIE_NEXT] % len(state.ties)] = keys[index]
                scalars[C.S_TIE_NEXT] += 1
    return fine


@njit(cache=True)
def _shares_primary(state: State, keys: Words, primary: Flags, earlier: int) -> bool:
    first, last = touches_of(state, earlier)
    ring = len(state.touches.keys)
    for index in range(len(keys)):
        if primary[index]:
            for touch in range(first, last):
                if (
                    state.touches.primary[touch % ring]
                    and state.touches.keys[touch % ring] == keys[index]
                ):
                    return True
    return False


@njit(cache=True)
def _count_apart(
    state: State, ordinal: int, kind: int, clock: Ints, group: Ints,
    keys: Words, primary: Flags, heads: Ints,
) -> None:  # fmt: skip
    """Count the pairs with the last writers of the keys that a model leaves unordered.

    Two transactions that share a key share its table and schema, so partitioning by these
    never separates them.
    """
    ring, size = len(state.touches.keys), len(state.past)
    stamp = ordinal * 8 + 4
    for index in range(len(keys)):
        if heads[index] < 0:
            continue
        owner = state.touches.owner[heads[index] % ring]
        past, ranks = state.past[owner % size], state.ranks[owner % size]
        if past[C.H_MARK] == stamp:
            continue
        past[C.H_MARK] = stamp
        state.scalars[C.S_PAIRS] += 1
        state.apart[C.M_CLOCK] += may_overlap(C.CLOCK, clock, ranks)
        state.apart[C.M_GROUP] += may_overlap(C.GROUP, group, ranks)
        if (past[C.H_META] & 15) == kind and not _shares_primary(state, keys, primary, owner):
            state.apart[C.M_KEY] += 1


@njit(cache=True, nogil=True)
def judge(
    state: State, batch: Ints, keys: Words, primary: Flags, tables: Ints, heads: Ints,
    placed: Ints, first: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Judge ``batch[first:]`` in order until something needs attention.

    Returns (status, next transaction, keys of the transaction that lacked room). ``placed``
    receives per transaction the rank and kind of the last scheduler break, and its run and floor
    by timestamps. ``heads`` is scratch, as long as ``keys``.
    """
    scalars = state.scalars
    clock, group = np.zeros(C.PLACE_COLUMNS, np.int64), np.zeros(C.PLACE_COLUMNS, np.int64)
    times = np.zeros((2, state.line.end.shape[1]), np.int64)
    for index in range(first, len(batch)):
        txn = batch[index]
        key_start = batch[index - 1, C.B_KEY_END] if index else 0
        key_end = txn[C.B_KEY_END]
        count = key_end - key_start
        room = _missing_room(state, count)
        if room != C.DONE:
            return room, index, count
        ordinal = scalars[C.S_ORDINAL] + 1
        scalars[C.S_FINDINGS] = 0
        if txn[C.B_KIND] == C.SKIPPED:
            skipped = state.past[ordinal % len(state.past)]
            skipped[:] = 0
            skipped[C.H_TOUCH_START] = scalars[C.S_TOUCH_NEXT]
            skipped[C.H_TIE_START] = scalars[C.S_TIE_NEXT]
            scalars[C.S_ORDINAL] = ordinal
            continue
        my_keys, my_primary = keys[key_start:key_end], primary[key_start:key_end]
        my_heads = heads[key_start:key_end]
        for at in range(count):
            my_heads[at] = find_newest(
                state.touches.newest, state.touches.keys, scalars[C.S_TOUCH_NEXT], my_keys[at]
            )
        kind, work = txn[C.B_KIND], 1 + txn[C.B_ROWS]
        allowed = place_by_clock(state, txn, clock)
        allowed_group = place_by_group(state, txn, ordinal, group)
        placed[index, 0], placed[index, 1] = scalars[C.S_BREAK_RANK], scalars[C.S_BREAK_KIND]
        slot = ordinal % len(state.past)
        ranks, past = state.ranks[slot], state.past[slot]
        ranks[C.R_RUN], ranks[C.R_RANK] = clock[C.P_RUN], clock[C.P_RANK]
        ranks[C.R_LANE], ranks[C.R_GROUP_RANK] = group[C.P_LANE], group[C.P_RANK]
        past[C.H_TOUCH_START] = scalars[C.S_TOUCH_NEXT]
        past[C.H_TIE_START] = scalars[C.S_TIE_NEXT]
        past[C.H_AT] = txn[C.B_AT]
        past[C.H_MARK] = 0
        listed = scalars[C.S_LISTED]
        for rule in state.order:
            # Commit groups are judged by commit ids; last_committed makes groups for timing only.
            if rule == C.CLOCK or (rule == C.GROUP and txn[C.B_SEQUENCE_NUMBER] < 0):
                place = clock if rule == C.CLOCK else group
                state.evidence[rule, C.E_ALLOWED] += allowed if rule == C.CLOCK else allowed_group
                listed = _judge_safety(state, rule, place, my_keys, my_heads, ordinal, listed)
                if listed < 0:
                    return C.BEYOND, index, count
                _observe_barriers(state, rule, kind, place)
        scalars[C.S_LISTED] = listed

        fine = place_on_clock(state, clock, work, times[0])
        fine &= place_in_group(state, group, work, times[1])
        if txn[C.B_SEQUENCE_NUMBER] >= 0 and txn[C.B_LAST_COMMITTED] >= 0:
            scalars[C.S_CLOCK_SEEN] = 1
            observe_width(state, times[0, C.ROUND])
        else:
            observe_width(state, times[1, C.ROUND])
        if txn[C.B_HAS_DOMAIN] or txn[C.B_COMMIT_ID] >= 0:
            scalars[C.S_GROUPS_SEEN] = 1
        is_barrier = kind not in (C.ROWS, C.EMPTY)
        placed[index, 2], placed[index, 3] = clock[C.P_RUN], clock[C.P_FLOOR]
        table_start = batch[index - 1, C.B_TABLE_END] if index else 0
        my_tables = tables[table_start : txn[C.B_TABLE_END]]
        for number in my_tables:
            # Only timestamps let a change overlap DDL: groups never hold any.
            defined = state.redefined[number]
            if defined[1] == clock[C.P_RUN] and defined[2] > clock[C.P_FLOOR] and defined[0]:
                return C.BEYOND, index, count
            state.last_use[number] = ordinal
        fine &= _place_partitions(state, C.M_TABLE, my_tables, is_barrier, work, times[0])
        fine &= _place_partitions(state, C.M_SCHEMA, my_tables, is_barrier, work, times[0])
        if is_barrier:
            scalars[C.S_BARRIER_EPOCH] += 1
            fine &= _run_alone(state, ordinal, kind, work, past)
        else:
            fine &= _follow_keys(state, ordinal, kind, work, past, my_keys, my_primary, my_heads)
            _count_apart(state, ordinal, kind, clock, group, my_keys, my_primary, my_heads)
        for column in range(state.line.end.shape[1]):
            state.finish[slot, 0, column] = state.ready[1, column]
            state.finish[slot, 1, column] = state.ready[2, column]
        if not fine or state.line.totals[C.M_ROWS, 0] > TIME_MAX:
            return C.BEYOND, index, count
        scalars[C.S_ORDINAL] = ordinal
        status = _note_path(state, ordinal, state.ready[1, C.UNBOUNDED])
        for at in range(count):
            add_touch(state.touches, scalars[C.S_TOUCH_NEXT], my_keys[at], ordinal, my_primary[at])
            scalars[C.S_TOUCH_NEXT] += 1
        scalars[C.S_TOUCHERS] += count > 0
        forget_beyond_horizon(state)
        if scalars[C.S_FINDINGS]:
            status |= C.FINDING
        if status != C.DONE:
            return status, index + 1, count
    return C.DONE, len(batch), 0
