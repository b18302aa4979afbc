"""Runs that break a property, and the smallest of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from paraply.adapters.conformance.cases.case import Case
from paraply.adapters.conformance.session import Run
from paraply.conforming.shrinking import Kept, Shrinking
from paraply.counterexamples.showing.alternatives import Alternatives, alternatives_of
from paraply.properties.registry import Property, Violation
from paraply.properties.search import random_schedules
from paraply.properties.shrinking import without_trailing_zeros
from paraply.vocabulary.history import History
from paraply.vocabulary.programs import encode_program, format_program
from paraply.vocabulary.schedule import Schedule

_SCHEDULES_PER_LOG = 6
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
    def size(self) -> tuple[int, int]:
        """Return the numbers of transactions and events."""
        return len(self.history.transactions), len(self.history.events)

    def repeated(self, broken: int, repeats: int) -> Breach:
        """Return the breach with the share of runs that break the property."""
        return replace(self, broken=broken, repeats=repeats)

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


def smallest_breach(runner: Runner, case: Case, found: Breach) -> Breach:
    """Return the smallest breach within the runner's limit of runs."""

    def attempt(schedule: Schedule, kept: Kept) -> Breach | None:
        run = runner.run_once(case, schedule, found.seed, kept)
        violations = () if run.fault else found.prop.violations(run.history)
        if not violations:
            return None
        return replace(
            found,
            violations=violations,
            history=run.history,
            choices=without_trailing_zeros(tuple(schedule.choices)),
            kept=kept,
        )

    log = case.log(found.seed)
    can_drop = log.only(()) is not None
    return Shrinking(
        attempt,
        found,
        others=lambda _: random_schedules(found.seed, _SCHEDULES_PER_LOG),
        droppable=[one.id for one in log.transactions] if can_drop else (),
        runs_max=runner.shrink_runs_max,
    ).smallest()


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
