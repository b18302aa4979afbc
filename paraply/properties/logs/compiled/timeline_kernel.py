"""List scheduling on several worker counts: the twin of ``worker_timeline``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.borrowing import borrowing
from paraply.properties.logs.compiled.state import LEVELS, Timeline

Ints = NDArray[np.int64]
Times = NDArray[np.int64]

NEAR = 16
"""Prefixes that are sought first."""


@borrowing
def _replace_first(free: Times, first: int, count: int, least: int, time: int) -> int:
    """Replace the least time of a sorted ring; return where the next is."""
    at = least
    for _ in range(count - 1):
        before = (at if at else count) - 1
        if free[first + before] <= time:
            break
        free[first + at] = free[first + before]
        at = before
    free[first + at] = time
    return least + 1 if least + 1 < count else 0


@borrowing
def schedule(
    line: Timeline, model: int, levels_max: int, ready: Times, work: int, finish: Times
) -> None:
    """Schedule ``work`` steps from ``ready`` on."""
    totals, end = line.totals[model], line.end[model]
    free, least = line.free[model], line.least[model]
    totals[0] += work
    totals[1] += 1
    finish[C.ROUND] = ready[C.ROUND] + 1
    finish[C.UNBOUNDED] = ready[C.UNBOUNDED] + work
    for index in range(len(line.workers)):
        first = line.first_worker[index]
        start = max(free[first + least[index]], ready[2 + index])
        finish[2 + index] = start + work
        least[index] = _replace_first(free, first, line.workers[index], least[index], start + work)
    level = finish[C.ROUND]
    if end[C.ROUND] - level < levels_max:
        levels = line.levels[model]
        slot = level & (LEVELS - 1)
        if level > end[C.ROUND]:
            levels[slot] = 0
        levels[slot] += 1
        line.width_max[model] = max(line.width_max[model], levels[slot])
    for column in range(len(finish)):
        end[column] = max(end[column], finish[column])


@borrowing
def set_time(time: Times, other: Times) -> None:
    """Set ``time`` to ``other``; an assignment would make room for a copy."""
    for column in range(len(time)):
        time[column] = other[column]


@borrowing
def take_later(time: Times, other: Times) -> None:
    """Raise ``time`` to ``other`` where later."""
    for column in range(len(time)):
        time[column] = max(time[column], other[column])


@borrowing
def place_on_clock(
    scalars: Ints,
    prefix_ranks: Ints,
    prefix_times: Times,
    clock_begin: Times,
    line: Timeline,
    limits: Ints,
    place: Times,
    work: int,
    finish: Times,
) -> None:
    """Schedule by prefixes: the twin of ``PrefixClockModel``."""
    ranks, times = prefix_ranks, prefix_times
    if place[C.P_RUN] != scalars[C.S_MODEL_RUN]:
        scalars[C.S_MODEL_RUN] = place[C.P_RUN]
        set_time(clock_begin, line.end[C.M_CLOCK])
        scalars[C.S_PREFIXES] = 0
    known = scalars[C.S_PREFIXES]
    # Most transactions wait for one of the newest.
    low, high = max(0, known - NEAR), known
    if low and ranks[low] > place[C.P_FLOOR]:
        low, high = 0, low
    while low < high:
        middle = (low + high) >> 1
        if ranks[middle] <= place[C.P_FLOOR]:
            low = middle + 1
        else:
            high = middle
    ready = times[low - 1] if low else clock_begin
    schedule(line, C.M_CLOCK, limits[C.L_LEVELS], ready, work, finish)
    before = times[known - 1] if known else clock_begin
    rises = False
    for column in range(len(finish)):
        if finish[column] > before[column]:
            rises = True
    if rises:
        ranks[known] = place[C.P_RANK]
        for column in range(len(finish)):
            times[known, column] = max(before[column], finish[column])
        known += 1
        window = limits[C.L_WINDOW]
        if known > 2 * window:
            for at in range(known - window):
                ranks[at] = ranks[at + window]
                set_time(times[at], times[at + window])
            known -= window
            set_time(clock_begin, times[0])
        scalars[C.S_PREFIXES] = known


@borrowing
def place_in_group(
    lane_ready: Times,
    lane_end: Times,
    lane_floor: Ints,
    line: Timeline,
    limits: Ints,
    place: Times,
    work: int,
    commit: int,
    finish: Times,
) -> None:
    """Schedule by groups: the twin of ``GroupModel``."""
    lane = place[C.P_LANE]
    ready, end = lane_ready[lane], lane_end[lane]
    if place[C.P_FLOOR] != lane_floor[lane]:
        lane_floor[lane] = place[C.P_FLOOR]
        set_time(ready, end)
    schedule(line, C.M_GROUP, limits[C.L_LEVELS], ready, work, finish)
    end[C.ROUND] = max(end[C.ROUND], finish[C.ROUND])
    for column in range(C.UNBOUNDED, len(finish)):
        end[column] = max(end[column], finish[column] - commit)


@borrowing
def observe_width(scalars: Ints, slices: Ints, level: int) -> None:
    """Count a round: the twin of ``WidthOverTime``."""
    scalars[C.S_ROUNDS] = max(scalars[C.S_ROUNDS], level)
    while level > len(slices) * scalars[C.S_SLICE_SIZE]:
        for at in range((len(slices) + 1) // 2):
            second = slices[2 * at + 1] if 2 * at + 1 < len(slices) else 0
            slices[at] = slices[2 * at] + second
        slices[(len(slices) + 1) // 2 :] = 0
        scalars[C.S_SLICE_SIZE] *= 2
    slices[(level - 1) // scalars[C.S_SLICE_SIZE]] += 1
