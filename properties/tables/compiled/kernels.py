"""Kernels of the table check: one pass, one open-addressing table that is never cleared.

An entry belongs to the window whose number it bears; entries of earlier windows count as free, so
that a window costs nothing to begin. Entries of one window are never removed, hence a probe ends at
the first entry of another window. The table stays small enough for the cache as long as windows
do: that, and not the algorithm, decides the speed.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

N_MALFORMED, N_NOT_RISING, N_UNORDERED, N_COMPARED, N_WINDOW, N_USED, N_RESTARTS = range(7)
S_SN_FIRST, S_SN_LAST, S_FIRSTS = 7, 8, 9
COUNTERS = 10

K_ITEM, K_WINDOW, K_ROW, K_SN = range(4)
"""Columns of the table: the item, its window, its last writer's row and number."""

FULL = -1


@njit(cache=True)
def slot_of(item: int, mask: int) -> np.int64:
    """Return where the probing for an item begins."""
    mixed = np.uint64(item) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(8)) & mask


@njit(cache=True)
def check_rows(
    history: Ints,
    lc: Ints,
    sn: Ints,
    ends: Ints,
    items: Ints,
    table: Ints,
    counters: Ints,
    firsts: Ints,
    begin: int,
) -> int:
    """Check rows from ``begin``; return the number of rows, or FULL | row where the table is full.

    ``ends[i]`` is one past the last item of row i in ``items``. ``firsts`` gets item and lc of the
    items first written in the first window, as many as it has room for, if it has any.
    """
    mask = len(table) - 1
    half = len(table) // 2
    window = counters[N_WINDOW]
    used = counters[N_USED]
    restarts = counters[N_RESTARTS]
    last = counters[S_SN_LAST]
    malformed = not_rising = unordered = compared = 0
    keeps_firsts = len(firsts) > 0
    found = counters[S_FIRSTS]
    rows = len(lc)
    row = begin
    while row < rows:
        start = ends[row - 1] if row else 0
        if row and history[row] != history[row - 1]:
            window += 1
            used = 0
            restarts = 1
            last = 0
        mine, number = lc[row], sn[row]
        if mine == 0 and number == 0:
            window += 1
            used = 0
            restarts = 1
            last = 0
            row += 1
            continue
        if used + ends[row] - start > half:
            break
        malformed += mine >= number
        not_rising += (last != 0) & (number <= last)
        if counters[S_SN_FIRST] == 0 and restarts == 0:
            counters[S_SN_FIRST] = number
        last = number
        for at in range(start, ends[row]):
            item = items[at]
            slot = slot_of(item, mask)
            while table[slot, K_WINDOW] == window and table[slot, K_ITEM] != item:
                slot = (slot + 1) & mask
            if table[slot, K_WINDOW] == window:
                if table[slot, K_ROW] == row:
                    continue
                compared += 1
                unordered += table[slot, K_SN] > mine
            else:
                table[slot, K_WINDOW] = window
                table[slot, K_ITEM] = item
                used += 1
                if keeps_firsts and restarts == 0:
                    firsts[found, 0] = item
                    firsts[found, 1] = mine
                    found += 1
            table[slot, K_ROW] = row
            table[slot, K_SN] = number
        row += 1
    counters[N_MALFORMED] += malformed
    counters[N_NOT_RISING] += not_rising
    counters[N_UNORDERED] += unordered
    counters[N_COMPARED] += compared
    counters[N_WINDOW] = window
    counters[N_USED] = used
    counters[N_RESTARTS] = restarts
    counters[S_SN_LAST] = last
    counters[S_FIRSTS] = found
    return row


@njit(cache=True)
def collect_lasts(table: Ints, window: int, lasts: Ints) -> int:
    """Put item and number of the window's entries into ``lasts``; return how many there are."""
    found = 0
    for slot in range(len(table)):
        if table[slot, K_WINDOW] == window:
            lasts[found, 0] = table[slot, K_ITEM]
            lasts[found, 1] = table[slot, K_SN]
            found += 1
    return found


@njit(cache=True)
def rehash(old: Ints, window: int, new: Ints) -> None:
    """Bring the window's entries of one table into a larger, empty one."""
    mask = len(new) - 1
    for at in range(len(old)):
        if old[at, K_WINDOW] == window:
            slot = slot_of(old[at, K_ITEM], mask)
            while new[slot, K_WINDOW] == window:
                slot = (slot + 1) & mask
            new[slot] = old[at]


@njit(cache=True)
def meet(keys: Ints, numbers: Ints, window: int, firsts: Ints) -> tuple[int, int]:
    """Return how many of ``firsts`` have an earlier writer in a table, and how many overlap it."""
    mask = len(keys) - 1
    compared = unordered = 0
    for at in range(len(firsts)):
        item = firsts[at, 0]
        slot = slot_of(item, mask)
        while numbers[slot, 0] == window and keys[slot] != item:
            slot = (slot + 1) & mask
        if numbers[slot, 0] == window:
            compared += 1
            unordered += numbers[slot, 1] > firsts[at, 1]
    return compared, unordered


@njit(cache=True)
def take_in(keys: Ints, numbers: Ints, window: int, lasts: Ints) -> int:
    """Put last writers into a table; return how many items are new."""
    mask = len(keys) - 1
    new = 0
    for at in range(len(lasts)):
        item = lasts[at, 0]
        slot = slot_of(item, mask)
        while numbers[slot, 0] == window and keys[slot] != item:
            slot = (slot + 1) & mask
        if numbers[slot, 0] != window:
            numbers[slot, 0] = window
            keys[slot] = item
            new += 1
        numbers[slot, 1] = lasts[at, 1]
    return new
