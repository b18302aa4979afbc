"""Shrink runs that break a property."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Protocol

from paraply.adapters.conformance.cases.case import Case
from paraply.adapters.conformance.session import Run
from paraply.counterexamples.showing.alternatives import Alternatives, alternatives_of
from paraply.properties.registry import Property, Violation
from paraply.properties.search import Counterexample, random_schedules
from paraply.properties.shrinking import ReadableOracle, shrink, without_trailing_zeros
from paraply.vocabulary.history import History
from paraply.vocabulary.programs import encode_program, format_program
from paraply.vocabulary.schedule import RecordedSchedule, Schedule

_SCHEDULES_PER_LOG = 6
_REPEATS = 3
_REPEATS_OF_A_RACE = 20
_TRIES_MAX = 8
_SECONDS_MAX = 30.0
"""Of shrinking, at the pace of the first repetitions."""
_OTHER_RUNS_MAX = 200
_OTHER_SECONDS_MAX = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """A broken property with its smallest run."""

    prop: Property
    violations: tuple[Violation, ...]
    history: History
    choices: tuple[int, ...]
    seed: int
    kept: tuple[int, ...] | None = None
    """Remaining transaction ids; None for all."""
    broken: int = 1
    """Breaking runs among ``repeats``: fewer under races."""
    repeats: int = 1

    @property
    def repeats_itself(self) -> bool:
        """Return whether every run breaks the property."""
        return self.broken == self.repeats

    @property
    def program(self) -> str:
        """Return the choices as argument text."""
        return format_program(encode_program(self.choices))


class Runner(Protocol):
    """Runs a case."""

    shrink_runs_max: int

    def run_once(
        self, case: Case, schedule: Schedule, seed: int, kept: Collection[int] | None = None
    ) -> Run:
        """Run a case once."""
        ...


class Shrinking:
    """Shrinks random logs first, then choices."""

    def __init__(self, runner: Runner, case: Case, found: Breach) -> None:
        self._runner = runner
        self._case = case
        self._found = found
        self._runs_max = self._runs_left = runner.shrink_runs_max
        self._tries = 1

    def smallest(self) -> Breach:
        """Return the smallest breach within the limit of runs, which is low where each waits.

        A nondeterministic candidate counts if one of several runs breaks the property.
        """
        began = time.monotonic()
        self._found = self._repeated(self._found)
        seconds_each = (time.monotonic() - began) / (self._found.repeats - 1)
        self._runs_max = min(self._runs_max, int(_SECONDS_MAX / max(seconds_each, 1e-6)))
        self._runs_left = self._runs_max
        if self._case.log(self._found.seed).only(()) is not None:
            self._drop_transactions()
        found = self._found
        counterexample = Counterexample(
            choices=found.choices, history=found.history, violations=found.violations, runs=1
        )
        shrunk = shrink(
            ReadableOracle(lambda one: self._run(one, found.kept).history, found.prop),
            counterexample,
            runs_max=max(self._runs_left, self._runs_max // 2),
        )
        return self._repeated(
            replace(
                found, choices=shrunk.choices, history=shrunk.history, violations=shrunk.violations
            )
        )

    def _repeated(self, breach: Breach) -> Breach:
        broken = runs = 1
        while runs < (_REPEATS if broken == runs else _REPEATS_OF_A_RACE):
            run = self._runner.run_once(
                self._case, RecordedSchedule(breach.choices), breach.seed, breach.kept
            )
            runs += 1
            broken += bool(not run.fault and breach.prop.violations(run.history))
        self._tries = 1 if broken == runs else min(_TRIES_MAX, ceil(2 * runs / broken))
        return replace(breach, broken=broken, repeats=runs)

    def _drop_transactions(self) -> None:
        kept = [one.id for one in self._case.log(self._found.seed).transactions]
        length = len(kept) // 2
        while length:
            start = len(kept) - length
            while start >= 0 and self._runs_left > 0:
                candidate = kept[:start] + kept[start + length :]
                if self._still_breaks(candidate):
                    kept = candidate
                start -= length
            length //= 2

    def _still_breaks(self, kept: Sequence[int]) -> bool:
        prop = self._found.prop
        schedules: list[Schedule] = [RecordedSchedule(self._found.choices)]
        schedules += random_schedules(self._found.seed, _SCHEDULES_PER_LOG)
        for schedule in schedules:
            run = self._run(schedule, kept)
            violations = () if run.fault else prop.violations(run.history)
            if violations:
                self._found = replace(
                    self._found,
                    violations=violations,
                    history=run.history,
                    choices=without_trailing_zeros(tuple(schedule.choices)),
                    kept=tuple(kept),
                )
                return True
        return False

    def _run(self, schedule: Schedule, kept: Collection[int] | None) -> Run:
        for attempt in range(self._tries):
            self._runs_left -= 1
            again = RecordedSchedule(schedule.choices) if attempt else schedule
            run = self._runner.run_once(self._case, again, self._found.seed, kept)
            if not run.fault and self._found.prop.violations(run.history):
                break
        schedule.choices[:] = again.choices
        return run


def other_choices(runner: Runner, case: Case, breach: Breach) -> Alternatives:
    """Return the rejected choices' results."""

    def system(schedule: Schedule) -> History:
        return runner.run_once(case, schedule, breach.seed, breach.kept).history

    return alternatives_of(
        system,
        breach.prop,
        breach.choices,
        runs_max=_OTHER_RUNS_MAX,
        seconds_max=_OTHER_SECONDS_MAX,
    )
