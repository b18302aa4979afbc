"""Logical time and the overlaps that it allows.

Source: WL#8440 and WL#7165. Rotation and restart reset the numbers, so clock runs are not
comparable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

from paraply.vocabulary.errors import MALFORMED_TIMESTAMP, ParaplyError

SequenceNumber = NewType("SequenceNumber", int)
"""In a logical clock run, from 1; 0 is unassigned."""

SnapshotVersion = NewType("SnapshotVersion", int)
"""Length of the certified prefix read, from 0."""

CommitId = NewType("CommitId", int)
"""MariaDB's, from 1: equal ids were prepared together."""

LogicalTime = NewType("LogicalTime", int)
"""Steps, or microseconds if stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalTimestamp:
    """The window in which a transaction may overlap with others.

    It may start after the clock run's prefix up to ``last_committed``. (0, 0) is a view change.
    Construction raises ``ParaplyError`` P003 unless ``0 <= last_committed < sequence_number``.
    """

    last_committed: SequenceNumber
    sequence_number: SequenceNumber

    def __post_init__(self) -> None:
        if not self.is_well_formed:
            raise ParaplyError(
                MALFORMED_TIMESTAMP,
                last_committed=self.last_committed,
                sequence_number=self.sequence_number,
                reason=self._fault(),
            )

    @classmethod
    def of(cls, last_committed: int, sequence_number: int) -> LogicalTimestamp:
        """Return a checked timestamp."""
        return cls(
            last_committed=SequenceNumber(last_committed),
            sequence_number=SequenceNumber(sequence_number),
        )

    @classmethod
    def as_recorded(cls, last_committed: int, sequence_number: int) -> LogicalTimestamp:
        """Return an unchecked timestamp."""
        timestamp = object.__new__(cls)
        object.__setattr__(timestamp, "last_committed", last_committed)
        object.__setattr__(timestamp, "sequence_number", sequence_number)
        return timestamp

    @property
    def is_well_formed(self) -> bool:
        """Return whether it is (0, 0) or passes construction."""
        return 0 <= self.last_committed < self.sequence_number or self.is_view_change

    @property
    def is_view_change(self) -> bool:
        """Return whether this is (0, 0), which runs alone."""
        return self.last_committed == 0 == self.sequence_number

    def _fault(self) -> str:
        if min(self.last_committed, self.sequence_number) < 0:
            return "neither may be negative"
        if self.last_committed == self.sequence_number:
            return "a transaction would wait for itself"
        return "a transaction would wait for a later one"

    def __str__(self) -> str:
        return f"{self.sequence_number}<{self.last_committed}"


VIEW_CHANGE = LogicalTimestamp.of(0, 0)


def waits_for(last_committed: int, sequence_number: int) -> bool:
    """Return whether a transaction waits for the commit of another one of its clock run.

    It waits for the whole prefix up to its ``last_committed``; ``sequence_number`` is the other's.
    Source: ``clock_leq`` of MySQL's coordinator.
    """
    return sequence_number <= last_committed


def may_overlap(earlier: LogicalTimestamp, later: LogicalTimestamp) -> bool:
    """Return whether ``later`` may start before ``earlier`` commits, by timestamps alone.

    Both belong to one clock run. MySQL also fences at gaps, last_committed 0 and empty write sets.
    """
    if earlier.is_view_change or later.is_view_change:
        return False
    return not waits_for(later.last_committed, earlier.sequence_number)
