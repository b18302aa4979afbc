"""Shrink a failing run of a program: fewer transactions first, then fewer and plainer choices.

A program that does not repeat itself fails in a share of the runs of one schedule. A candidate
then has several runs, and counts if one of them fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from math import ceil
from typing import Generic, Protocol, Self, TypeVar

from paraply.properties.shrinking import (
    BreakingRun,
    Choices,
    Edit,
    Size,
    shrink_run,
    without_trailing_zeros,
)
from paraply.vocabulary.schedule import RecordedSchedule, Schedule

_REPEATS = 3
_REPEATS_OF_A_RACE = 20
_TRIES_MAX = 8
SECONDS_MAX = 30.0
"""Of shrinking, at the pace of the first repetitions."""

Kept = tuple[int, ...] | None
"""Remaining transaction ids; None for all."""


class Failure(Protocol):
    """A failing run of a schedule."""

    @property
    def choices(self) -> Choices:
        """Return the schedule, without trailing zeros."""
        ...

    @property
    def kept(self) -> Kept:
        """Return the transactions of the log."""
        ...

    @property
    def size(self) -> tuple[int, int]:
        """Return the numbers of transactions and steps."""
        ...

    def repeated(self, broken: int, repeats: int) -> Self:
        """Return the failure with the share of runs that fail."""
        ...


F = TypeVar("F", bound=Failure)


class Shrinking(Generic[F]):
    """Shrinks one failure.

    Args:
        attempt: runs a schedule on the kept transactions; returns the same failure, or None.
        others: further schedules for a log with fewer transactions.
        droppable: transactions that may be left out.
        runs_max: limit of runs, which is lower where each takes long.
    """

    def __init__(
        self,
        attempt: Callable[[Schedule, Kept], F | None],
        found: F,
        *,
        others: Callable[[Kept], Iterable[Schedule]],
        droppable: Sequence[int],
        runs_max: int,
        seconds_max: float = SECONDS_MAX,
    ) -> None:
        self._attempt = attempt
        self._found = found
        self._others = others
        self._droppable = droppable
        self._runs_max = self._runs_left = runs_max
        self._seconds_max = seconds_max
        self._tries = 1
        self._tried: set[Choices] = set()

    def smallest(self) -> F:
        """Return the smallest failure within the limit of runs, with its share."""
        began = time.monotonic()
        self._found, repeats = self._repeated()
        seconds_each = (time.monotonic() - began) / (repeats - 1)
        runs = int(self._seconds_max / max(seconds_each, 1e-6))
        self._runs_max = self._runs_left = min(self._runs_max, runs)
        self._drop_transactions()
        run = BreakingRun(self._found.choices, self._size(self._found))
        shrink_run(self, run, runs_max=max(self._runs_left, self._runs_max // 2))
        return self._repeated()[0]

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        """Try each edit once."""
        tried = 0
        for tried, edit in enumerate(edits, start=1):
            candidate = without_trailing_zeros(edit.of(program))
            if candidate in self._tried:
                continue
            self._tried.add(candidate)
            failure = self._run(RecordedSchedule(candidate), self._found.kept)
            if failure is not None and (below is None or self._size(failure) < below):
                self._found = failure
                return tried, BreakingRun(failure.choices, self._size(failure))
        return tried, None

    @staticmethod
    def _size(failure: F) -> Size:
        return (*failure.size, len(failure.choices), sum(failure.choices))

    def _repeated(self) -> tuple[F, int]:
        found = self._found
        broken = runs = 1
        while runs < (_REPEATS if broken == runs else _REPEATS_OF_A_RACE):
            runs += 1
            broken += self._attempt(RecordedSchedule(found.choices), found.kept) is not None
        self._tries = 1 if broken == runs else min(_TRIES_MAX, ceil(2 * runs / broken))
        return found.repeated(broken, runs), runs

    def _drop_transactions(self) -> None:
        kept = list(self._droppable)
        length = len(kept) // 2
        while length:
            start = len(kept) - length
            while start >= 0 and self._runs_left > 0:
                candidate = kept[:start] + kept[start + length :]
                if self._fails_on(tuple(candidate)):
                    kept = candidate
                start -= length
            length //= 2

    def _fails_on(self, kept: tuple[int, ...]) -> bool:
        for schedule in (RecordedSchedule(self._found.choices), *self._others(kept)):
            failure = self._run(schedule, kept)
            if failure is not None:
                self._found = failure
                return True
        return False

    def _run(self, schedule: Schedule, kept: Kept) -> F | None:
        for attempt in range(self._tries):
            self._runs_left -= 1
            again = RecordedSchedule(schedule.choices) if attempt else schedule
            failure = self._attempt(again, kept)
            if failure is not None:
                return failure
        return None
