"""Draw a workload: sizes, options and fault budgets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Option, Subject, Workload
from paraply.vocabulary.biased_schedules import MixedSchedule
from paraply.vocabulary.history import History, OptionValue
from paraply.vocabulary.schedule import Schedule

ABOVE_DEFAULT = 2
"""Limit of drawn numbers, unless NUMBER_MAX is greater."""
NUMBER_MAX = 4
SIZES_MAX = {"transactions": 10, "rows": 6, "members": 4}
LARGE = 100
"""Numbers up to more than this are drawn by their magnitude: a small history soon is full."""
WORKERS_DRAWS = 3
SEEDS = 2**32


def drawn_workload(subject: Subject, dialect: str, choices: random.Random) -> Workload:
    """Draw a workload; half of the options keep their default.

    Sizes are the larger of two draws, because little happens in small workloads.
    """
    options = {
        option.name: drawn_value(option, choices)
        for option in subject.options
        if choices.random() < 0.5
    }
    sizes = {
        name: max(choices.randint(1, most), choices.randint(1, most))
        for name, most in SIZES_MAX.items()
    }
    return Workload(dialect=dialect, options=options, **sizes)


def drawn_value(option: Option, choices: random.Random) -> OptionValue:
    """Draw an allowed value."""
    if isinstance(option.default, bool):
        return choices.random() < 0.5
    if isinstance(option.default, int):
        most = min(option.greatest, max(NUMBER_MAX, option.default + ABOVE_DEFAULT))
        if most > LARGE:
            most = min(most, 2 ** choices.randint(1, most.bit_length()))
        # One worker alone overlaps with nothing.
        draws = WORKERS_DRAWS if option.name == "workers" else 1
        return max(choices.randint(option.least, most) for _ in range(draws))
    return choices.choice(option.choices) if option.choices else option.default


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Draws sizes and options for each run, but for those that are given.

    Attributes:
        given: every run has its dialect and its options.
        sizes: ``transactions``, ``rows`` and ``members``, where every run has that of ``given``.
    """

    subject: Subject
    given: Workload
    sizes: frozenset[str] = frozenset()

    def workload(self, seed: int) -> Workload:
        """Return the workload of the schedule with a seed."""
        choices = random.Random(f"{self.subject.name} {self.given.dialect} {seed}")
        drawn = drawn_workload(self.subject, self.given.dialect, choices)
        kept = {name: getattr(self.given, name) for name in self.sizes}
        return replace(drawn, options={**drawn.options, **self.given.options}, **kept)

    def run(self, schedule: Schedule) -> History:
        """Run the subject on a schedule of :func:`drawn_schedules`."""
        assert isinstance(schedule, MixedSchedule), "only a seed's run has a workload of its own"
        return self.subject.run(schedule, self.workload(schedule.seed))


def drawn_schedule(seed: int) -> MixedSchedule:
    """Return a seed's schedule, uniform or biased."""
    return MixedSchedule(seed)


def drawn_schedules(seed: int, count: int) -> Iterator[MixedSchedule]:
    """Yield schedules of a seed, uniform and biased."""
    return (drawn_schedule(one.seed) for one in random_schedules(seed, count))
