"""Logical time: last_committed and sequence_number, and what they allow to run together.

Source: WL#8440 "Group Replication: Parallel applier support" and WL#7165, the logical clock of
the binary log. Sequence numbers count inside one run of the clock: they start again at rotation
and restart, so numbers of two runs say nothing about each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

from paraply.vocabulary.errors import MALFORMED_TIMESTAMP, ParaplyError

SequenceNumber = NewType("SequenceNumber", int)
"""Position of a transaction in one run of the logical clock. Counts from 1; 0 is unassigned."""

SnapshotVersion = NewType("SnapshotVersion", int)
"""Length of the certified prefix that a transaction read. Counts transactions, from 0."""

CommitId = NewType("CommitId", int)
"""MariaDB's group commit id: transactions with one id were prepared together. From 1."""

LogicalTime = NewType("LogicalTime", int)
"""A moment on a history's own clock: steps of the run, or microseconds where it says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalTimestamp:
    """The window in which a transaction may run beside its neighbours.

    A replica may start the transaction once every transaction of this run of the clock up to
    and including ``last_committed`` has committed there: a prefix, never only the one
    transaction that bears this number. Both 0 is the value of a view change.
    Construction raises ``ParaplyError`` P003 unless ``0 <= last_committed < sequence_number``;
    :meth:`as_recorded` keeps what a log or a faulty subject said, for properties to judge.
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
        """Return the checked timestamp of two plain numbers."""
        return cls(
            last_committed=SequenceNumber(last_committed),
            sequence_number=SequenceNumber(sequence_number),
        )

    @classmethod
    def as_recorded(cls, last_committed: int, sequence_number: int) -> LogicalTimestamp:
        """Return the timestamp of two numbers as they were found, well-formed or not."""
        timestamp = object.__new__(cls)
        object.__setattr__(timestamp, "last_committed", last_committed)
        object.__setattr__(timestamp, "sequence_number", sequence_number)
        return timestamp

    @property
    def is_well_formed(self) -> bool:
        """Return whether last_committed lies in [0, sequence_number), or both are 0."""
        return 0 <= self.last_committed < self.sequence_number or self.is_view_change

    @property
    def is_view_change(self) -> bool:
        """Return whether this is (0, 0): alone, after all before it and before all after it."""
        return self.last_committed == 0 == self.sequence_number

    def _fault(self) -> str:
        if min(self.last_committed, self.sequence_number) < 0:
            return "neither may be negative"
        if self.last_committed == self.sequence_number:
            return "a transaction would wait for itself"
        return "a transaction would wait for a later one"

    def __str__(self) -> str:
        """Return ``sequence_number<last_committed``, as the history notation writes it."""
        return f"{self.sequence_number}<{self.last_committed}"


VIEW_CHANGE = LogicalTimestamp.of(0, 0)
"""The timestamp of a view change, which runs alone."""


def may_start(
    low_water_mark: SequenceNumber | int, timestamp: LogicalTimestamp, *, is_idle: bool = False
) -> bool:
    """Return whether the timestamp lets its transaction start.

    Args:
        low_water_mark: the greatest number such that every transaction of this run of the clock
            up to and including it has committed; 0 for none.
        timestamp: of the transaction that wants to start.
        is_idle: whether everything scheduled before has committed. Only this lets a view
            change start: it has no place on the clock.

    Source: ``clock_leq`` and ``get_lwm_timestamp`` of MySQL's logical-clock coordinator.
    """
    if timestamp.is_view_change:
        return is_idle
    return timestamp.last_committed <= low_water_mark


def may_overlap(earlier: LogicalTimestamp, later: LogicalTimestamp) -> bool:
    """Return whether ``later`` may start before ``earlier`` has committed.

    ``earlier`` comes first in the log, and both belong to one run of the clock. This is what
    the timestamps alone allow; an applier may allow less (a gap in the numbers, last_committed 0
    and a transaction without write set are fences to MySQL's).
    """
    if earlier.is_view_change or later.is_view_change:
        return False
    return later.last_committed < earlier.sequence_number
