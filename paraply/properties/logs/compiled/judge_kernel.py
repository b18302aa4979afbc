"""The twin of ``DependencySafety`` and ``ParallelismJudge`` for certain keys.

Helpers take single arrays: numba copies named tuples' arrays, which tripled compile and run time.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.borrowing import borrowing
from paraply.properties.logs.compiled.model_kernel import (
    count_apart,
    follow_keys,
    note_path,
    place_partitions,
    run_alone,
)
from paraply.properties.logs.compiled.rule_kernel import (
    has_several,
    mark_may_overlap,
    place_by_clock,
    place_by_group,
)
from paraply.properties.logs.compiled.safety_kernel import (
    count_waits,
    judge_safety,
    observe_barriers,
)
from paraply.properties.logs.compiled.state import State, Touches
from paraply.properties.logs.compiled.timeline_kernel import (
    observe_width,
    place_in_group,
    place_on_clock,
)
from paraply.properties.logs.compiled.touch_kernel import find_newest, read_ahead, remember
from paraply.vocabulary.kernel_cache import BORROWED

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Marks = NDArray[np.uint8]

TIME_MAX = (1 << 31) - 1
"""Finish times have 32 bits."""


AHEAD = 64
"""Transactions whose keys are read ahead."""


@borrowing
def _missing_room(
    scalars: Ints,
    limits: Ints,
    all_past: Ints,
    readers: Touches,
    prefix_ranks: Ints,
    ties: Words,
    past_tables: Ints,
    keys: int,
    tables: int,
) -> int:
    ordinal = scalars[C.S_ORDINAL] + 1
    # The path does not count skipped transactions.
    oldest = first_link = max(1, ordinal - limits[C.L_LINKS] - scalars[C.S_SKIPPED])
    ring = len(readers.keys)
    for chain in range(C.CHAINS):
        base = C.S_CHAINS + 3 * chain
        oldest = min(oldest, scalars[base + C.OLDEST])
        kept = scalars[base + C.OLD]
        reads = C.S_CHAINS + 3 * C.READS
        if chain == C.WRITES and scalars[reads + C.NEXT] > scalars[reads + C.OLD]:
            # What a remembered reader wrote is compared, even where its writes are forgotten.
            reader = readers.owner[scalars[reads + C.OLD] & (ring - 1)]
            kept = min(kept, all_past[reader & (len(all_past) - 1), C.H_TOUCH_START + C.WRITES])
        if scalars[base + C.NEXT] + keys - kept > ring:
            return C.GROW_TOUCHES
    if ordinal + 1 - max(1, oldest) >= len(all_past):
        return C.GROW_PAST
    if scalars[C.S_PREFIXES] + 1 >= len(prefix_ranks):
        return C.GROW_PREFIXES
    past_mask = len(all_past) - 1
    kept = all_past[first_link & past_mask, C.H_TIE_START]
    if scalars[C.S_TIE_NEXT] + keys - kept > len(ties):
        return C.GROW_TIES
    kept = all_past[max(1, oldest) & past_mask, C.H_TABLE_START]
    if scalars[C.S_TABLE_NEXT] + tables - kept > len(past_tables):
        return C.GROW_TABLES
    return C.DONE


@njit(nogil=True, **BORROWED)
def judge(
    state: State, batch: Ints, keys: Words, marks: Marks, tables: Ints, names: Ints,
    name_keys: Words, roles: Ints, heads: Ints, placed: Ints, first: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Judge ``batch[first:]`` in order until a stop status.

    Returns (status, next transaction, what one without room needs). ``placed`` receives
    ``columns.D_*``. ``heads`` is scratch: each key's newest writer and reader. ``name_keys`` are
    ``names`` as keys.
    """
    scalars = state.scalars
    limits = state.limits
    stretch_starts = state.stretch_starts
    stretch_counts = state.stretch_counts
    lanes = state.lanes
    all_past = state.past
    touches = state.touches
    readers = state.readers
    lockers = state.lockers
    unkeyed = state.unkeyed
    no_roles, no_marks = roles[:0], marks[:0]
    order_epoch = state.order_epoch
    order_last = state.order_last
    order_finish = state.order_finish
    past_tables = state.past_tables
    all_ranks = state.ranks
    forgotten = state.forgotten
    prefix_ranks = state.prefix_ranks
    prefix_times = state.prefix_times
    clock_begin = state.clock_begin
    line = state.line
    lane_ready = state.lane_ready
    lane_end = state.lane_end
    lane_floor = state.lane_floor
    slices = state.slices
    ties = state.ties
    evidence = state.evidence
    findings = state.findings
    finding_keys = state.finding_keys
    barriers = state.barriers
    barrier_finish = state.barrier_finish
    ready_times = state.ready
    table_schema = state.table_schema
    part_epoch = state.part_epoch
    part_times = state.part_times
    all_finish = state.finish
    apart = state.apart
    order = state.order
    definitions = state.definitions
    clock, group = state.places[C.CLOCK], state.places[C.GROUP]
    times = ready_times[6:8]
    for index in range(first, len(batch)):
        txn = batch[index]
        if (index - first) % AHEAD == 0:
            ahead_end = batch[min(index + AHEAD, len(batch)) - 1, C.B_LOCK_END]
            read_ahead(
                touches,
                scalars[C.S_CHAINS + 3 * C.WRITES + C.OLD],
                (
                    readers if scalars[C.S_CHAINS + 3 * C.READS + C.NEXT] else touches,
                    lockers if scalars[C.S_CHAINS + 3 * C.LOCKS + C.NEXT] else touches,
                ),
                all_past,
                all_ranks,
                all_finish,
                keys[txn[C.B_KEY_START] : ahead_end],
                heads[txn[C.B_KEY_START] : ahead_end, 0],
            )
        key_start, written_end = txn[C.B_KEY_START], txn[C.B_KEY_END]
        read_end, key_end = txn[C.B_READ_END], txn[C.B_LOCK_END]
        written, count = written_end - key_start, read_end - key_start
        table_start = batch[index - 1, C.B_TABLE_END] if index else 0
        my_tables = tables[table_start : txn[C.B_TABLE_END]]
        name_start = batch[index - 1, C.B_NAME_END] if index else 0
        my_names = names[name_start : txn[C.B_NAME_END]]
        my_roles = roles[name_start : txn[C.B_NAME_END]]
        my_name_keys = name_keys[name_start : txn[C.B_NAME_END]]
        room = _missing_room(
            scalars, limits, all_past, readers, prefix_ranks, ties, past_tables,
            max(key_end - key_start, len(my_names)), len(my_tables),
        )  # fmt: skip
        if room != C.DONE:
            return room, index, max(key_end - key_start, len(my_names), len(my_tables))
        ordinal = scalars[C.S_ORDINAL] + 1
        scalars[C.S_FINDINGS] = 0
        if txn[C.B_KIND] == C.SKIPPED:
            skipped = all_past[ordinal & (len(all_past) - 1)]
            skipped[:] = 0
            for chain in range(C.CHAINS):
                skipped[C.H_TOUCH_START + chain] = scalars[C.S_CHAINS + 3 * chain + C.NEXT]
            skipped[C.H_TABLE_START] = scalars[C.S_TABLE_NEXT]
            skipped[C.H_TIE_START] = scalars[C.S_TIE_NEXT]
            scalars[C.S_ORDINAL] = ordinal
            scalars[C.S_SKIPPED] += 1
            continue
        my_keys, my_marks = keys[key_start:read_end], marks[key_start:read_end]
        my_writes, my_reads = keys[key_start:written_end], keys[written_end:read_end]
        my_locks = keys[read_end:key_end]
        my_heads, reader_heads = heads[key_start:read_end, 0], heads[key_start:read_end, 1]
        writes_next = scalars[C.S_CHAINS + 3 * C.WRITES + C.NEXT]
        reads_next = scalars[C.S_CHAINS + 3 * C.READS + C.NEXT]
        for at in range(count):
            my_heads[at] = find_newest(touches.newest, touches.keys, writes_next, my_keys[at])
            reader_heads[at] = -1
            if reads_next and at < written:
                reader_heads[at] = find_newest(
                    readers.newest, readers.keys, reads_next, my_keys[at]
                )
        kind, work = txn[C.B_KIND], 1 + txn[C.B_ROWS]
        allowed = place_by_clock(scalars, limits, stretch_starts, stretch_counts, txn, clock)
        allowed_group = place_by_group(lanes, txn, ordinal, group)
        told = placed[index]
        told[C.D_BREAK_RANK], told[C.D_BREAK_KIND] = (
            scalars[C.S_BREAK_RANK], scalars[C.S_BREAK_KIND],
        )  # fmt: skip
        told[C.D_RUN], told[C.D_FLOOR] = clock[C.P_RUN], clock[C.P_FLOOR]
        told[C.D_RANK], told[C.D_ALLOWED] = clock[C.P_RANK], allowed
        told[C.D_LANE], told[C.D_GROUP_FLOOR] = group[C.P_LANE], group[C.P_FLOOR]
        told[C.D_GROUP_RANK], told[C.D_GROUP_ALLOWED] = group[C.P_RANK], allowed_group
        slot = ordinal & (len(all_past) - 1)
        ranks, past = all_ranks[slot], all_past[slot]
        ranks[C.R_RUN], ranks[C.R_RANK] = clock[C.P_RUN], clock[C.P_RANK]
        ranks[C.R_LANE], ranks[C.R_GROUP_RANK] = group[C.P_LANE], group[C.P_RANK]
        for chain in range(C.CHAINS):
            past[C.H_TOUCH_START + chain] = scalars[C.S_CHAINS + 3 * chain + C.NEXT]
        past[C.H_TABLE_START] = scalars[C.S_TABLE_NEXT]
        past[C.H_TIE_START] = scalars[C.S_TIE_NEXT]
        past[C.H_AT] = txn[C.B_AT]
        past[C.H_MARK] = 0
        listed = scalars[C.S_LISTED]
        in_groups = bool(txn[C.B_HAS_DOMAIN]) or txn[C.B_COMMIT_ID] >= 0
        is_beside_ddl = False
        for rule in order:
            # Commit ids judge commit groups; last_committed groups serve timing only.
            if rule == C.CLOCK or (rule == C.GROUP and txn[C.B_SEQUENCE_NUMBER] < 0):
                place = clock if rule == C.CLOCK else group
                if rule == C.GROUP and not in_groups:
                    observe_barriers(evidence, barriers, rule, kind, place)
                    continue
                overlaps = allowed if rule == C.CLOCK else allowed_group
                evidence[rule, C.E_ALLOWED] += overlaps
                last_ddl = definitions[rule, place[C.P_LANE]]
                if txn[C.B_IS_DDL]:
                    is_beside_ddl |= overlaps > 0
                    last_ddl[0], last_ddl[1], last_ddl[2] = 1, place[C.P_RUN], place[C.P_RANK]
                elif len(my_tables):
                    is_beside_ddl |= mark_may_overlap(place, last_ddl)
                listing = listed < limits[C.L_VIOLATIONS]
                listed = judge_safety(
                    evidence,
                    limits,
                    forgotten,
                    touches,
                    readers,
                    all_past,
                    all_ranks,
                    scalars,
                    findings,
                    finding_keys,
                    rule,
                    place,
                    my_writes,
                    my_reads,
                    my_marks[:written],
                    my_marks[written:],
                    my_heads[:written],
                    reader_heads[:written],
                    my_heads[written:],
                    ordinal,
                    listed,
                    has_several(lanes),
                )
                if listed < 0:
                    return C.BEYOND, index, count
                for way in range(2):
                    other = C.LOCKS if way == 0 else C.WRITES
                    count_waits(
                        evidence[rule],
                        lockers if way == 0 else touches,
                        scalars[C.S_CHAINS + 3 * other + C.OLD],
                        scalars[C.S_CHAINS + 3 * other + C.NEXT],
                        all_past,
                        all_ranks,
                        rule,
                        place,
                        my_writes if way == 0 else my_locks,
                        no_roles,
                        listing,
                        ordinal,
                    )
                if len(my_names):
                    count_waits(
                        evidence[rule],
                        unkeyed,
                        scalars[C.S_CHAINS + 3 * C.UNKEYED + C.OLD],
                        scalars[C.S_CHAINS + 3 * C.UNKEYED + C.NEXT],
                        all_past,
                        all_ranks,
                        rule,
                        place,
                        my_name_keys,
                        my_roles,
                        listing,
                        ordinal,
                    )
                observe_barriers(evidence, barriers, rule, kind, place)
        scalars[C.S_LISTED] = listed

        place_on_clock(
            scalars, prefix_ranks, prefix_times, clock_begin, line, limits, clock, work, times[0]
        )
        is_barrier = kind not in (C.ROWS, C.EMPTY)
        commit = 1 if in_groups and not is_barrier else 0
        place_in_group(
            lane_ready, lane_end, lane_floor, line, limits, group, work, commit, times[1]
        )
        if txn[C.B_SEQUENCE_NUMBER] >= 0 and txn[C.B_LAST_COMMITTED] >= 0:
            scalars[C.S_CLOCK_SEEN] = 1
            observe_width(scalars, slices, times[0, C.ROUND])
        else:
            observe_width(scalars, slices, times[1, C.ROUND])
        if in_groups:
            scalars[C.S_GROUPS_SEEN] = 1
        for number in my_tables:
            past_tables[scalars[C.S_TABLE_NEXT] & (len(past_tables) - 1)] = number
            scalars[C.S_TABLE_NEXT] += 1
        place_partitions(
            limits,
            barrier_finish,
            line,
            ready_times,
            scalars,
            table_schema,
            part_epoch,
            part_times,
            C.M_TABLE,
            my_tables,
            is_barrier,
            work,
            times[0],
        )
        place_partitions(
            limits,
            barrier_finish,
            line,
            ready_times,
            scalars,
            table_schema,
            part_epoch,
            part_times,
            C.M_SCHEMA,
            my_tables,
            is_barrier,
            work,
            times[0],
        )
        if is_barrier:
            scalars[C.S_BARRIER_EPOCH] += 1
            run_alone(scalars, ready_times, limits, line, barrier_finish, ordinal, kind, work, past)
        else:
            follow_keys(
                scalars,
                touches,
                readers,
                all_past,
                ready_times,
                limits,
                barrier_finish,
                all_finish,
                line,
                ties,
                order_epoch,
                order_last,
                order_finish,
                ordinal,
                kind,
                work,
                past,
                my_keys,
                my_marks,
                my_heads,
                reader_heads,
                written,
                my_names,
                my_roles,
            )
            count_apart(
                touches,
                readers,
                all_past,
                all_ranks,
                scalars,
                apart,
                past_tables,
                table_schema,
                ordinal,
                kind,
                clock,
                group,
                my_tables,
                my_keys,
                my_marks,
                my_heads,
                reader_heads,
                written,
            )
        for column in range(line.end.shape[1]):
            all_finish[slot, 0, column] = ready_times[1, column]
            all_finish[slot, 1, column] = ready_times[2, column]
            all_finish[slot, 2, column] = ready_times[4 if scalars[C.S_SPLIT] else 1, column]
        if line.totals[C.M_ROWS, 0] > TIME_MAX:
            return C.BEYOND, index, count
        scalars[C.S_ORDINAL] = ordinal
        status = note_path(scalars, limits, ordinal, ready_times[1, C.UNBOUNDED])
        for chain in range(3):
            start = key_start if chain == C.WRITES else written_end
            remember(
                scalars,
                limits,
                all_past,
                touches if chain == C.WRITES else readers if chain == C.READS else lockers,
                all_ranks,
                forgotten,
                chain,
                my_writes if chain == C.WRITES else my_reads if chain == C.READS else my_locks,
                marks[read_end if chain == C.LOCKS else start : key_end],
                no_roles,
                ordinal,
            )
        remember(
            scalars, limits, all_past, unkeyed, all_ranks, forgotten, C.UNKEYED, my_name_keys,
            no_marks, my_roles, ordinal,
        )  # fmt: skip
        if scalars[C.S_FINDINGS]:
            status |= C.FINDING
        if is_beside_ddl:
            status |= C.BESIDE_DDL
        if status != C.DONE:
            return status, index + 1, count
    return C.DONE, len(batch), 0
