"""Is a recorded history one that a subject can produce?

A depth-first search over schedules, cut where the recorded events leave the given ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Schedule

TRIES_MAX = 400


class Possible(Enum):
    """The answer; ``UNKNOWN`` after too many tries."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class _DeadEndError(Exception):
    """The run has left the given history."""


class _GuidedSchedule(Schedule):
    """Follows a prefix, then the hint, then first options, while the history agrees."""

    def __init__(self, prefix: Sequence[int], hint: Sequence[int], given: History) -> None:
        super().__init__()
        self.recorder = Recorder()
        self.counts: list[int] = []
        self._prefix = prefix
        self._hint = hint
        self._given = given
        self._agreed = 0

    def agrees(self) -> bool:
        """Return whether the record so far is a prefix of the given history."""
        events, transactions = self.recorder.events, self.recorder.transactions
        start, self._agreed = self._agreed, len(events)
        return (
            events[start:] == list(self._given.events[start : len(events)])
            and len(transactions) <= len(self._given.transactions)
            and transactions == list(self._given.transactions[: len(transactions)])
        )

    def choose_index(self, count: int, label: str = "") -> int:
        """Return the next index to try."""
        if count < 2:
            if count < 1:
                raise ValueError(f"nothing to choose from for {label}")
            return 0
        if not self.agrees():
            raise _DeadEndError
        at = len(self.choices)
        index = _preferred(self._hint, at, count)
        if at < len(self._prefix):
            index = _nth(index, self._prefix[at])
        self.counts.append(count)
        self.choices.append(index)
        return index


def _preferred(hint: Sequence[int], at: int, count: int) -> int:
    return hint[at] if at < len(hint) and hint[at] < count else 0


def _nth(preferred: int, number: int) -> int:
    """Return the option of a number, where number 0 is the preferred one."""
    if number == 0:
        return preferred
    return number - 1 if number <= preferred else number


def is_possible(
    subject: Subject,
    workload: Workload,
    history: History,
    hint: Sequence[int] = (),
    *,
    tries_max: int = TRIES_MAX,
) -> Possible:
    """Search for a schedule with exactly this history; ``hint`` are choices to try first."""
    dialect, options = subject.dialect_of(workload), subject.options_of(workload)
    numbers: list[int] = []
    for _ in range(tries_max):
        schedule = _GuidedSchedule(numbers, hint, history)
        try:
            subject.simulate(schedule, workload, dialect, options, schedule.recorder)
            if _is_equal(schedule.recorder, history):
                return Possible.YES
        except _DeadEndError:
            pass
        numbers += [0] * (len(schedule.counts) - len(numbers))
        del numbers[len(schedule.counts) :]
        while numbers and numbers[-1] + 1 >= schedule.counts[len(numbers) - 1]:
            numbers.pop()
        if not numbers:
            return Possible.NO
        numbers[-1] += 1
    return Possible.UNKNOWN


def _is_equal(recorder: Recorder, history: History) -> bool:
    return (
        tuple(recorder.events) == history.events
        and tuple(recorder.transactions) == history.transactions
        and recorder.is_complete == history.is_complete
    )
