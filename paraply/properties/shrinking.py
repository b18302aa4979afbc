"""Shrinking: a breaking run becomes shorter, edit by edit.

An :class:`Oracle` decides which programs break the property: ``ReadableOracle``, or kernels in
``paraply.mining.compiled.oracle``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple, Protocol

from paraply.properties.registry import Property
from paraply.properties.search import Counterexample, System, random_schedules, search
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Exploration, RecordedSchedule

Choices = tuple[int, ...]
Size = tuple[int, int, int, int]
"""Transactions, events, choices, sum; in this order."""

SHRINK_RUNS_MAX = 2_000
NOTHING = -1


class Edit(NamedTuple):
    """Replaces ``length`` choices from ``start`` with ``put``."""

    start: int
    length: int
    put: int = NOTHING

    def of(self, program: Choices) -> Choices:
        """Return the edited program."""
        put = () if self.put == NOTHING else (self.put,)
        return program[: self.start] + put + program[self.start + self.length :]


UNCHANGED = Edit(0, 0)


class BreakingRun(NamedTuple):
    """A breaking run's size and choices, without trailing zeros."""

    choices: Choices
    size: Size

    @classmethod
    def of(cls, choices: Iterable[int], history: History) -> BreakingRun:
        """Return the run of these choices."""
        made = without_trailing_zeros(tuple(choices))
        size = (len(history.transactions), len(history.events), len(made), sum(made))
        return cls(made, size)


class Enumerated(NamedTuple):
    """The first breach, run count, and completeness."""

    run: BreakingRun | None
    runs: int
    is_complete: bool


class EditOracle(Protocol):
    """Decides which edits of a program break."""

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        """Return the first breaking edit below a size, and the number tried."""


class Oracle(EditOracle, Protocol):
    """Decides which runs break a property."""

    def drawn(self, seed: int, runs_max: int, first: int = 0) -> tuple[int, BreakingRun | None]:
        """Return the first breaking random run, and the number made.

        They begin with number ``first``; those before it come last.
        """

    def enumerated(self, runs_max: int) -> Enumerated:
        """Return the first depth-first breaking run."""

    def counterexample(self, run: BreakingRun, runs: int) -> Counterexample:
        """Return the run in full."""


class ReadableOracle:
    """Judges each history once."""

    def __init__(self, system: System, prop: Property) -> None:
        self._system = system
        self._prop = prop
        self._tried: dict[Choices, Size | None] = {}
        self._answered: tuple[BreakingRun, Counterexample] | None = None

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        """Try each edit once."""
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

    def drawn(self, seed: int, runs_max: int, first: int = 0) -> tuple[int, BreakingRun | None]:
        """Search the random runs."""
        found = search(self._system, self._prop, random_schedules(seed, runs_max, first))
        return (
            (runs_max, None)
            if found is None
            else (found.runs, BreakingRun.of(found.choices, found.history))
        )

    def enumerated(self, runs_max: int) -> Enumerated:
        """Search the enumeration."""
        exploration = Exploration(runs_max=runs_max)
        found = search(self._system, self._prop, exploration)
        if found is None:
            return Enumerated(None, exploration.count, exploration.is_complete)
        # A system may ask an enumeration fewer questions: its choices then mean another run.
        _, run = self.edited(found.choices, (UNCHANGED,))
        return Enumerated(run, exploration.count if run else 0, False)

    def counterexample(self, run: BreakingRun, runs: int) -> Counterexample:
        """Return the last answered run, or repeat it."""
        is_known = self._answered is not None and self._answered[0] == run
        found = self._answered[1] if is_known and self._answered else self._run(run.choices)
        assert found is not None, "the system does not do the same again"
        return replace(found, choices=run.choices, runs=runs)

    def _run(self, program: Choices) -> Counterexample | None:
        return search(self._system, self._prop, (RecordedSchedule(program),))


def shrink(
    oracle: Oracle, found: Counterexample, *, runs_max: int = SHRINK_RUNS_MAX
) -> Counterexample:
    """Return a smaller breaking run."""
    run = shrink_run(oracle, BreakingRun.of(found.choices, found.history), runs_max=runs_max)
    return found if run.choices == found.choices else oracle.counterexample(run, found.runs)


def shrink_run(
    oracle: EditOracle, found: BreakingRun, *, runs_max: int = SHRINK_RUNS_MAX
) -> BreakingRun:
    """Delete chunks of choices, then lower choices.

    With enough runs, no single edit makes the result smaller.
    """
    smallest = found
    while runs_max > 0:
        edits = Simplifications(smallest.choices, runs_max)
        tried, smaller = oracle.edited(smallest.choices, edits, below=smallest.size)
        runs_max -= tried
        if smaller is None:
            break
        smallest = smaller
    return smallest


@dataclass(frozen=True, slots=True)
class Simplifications:
    """The first ``count`` edits that may make a program simpler, as oracles may list themselves."""

    choices: Choices
    count: int

    def __iter__(self) -> Iterator[Edit]:
        return islice(self._all(), self.count)

    def _all(self) -> Iterator[Edit]:
        length = len(self.choices) // 2
        while length:
            yield from cuts(self.choices, length, step=max(1, length // 2))
            length //= 2
        for position, choice in enumerate(self.choices):
            for lower in dict.fromkeys((0, choice // 2, choice - 1)):
                if 0 <= lower < choice:
                    yield Edit(position, 1, lower)


def cuts(choices: Choices, length: int, *, step: int = 1) -> Iterator[Edit]:
    """Yield the cuts of ``length`` choices, each program once if ``step`` is 1."""
    for start in range(0, len(choices) - length + 1, step):
        # Skip a cut equal to the one a place earlier.
        if step > 1 or start == 0 or choices[start - 1] != choices[start + length - 1]:
            yield Edit(start, length)


def without_trailing_zeros(choices: Choices) -> Choices:
    """Return choices without trailing zeros, which replays supply."""
    end = len(choices)
    while end and choices[end - 1] == 0:
        end -= 1
    return choices[:end]
