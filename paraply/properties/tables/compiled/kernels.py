"""Kernels of the table check: one pass, one open-addressing table, never cleared.

A slot has four words: item, row and ``sn`` of the last writer, ``lc`` of the first. Row numbers
rise over blocks, so slots with rows before the window are free. No window frees its slots, so
probes end at the first free one.

Sign arithmetic replaces branches on items: a misprediction every fourth time would dominate the
time.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Offsets = NDArray[np.int32]

ITEM, ROW, SN, LC, WORDS = (np.uint64(word) for word in range(5))
"""Words of a slot; unsigned, because numba wraps signed indexes."""

N_MALFORMED, N_NOT_RISING, N_UNORDERED, N_COMPARED, N_DISORDERED = range(5)
S_ROWS, S_WINDOW, S_USED, S_HISTORY, S_SN_FIRST, S_SN_LAST = range(5, 11)
S_RESTARTS, S_KEEPS_FIRSTS, S_ROOM_WANTED = range(11, 14)
STATES = 14
"""``S_ROWS`` counts from 1; ``S_WINDOW`` is the window's first row."""


@njit(cache=True, nogil=True)
def find(table: Ints, window: int, item: int) -> np.uint64:
    """Return an item's slot, or the free one for it."""
    mask = np.uint64(len(table)) - WORDS
    mixed = np.uint64(item) * np.uint64(0x9E3779B97F4A7C15)
    slot = ((mixed ^ (mixed >> np.uint64(29))) >> np.uint64(8)) & mask
    differs = table[slot + ITEM] ^ item
    while ((window - 1 - table[slot + ROW]) & (differs | -differs)) < 0:
        slot = (slot + WORDS) & mask
        differs = table[slot + ITEM] ^ item
    return slot


@njit(cache=True, nogil=True)
def check_rows(
    history: Ints,
    lc: Ints,
    sn: Ints,
    offsets: Offsets,
    items: Ints,
    table: Ints,
    state: Ints,
    begin: int,
) -> int:
    """Check rows ``begin`` to the returned one.

    Stops early when the table is full (``S_ROOM_WANTED``: required items), or after the first
    window if its firsts are needed.
    """
    half = len(table) // 8
    window, used = state[S_WINDOW], state[S_USED]
    before, last = state[S_HISTORY], state[S_SN_LAST]
    malformed = not_rising = unordered = compared = 0
    keeps = -state[S_KEEPS_FIRSTS]
    row = begin
    while row < len(lc):
        mine, number = lc[row], sn[row]
        is_view_change = (mine | number) == 0
        if history[row] != before or is_view_change:
            if keeps:
                break
            state[N_DISORDERED] += row > 0 and history[row] < before
            state[S_RESTARTS] = 1
            before, window = history[row], state[S_ROWS] + row
            used = last = 0
            if is_view_change:
                row += 1
                continue
        start, end = np.int64(offsets[row]), np.int64(offsets[row + 1])
        if used + end - start > half:
            state[S_ROOM_WANTED] = used + end - start
            break
        malformed += mine >= number
        not_rising += (last != 0) & (number <= last)
        last = number
        if state[S_SN_FIRST] == 0 and state[S_RESTARTS] == 0:
            state[S_SN_FIRST] = number
        writer = state[S_ROWS] + row
        compared += end - start + used
        for at in range(start, end):
            item = items[np.uint64(at)]
            slot = find(table, window, item)
            previous = table[slot + ROW]
            if previous == writer:
                compared -= 1
                continue
            if ((previous - window) & keeps) < 0:
                table[slot + LC] = mine
            is_new = previous < window
            unordered += (table[slot + SN] > mine) & ~is_new
            used += is_new
            table[slot + ITEM] = item
            table[slot + ROW] = writer
            table[slot + SN] = number
        compared -= used
        row += 1
    state[N_MALFORMED] += malformed
    state[N_NOT_RISING] += not_rising
    state[N_UNORDERED] += unordered
    state[N_COMPARED] += compared
    state[S_WINDOW], state[S_USED] = window, used
    state[S_HISTORY], state[S_SN_LAST] = before, last
    return row


@njit(cache=True, nogil=True)
def collect(table: Ints, window: int, word: np.uint64, found: Ints) -> int:
    """Copy item and word of slots into ``found``; return their number.

    Slot order makes later lookups sequential. ``found`` has room for one more.
    """
    count = 0
    for at in range(len(table) // 4):
        slot = np.uint64(at) * WORDS
        found[count, 0] = table[slot + ITEM]
        found[count, 1] = table[slot + word]
        count += table[slot + ROW] >= window
    return count


@njit(cache=True, nogil=True)
def rehash(old: Ints, window: int, new: Ints) -> None:
    """Copy the window into a larger, empty table."""
    for at in range(len(old) // 4):
        slot = np.uint64(at) * WORDS
        if old[slot + ROW] >= window:
            place = find(new, window, old[slot + ITEM])
            new[place : place + WORDS] = old[slot : slot + WORDS]


@njit(cache=True, nogil=True)
def meet(table: Ints, window: int, firsts: Ints) -> tuple[int, int]:
    """Return how many of ``firsts`` have an earlier writer, and how many overlap it."""
    compared = unordered = 0
    for at in range(len(firsts)):
        slot = find(table, window, firsts[at, 0])
        is_known = table[slot + ROW] >= window
        compared += is_known
        unordered += is_known & (table[slot + SN] > firsts[at, 1])
    return compared, unordered


@njit(cache=True, nogil=True)
def take_in(table: Ints, window: int, lasts: Ints) -> int:
    """Add last writers; return the number of new items."""
    new = 0
    for at in range(len(lasts)):
        slot = find(table, window, lasts[at, 0])
        new += table[slot + ROW] < window
        table[slot + ITEM] = lasts[at, 0]
        table[slot + ROW] = window
        table[slot + SN] = lasts[at, 1]
    return new
