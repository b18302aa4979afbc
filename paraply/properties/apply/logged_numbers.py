"""The numbers of a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import apply_streams
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import logged_numbers, numbering_sources
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedNumberWrong(Violation):
    """A log has a number that no source writes."""

    transaction: TransactionId
    numbers: tuple[int, int]
    last: int

    def __str__(self) -> str:
        return (
            f"the log has T{self.transaction} with last_committed {self.numbers[0]} and "
            f"sequence_number {self.numbers[1]}, after sequence_number {self.last}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNumberedOn(Violation):
    """A file's numbers begin unlike those of the log."""

    transaction: TransactionId
    numbers: LogicalTimestamp
    expected: LogicalTimestamp

    def __str__(self) -> str:
        return (
            f"T{self.transaction} begins a file of the log with {self.numbers}; the log began with "
            f"{self.expected}"
        )


def numbers_of_a_whole_log(history: History) -> bool:
    """Replicas apply a whole log with last_committed and sequence_number."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and not history.header.recorded_by.startswith("paraply conform")
        and logged_numbers(history)
    )


def numbers_of_a_log(history: History) -> bool:
    """A source writes, or replicas apply, a log with last_committed and sequence_number."""
    return numbering_sources(history) or numbers_of_a_whole_log(history)


@always(
    of=numbers_of_a_log,
    source="WL#7165: sequence_number, last_committed",
    witness=lambda history: sum(one.timestamp is not None for one in history.transactions),
)
def logged_numbers_rise_above_last_committed(history: History) -> tuple[LoggedNumberWrong, ...]:
    """In each file of a log the sequence numbers rise, each above its last_committed.

    A view change has (0, 0); numbers then begin again.
    """
    found = []
    last: dict[int, int] = {}
    for one in history.transactions:
        if one.timestamp is None:
            continue
        before, now = last.get(one.clock, 0), one.timestamp.sequence_number
        is_above = now > before and one.timestamp.last_committed < now
        if not one.timestamp.is_view_change and not is_above:
            found.append(
                LoggedNumberWrong(
                    transaction=one.id,
                    numbers=(one.timestamp.last_committed, now),
                    last=before,
                )
            )
        last[one.clock] = now
    return tuple(found)


def _first_numbers(history: History) -> list[tuple[TransactionId, LogicalTimestamp]]:
    """Return the first transaction of each file, and its numbers."""
    first: dict[int, tuple[TransactionId, LogicalTimestamp]] = {}
    for one in history.transactions:
        if one.timestamp is not None:
            first.setdefault(one.clock, (one.id, one.timestamp))
    return list(first.values())


@always(
    of=numbers_of_a_whole_log,
    source="WL#7165: sequence_number begins again in each binary log file",
    witness=lambda history: len(_first_numbers(history)) - 1,
)
def numbers_begin_again_in_each_file(history: History) -> tuple[FileNumberedOn, ...]:
    """The first transaction of each file of a log has the numbers of the log's first."""
    first = _first_numbers(history)
    return tuple(
        FileNumberedOn(transaction=one, numbers=numbers, expected=first[0][1])
        for one, numbers in first[1:]
        if numbers != first[0][1]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationPassedOver(Violation):
    """An applier hands out transactions of another file without having read the rotation."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} handed out T{self.transaction} of another file without a rotation"


def _first_of_files(history: History) -> Iterator[tuple[RotationPassedOver, bool]]:
    """Yield transactions of another file than the last, and whether a rotation was read between."""
    for stream in apply_streams(history):
        last: int | None = None
        is_read = False
        for _, event in stream.events:
            if event.kind is EventKind.RELAY_ROTATED:
                is_read = True
            elif event.kind in (EventKind.CRASHED, EventKind.STARTED):
                last = None
            elif event.kind in _HANDED_OUT and event.transaction is not None:
                clock = history.transaction(event.transaction).clock
                if last is not None and clock != last:
                    found = RotationPassedOver(member=stream.member, transaction=event.transaction)
                    yield found, is_read
                last, is_read = clock, False


_HANDED_OUT = frozenset({EventKind.SCHEDULED, EventKind.SKIPPED})


@always(
    of=numbers_of_a_whole_log,
    source="Mts_submode_logical_clock: numbers begin again after a rotation of the source's log",
    witness=lambda history: sum(1 for _ in _first_of_files(history)),
)
def rotations_are_read_between_files(history: History) -> tuple[RotationPassedOver, ...]:
    """A coordinator reads a rotation before it hands out a transaction of another file."""
    return tuple(found for found, is_read in _first_of_files(history) if not is_read)
