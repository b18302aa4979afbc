"""Automatic GTIDs, equal on every member, with and without blocks.

Source: ``Gtid_generator_for_sidno`` in plugin/group_replication/src/certification.
"""

from __future__ import annotations

from collections.abc import Container
from collections.abc import Set as AbstractSet

from paraply.reference_impl.certification.gtids import GROUP_NAME, Gtid
from paraply.vocabulary.errors import ParaplyError, register

GTIDS_EXHAUSTED = register(
    "P402",
    "no GTID number up to {greatest} is free",
    "run with fewer transactions or without specified GTIDs near the end of the range",
)

NUMBER_MAX = 2**63 - 2


class GtidGenerator:
    """Assigns the group's GTID numbers.

    ``block_size`` 1 assigns the lowest free number; a larger one gives each member consecutive
    numbers.
    """

    def __init__(self, block_size: int = 1) -> None:
        self.block_size = block_size
        self.blocks: dict[str, tuple[int, int]] = {}
        """Member -> next and last number."""
        self.free: list[tuple[int, int]] = []
        self.assigned_in_blocks = 0

    def next_gtid(self, origin: str | None, taken: AbstractSet[Gtid]) -> Gtid:
        """Return a GTID; None is a view change."""
        numbers = self.numbers_taken(taken)
        if self.block_size <= 1 or origin is None:
            lowest = first_free(1, NUMBER_MAX, numbers)
            if lowest is None:
                raise ParaplyError(GTIDS_EXHAUSTED, greatest=NUMBER_MAX)
            return Gtid(GROUP_NAME, lowest)
        # After block_size assignments, new blocks use the holes.
        if self.assigned_in_blocks % (self.block_size + 1) == 0:
            self.compute_intervals(taken)
        if origin not in self.blocks:
            self.reserve_block(origin)
        number = first_free(*self.blocks[origin], numbers)
        while number is None:
            self.reserve_block(origin)
            number = first_free(*self.blocks[origin], numbers)
        self.blocks[origin] = (number, self.blocks[origin][1])
        self.assigned_in_blocks += 1
        return Gtid(GROUP_NAME, number)

    def numbers_taken(self, taken: AbstractSet[Gtid]) -> Container[int]:
        """Return the group's taken numbers."""
        return {gtid.number for gtid in taken if gtid.source == GROUP_NAME}

    def compute_intervals(self, taken: AbstractSet[Gtid]) -> None:
        """Clear blocks; compute free intervals."""
        self.blocks.clear()
        self.free = []
        start = 1
        for gtid in sorted(taken):
            if gtid.source == GROUP_NAME:
                if gtid.number > start:
                    self.free.append((start, gtid.number - 1))
                start = gtid.number + 1
        self.free.append((start, NUMBER_MAX))

    def on_view_change(self, taken: AbstractSet[Gtid]) -> None:
        """Restart, so that a joiner reserves the same blocks."""
        self.assigned_in_blocks = 0
        self.compute_intervals(taken)

    def reserve_block(self, origin: str) -> None:
        """Reserve part of the first free interval."""
        if not self.free:
            raise ParaplyError(GTIDS_EXHAUSTED, greatest=NUMBER_MAX)
        start, end = self.free[0]
        last = min(end, start + self.block_size - 1)
        self.blocks[origin] = (start, last)
        if last == end:
            self.free.pop(0)
        else:
            self.free[0] = (last + 1, end)


def first_free(start: int, end: int, numbers: Container[int]) -> int | None:
    """Return the first free number, or None."""
    while start <= end:
        if start not in numbers:
            return start
        start += 1
    return None
