"""A member's GTID numbers: twin of ``certification.gtid_generator``."""

from __future__ import annotations

from numba import njit

from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.composed.room import Room
from paraply.mining.compiled.room import Ints
from paraply.vocabulary.kernel_cache import BORROWED

ALL_GTIDS = (1 << C.GTIDS_MAX + 1) - 2


@njit(**BORROWED)
def next_gtid(p: Ints, room: Room, member: int, origin: int) -> int:
    """Return the lowest free number of all, or of the origin's block."""
    mine, blocks = room.members[member], room.blocks[member]
    size, taken = p[C.P_BLOCK_SIZE], mine[C.N_TAKEN]
    if size <= 1:
        return _lowest(ALL_GTIDS & ~taken)
    # After as many numbers as a block has, and one, new blocks use the holes.
    if mine[C.N_IN_BLOCKS] % (size + 1) == 0:
        blocks[:] = 0
        mine[C.N_FREE] = ALL_GTIDS & ~taken
    mine[C.N_IN_BLOCKS] += 1
    while blocks[origin] & ~taken == 0:
        first, blocks[origin] = _lowest(mine[C.N_FREE]), 0
        for number in range(first, min(first + size, C.GTIDS_MAX + 1)):
            if mine[C.N_FREE] >> number & 1 == 0:
                break
            blocks[origin] |= 1 << number
        mine[C.N_FREE] &= ~blocks[origin]
    return _lowest(blocks[origin] & ~taken)


@njit(**BORROWED)
def _lowest(numbers: int) -> int:
    number = 0
    while numbers >> number & 1 == 0:
        number += 1
    return number
