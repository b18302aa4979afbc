"""The kernel that finds overlapping writers, with the table of :mod:`kernels`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.properties.tables.compiled.kernels import ITEM, ROW, SN, Ints, Offsets, find

Flags = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def find_overlaps(
    begins: Flags,
    is_view_change: Flags,
    lc: Ints,
    sn: Ints,
    offsets: Offsets,
    items: Ints,
    table: Ints,
    overlaps: Ints,
    firsts: Ints,
) -> tuple[int, int, int]:
    """Compare each write with the one before it in its window.

    Args:
        begins: whether a row begins a window.
        table: empty, with room for twice the items of a window; then has the last window's writers
            by row, from 1.
        overlaps: gets row, earlier row and item of each pair.
        firsts: gets row and item of the first writers before any row begins a window.

    Returns the numbers of overlaps and firsts, and the first row of the last window, from 1.
    """
    found = first = 0
    window, is_first = 1, True
    for row in range(len(lc)):
        if begins[row]:
            window, is_first = row + 1, False
        if is_view_change[row]:
            continue
        writer = row + 1
        for at in range(np.int64(offsets[row]), np.int64(offsets[row + 1])):
            item = items[np.uint64(at)]
            slot = find(table, window, item)
            previous = table[slot + ROW]
            if previous == writer:
                continue
            if previous >= window:
                if table[slot + SN] > lc[row]:
                    overlaps[found, 0], overlaps[found, 1] = row, previous - 1
                    overlaps[found, 2] = item
                    found += 1
            elif is_first:
                firsts[first, 0], firsts[first, 1] = row, item
                first += 1
            table[slot + ITEM] = item
            table[slot + ROW] = writer
            table[slot + SN] = sn[row]
    return found, first, window
