"""Kernel that places transactions of a log which are not judged."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.properties.logs.compiled.rule_kernel import place_by_clock, place_by_group
from paraply.vocabulary.kernel_cache import BORROWED

Ints = NDArray[np.int64]


@njit(nogil=True, **BORROWED)
def pass_over(
    scalars: Ints, limits: Ints, stretch_starts: Ints, stretch_counts: Ints, lanes: Ints,
    batch: Ints, first_ordinal: int, place: Ints,
) -> None:  # fmt: skip
    """Let the transactions of a batch take their places; ``place`` is scratch."""
    for index in range(len(batch)):
        place_by_clock(scalars, limits, stretch_starts, stretch_counts, batch[index], place)
        place_by_group(lanes, batch[index], first_ordinal + index, place)
