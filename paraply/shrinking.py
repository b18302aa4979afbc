"""Making a counterexample small: fewer transactions, rows, members, faults and choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from paraply.hunt import RUNS_BELOW, hunt_subject, system_of
from properties.registry import Property
from properties.search import Counterexample, search, shrink
from reference_impl.subject import Subject, Workload
from vocabulary.errors import ParaplyError
from vocabulary.programs import encode_program, format_program
from vocabulary.schedule import Exploration, RecordedSchedule

CUT_LENGTH_MAX = 6
"""Choices that one transaction takes; to leave one out is to leave about so many out."""
CHECK_RUNS_MAX = 2_000
CHECK_CHOICES_MAX = 150
"""Leaving out and lowering each of more choices would take more runs than the check may make."""
RUNS_BELOW_MAX = 2_000
ATTEMPTS_MAX = 200
"""Runs at one smaller size, with the choices found so far or with some of them left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimality:
    """How far it is known that nothing smaller breaks the property.

    Attributes:
        is_one_minimal: leaving out any one choice, or lowering it, no longer gives a smaller run
            that breaks it.
        runs_below: runs of one transaction less that were made, in order of enumeration.
        is_exhausted: those were all there are, and none breaks it: no smaller workload does.
    """

    is_one_minimal: bool
    runs_below: int
    is_exhausted: bool

    def __str__(self) -> str:
        first = "one-minimal" if self.is_one_minimal else "not shown to be one-minimal"
        if self.is_exhausted:
            return (
                f"{first}; with a transaction less no run breaks it: all {self.runs_below:,} made"
            )
        if self.runs_below:
            return f"{first}; {self.runs_below:,} runs with a transaction less break nothing"
        return first


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """The smallest breach found: the run, and the workload that it is a run of."""

    workload: Workload
    counterexample: Counterexample
    minimality: Minimality | None = None

    @property
    def program(self) -> str:
        """Return the choices as text for a command line."""
        return format_program(encode_program(self.counterexample.choices))


def make_small(
    subject: Subject, workload: Workload, prop: Property, found: Counterexample, *, seed: int
) -> Smallest:
    """Return a small run that breaks the property.

    Runs of fewer transactions are tried first, at random from ``seed``; where none of them breaks
    it, what was found is cut.
    """
    if workload.transactions > 1:
        smaller = replace(workload, transactions=workload.transactions - 1)
        quarry = hunt_subject(subject, smaller, prop, seed=seed, runs_max=RUNS_BELOW)
        if quarry is not None:
            workload, found = quarry.workload, quarry.counterexample
    found = shrink(system_of(subject, workload), prop, found)
    smallest = shrink_workload(subject, Smallest(workload=workload, counterexample=found), prop)
    while (below := _enumerated_below(subject, smallest, prop)[0]) is not None:
        smallest = shrink_workload(subject, below, prop)
    return replace(smallest, minimality=minimality_of(subject, smallest, prop))


def shrink_workload(subject: Subject, smallest: Smallest, prop: Property) -> Smallest:
    """Take away what the workload allows, as long as some of the choices still break it.

    Transactions go first, then rows, members, and whatever numbers the subject's own options are:
    workers, crashes, time-outs.
    """
    improved = True
    while improved:
        improved = False
        for workload in _smaller_workloads(subject, smallest.workload):
            found = _break_with_fewer_choices(subject, workload, prop, smallest.counterexample)
            if found is not None:
                smallest = Smallest(workload=workload, counterexample=found)
                improved = True
                break
    return smallest


def minimality_of(subject: Subject, smallest: Smallest, prop: Property) -> Minimality:
    """Return how far it is known that nothing smaller breaks the property."""
    found = smallest.counterexample
    again = shrink(system_of(subject, smallest.workload), prop, found, runs_max=CHECK_RUNS_MAX)
    is_one_minimal = again.choices == found.choices and len(found.choices) < CHECK_CHOICES_MAX
    smaller, runs, is_exhausted = _enumerated_below(subject, smallest, prop)
    return Minimality(
        is_one_minimal=is_one_minimal,
        runs_below=0 if smaller is not None else runs,
        is_exhausted=smaller is None and is_exhausted,
    )


def _enumerated_below(
    subject: Subject, smallest: Smallest, prop: Property
) -> tuple[Smallest | None, int, bool]:
    """Enumerate runs with a transaction less: one that breaks it, how many, and whether all."""
    if smallest.workload.transactions <= 1:
        return None, 0, False
    below = replace(smallest.workload, transactions=smallest.workload.transactions - 1)
    exploration = Exploration(runs_max=RUNS_BELOW_MAX)
    system = system_of(subject, below)
    broken = search(system, prop, exploration)
    if broken is None:
        return None, exploration.count, exploration.is_complete
    return Smallest(workload=below, counterexample=shrink(system, prop, broken)), 0, False


def _smaller_workloads(subject: Subject, workload: Workload) -> Iterator[Workload]:
    """Yield workloads with one of something less, in the order in which a reader gains most."""
    for size in ("transactions", "rows", "members"):
        count = getattr(workload, size)
        if count > 1:
            yield replace(workload, **{size: count - 1})
    chosen = subject.options_of(workload)
    for option in subject.options:
        value = chosen[option.name]
        if isinstance(value, int) and not isinstance(value, bool) and value > option.least:
            # A size like 25,000 must not be counted down.
            for smaller in sorted({option.least, (option.least + value) // 2, value - 1}):
                yield replace(workload, options={**workload.options, option.name: smaller})


def _break_with_fewer_choices(
    subject: Subject, workload: Workload, prop: Property, found: Counterexample
) -> Counterexample | None:
    system = system_of(subject, workload)
    for attempts, choices in enumerate(_shorter(found.choices), start=1):
        schedule = RecordedSchedule(choices)
        try:
            history = system(schedule)
        except ParaplyError:
            return None  # Not every combination of options is a system.
        violations = prop.violations(history)
        if violations:
            broken = Counterexample(
                choices=tuple(schedule.choices),
                history=history,
                violations=violations,
                runs=found.runs,
            )
            return shrink(system, prop, broken)
        if attempts == ATTEMPTS_MAX:
            break
    return None


def _shorter(choices: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield choices
    for start in range(len(choices)):
        for length in range(1, CUT_LENGTH_MAX + 1):
            yield choices[:start] + choices[start + length :]
