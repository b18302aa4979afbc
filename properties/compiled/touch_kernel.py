"""The last writer of every key within the horizon: the twin of ``AccessTable`` for writes.

Touches are a ring in log order; a table of open addressing leads from a key to its newest touch.
Whole transactions are forgotten, oldest first, as the readable index does.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from properties.compiled import columns as C
from properties.compiled.state import State


@njit(cache=True)
def find_newest(state: State, key: np.uint64) -> int:
    """Return the running number of the key's newest touch, -1 if it is not remembered."""
    newest, keys = state.newest, state.touch_keys
    mask = np.int64(len(newest) - 1)
    ring = len(keys)
    at = np.int64(key & np.uint64(mask))
    while newest[at] != 0:
        touch = newest[at] - 1
        if keys[touch % ring] == key:
            return touch
        at = (at + 1) & mask
    return -1


@njit(cache=True)
def add_touch(state: State, key: np.uint64, owner: int, is_primary: bool) -> None:
    """Record a touch; the ring has room."""
    newest, keys = state.newest, state.touch_keys
    mask = np.int64(len(newest) - 1)
    ring = len(keys)
    touch = state.scalars[C.S_TOUCH_NEXT]
    at = np.int64(key & np.uint64(mask))
    previous = np.int64(-1)
    while newest[at] != 0:
        if keys[(newest[at] - 1) % ring] == key:
            previous = newest[at] - 1
            break
        at = (at + 1) & mask
    newest[at] = touch + 1
    slot = touch % ring
    keys[slot] = key
    state.touch_owner[slot] = owner
    state.touch_previous[slot] = previous
    state.touch_primary[slot] = is_primary
    state.scalars[C.S_TOUCH_NEXT] = touch + 1


@njit(cache=True)
def _remove(state: State, at: int) -> None:
    """Empty a slot of the table, moving later entries of its cluster up."""
    newest, keys = state.newest, state.touch_keys
    mask = np.int64(len(newest) - 1)
    ring = len(keys)
    hole = at
    here = at
    while True:
        here = (here + 1) & mask
        if newest[here] == 0:
            break
        home = np.int64(keys[(newest[here] - 1) % ring] & np.uint64(mask))
        # An entry may move up only if its home does not lie between the hole and itself.
        if ((here - home) & mask) >= ((here - hole) & mask):
            newest[hole] = newest[here]
            hole = here
    newest[hole] = 0


@njit(cache=True)
def touches_of(state: State, ordinal: int) -> tuple[int, int]:
    """Return the running numbers of a remembered transaction's touches."""
    size = len(state.past)
    start = state.past[ordinal % size, C.H_TOUCH_START]
    if ordinal == state.scalars[C.S_ORDINAL]:
        return start, state.scalars[C.S_TOUCH_NEXT]
    return start, state.past[(ordinal + 1) % size, C.H_TOUCH_START]


@njit(cache=True)
def _forget(state: State, ordinal: int) -> None:
    """Forget one transaction's touches, and note per rule and lane that it took a key along."""
    newest, keys = state.newest, state.touch_keys
    mask = np.int64(len(newest) - 1)
    ring = len(keys)
    took = False
    first, last = touches_of(state, ordinal)
    for touch in range(first, last):
        key = keys[touch % ring]
        at = np.int64(key & np.uint64(mask))
        while newest[at] != 0:
            found = newest[at] - 1
            if keys[found % ring] == key:
                if found == touch:
                    _remove(state, at)
                    took = True
                break
            at = (at + 1) & mask
    state.scalars[C.S_TOUCH_OLD] = last
    if took:
        ranks = state.ranks[ordinal % len(state.ranks)]
        clock, group = state.forgotten[C.CLOCK, 0], state.forgotten[C.GROUP, ranks[C.R_LANE]]
        clock[0], clock[1], clock[2] = 1, ranks[C.R_RUN], ranks[C.R_RANK]
        group[0], group[1], group[2] = 1, 0, ranks[C.R_GROUP_RANK]


@njit(cache=True)
def forget_beyond_horizon(state: State) -> None:
    """Forget the oldest transactions until the horizon is kept."""
    scalars, limits = state.scalars, state.limits
    while True:
        touches = scalars[C.S_TOUCH_NEXT] - scalars[C.S_TOUCH_OLD]
        if touches <= limits[C.L_KEYS] and scalars[C.S_TOUCHERS] <= limits[C.L_TRANSACTIONS]:
            return
        # Transactions without keys are not in the readable index at all.
        first, last = touches_of(state, scalars[C.S_OLDEST])
        if last > first:
            _forget(state, scalars[C.S_OLDEST])
            scalars[C.S_TOUCHERS] -= 1
        scalars[C.S_OLDEST] += 1
