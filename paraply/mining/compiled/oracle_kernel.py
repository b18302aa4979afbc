"""Kernels that run edits, draws or all programs until a breach.

They return the number of runs; ``outcome`` and ``program`` (``run_once``) are of the last one.
Overflows end the search. The room's type decides which system runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from paraply.mining.compiled import campaign_kernel as applier
from paraply.mining.compiled import columns as C
from paraply.mining.compiled.composed import campaign_kernel as composed
from paraply.mining.compiled.composed.room import AnyRoom, PassedRoom
from paraply.mining.compiled.room import Ints, Room
from paraply.vocabulary.kernel_cache import BORROWED

_NOTHING, _PROGRAM, _FRACTIONS = np.int64(0), np.int64(0), np.int64(1)
"""Typed, because numba compiles ``_run`` again for each literal."""

_MOSTLY = 256
"""Choices that most runs ask for; a run that asks for more is made again with all it may have."""


def run_once(p: Ints, room: AnyRoom) -> None:
    """Run once, interpreted."""
    if isinstance(room, Room):
        applier.run_once(p, room)
    else:
        composed.run_once(p, room)


@overload(run_once)
def _compiled(p: Any, room: Any) -> Callable[[Any, Any], None]:
    """Return what :func:`run_once` is in a kernel."""
    run_of_type = (composed if isinstance(room, types.Record) else applier).run_once

    def run(p: Any, room: Any) -> None:
        run_of_type(p, room)

    return run


def room_of(passed: PassedRoom) -> AnyRoom:
    """Return the room that is passed to a kernel, interpreted."""
    return passed if isinstance(passed, Room) else passed[0]


@overload(room_of)
def _compiled_room_of(passed: Any) -> Callable[[Any], Any]:
    """Return what :func:`room_of` is in a kernel."""
    is_array = isinstance(passed, types.Array)

    def only(passed: Any) -> Any:
        return passed[0]

    def itself(passed: Any) -> Any:
        return passed

    return only if is_array else itself


@njit(**BORROWED)
def _run(p: Ints, room: AnyRoom, given: int | np.int64, way: np.int64) -> int:
    dice, outcome = room.dice, room.outcome
    dice[C.D_ASKED], dice[C.D_GIVEN] = 0, given
    dice[C.D_FRACTIONS] = way
    run_once(p, room)
    return int(outcome[0])


@njit(**BORROWED)
def run_edits(p: Ints, passed: PassedRoom, base: Ints, edits: Ints, bit: int, below: Ints) -> int:
    """Run edits (start, length, put) until a breach below a size."""
    room = room_of(passed)
    program = room.program
    for at in range(len(edits)):
        start, length, put = edits[at]
        given = _NOTHING
        for place in range(len(base) + 1):
            if place == start and put >= 0:
                program[given, C.G_TAKEN] = put
                given += 1
            if place < len(base) and not start <= place < start + length:
                program[given, C.G_TAKEN] = base[place]
                given += 1
        verdict = _run(p, room, given, _PROGRAM)
        is_found = verdict & bit and _is_below(room, below)
        if verdict == C.OVERFLOWN or is_found:
            return at + 1
    return len(edits)


@njit(**BORROWED)
def list_simplifications(program: Ints, edits: Ints) -> int:
    """List ``shrinking.Simplifications``, as many as fit; return their number."""
    listed, length = 0, len(program)
    cut = length // 2
    while cut:
        step = max(1, cut // 2)
        for start in range(0, length - cut + 1, step):
            if step > 1 or start == 0 or program[start - 1] != program[start + cut - 1]:
                listed = _list_edit(edits, listed, start, cut, -1)
        cut //= 2
    for place in range(length):
        choice = program[place]
        half = choice // 2
        if choice > 0:
            listed = _list_edit(edits, listed, place, 1, 0)
        if half > 0:
            listed = _list_edit(edits, listed, place, 1, half)
        if choice - 1 > half:
            listed = _list_edit(edits, listed, place, 1, choice - 1)
    return listed


@njit(**BORROWED)
def _list_edit(edits: Ints, listed: int, start: int, length: int, put: int) -> int:
    if listed == len(edits):
        return listed
    one = edits[listed]
    one[0], one[1], one[2] = start, length, put
    return listed + 1


@njit(**BORROWED)
def _is_below(room: AnyRoom, below: Ints) -> bool:
    program, outcome = room.program, room.outcome
    length = total = 0
    for place in range(outcome[2]):
        taken = program[place, C.G_TAKEN]
        if taken:
            length, total = place + 1, total + taken
    size = (outcome[3], outcome[1], length, total)
    for place in range(len(size)):
        if size[place] != below[place]:
            return bool(size[place] < below[place])
    return False


@njit(**BORROWED)
def run_draws(p: Ints, passed: PassedRoom, draws: Ints, first: int, bit: int) -> int:
    """Run rows of fractions until a breach, those before the first at the end."""
    room = room_of(passed)
    program, outcome = room.program, room.outcome
    drawn = draws.shape[1]
    for at in range(len(draws)):
        numbers = draws[(first + at) % len(draws)]
        for given in (min(_MOSTLY, drawn), drawn):
            for place in range(given):
                program[place, C.G_TAKEN] = numbers[place]
            verdict = _run(p, room, given, _FRACTIONS)
            if outcome[2] <= given:
                break
        if outcome[2] > drawn:
            outcome[0] = verdict = C.OVERFLOWN
        if verdict & bit:  # An overflown run has every bit.
            return at + 1
    return len(draws)


@njit(**BORROWED)
def run_all(p: Ints, passed: PassedRoom, runs_max: int, bit: int) -> tuple[int, bool]:
    """Run programs depth first until a breach; return whether all ran."""
    room = room_of(passed)
    program, outcome = room.program, room.outcome
    given, count = _NOTHING, 0
    while count < runs_max:
        verdict = _run(p, room, given, _PROGRAM)
        count += 1
        if verdict & bit:
            return count, False
        place = outcome[2] - 1
        while place >= 0 and program[place, C.G_TAKEN] + 1 == abs(program[place, C.G_OPTIONS]):
            place -= 1
        if place < 0:
            return count, True
        are_alike = program[place, C.G_OPTIONS] < 0
        program[place, C.G_TAKEN] += -program[place, C.G_OPTIONS] - 1 if are_alike else 1
        given = place + 1
    return runs_max, False
