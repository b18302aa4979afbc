"""Making a counterexample small: fewer transactions, fewer rows, fewer choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from paraply.hunt import RUNS_BELOW, hunt_subject, system_of
from properties.registry import Property
from properties.search import Counterexample, shrink
from reference_impl.subject import Subject, Workload
from vocabulary.programs import encode_program, format_program
from vocabulary.schedule import RecordedSchedule

CUT_LENGTH_MAX = 6
"""Choices that one transaction takes; to leave one out is to leave about so many out."""
ATTEMPTS_MAX = 200
"""Runs at one smaller size, with the choices found so far or with some of them left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smallest:
    """The smallest breach found: the run, and the workload that it is a run of."""

    workload: Workload
    counterexample: Counterexample

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
    return shrink_workload(subject, Smallest(workload=workload, counterexample=found), prop)


def shrink_workload(subject: Subject, smallest: Smallest, prop: Property) -> Smallest:
    """Take away transactions, then rows, as long as some of the choices still break it."""
    for size in ("transactions", "rows"):
        while getattr(smallest.workload, size) > 1:
            smaller = replace(smallest.workload, **{size: getattr(smallest.workload, size) - 1})
            found = _break_with_fewer_choices(subject, smaller, prop, smallest.counterexample)
            if found is None:
                break
            smallest = Smallest(workload=smaller, counterexample=found)
    return smallest


def _break_with_fewer_choices(
    subject: Subject, workload: Workload, prop: Property, found: Counterexample
) -> Counterexample | None:
    system = system_of(subject, workload)
    for attempts, choices in enumerate(_shorter(found.choices), start=1):
        schedule = RecordedSchedule(choices)
        history = system(schedule)
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
