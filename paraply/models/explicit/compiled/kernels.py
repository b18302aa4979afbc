"""Breadth-first search by a table of instructions."""

# numba's decorators carry no types, and inside a kernel numpy's sized integers are plain numbers.
# mypy: disallow-untyped-decorators=False, warn-return-any=False
# mypy: disable-error-code="arg-type,assignment,return-value"

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paraply.models.explicit.compiled.program import (
    AT_MOST,
    BEGIN,
    EMIT,
    IF,
    JUMP,
    LESS,
    PUT,
    SAME,
    SET,
    STOP,
    UNLESS,
)
from paraply.vocabulary.kernel_cache import BORROWED, PART

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]

NEXT, COUNT, GENERATED, REFUSED = range(4)
"""Places in ``progress``: the next state to visit, numbers of states, and a refused state or -1."""


@njit(**PART)
def slot_of(state: Words, states: Words, slots: Places) -> int:
    """Return the slot of a state, or the free one that it would take."""
    mixed = np.uint64(0)
    for word in range(states.shape[1]):
        mixed = (mixed ^ state[word]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    last = np.uint64(len(slots) - 1)
    slot = mixed & last
    while slots[slot] != 0:
        at = slots[slot] - 1
        same = True
        for word in range(states.shape[1]):
            if states[at, word] != state[word]:
                same = False
                break
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return np.int64(slot)


@njit(**BORROWED)
def fill(states: Words, count: int, slots: Places) -> None:
    """Put every state into empty slots."""
    for at in range(count):
        slots[slot_of(states[at], states, slots)] = at + 1


@njit(**PART)
def value(bits: Words, place: int, mask: int) -> int:
    """Return the operand at a place."""
    return np.int64((bits[place >> 6] >> np.uint64(place & 63)) & np.uint64(mask))


@njit(**PART)
def least(state: Words, moves: Ints, best: Words, moved: Words) -> None:
    """Replace a state by the least of its renamings; a move ends with its last part."""
    for word in range(len(state)):
        best[word] = state[word]
        moved[word] = 0
    for part in range(len(moves)):
        taken = state[moves[part, 0]] & np.uint64(moves[part, 1])
        far = moves[part, 3]
        if far >= 0:
            moved[moves[part, 2]] |= taken << np.uint64(far)
        else:
            moved[moves[part, 2]] |= taken >> np.uint64(-far)
        if moves[part, 4]:
            word = len(state) - 1
            while word > 0 and moved[word] == best[word]:
                word -= 1
            is_less = moved[word] < best[word]
            for word in range(len(state)):
                if is_less:
                    best[word] = moved[word]
                moved[word] = 0
    for word in range(len(state)):
        state[word] = best[word]


@njit(**BORROWED)
def visit(
    rows: Ints, first: int, kept: Words, added: Words, moves: Ints,
    bits: Words, room: Words, states: Words, parents: Places, slots: Places,
    progress: Ints, last: int,
) -> None:  # fmt: skip
    """Run the rows from ``first`` for each state up to ``last``, or until memory is short.

    A state that the rows refuse ends the visit.
    """
    words = states.shape[1]
    made = bits[words : 2 * words]
    count = progress[COUNT]
    count_max = len(states) - len(kept)
    while progress[NEXT] < last and count <= count_max:
        here = progress[NEXT]
        for word in range(words):
            bits[word] = states[here, word]
        row = first
        while True:
            now = rows[row]
            code = now[0]
            if code == UNLESS:
                if bits[now[1]] & np.uint64(now[2]) != np.uint64(now[3]):
                    row = now[7]
                else:
                    row += 1
            elif code == PUT:
                more = value(bits, now[1], now[2]) + now[3]
                if more < 0 or more > now[4]:
                    progress[REFUSED] = here
                    return
                place = now[5]
                bits[place >> 6] |= np.uint64(more) << np.uint64(place & 63)
                row += 1
            elif code >= LESS:
                left = value(bits, now[1], now[2])
                less = left - value(bits, now[3], now[4]) + now[5]
                if code < AT_MOST:
                    holds = less < 0
                elif code < SAME:
                    holds = less <= 0
                else:
                    holds = less == 0
                if holds == bool(code & 1):
                    row = now[7]
                else:
                    row += 1
            elif code == BEGIN:
                step = now[1]
                for word in range(words):
                    made[word] = (bits[word] & kept[step, word]) | added[step, word]
                row += 1
            elif code == EMIT:
                progress[GENERATED] += 1
                if len(moves):
                    least(made, moves, room[:words], room[words:])
                slot = slot_of(made, states, slots)
                if slots[slot] == 0:
                    for word in range(words):
                        states[count, word] = made[word]
                    parents[count] = here
                    count += 1
                    slots[slot] = count
                row += 1
            elif code == IF:
                if bits[now[1]] & np.uint64(now[2]) == np.uint64(now[3]):
                    row = now[7]
                else:
                    row += 1
            elif code == JUMP:
                row = now[7]
            elif code == SET:
                more = value(bits, now[1], now[2]) + now[3]
                bits[now[5]] = np.uint64(more)
                row += 1
            elif code == STOP:
                break
            else:
                progress[REFUSED] = here
                return
        progress[NEXT] += 1
        progress[COUNT] = count
