"""Models by rows: the twin of ``ParallelismJudge``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.borrowing import borrowing
from paraply.properties.logs.compiled.rule_kernel import may_overlap
from paraply.properties.logs.compiled.safety_kernel import APART, stamp_of
from paraply.properties.logs.compiled.state import Timeline, Touches
from paraply.properties.logs.compiled.timeline_kernel import schedule, set_time, take_later
from paraply.properties.logs.compiled.touch_kernel import touches_of

Ints = NDArray[np.int64]
Times = NDArray[np.int64]
Words = NDArray[np.uint64]
Marks = NDArray[np.uint8]

WORK_SHIFT = 8
"""Offset of work in H_META."""


@borrowing
def place_partitions(
    limits: Ints,
    barrier_finish: Times,
    line: Timeline,
    ready_times: Times,
    scalars: Ints,
    table_schema: Ints,
    part_epoch: Ints,
    part_times: Times,
    model: int,
    numbers: Ints,
    is_barrier: bool,
    work: int,
    finish: Ints,
) -> None:
    """Schedule by partition: the twin of ``PartitionModel``."""
    side = model - C.M_TABLE
    levels_max = limits[C.L_LEVELS]
    barrier = barrier_finish[model]
    if is_barrier:
        schedule(line, model, levels_max, line.end[model], work, finish)
        set_time(barrier, finish)
        return
    ready = ready_times[0]
    set_time(ready, barrier)
    epoch = scalars[C.S_BARRIER_EPOCH]
    for number in numbers:
        part = number if model == C.M_TABLE else table_schema[number]
        if part_epoch[side, part] == epoch:
            take_later(ready, part_times[side, part])
    schedule(line, model, levels_max, ready, work, finish)
    for number in numbers:
        part = number if model == C.M_TABLE else table_schema[number]
        part_epoch[side, part] = epoch
        set_time(part_times[side, part], finish)


@borrowing
def run_alone(
    scalars: Ints,
    ready_times: Times,
    limits: Ints,
    line: Timeline,
    barrier_finish: Times,
    ordinal: int,
    kind: int,
    work: int,
    past: Ints,
) -> None:
    """Schedule a barrier under key models."""
    rows, keys = ready_times[1], ready_times[2]
    levels_max = limits[C.L_LEVELS]
    schedule(line, C.M_ROWS, levels_max, line.end[C.M_ROWS], work, rows)
    schedule(line, C.M_KEY, levels_max, line.end[C.M_KEY], work, keys)
    set_time(barrier_finish[C.M_ROWS], rows)
    set_time(barrier_finish[C.M_KEY], keys)
    if scalars[C.S_SPLIT]:
        with_keys = ready_times[4]
        schedule(line, C.M_WITH, levels_max, line.end[C.M_WITH], work, with_keys)
        set_time(barrier_finish[C.M_WITH], with_keys)
    past[C.H_WAITS_FOR] = scalars[C.S_LATEST]
    cause = C.CAUSE_SELF if scalars[C.S_LATEST] else C.CAUSE_START
    past[C.H_META] = kind | cause << 4 | work << WORK_SHIFT
    scalars[C.S_BARRIER] = ordinal


@borrowing
def _tie(scalars: Ints, ties: Words, key: np.uint64) -> None:
    ties[scalars[C.S_TIE_NEXT] & (len(ties) - 1)] = key
    scalars[C.S_TIE_NEXT] += 1


@borrowing
def _reader_before(readers: Touches, oldest: int, touch: int, since: int) -> tuple[int, int]:
    """Return the next reader since the last write, and the touch before it; 0 for none."""
    if touch < oldest:
        return 0, -1
    ring_mask = len(readers.keys) - 1
    owner = np.int64(readers.owner[touch & ring_mask])
    if owner <= since:
        return 0, -1
    distance = np.int64(readers.distance[touch & ring_mask])
    return owner, (touch - distance if distance else np.int64(-1))


@borrowing
def _waits_for(roles: int, what: int) -> bool:
    """Return whether a change follows those of a table that ``order_*`` remembers as ``what``."""
    if what == C.O_CHANGED:
        return (roles & C.BLURRED) != 0
    if what == C.O_UNKEYED:
        return (roles & C.SEARCHED) != 0
    if what == C.O_SEARCHED:
        return (roles & C.UNKEYED_ROWS) != 0
    return (roles & C.MET) != 0


@borrowing
def _waits_with_keys(roles: int, what: int) -> bool:
    """Return whether it would if every row had a key but those with an unknown column."""
    return what not in (C.O_UNKEYED, C.O_SEARCHED) or (roles & C.UNIDENTIFIED) != 0


@borrowing
def _extend_order(
    order_epoch: Ints, order_last: Ints, order_finish: Times, epoch: int, name: int, roles: int,
    ordinal: int, rows: Times, keys: Times, with_keys: Times,
) -> None:  # fmt: skip
    if order_epoch[name] != epoch:
        order_epoch[name] = epoch
        order_last[name] = 0
        order_finish[name] = 0
    for what in range(4):
        role = (C.MET, C.UNKEYED_ROWS, C.SEARCHED, C.BLURRED)[what]
        if not roles & role:
            continue
        finish = order_finish[name, what]
        if not order_last[name, what] or rows[C.UNBOUNDED] > finish[0, C.UNBOUNDED]:
            order_last[name, what] = ordinal
        take_later(finish[0], rows)
        take_later(finish[1], keys)
        take_later(finish[2], with_keys)


@borrowing
def split_models(scalars: Ints, line: Timeline, barrier_finish: Times) -> None:
    """Begin to schedule M_WITH apart from M_ROWS, with the same past."""
    for times in (line.free, line.least, line.end, barrier_finish):
        set_time(times[C.M_WITH], times[C.M_ROWS])
    set_time(line.levels[C.M_WITH], line.levels[C.M_ROWS])
    line.width_max[C.M_WITH] = line.width_max[C.M_ROWS]
    set_time(line.totals[C.M_WITH], line.totals[C.M_ROWS])
    scalars[C.S_SPLIT] = 1


@borrowing
def follow_keys(
    scalars: Ints,
    touches: Touches,
    readers: Touches,
    all_past: Ints,
    ready_times: Times,
    limits: Ints,
    barrier_finish: Times,
    all_finish: NDArray[np.int32],
    line: Timeline,
    ties: Words,
    order_epoch: Ints,
    order_last: Ints,
    order_finish: Times,
    ordinal: int,
    kind: int,
    work: int,
    past: Ints,
    keys: Words,
    marks: Marks,
    heads: Ints,
    reader_heads: Ints,
    written: int,
    names: Ints,
    roles: Ints,
) -> None:
    """Schedule after the keys' last writers, and writes after the readers since.

    The first ``written`` of ``keys`` are written, the others read. Changes that keys do not order
    follow by ``names``.
    """
    ring_mask, past_mask = len(touches.keys) - 1, len(all_past) - 1
    reads_old = scalars[C.S_CHAINS + 3 * C.READS + C.OLD]
    row_ready, key_ready, with_ready = ready_times[0], ready_times[3], ready_times[5]
    levels_max = limits[C.L_LEVELS]
    set_time(row_ready, barrier_finish[C.M_ROWS])
    set_time(key_ready, barrier_finish[C.M_KEY])
    set_time(with_ready, barrier_finish[C.M_WITH if scalars[C.S_SPLIT] else C.M_ROWS])
    barrier = scalars[C.S_BARRIER]
    best, before = row_ready[C.UNBOUNDED], barrier
    for index in range(len(keys)):
        since = np.int64(0)
        owner = np.int64(0)
        if heads[index] >= 0:
            owner = np.int64(touches.owner[heads[index] & ring_mask])
            since = owner
            if marks[index] & C.PRIMARY:
                finish = all_finish[owner & past_mask]
                for column in range(len(key_ready)):
                    key_ready[column] = max(key_ready[column], np.int64(finish[1, column]))
        reader = reader_heads[index] if index < written else np.int64(-1)
        while True:
            if owner:
                finish = all_finish[owner & past_mask]
                for column in range(len(row_ready)):
                    row_ready[column] = max(row_ready[column], np.int64(finish[0, column]))
                    with_ready[column] = max(with_ready[column], np.int64(finish[2, column]))
                time = np.int64(finish[0, C.UNBOUNDED])
                if time > best or (time == best and owner > before):
                    best, before = time, owner
            owner, reader = _reader_before(readers, reads_old, reader, since)
            if not owner:
                break
    by_key = before
    epoch = scalars[C.S_BARRIER_EPOCH]
    table = np.int64(-1)
    for index in range(len(names)):
        name = names[index]
        if order_epoch[name] != epoch:
            continue
        for what in range(4):
            if not order_last[name, what] or not _waits_for(roles[index], what):
                continue
            finish_by = order_finish[name, what]
            take_later(row_ready, finish_by[0])
            take_later(key_ready, finish_by[1])
            if _waits_with_keys(roles[index], what):
                take_later(with_ready, finish_by[2])
            elif not scalars[C.S_SPLIT]:
                split_models(scalars, line, barrier_finish)
            time, last = finish_by[0, C.UNBOUNDED], order_last[name, what]
            if time > best or (time == best and last >= before):
                best, before, table = time, last, name
    rows_finish, keys_finish, with_finish = ready_times[1], ready_times[2], ready_times[4]
    schedule(line, C.M_ROWS, levels_max, row_ready, work, rows_finish)
    schedule(line, C.M_KEY, levels_max, key_ready, work, keys_finish)
    if scalars[C.S_SPLIT]:
        schedule(line, C.M_WITH, levels_max, with_ready, work, with_finish)
    else:
        set_time(with_finish, rows_finish)
    for index in range(len(names)):
        _extend_order(
            order_epoch, order_last, order_finish, epoch, names[index], roles[index], ordinal,
            rows_finish, keys_finish, with_finish,
        )  # fmt: skip
    cause = C.CAUSE_KEY
    if table >= 0:
        cause = C.CAUSE_TABLE
        _tie(scalars, ties, np.uint64(table))
    elif by_key == barrier:
        cause = C.CAUSE_BARRIER if barrier else C.CAUSE_START
    past[C.H_WAITS_FOR] = before
    past[C.H_META] = kind | cause << 4 | work << WORK_SHIFT
    if cause != C.CAUSE_KEY:
        return
    for index in range(len(keys)):
        owner = np.int64(0)
        if heads[index] >= 0:
            owner = np.int64(touches.owner[heads[index] & ring_mask])
        since = owner
        reader = reader_heads[index] if index < written else np.int64(-1)
        while owner != before:
            owner, reader = _reader_before(readers, reads_old, reader, since)
            if not owner:
                break
        if owner == before:
            _tie(scalars, ties, keys[index])


@borrowing
def _shares_primary(
    touches: Touches, all_past: Ints, scalars: Ints, keys: Words, marks: Marks, earlier: int
) -> bool:
    first, last = touches_of(all_past, scalars, C.WRITES, earlier)
    ring_mask = len(touches.keys) - 1
    for index in range(len(keys)):
        if marks[index] & C.PRIMARY:
            for touch in range(first, last):
                slot = touch & ring_mask
                if touches.marks[slot] & C.PRIMARY and touches.keys[slot] == keys[index]:
                    return True
    return False


@borrowing
def _shares_tables(
    all_past: Ints, past_tables: Ints, tables: Ints, table_schema: Ints, earlier: int
) -> tuple[bool, bool]:
    """Return whether an earlier transaction changed one of the tables, and of their schemas."""
    past_mask = len(all_past) - 1
    first = all_past[earlier & past_mask, C.H_TABLE_START]
    last = all_past[(earlier + 1) & past_mask, C.H_TABLE_START]
    shares_schema = False
    for at in range(first, last):
        other = past_tables[at & (len(past_tables) - 1)]
        for number in tables:
            if number == other:
                return True, True
            if table_schema[number] == table_schema[other]:
                shares_schema = True
    return False, shares_schema


@borrowing
def count_apart(
    touches: Touches,
    readers: Touches,
    all_past: Ints,
    all_ranks: Ints,
    scalars: Ints,
    apart: Ints,
    past_tables: Ints,
    table_schema: Ints,
    ordinal: int,
    kind: int,
    clock: Ints,
    group: Ints,
    tables: Ints,
    keys: Words,
    marks: Marks,
    heads: Ints,
    reader_heads: Ints,
    written: int,
) -> None:
    """Count unordered pairs with last writers, and of writers with the readers since."""
    ring_mask, past_mask = len(touches.keys) - 1, len(all_past) - 1
    reads_old = scalars[C.S_CHAINS + 3 * C.READS + C.OLD]
    stamp = stamp_of(ordinal, APART)
    for index in range(len(keys)):
        owner = np.int64(0)
        if heads[index] >= 0:
            owner = np.int64(touches.owner[heads[index] & ring_mask])
        since = owner
        reader = reader_heads[index] if index < written else np.int64(-1)
        while True:
            if owner and all_past[owner & past_mask, C.H_MARK] != stamp:
                past, ranks = all_past[owner & past_mask], all_ranks[owner & past_mask]
                past[C.H_MARK] = stamp
                scalars[C.S_PAIRS] += 1
                apart[C.M_CLOCK] += may_overlap(C.CLOCK, clock, ranks)
                apart[C.M_GROUP] += may_overlap(C.GROUP, group, ranks)
                if (past[C.H_META] & 15) == kind:
                    shares_table, shares_schema = _shares_tables(
                        all_past, past_tables, tables, table_schema, owner
                    )
                    apart[C.M_TABLE] += not shares_table
                    apart[C.M_SCHEMA] += not shares_schema
                    apart[C.M_KEY] += not _shares_primary(
                        touches, all_past, scalars, keys[:written], marks[:written], owner
                    )
            owner, reader = _reader_before(readers, reads_old, reader, since)
            if not owner:
                break


@borrowing
def note_path(scalars: Ints, limits: Ints, ordinal: int, finish: int) -> int:
    """Extend the longest chain; return TRACE or DONE."""
    if finish > scalars[C.S_PATH_TIME]:
        scalars[C.S_PATH_END], scalars[C.S_PATH_TIME] = ordinal, finish
        scalars[C.S_PATH_TRACED] = 0
    if finish > scalars[C.S_LATEST_FINISH]:
        scalars[C.S_LATEST], scalars[C.S_LATEST_FINISH] = ordinal, finish
    half = limits[C.L_LINKS] // 2
    if not scalars[C.S_PATH_TRACED] and scalars[C.S_PATH_END] <= ordinal - half:
        return C.TRACE
    return C.DONE
