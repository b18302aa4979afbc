"""Where linear probing puts many digests at once, and longer arrays."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", bound=np.generic)


def probed_places(digests: NDArray[np.uint64], slots: int) -> NDArray[np.int64]:
    """Return a slot for each of some different digests, in an empty table of ``slots`` slots.

    Sorted by home, an entry goes to the first free slot at or after its home, which is a running
    maximum; entries pushed past the end wrap around to the first slots that are free.
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
    """Return an array of ``size`` rows that begins with ``array``, zero beyond."""
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
