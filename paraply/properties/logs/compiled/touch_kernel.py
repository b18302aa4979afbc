"""Who touched keys last: the twin of ``AccessTable`` for keys.

A ring in log order has an open-addressing index. Whole transactions are forgotten, oldest first.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.borrowing import borrowing
from paraply.properties.logs.compiled.state import Touches

Ints = NDArray[np.int64]


@njit(cache=True, inline="always")
def _touch_at(slot: int, next_touch: int, ring_mask: int) -> int:
    last = next_touch - 1
    return last - ((last - slot) & ring_mask)


@borrowing
def find_newest(
    newest: NDArray[np.int32], keys: NDArray[np.uint64], next_touch: int, key: np.uint64
) -> int:
    """Return the key's newest touch, -1 for none."""
    mask = np.int64(len(newest) - 1)
    at = np.int64(key & np.uint64(mask))
    while newest[at] != 0:
        slot = np.int64(newest[at]) - 1
        if keys[slot] == key:
            return _touch_at(slot, next_touch, len(keys) - 1)
        at = (at + 1) & mask
    return -1


@borrowing
def read_ahead(
    touches: Touches, oldest: int, others: tuple[Touches, Touches], all_past: Ints,
    all_ranks: Ints, all_finish: NDArray[np.int32], keys: NDArray[np.uint64], heads: Ints,
) -> None:  # fmt: skip
    """Read what judging ``keys`` will, and forgetting as many; ``heads`` receives what has no use.

    ``others`` are further chains in which keys are sought.

    Here the processor fetches for many keys at once, where the judge waits for each.
    """
    newest, ring_mask, past_mask = touches.newest, len(touches.keys) - 1, len(all_past) - 1
    mask = np.uint64(len(newest) - 1)
    for index in range(len(keys)):
        home = keys[index] & mask
        total = np.int64(others[0].newest[home]) + np.int64(others[1].newest[home])
        slot = np.int64(newest[home]) - 1
        if slot >= 0 and touches.keys[slot] == keys[index]:
            owner = np.int64(touches.owner[slot]) & past_mask
            finish = all_finish[owner]
            total += np.int64(touches.distance[slot]) + np.int64(touches.marks[slot])
            total += all_ranks[owner, 0] + all_past[owner, 0] + all_past[owner, C.H_MARK]
            total += np.int64(finish[0, 0]) + np.int64(finish[2, 0])
        total += np.int64(newest[touches.keys[(oldest + index) & ring_mask] & mask])
        heads[index] = total


@borrowing
def add_touch(touches: Touches, touch: int, key: np.uint64, owner: int, marks: int) -> None:
    """Record a touch; the ring has room."""
    newest, keys = touches.newest, touches.keys
    mask = np.int64(len(newest) - 1)
    ring_mask = len(keys) - 1
    at = np.int64(key & np.uint64(mask))
    distance = 0
    while newest[at] != 0:
        slot = np.int64(newest[at]) - 1
        if keys[slot] == key:
            distance = touch - _touch_at(slot, touch, ring_mask)
            break
        at = (at + 1) & mask
    slot = touch & ring_mask
    newest[at] = slot + 1
    keys[slot] = key
    touches.owner[slot] = owner
    touches.distance[slot] = distance
    touches.marks[slot] = marks


@borrowing
def _remove(newest: NDArray[np.int32], keys: NDArray[np.uint64], at: int) -> None:
    mask = np.int64(len(newest) - 1)
    hole = at
    here = at
    while True:
        here = (here + 1) & mask
        if newest[here] == 0:
            break
        home = np.int64(keys[np.int64(newest[here]) - 1] & np.uint64(mask))
        # An entry may move up only if its home does not lie between the hole and itself.
        if ((here - home) & mask) >= ((here - hole) & mask):
            newest[hole] = newest[here]
            hole = here
    newest[hole] = 0


@borrowing
def touches_of(all_past: Ints, scalars: Ints, chain: int, ordinal: int) -> tuple[int, int]:
    """Return a remembered transaction's range of touches in a chain."""
    mask, column = len(all_past) - 1, C.H_TOUCH_START + chain
    start = all_past[ordinal & mask, column]
    if ordinal == scalars[C.S_ORDINAL]:
        return start, scalars[C.S_CHAINS + 3 * chain + C.NEXT]
    return start, all_past[(ordinal + 1) & mask, column]


@borrowing
def _forget(
    touches: Touches, chain: int, all_ranks: Ints, forgotten: Ints, first: int, last: int,
    ordinal: int,
) -> None:  # fmt: skip
    newest, keys = touches.newest, touches.keys
    mask = np.int64(len(newest) - 1)
    ring_mask = len(keys) - 1
    took = False
    for touch in range(first, last):
        slot = touch & ring_mask
        at = np.int64(keys[slot] & np.uint64(mask))
        # An entry with a newer touch of the key is another entry: no key need be read.
        while newest[at] != 0:
            if newest[at] == slot + 1:
                _remove(newest, keys, at)
                took = True
                break
            at = (at + 1) & mask
    if took:
        ranks = all_ranks[ordinal & (len(all_ranks) - 1)]
        clock = forgotten[chain, C.CLOCK, 0]
        group = forgotten[chain, C.GROUP, ranks[C.R_LANE]]
        clock[0], clock[1], clock[2] = 1, ranks[C.R_RUN], ranks[C.R_RANK]
        group[0], group[1], group[2] = 1, 0, ranks[C.R_GROUP_RANK]


@borrowing
def remember(
    scalars: Ints, limits: Ints, all_past: Ints, touches: Touches, all_ranks: Ints,
    forgotten: Ints, chain: int, keys: NDArray[np.uint64], marks: NDArray[np.uint8],
    roles: Ints, ordinal: int,
) -> None:  # fmt: skip
    """Record a transaction's touches in a chain, and forget those beyond the horizon.

    With ``roles`` instead of ``marks``, the keys are tables, and those with unkeyed rows count.
    """
    base = C.S_CHAINS + 3 * chain
    for at in range(len(keys)):
        if len(roles) and not roles[at] & C.UNKEYED_ROWS:
            continue
        mark = roles[at] & C.SEARCHED if len(roles) else np.int64(marks[at])
        add_touch(touches, scalars[base + C.NEXT], keys[at], ordinal, mark)
        scalars[base + C.NEXT] += 1
    while True:
        remembered = scalars[base + C.NEXT] - scalars[base + C.OLD]
        oldest = scalars[base + C.OLDEST]
        if remembered <= limits[C.L_KEYS] and ordinal - oldest < limits[C.L_TRANSACTIONS]:
            return
        first, last = touches_of(all_past, scalars, chain, oldest)
        if last > first:
            _forget(touches, chain, all_ranks, forgotten, first, last, oldest)
            scalars[base + C.OLD] = last
        scalars[base + C.OLDEST] += 1
