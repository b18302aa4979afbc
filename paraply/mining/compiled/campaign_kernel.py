"""Kernels with one run per seed."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.mining.compiled import columns as C
from paraply.mining.compiled.course_kernel import course_digest, note_digest
from paraply.mining.compiled.replica_kernel import apply_log
from paraply.mining.compiled.source_kernel import execute, seed_choices
from paraply.mining.compiled.verdict_kernel import judge

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@njit(cache=True)
def run_once(
    p: Ints,
    dice: Ints,
    program: Ints,
    log: Ints,
    images: Ints,
    entries: Ints,
    events: Ints,
    rows: Ints,
    last: Ints,
    outcome: Ints,
) -> None:
    """Run once; ``outcome`` gets verdict bits, events, choices."""
    last[:] = 0
    length = execute(p, dice, program, log, images, entries, last)
    count = apply_log(p, dice, program, log, images, entries, length, events, rows)
    is_whole = count != C.OVERFLOWN and dice[C.D_ASKED] <= len(program)
    outcome[0] = judge(p, log, events, count, rows, last) if is_whole else C.OVERFLOWN
    outcome[1] = count
    outcome[2] = dice[C.D_ASKED]


@njit(cache=True, nogil=True)
def run_seeds(p: Ints, first: int, verdicts: Ints, sizes: Ints, sketch: Bytes) -> None:
    """Run consecutive seeds; write verdict bits and sizes, and note courses in the sketch.

    Without the courses of overflown runs.
    """
    dice = np.zeros(C.D_SIZE, np.int64)
    program = np.zeros((C.CHOICES_MAX, C.G_SIZE), np.int64)
    log = np.zeros((C.TRANSACTIONS_MAX, C.L_SIZE), np.int64)
    images = np.zeros((C.TRANSACTIONS_MAX, C.ROWS_MAX, 2), np.int64)
    entries = np.zeros(C.ENTRIES_MAX, np.int64)
    events = np.zeros((C.EVENTS_MAX, C.E_SIZE), np.int64)
    rows = np.zeros((C.ROWS_MAX, 2), np.int64)
    last = np.zeros(C.ROWS_MAX, np.int64)
    outcome = np.zeros(3, np.int64)
    for at in range(len(verdicts)):
        seed_choices(dice, first + at)
        run_once(p, dice, program, log, images, entries, events, rows, last, outcome)
        verdicts[at] = outcome[0]
        sizes[at, 0], sizes[at, 1] = outcome[1], outcome[2]
        if outcome[0] != C.OVERFLOWN:
            note_digest(sketch, course_digest(p, log, events, outcome[1]))
