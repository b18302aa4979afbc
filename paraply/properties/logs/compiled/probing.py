"""Batch placement by linear probing, and longer arrays."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", bound=np.generic)

HUGE_BYTES = 1 << 22
"""Tables from this size on lie in huge pages: each access is to another page."""


def empty_table(slots: int) -> NDArray[np.int32]:
    """Return a table of zeros for open addressing."""
    if 4 * slots < HUGE_BYTES or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(slots, np.int32)
    memory = mmap.mmap(-1, 4 * slots, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # A kernel without huge pages.
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.int32)


def probed_places(digests: NDArray[np.uint64], slots: int) -> NDArray[np.int64]:
    """Return slots for distinct digests in an empty table.

    Sorted by home, places are a running maximum. Entries past the end wrap to the first free slots.
    """
    homes = (digests & np.uint64(slots - 1)).astype(np.int64)
    order = np.argsort(homes, kind="stable")
    rank = np.arange(len(digests))
    spread = np.maximum.accumulate(homes[order] - rank) + rank
    inside = spread < slots
    taken = np.zeros(slots, np.bool_)
    taken[spread[inside]] = True
    spread[~inside] = np.flatnonzero(~taken)[: int((~inside).sum())]
    places = np.empty(len(digests), np.int64)
    places[order] = spread
    return places


def lengthened(array: NDArray[Item], size: int) -> NDArray[Item]:
    """Return ``array`` zero-extended to ``size`` rows."""
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
