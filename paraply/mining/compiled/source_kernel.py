"""The source: write sets and timestamps."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled import columns as C
from paraply.mining.compiled.room import Ints, Room
from paraply.vocabulary.kernel_cache import PART

_M1, _M2 = 2147483563, 2147483399
"""Moduli of L'Ecuyer's combined generator (1988); products fit in 63 bits, so compiled and
interpreted results agree."""


@njit(**PART)
def seed_choices(dice: Ints, seed: int) -> None:
    """Seed the random choices."""
    dice[C.D_ASKED] = 0
    dice[C.D_GIVEN] = C.NONE
    dice[C.D_FIRST] = (seed % (_M1 - 1)) * 40014 % _M1 + 1
    dice[C.D_SECOND] = ((seed // (_M1 - 1)) % (_M2 - 1) + seed % 65521 * 31) * 40692 % _M2 + 1
    for _ in range(4):
        draw(dice)


@njit(**PART)
def draw(dice: Ints) -> int:
    """Return a random number in [0, _M1 - 1)."""
    dice[C.D_FIRST] = dice[C.D_FIRST] * 40014 % _M1
    dice[C.D_SECOND] = dice[C.D_SECOND] * 40692 % _M2
    return int((dice[C.D_FIRST] - dice[C.D_SECOND]) % (_M1 - 1))


@njit(**PART)
def choose(dice: Ints, program: Ints, count: int) -> int:
    """Choose as a ``Schedule`` does; record the choice."""
    if count < 2:
        return 0
    at = dice[C.D_ASKED]
    dice[C.D_ASKED] = at + 1
    if dice[C.D_GIVEN] == C.NONE:
        index = draw(dice) * count // (_M1 - 1)
    elif at < dice[C.D_GIVEN]:
        given = program[at, C.G_TAKEN]
        # Below a thousand options, the product fits in 63 bits.
        index = given * count >> C.FRACTION_BITS if dice[C.D_FRACTIONS] else given % count
    else:
        index = 0
    if at < len(program):
        program[at, C.G_TAKEN], program[at, C.G_OPTIONS] = index, count
    return index


@njit(**PART)
def list_writes(writers: Ints, rows: int, heads: Ints, options: Ints) -> int:
    """Write nonempty write sets to ``options``, small ones first; return their number.

    Symmetry as in ``paraply.reference_impl.choices.write_sets``; a row with C.NONE as its writers
    is left out. Encoding: count times 2^32 plus rows, three bits each.
    """
    listed = 1
    heads[0] = 0
    for first in range(rows):
        if writers[first] == C.NONE or _is_known(writers, first):
            continue
        for head in range(listed):
            options[head] = heads[head]
        # Extensions follow each head, so rebuild the list.
        grown = 0
        for head in range(listed):
            packed = options[head]
            heads[grown] = packed
            grown += 1
            for row in range(first, rows):
                if writers[row] == writers[first]:
                    count = packed >> 32
                    packed = ((count + 1) << 32) | (packed & 0xFFFFFFFF) | (row << (3 * count))
                    heads[grown] = packed
                    grown += 1
        listed = grown
    written = 0
    for size in range(1, rows + 1):
        for head in range(listed):
            if heads[head] >> 32 == size:
                options[written] = heads[head]
                written += 1
    return written


@njit(**PART)
def _is_known(writers: Ints, row: int) -> bool:
    for other in range(row):  # noqa: SIM110 - kernels know no generators
        if writers[other] == writers[row]:
            return True
    return False


@njit(**PART)
def execute(p: Ints, room: Room) -> int:
    """Execute the source; return the number of log entries."""
    dice, program, log, entries = room.dice, room.program, room.log, room.entries
    writers, values, stored, options = room.writers, room.values, room.stored, room.options
    window, left = room.window, room.left
    room.last[:] = writers[:] = values[:] = stored[:] = 0
    window[0], window[1], window[2], window[3] = 1, 2, 1 - p[C.P_MARKS_FIRST], 0
    left[0], left[1], left[2] = p[C.P_ROTATIONS], p[C.P_ROTATIONS], p[C.P_COLLECTIONS]
    length = 0
    for number in range(1, p[C.P_TRANSACTIONS] + 1):
        if number > 1 and _between(p, dice, program, window, left, stored):
            entries[length] = 0
            length += 1
        count = list_writes(writers, p[C.P_ROWS], room.heads, options)
        chosen = choose(dice, program, count + 2 * p[C.P_BARRIERS])
        kind = max(0, chosen - count + 1)
        packed = 0 if kind == C.KIND_NO_WRITE_SET else options[0 if kind else chosen]
        session = choose(dice, program, p[C.P_SESSIONS]) + 1
        one = log[number - 1]
        one[C.L_KIND], one[C.L_COUNT] = kind, packed >> 32
        one[C.L_ITEMS], one[C.L_SESSION] = packed & 0xFFFFFFFF, session
        _stamp(p, one, window, stored)
        for change in range(one[C.L_COUNT]):
            row = one[C.L_ITEMS] >> (3 * change) & 7
            present = values[row]
            # An existing row is updated or deleted.
            is_delete = present != 0 and choose(dice, program, 2) == 1
            values[row] = 0 if is_delete else number
            image = room.images[number - 1, change]
            image[0], image[1] = present, values[row]
            writers[row] |= 1 << number
            room.last[row] = number
        entries[length] = number
        length += 1
    return length


@njit(**PART)
def _between(p: Ints, dice: Ints, program: Ints, window: Ints, left: Ints, stored: Ints) -> bool:
    """Act between transactions; return whether the log rotated."""
    may_collect = left[2] > 0 and _has_any(stored)
    # Interpreted numpy adds booleans to a boolean.
    count = int(left[0] > 0) + int(left[1] > 0) + int(may_collect)
    if count == 0 or choose(dice, program, 2) == 0:
        return False
    chosen = choose(dice, program, count)
    if left[0] > 0:
        if chosen == 0:
            left[0] -= 1  # A new file of the relay log matters to a crash only.
            return False
        chosen -= 1
    stored_rotates = left[1] > 0 and chosen == 0
    stored[:] = 0
    if stored_rotates:
        left[1] -= 1
        window[0], window[1] = 1, 2
        window[2] = 1 - p[C.P_MARKS_FIRST]
        window[3] += 1
        return True
    left[2] -= 1
    if p[C.P_COLLECTION_RULE] == 0:
        window[0] = window[1] - 1
    else:
        window[0] = window[1]
        window[1] += p[C.P_COLLECTION_RULE] - 1
    return False


@njit(**PART)
def _has_any(numbers: Ints) -> bool:
    for number in numbers:  # noqa: SIM110 - kernels know no generators
        if number:
            return True
    return False


@njit(**PART)
def _stamp(p: Ints, one: Ints, window: Ints, stored: Ints) -> None:
    number = window[1]
    if one[C.L_KIND] == C.KIND_ROWS:
        last_committed = window[0]
        for change in range(one[C.L_COUNT]):
            last_committed = max(last_committed, stored[one[C.L_ITEMS] >> (3 * change) & 7])
    else:
        last_committed = window[0] if p[C.P_BARRIER_RULE] else number - 1
        window[0] = number
    window[1] = number + 1
    for change in range(one[C.L_COUNT]):
        stored[one[C.L_ITEMS] >> (3 * change) & 7] = number
    one[C.L_CLOCK] = window[3]
    one[C.L_LC], one[C.L_SN] = last_committed, number
    if window[2] == 0:
        window[2] = 1
        one[C.L_LC], one[C.L_SN] = 0, 0
