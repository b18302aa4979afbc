"""Places under both overlap rules: the twin of ``paraply.properties.logs.overlap_rules``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.borrowing import borrowing

Ints = NDArray[np.int64]

GAP, ZERO = 1, 2
"""Scheduler drains: number gap, last_committed=0."""


@borrowing
def _begin_run(scalars: Ints) -> None:
    scalars[C.S_RUN] += 1
    scalars[C.S_LAST] = 0
    scalars[C.S_COUNT] = 0
    scalars[C.S_STRETCHES] = 0
    scalars[C.S_BREAK_RANK] = 0
    scalars[C.S_BREAK_KIND] = 0


@borrowing
def _numbers_above(
    scalars: Ints, stretch_starts: Ints, stretch_counts: Ints, last_committed: int
) -> int:
    known = scalars[C.S_STRETCHES]
    if known == 0:
        return 0
    starts = stretch_starts
    low, high = 0, known
    while low < high:
        middle = (low + high) >> 1
        if starts[middle] <= last_committed:
            low = middle + 1
        else:
            high = middle
    at = low - 1
    count = scalars[C.S_COUNT]
    if at < 0:
        return count - stretch_counts[0]
    end = stretch_counts[at + 1] if at + 1 < known else count
    covered = stretch_counts[at] + last_committed - starts[at] + 1
    return count - min(covered, end)


@borrowing
def place_by_clock(
    scalars: Ints, limits: Ints, stretch_starts: Ints, stretch_counts: Ints, txn: Ints, place: Ints
) -> int:
    """Set the timestamp place; return overlapping predecessors."""
    if txn[C.B_CLOCK] != scalars[C.S_CLOCK]:
        scalars[C.S_CLOCK] = txn[C.B_CLOCK]
        _begin_run(scalars)
    last_committed, number = txn[C.B_LAST_COMMITTED], txn[C.B_SEQUENCE_NUMBER]
    place[C.P_LANE] = 0
    if last_committed < 0 or number < 0 or last_committed >= number or number <= scalars[C.S_LAST]:
        _begin_run(scalars)
        place[C.P_RUN], place[C.P_RANK], place[C.P_FLOOR] = scalars[C.S_RUN], 1, 1
        _begin_run(scalars)
        return 0
    if scalars[C.S_COUNT] and number > scalars[C.S_LAST] + 1:
        scalars[C.S_BREAK_RANK], scalars[C.S_BREAK_KIND] = number, GAP
    elif scalars[C.S_COUNT] and last_committed == 0:
        scalars[C.S_BREAK_RANK], scalars[C.S_BREAK_KIND] = number, ZERO
    place[C.P_RUN], place[C.P_RANK] = scalars[C.S_RUN], number
    place[C.P_FLOOR] = last_committed
    allowed = _numbers_above(scalars, stretch_starts, stretch_counts, last_committed)
    known = scalars[C.S_STRETCHES]
    if known == 0 or number != scalars[C.S_LAST] + 1:
        stretches_max = limits[C.L_STRETCHES]
        if known >= stretches_max:
            half = stretches_max // 2
            for at in range(known - half):
                stretch_starts[at] = stretch_starts[at + half]
                stretch_counts[at] = stretch_counts[at + half]
            known -= half
        stretch_starts[known] = number
        stretch_counts[known] = scalars[C.S_COUNT]
        scalars[C.S_STRETCHES] = known + 1
    scalars[C.S_COUNT] += 1
    scalars[C.S_LAST] = number
    return allowed


_KNOWN, _GROUP_CLOCK, _GROUP_ID, _RANK, _FLOOR = range(5)


@borrowing
def place_by_group(lanes: Ints, txn: Ints, ordinal: int, place: Ints) -> int:
    """Set the group place; return overlapping predecessors."""
    lane = lanes[txn[C.B_LANE]]
    if not lane[_KNOWN]:
        lane[_KNOWN] = 1
        lane[_GROUP_ID] = C.NONE
        lane[_RANK] = lane[_FLOOR] = ordinal
    group = C.NONE
    if txn[C.B_COMMIT_ID] >= 0:
        group = txn[C.B_COMMIT_ID]
    elif txn[C.B_LAST_COMMITTED] >= 0 and txn[C.B_SEQUENCE_NUMBER] > 0:
        group = txn[C.B_LAST_COMMITTED]
    same = group >= 0 and lane[_GROUP_ID] == group and lane[_GROUP_CLOCK] == txn[C.B_CLOCK]
    is_alone = txn[C.B_IS_DDL] and txn[C.B_COMMIT_ID] < 0
    if is_alone or not same:
        lane[_FLOOR] = lane[_RANK]
    lane[_GROUP_ID] = C.NONE if is_alone else group
    lane[_GROUP_CLOCK] = txn[C.B_CLOCK]
    lane[_RANK] += 1
    place[C.P_LANE], place[C.P_RUN] = txn[C.B_LANE], 0
    place[C.P_RANK], place[C.P_FLOOR] = lane[_RANK], lane[_FLOOR]
    return lane[_RANK] - 1 - lane[_FLOOR]


@borrowing
def has_several(lanes: Ints) -> bool:
    """Return whether transactions came from more than one domain."""
    return bool(lanes[1, _KNOWN])


@borrowing
def may_overlap(rule: int, later: Ints, earlier: Ints) -> bool:
    """Return whether ``later`` may start before ``earlier``."""
    if rule == C.CLOCK:
        return bool(earlier[C.R_RUN] == later[C.P_RUN] and earlier[C.R_RANK] > later[C.P_FLOOR])
    return bool(earlier[C.R_LANE] == later[C.P_LANE] and earlier[C.R_GROUP_RANK] > later[C.P_FLOOR])


@borrowing
def same_run(rule: int, later: Ints, earlier: Ints) -> bool:
    """Return whether both share lane and run."""
    if rule == C.CLOCK:
        return bool(earlier[C.R_RUN] == later[C.P_RUN])
    return bool(earlier[C.R_LANE] == later[C.P_LANE])


@borrowing
def mark_may_overlap(place: Ints, mark: Ints) -> bool:
    """Return whether ``place`` may overlap the mark."""
    return bool(mark[0] and mark[1] == place[C.P_RUN] and mark[2] > place[C.P_FLOOR])
