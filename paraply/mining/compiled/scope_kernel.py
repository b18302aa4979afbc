"""Explores small scopes: all certifier schedules under all interleavings.

A step is a view change or one of eight write sets over three rows, with or without garbage
collection. Counters continue at a view change, or restart as on a joining member. AL1 stamps
schedules. A LOGICAL_CLOCK applier, dispatching and committing in order, applies them in all orders.

Symmetry: of rows with equal histories, only the first are written. Such classes are contiguous; bit
i of ``borders`` separates rows i and i+1.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

ROWS = 3
WRITE_SETS = 1 << ROWS
COLLECTS = WRITE_SETS
"""Flag: collect garbage first."""
VIEW_CHANGE, REJOIN = 2 * WRITE_SETS, 2 * WRITE_SETS + 1
STEPS = 2 * WRITE_SETS + 2
STEPS_MAX = 8

(RIGHT, COLLECTION_KEEPS_WINDOW, BARRIER_KEEPS_WINDOW, LOWEST_WRITER, VIEW_CHANGE_IS_NO_BARRIER) = (
    range(5)
)
"""Correct behaviour, then faults."""

N_SCHEDULES, N_STATES, N_VIOLATING, N_OVERLAPPING = range(4)
COUNTERS = 4


@njit(cache=True)
def stamp(step: int, before: Ints, after: Ints, fault: int) -> tuple[int, int]:
    """Stamp a step; write the certifier's next state."""
    after[:] = before
    if step == VIEW_CHANGE:
        return 0, 0
    if step == REJOIN:
        after[:ROWS] = 0
        after[ROWS] = 1
        after[ROWS + 1] = 2
        return 0, 0
    if step >= COLLECTS:
        after[:ROWS] = 0
        if fault != COLLECTION_KEEPS_WINDOW:
            after[ROWS] = after[ROWS + 1] - 1
    written = step % WRITE_SETS
    number = after[ROWS + 1]
    after[ROWS + 1] = number + 1
    if written == 0:
        if fault != BARRIER_KEEPS_WINDOW:
            after[ROWS] = number
        return number - 1, number
    last = after[ROWS]
    lowest = 0
    for row in range(ROWS):
        if written >> row & 1:
            stored = after[row]
            if stored and (lowest == 0 or stored < lowest):
                lowest = stored
            if fault != LOWEST_WRITER and stored > last:
                last = stored
            after[row] = number
    if fault == LOWEST_WRITER and lowest > last:
        last = lowest
    return last, number


@njit(cache=True)
def apply_all(
    steps: Ints,
    last: Ints,
    number: Ints,
    length: int,
    workers: int,
    fault: int,
    seen: Ints,
    epoch: int,
    stack: Ints,
    counters: Ints,
) -> bool:
    """Return whether conflicting transactions overlap in any order.

    States are (committed, started, finished between): both orders are prefixes.
    """
    stack[0] = 0
    depth = 1
    seen[0] = epoch
    broken = overlapped = False
    states = 0
    while depth:
        depth -= 1
        state = stack[depth]
        states += 1
        committed, started, finished = state & 15, state >> 4 & 15, state >> 8
        for at in range(committed, started):
            if not finished >> at & 1:
                following = state | 1 << (8 + at)
                if seen[following] != epoch:
                    seen[following] = epoch
                    stack[depth] = following
                    depth += 1
        if committed < started and finished >> committed & 1:
            following = (state & ~(1 << (8 + committed))) + 1
            if seen[following] != epoch:
                seen[following] = epoch
                stack[depth] = following
                depth += 1
        if started == length or started - committed >= workers:
            continue
        mine = steps[started]
        may_start = True
        for at in range(committed, started):
            other = steps[at]
            alone = (mine >= VIEW_CHANGE) or (other >= VIEW_CHANGE)
            waits = fault != VIEW_CHANGE_IS_NO_BARRIER if alone else number[at] <= last[started]
            may_start &= not waits
        if not may_start:
            continue
        for at in range(committed, started):
            overlapped = True
            other = steps[at]
            if mine >= VIEW_CHANGE or other >= VIEW_CHANGE:
                broken = True
            else:
                ours, theirs = mine % WRITE_SETS, other % WRITE_SETS
                if ours == 0 or theirs == 0 or ours & theirs:
                    broken = True
        following = state + 16
        if seen[following] != epoch:
            seen[following] = epoch
            stack[depth] = following
            depth += 1
    counters[N_STATES] += states
    counters[N_OVERLAPPING] += overlapped
    return broken


@njit(cache=True)
def explore(
    length: int, workers: int, fault: int, symmetric: bool, counters: Ints, witness: Ints
) -> None:
    """Explore schedules of ``length`` steps, depth first, sharing prefixes.

    ``witness`` gets the first breaking schedule if all -1.
    """
    steps = np.full(length, -1, np.int64)
    last = np.zeros(length, np.int64)
    number = np.zeros(length, np.int64)
    certifier = np.zeros((length + 1, ROWS + 2), np.int64)
    certifier[0, ROWS] = 1
    certifier[0, ROWS + 1] = 2
    borders = np.zeros(length + 1, np.int64)
    if not symmetric:
        borders[:] = (1 << (ROWS - 1)) - 1
    seen = np.zeros(1 << (8 + STEPS_MAX), np.int64)
    stack = np.zeros(1 << (8 + STEPS_MAX), np.int64)
    epoch = 0
    depth = 0
    while depth >= 0:
        if depth == length:
            epoch += 1
            counters[N_SCHEDULES] += 1
            if apply_all(steps, last, number, length, workers, fault, seen, epoch, stack, counters):
                counters[N_VIOLATING] += 1
                if witness[0] < 0:
                    witness[:length] = steps
            depth -= 1
            continue
        steps[depth] += 1
        step = steps[depth]
        if step == STEPS:
            steps[depth] = -1
            depth -= 1
            continue
        split = borders[depth]
        if step < VIEW_CHANGE:
            written = step % WRITE_SETS
            is_canonical = True
            for row in range(ROWS - 1):
                mine, next_ = written >> row & 1, written >> (row + 1) & 1
                if mine != next_:
                    if next_ and not split >> row & 1:
                        is_canonical = False
                    split |= 1 << row
            if not is_canonical:
                continue
        borders[depth + 1] = split
        last[depth], number[depth] = stamp(step, certifier[depth], certifier[depth + 1], fault)
        depth += 1
