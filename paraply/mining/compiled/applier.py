"""Python interface of the kernels.

Supports LOGICAL_CLOCK and some mutants; no crashes, checkpoints, extra locks, view changes and
sleeping coordinators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from paraply.mining.compiled import columns as C
from paraply.mining.compiled.campaign_kernel import Bytes, run_once, run_seeds
from paraply.mining.compiled.room import Ints, Room, new_room
from paraply.mining.compiled.source_kernel import seed_choices
from paraply.mining.sketches import SKETCH_BYTES, from_bytes
from paraply.mining.systems import System
from paraply.reference_impl.certification.dialects import (
    DIALECTS,
    Window,
    open_window_and_burn_a_number,
    open_window_at_last_assigned,
    open_window_at_next,
    wait_for_the_window,
)

_OFF = ("view_changes", "reconnects", "extra_locks", "sleeps", "crashes", "checkpoints")
COLLECTION_RULES: dict[Callable[[Window], Window], int] = {
    open_window_at_last_assigned: 0,
    open_window_at_next: 1,
    open_window_and_burn_a_number: 2,
}


def settings_of(system: System) -> Ints | None:
    """Return kernel settings; None for unsupported systems."""
    workload = system.workload
    if (
        system.subject != "applier"
        or system.draws is not None
        or system.mutant not in C.FAULTS
        or not workload.dialect.startswith("logical_clock")
    ):
        return None
    options = system.options_at(0)
    if (
        any(options[name] for name in _OFF)
        or not 1 <= workload.transactions <= C.TRANSACTIONS_MAX
        or workload.rows > C.ROWS_MAX
        or int(options["workers"]) > C.WORKERS_MAX
        or int(options["rotations"]) > C.ENTRIES_MAX - C.TRANSACTIONS_MAX
    ):
        return None
    stamps = DIALECTS[str(options["stamps"])]
    p = np.zeros(C.P_SIZE, np.int64)
    p[C.P_TRANSACTIONS], p[C.P_ROWS] = workload.transactions, workload.rows
    for place, name in (
        (C.P_WORKERS, "workers"),
        (C.P_BARRIERS, "barriers"),
        (C.P_ROTATIONS, "rotations"),
        (C.P_COLLECTIONS, "collections"),
        (C.P_SESSIONS, "sessions"),
        (C.P_READS, "reads"),
    ):
        p[place] = int(options[name])
    p[C.P_ORDERED] = not workload.dialect.endswith("_unordered")
    p[C.P_COLLECTION_RULE] = COLLECTION_RULES[stamps.window_after_collection]
    p[C.P_BARRIER_RULE] = stamps.last_committed_of_barrier is wait_for_the_window
    p[C.P_MARKS_FIRST] = stamps.marks_first_remote
    p[C.P_FAULT] = C.FAULTS.index(system.mutant)
    p[C.P_JUDGED] = (1 << len(C.JUDGED)) - 1
    return p


@dataclass(frozen=True, slots=True, kw_only=True)
class FastRun:
    """One run in full.

    Attributes:
        choices: program for replay.
        log: transactions (``columns.L_...``).
        events: events (``columns.E_...``).
        rows: value (0: no row) and last writer.
        verdict: bits of broken ``columns.JUDGED``, or OVERFLOWN.
        room: all arrays of the run, as kernels take them.
    """

    choices: tuple[int, ...]
    log: Ints
    events: Ints
    rows: Ints
    verdict: int
    room: Room

    @property
    def broken(self) -> frozenset[str]:
        """Return the broken properties."""
        return broken_names(self.verdict)


def broken_names(verdict: int, judged: Sequence[str] = C.JUDGED) -> frozenset[str]:
    """Return the properties of a verdict's bits."""
    return frozenset(name for bit, name in enumerate(judged) if verdict >> bit & 1)


def run_fast(p: Ints, *, seed: int = 0, program: Sequence[int] | None = None) -> FastRun:
    """Run once, by seed or program."""
    room = new_room()
    set_choices(room.dice, room.program, seed, program)
    run_once(p, room)
    verdict, events, choices, _ = room.outcome.tolist()
    return FastRun(
        choices=tuple(room.program[:choices, C.G_TAKEN].tolist()),
        log=room.log[: p[C.P_TRANSACTIONS]],
        events=room.events[: max(0, events)],
        rows=room.rows[: p[C.P_ROWS]],
        verdict=verdict,
        room=room,
    )


def set_choices(dice: Ints, taken: Ints, seed: int, program: Sequence[int] | None) -> None:
    """Let a run choose by a program, or else by a seed."""
    if program is None:
        seed_choices(dice, seed)
    else:
        dice[C.D_ASKED], dice[C.D_GIVEN], dice[C.D_FRACTIONS] = 0, len(program), 0
        taken[: len(program), C.G_TAKEN] = program


def run_many(p: Ints, first_seed: int, count: int) -> tuple[Ints, Ints, int]:
    """Run ``count`` seeds; return verdicts, events and choices, and the sketch of courses."""
    return collected(partial(run_seeds, p, new_room(), first_seed), count)


def collected(run: Callable[[Ints, Ints, Bytes], None], count: int) -> tuple[Ints, Ints, int]:
    """Return what a kernel writes of ``count`` runs: verdicts, sizes, and a sketch."""
    verdicts = np.zeros(count, np.int64)
    sizes = np.zeros((count, 2), np.int64)
    sketch = np.zeros(SKETCH_BYTES, np.uint8)
    run(verdicts, sizes, sketch)
    return verdicts, sizes, from_bytes(sketch.tobytes())
