"""Shrinking: a run that breaks a property becomes a shorter one, edit by edit.

The algorithm only asks an :class:`Oracle` which of many programs still breaks the property. The one
here runs the system and judges the history; ``paraply.mining.compiled.oracle`` answers the same in
kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, Protocol

from paraply.properties.registry import Property
from paraply.properties.search import Counterexample, System, random_schedules, search
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Exploration, RecordedSchedule

Choices = tuple[int, ...]
Size = tuple[int, int, int, int]
"""Transactions, events, choices and their sum: what is compared, in this order."""

SHRINK_RUNS_MAX = 2_000
NOTHING = -1


class Edit(NamedTuple):
    """A change of a program: ``length`` choices from ``start`` on give way to ``put``, if any."""

    start: int
    length: int
    put: int = NOTHING

    def of(self, program: Choices) -> Choices:
        """Return the program that it makes of another."""
        put = () if self.put == NOTHING else (self.put,)
        return program[: self.start] + put + program[self.start + self.length :]


UNCHANGED = Edit(0, 0)


class BreakingRun(NamedTuple):
    """A run that breaks the property: its choices without the zeros at the end, and its size."""

    choices: Choices
    size: Size

    @classmethod
    def of(cls, choices: Iterable[int], history: History) -> BreakingRun:
        """Return the run that choices made."""
        made = without_trailing_zeros(tuple(choices))
        size = (len(history.transactions), len(history.events), len(made), sum(made))
        return cls(made, size)


class Enumerated(NamedTuple):
    """What an enumeration came to: the first breach if any, runs made, and whether all were."""

    run: BreakingRun | None
    runs: int
    is_complete: bool


class Oracle(Protocol):
    """Says which runs of one system break one property."""

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        """Return the first edit's run that breaks it, if below a size, and how many were tried."""

    def drawn(self, seed: int, runs_max: int) -> tuple[int, BreakingRun | None]:
        """Return the first of a seed's random runs that breaks it, and how many were made."""

    def enumerated(self, runs_max: int) -> Enumerated:
        """Return the first run that breaks it in depth-first order."""

    def counterexample(self, run: BreakingRun, runs: int) -> Counterexample:
        """Return the run in full, as found after so many runs."""


class ReadableOracle:
    """The oracle that runs the system itself and judges each history; it tries nothing twice."""

    def __init__(self, system: System, prop: Property) -> None:
        self._system = system
        self._prop = prop
        self._tried: dict[Choices, Size | None] = {}
        self._answered: tuple[BreakingRun, Counterexample] | None = None

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        """Try edit by edit; a run that was made before is remembered by its size."""
        tried = 0
        for tried, edit in enumerate(edits, start=1):
            candidate = without_trailing_zeros(edit.of(program))
            if candidate in self._tried:
                known = self._tried[candidate]
                if known is None or (below is not None and known >= below):
                    continue
            found = self._run(candidate)
            run = None if found is None else BreakingRun.of(found.choices, found.history)
            self._tried[candidate] = run and run.size
            if run is not None and found is not None and (below is None or run.size < below):
                self._answered = run, found
                return tried, run
        return tried, None

    def drawn(self, seed: int, runs_max: int) -> tuple[int, BreakingRun | None]:
        """Search the random runs."""
        found = search(self._system, self._prop, random_schedules(seed, runs_max))
        return (
            (runs_max, None)
            if found is None
            else (found.runs, BreakingRun.of(found.choices, found.history))
        )

    def enumerated(self, runs_max: int) -> Enumerated:
        """Search the enumeration."""
        exploration = Exploration(runs_max=runs_max)
        found = search(self._system, self._prop, exploration)
        run = None if found is None else BreakingRun.of(found.choices, found.history)
        return Enumerated(run, exploration.count, exploration.is_complete)

    def counterexample(self, run: BreakingRun, runs: int) -> Counterexample:
        """Return the run that was answered last, or make it again."""
        is_known = self._answered is not None and self._answered[0] == run
        found = self._answered[1] if is_known and self._answered else self._run(run.choices)
        assert found is not None, "the system does not do the same again"
        return replace(found, choices=run.choices, runs=runs)

    def _run(self, program: Choices) -> Counterexample | None:
        return search(self._system, self._prop, (RecordedSchedule(program),))


def shrink(
    oracle: Oracle, found: Counterexample, *, runs_max: int = SHRINK_RUNS_MAX
) -> Counterexample:
    """Return a run that breaks the property too, with fewer transactions, events and choices."""
    run = shrink_run(oracle, BreakingRun.of(found.choices, found.history), runs_max=runs_max)
    return found if run.choices == found.choices else oracle.counterexample(run, found.runs)


def shrink_run(
    oracle: Oracle, found: BreakingRun, *, runs_max: int = SHRINK_RUNS_MAX
) -> BreakingRun:
    """Leave out choices in chunks, then lower them, as long as this makes the run smaller.

    If the runs suffice, the result is one-minimal: no single edit makes it smaller.
    """
    smallest = found
    while runs_max > 0:
        edits = islice(_simplifications(smallest.choices), runs_max)
        tried, smaller = oracle.edited(smallest.choices, edits, below=smallest.size)
        runs_max -= tried
        if smaller is None:
            break
        smallest = smaller
    return smallest


def _simplifications(choices: Choices) -> Iterator[Edit]:
    """Yield cuts, long ones first, then lower choices."""
    length = len(choices) // 2
    while length:
        yield from cuts(choices, length, step=max(1, length // 2))
        length //= 2
    for position, choice in enumerate(choices):
        for lower in dict.fromkeys((0, choice // 2, choice - 1)):
            if lower < choice:
                yield Edit(position, 1, lower)


def cuts(choices: Choices, length: int, *, step: int = 1) -> Iterator[Edit]:
    """Yield the edits that leave out so many choices, each program once where ``step`` is 1."""
    for start in range(0, len(choices) - length + 1, step):
        # Cut one place earlier it was the same program.
        if step > 1 or start == 0 or choices[start - 1] != choices[start + length - 1]:
            yield Edit(start, length)


def without_trailing_zeros(choices: Choices) -> Choices:
    """Return the choices without those at the end that a replay makes by itself."""
    end = len(choices)
    while end and choices[end - 1] == 0:
        end -= 1
    return choices[:end]
