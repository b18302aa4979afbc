"""Event verdicts for ``C.JUDGED``."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.room import Ints
from paraply.vocabulary.kernel_cache import PART


@njit(**PART)
def judge(p: Ints, room: Room, count: int) -> int:
    """Return a bit per property that ``count`` events break."""
    return 0
