"""A kernel oracle, some hundred times faster than the readable one.

The readable oracle takes overflows, unsupported workloads and the final run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from paraply.mining.compiled import columns as C
from paraply.mining.compiled.composed.room import AnyRoom, PassedRoom
from paraply.mining.compiled.oracle_kernel import (
    list_simplifications,
    run_all,
    run_draws,
    run_edits,
)
from paraply.mining.compiled.room import Ints
from paraply.mining.compiled.room import Room as ApplierRoom
from paraply.mining.compiled.twins import Twin, twin_of
from paraply.mining.systems import System
from paraply.properties.search import Counterexample, random_schedules
from paraply.properties.shrinking import (
    BreakingRun,
    Choices,
    Edit,
    Enumerated,
    Oracle,
    Simplifications,
    Size,
    without_trailing_zeros,
)
from paraply.reference_impl.subject import Workload

DRAWN_MAX = 1024
"""Random numbers per run; longer ones use the reference."""

EDITS_OF_A_CHOICE = 8
"""At most: six, and some of the whole program."""

_NO_BOUND = np.full(4, np.iinfo(np.int64).max)


class Place(NamedTuple):
    """A room, and the arrays of it that are read: finding them takes as long as a run."""

    room: PassedRoom
    outcome: Ints
    program: Ints

    @classmethod
    def of(cls, room: AnyRoom) -> Place:
        """Return a room's place."""
        passed = room if isinstance(room, ApplierRoom) else room.base.view(np.ndarray)
        return cls(passed, room.outcome, room.program)


class CompiledOracle:
    """Finds breaches of one property in one workload."""

    def __init__(self, twin: Twin, prop: str, place: Place, readable: Oracle) -> None:
        self._bit = 1 << twin.judged.index(prop)
        self._settings = twin.settings.copy()
        self._settings[C.P_JUDGED] = self._bit  # Also where it is not promised.
        self._room, self._outcome, self._program = place
        self._readable = readable

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        """Try all edits in one call."""
        if not isinstance(edits, Simplifications):
            edits = tuple(edits)
        if len(program) >= len(self._program):
            return self._readable.edited(program, edits, below)
        base = np.array(program, np.int64)
        listed = listed_edits(edits, base)
        if not len(listed):
            return 0, None
        bound = _NO_BOUND if below is None else np.array(below)
        tried = run_edits(self._settings, self._room, base, listed, self._bit, bound)
        if self._is_overflown:
            return self._readable.edited(program, edits, below)
        return tried, self._last_run() if self._breaks(below) else None

    def drawn(self, seed: int, runs_max: int, first: int = 0) -> tuple[int, BreakingRun | None]:
        """Make all random runs in one call."""
        made = run_draws(self._settings, self._room, draws(seed, runs_max), first, self._bit)
        if self._is_overflown:
            return self._readable.drawn(seed, runs_max, first)
        return made, self._last_run() if self._breaks() else None

    def enumerated(self, runs_max: int) -> Enumerated:
        """Enumerate runs in one call."""
        made, is_complete = run_all(self._settings, self._room, runs_max, self._bit)
        if self._is_overflown:
            return self._readable.enumerated(runs_max)
        return Enumerated(self._last_run() if self._breaks() else None, made, is_complete)

    def counterexample(self, run: BreakingRun, runs: int) -> Counterexample:
        """Return the run of the readable oracle."""
        return self._readable.counterexample(run, runs)

    @property
    def _is_overflown(self) -> bool:
        return bool(self._outcome[0] == C.OVERFLOWN)

    def _breaks(self, below: Size | None = None) -> bool:
        """Return whether the last run breaks the property below a size."""
        is_broken = bool(self._outcome[0] & self._bit)
        return is_broken and (below is None or self._last_run().size < below)

    def _last_run(self) -> BreakingRun:
        _, events, asked, transactions = self._outcome.tolist()
        choices = without_trailing_zeros(tuple(self._program[:asked, C.G_TAKEN].tolist()))
        size = (transactions, events, len(choices), sum(choices))
        return BreakingRun(choices, size)


def listed_edits(edits: Simplifications | tuple[Edit, ...], program: Ints) -> Ints:
    """Return edits as rows."""
    if isinstance(edits, tuple):
        return _array_of(edits)
    rows = np.empty(
        (min(edits.count, EDITS_OF_A_CHOICE * len(program)), len(Edit._fields)), np.int64
    )
    return rows[: list_simplifications(program, rows)]


@lru_cache(maxsize=8)
def _array_of(edits: tuple[Edit, ...]) -> Ints:
    return np.array(edits, np.int64)


@lru_cache(maxsize=4)
def draws(seed: int, runs: int) -> Ints:
    """Return a seed's random schedules as rows of fractions of 2^53."""
    drawn = [
        [schedule.choose(1 << C.FRACTION_BITS) for _ in range(DRAWN_MAX)]
        for schedule in random_schedules(seed, runs)
    ]
    return np.array(drawn, np.int64).reshape(runs, DRAWN_MAX)


class CompiledOracles:
    """Wraps readable oracles of one system."""

    def __init__(self, system: System, prop: str) -> None:
        self._system = system
        self._prop = prop
        self._place: Place | None = None

    def __call__(self, workload: Workload, readable: Oracle) -> Oracle:
        """Return a compiled oracle where supported, else ``readable``."""
        twin = twin_of(replace(self._system, workload=workload))
        if twin is None or self._prop not in twin.judged:
            return readable
        if self._place is None:
            self._place = Place.of(twin.new_room())
        return CompiledOracle(twin, self._prop, self._place, readable)
