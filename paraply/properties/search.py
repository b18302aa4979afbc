"""Search runs of a system for a breach.

A system maps a schedule to a history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from paraply.properties.registry import Property, Violation
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Schedule, SeededSchedule

System = Callable[[Schedule], History]

SEED_STRIDE = 1_000_003
"""Run n of seed s uses s * SEED_STRIDE + n: no shared runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A run that breaks a property.

    Attributes:
        choices: the program that replays it.
        runs: runs made, this one included.
    """

    choices: tuple[int, ...]
    history: History
    violations: tuple[Violation, ...]
    runs: int


def random_schedules(seed: int, runs_max: int, first: int = 0) -> Iterable[SeededSchedule]:
    """Yield a seed's random schedules, those before number ``first`` at the end."""
    numbers = (*range(first, runs_max), *range(first))
    return (SeededSchedule(seed * SEED_STRIDE + number) for number in numbers)


def search(system: System, prop: Property, schedules: Iterable[Schedule]) -> Counterexample | None:
    """Return the first breaking run."""
    for runs, schedule in enumerate(schedules, start=1):
        history = system(schedule)
        violations = prop.violations(history)
        if violations:
            return Counterexample(
                choices=tuple(schedule.choices), history=history, violations=violations, runs=runs
            )
    return None
