"""GTIDs as plain values, and GTID sets as frozen sets.

Certification needs only the subset test; runs are too short for intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

GROUP_NAME = "group"
"""group_replication_group_name."""


class Gtid(NamedTuple):
    """A GTID ``source:number``, numbered from 1."""

    source: str
    number: int

    def __str__(self) -> str:
        return f"{self.source}:{self.number}"


GtidSet = frozenset[Gtid]
NO_GTIDS: GtidSet = frozenset()


def format_gtid_set(gtids: Iterable[Gtid]) -> str:
    """Return a GTID set in the servers' format.

    >>> format_gtid_set({Gtid("u", 1), Gtid("u", 2), Gtid("u", 5), Gtid("v", 3)})
    'u:1-2:5,v:3'
    """
    by_source: dict[str, list[int]] = {}
    for gtid in sorted(gtids):
        by_source.setdefault(gtid.source, []).append(gtid.number)
    return ",".join(
        f"{source}:{':'.join(_intervals(numbers))}" for source, numbers in by_source.items()
    )


def _intervals(numbers: list[int]) -> list[str]:
    intervals: list[str] = []
    start = previous = numbers[0]
    for number in [*numbers[1:], 0]:
        if number != previous + 1:
            intervals.append(str(start) if start == previous else f"{start}-{previous}")
            start = number
        previous = number
    return intervals
