"""The compiled count of rounds is that of its readable twin, however often slices double."""

from __future__ import annotations

import random

import numpy as np
import pytest

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.timeline_kernel import observe_width
from paraply.properties.logs.width_over_time import WidthOverTime


@pytest.mark.parametrize("slices_max", [1, 2, 3, 8, 400])
@pytest.mark.parametrize("rounds", [1, 7, 399, 400, 401, 5_000])
def test_rounds_are_counted_alike(slices_max, rounds):
    rng = random.Random(rounds * 1_000 + slices_max)
    levels = [level for level in range(1, rounds + 1) for _ in range(rng.choice((1, 1, 2, 9)))]
    # Transactions come nearly in the order of their rounds.
    levels.sort(key=lambda level: level + rng.randrange(20))
    scalars, slices = np.zeros(C.SCALARS, np.int64), np.zeros(slices_max, np.int64)
    scalars[C.S_SLICE_SIZE] = 1
    width = WidthOverTime(slices_max)
    for level in levels:
        observe_width(scalars, slices, level)
        width.observe(level)
    assert scalars[[C.S_ROUNDS, C.S_SLICE_SIZE]].tolist() == [rounds, width.slice_rounds]
    assert slices[: len(width.counts)].tolist() == width.counts
    assert not slices[len(width.counts) :].any()
    assert sum(width.counts) == len(levels)
