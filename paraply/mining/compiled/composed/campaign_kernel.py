"""Kernels with one run per seed."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.course_kernel import course_digest
from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.composed.run_kernel import run_group
from paraply.mining.compiled.composed.verdict_kernel import judge
from paraply.mining.compiled.course_kernel import note_digest
from paraply.mining.compiled.room import Ints
from paraply.mining.compiled.source_kernel import seed_choices
from paraply.vocabulary.kernel_cache import BORROWED

Bytes = NDArray[np.uint8]


@njit(**BORROWED)
def run_once(p: Ints, room: Room) -> None:
    """Run once; ``room.outcome`` gets verdict bits, events, choices, transactions."""
    dice, outcome = room.dice, room.outcome
    count = run_group(p, room)
    is_whole = count != A.OVERFLOWN and dice[A.D_ASKED] <= len(room.program)
    outcome[0] = judge(p, room, count) if is_whole else A.OVERFLOWN
    outcome[1] = count
    outcome[2] = dice[A.D_ASKED]
    outcome[3] = room.left[C.G_SENT]


@njit(nogil=True, **BORROWED)
def run_seeds(p: Ints, room: Room, first: int, verdicts: Ints, sizes: Ints, sketch: Bytes) -> None:
    """Run consecutive seeds; write verdict bits and sizes, and note courses in the sketch.

    Without the courses of overflown runs.
    """
    outcome = room.outcome
    for at in range(len(verdicts)):
        seed_choices(room.dice, first + at)
        run_once(p, room)
        verdicts[at] = outcome[0]
        sizes[at, 0], sizes[at, 1] = outcome[1], outcome[2]
        if outcome[0] != A.OVERFLOWN:
            note_digest(sketch, course_digest(p, room, outcome[1]))
