"""Searching runs of a system for a breach of a property, and making what was found small.

The system is a function from a schedule to a history, so this knows nothing of subjects. Every
run is made from a seed or is part of an enumeration; what is found is a list of choices that
replays it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from properties.registry import Property, Violation
from vocabulary.history import History
from vocabulary.schedule import Exploration, RecordedSchedule, Schedule, SeededSchedule

System = Callable[[Schedule], History]

SEED_STRIDE = 1_000_003
"""Run n of seed s has the random seed s * SEED_STRIDE + n, so seeds do not share runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A run that breaks a property.

    Attributes:
        choices: the program that replays it.
        history: what it does.
        violations: the breaches in it, one at least.
        runs: how many runs were made to find it, this one included.
    """

    choices: tuple[int, ...]
    history: History
    violations: tuple[Violation, ...]
    runs: int


def random_schedules(seed: int, runs_max: int) -> Iterable[SeededSchedule]:
    """Yield the random schedules that belong to a seed."""
    return (SeededSchedule(seed * SEED_STRIDE + number) for number in range(runs_max))


def search(system: System, prop: Property, schedules: Iterable[Schedule]) -> Counterexample | None:
    """Run the system on each schedule until one breaks the property; None if none does."""
    for runs, schedule in enumerate(schedules, start=1):
        history = system(schedule)
        violations = prop.violations(history)
        if violations:
            return Counterexample(
                choices=tuple(schedule.choices), history=history, violations=violations, runs=runs
            )
    return None


def search_exhaustively(
    system: System, prop: Property, *, runs_max: int
) -> tuple[Counterexample | None, bool]:
    """Enumerate runs until one breaks the property.

    Returns the counterexample, if there is one, and whether all runs were made.
    """
    exploration = Exploration(runs_max=runs_max)
    found = search(system, prop, exploration)
    return found, exploration.is_complete


def shrink(
    system: System, prop: Property, found: Counterexample, *, runs_max: int = 2_000
) -> Counterexample:
    """Return a run that breaks the property too, with fewer transactions, events and choices.

    Choices are left out in chunks, then set to 0 or lowered, as long as anything helps.
    """
    smallest = found
    runs = 0

    def attempt(choices: Sequence[int]) -> bool:
        nonlocal smallest, runs
        runs += 1
        schedule = RecordedSchedule(choices)
        history = system(schedule)
        violations = prop.violations(history)
        made = _without_trailing_zeros(schedule.choices)
        if not violations or _size(history, made) >= _size(smallest.history, smallest.choices):
            return False
        smallest = Counterexample(
            choices=made, history=history, violations=violations, runs=found.runs
        )
        return True

    improved = True
    while improved and runs < runs_max:
        improved = False
        for candidate in _simpler(smallest.choices):
            if runs >= runs_max:
                break
            if attempt(candidate):
                improved = True
                break
    return smallest


def _size(history: History, choices: Sequence[int]) -> tuple[int, int, int, int]:
    return len(history.transactions), len(history.events), len(choices), sum(choices)


def _without_trailing_zeros(choices: Sequence[int]) -> tuple[int, ...]:
    """Return the choices without those at the end that a replay makes by itself."""
    end = len(choices)
    while end and choices[end - 1] == 0:
        end -= 1
    return tuple(choices[:end])


def _simpler(choices: tuple[int, ...]) -> Iterable[tuple[int, ...]]:
    """Yield shorter programs, long cuts first, then programs with a lower choice."""
    length = len(choices) // 2
    while length:
        for start in range(0, len(choices) - length + 1, max(1, length // 2)):
            yield choices[:start] + choices[start + length :]
        length //= 2
    for position, choice in enumerate(choices):
        for lower in dict.fromkeys((0, choice // 2, choice - 1)):
            if lower < choice:
                yield (*choices[:position], lower, *choices[position + 1 :])
