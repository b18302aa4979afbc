"""How many tables the last transactions used: beyond the horizon readable judges forget some."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from paraply.properties.logs.compiled import columns as C
from paraply.properties.logs.compiled.batches import Ints
from paraply.properties.logs.critical_path import RING_MAX


@dataclass(slots=True)
class RecentUses:
    """Uses of tables by batch, for as many transactions as the ring of ranks holds."""

    _uses: int = 0
    _before: deque[tuple[int, int]] = field(default_factory=deque)
    """By the first ordinal of a batch, what was used before it."""

    def note(self, first_ordinal: int, uses: int) -> None:
        """Add a batch, or a transaction; ``uses`` may be too high."""
        self._before.append((first_ordinal, self._uses))
        while len(self._before) > 1 and self._before[1][0] <= first_ordinal - RING_MAX:
            self._before.popleft()
        self._uses += uses

    def since_overlap(self, ranks: Ints, ordinal: int, run: int, floor: int) -> float:
        """Return at most how much was used since the first that ``ordinal`` may overlap.

        That is who has a rank above ``floor`` in its ``run``; infinite if the ring may lack it.
        """
        size = len(ranks)
        if ranks[ordinal % size, C.R_RANK] <= floor + 1:
            return 0  # Nothing, as almost always: save the search.
        ordinals = ordinal - (ordinal - np.arange(size)) % size
        overlaps = (ranks[:, C.R_RUN] == run) & (ranks[:, C.R_RANK] > floor) & (ordinals > 0)
        first = int(ordinals[overlaps].min(initial=ordinal))
        if first <= ordinal - size + 1:
            return math.inf
        return self._uses - max((uses for at, uses in self._before if at <= first), default=0)
