"""Batch placement by linear probing, and longer arrays."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", bound=np.generic)


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
