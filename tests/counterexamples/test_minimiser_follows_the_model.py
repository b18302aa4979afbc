"""Recorded minimisations are runs of the model (P52), those of a faulty minimiser are not.

Each candidate is judged again from nothing, without the oracle's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import pytest

from paraply.counterexamples.hunt import system_of
from paraply.counterexamples.shrinking import Smallest, minimality_of
from paraply.mining.judges import properties_about
from paraply.models.claims.theorems import THEOREMS
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Scope, Table
from paraply.models.recorded.following import Recorded, RecordedStep, follow
from paraply.models.systems.minimiser import minimiser
from paraply.properties.registry import Verdict, verdict_of
from paraply.properties.search import random_schedules
from paraply.properties.shrinking import (
    SHRINK_RUNS_MAX,
    BreakingRun,
    Choices,
    Edit,
    EditOracle,
    ReadableOracle,
    Size,
    shrink_run,
    without_trailing_zeros,
)
from paraply.registries import mutant_named, property_named
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import RecordedSchedule

MUTANTS = (
    "first_item_decides",
    "looks_past_the_blocked",
    "low_water_mark_is_highest_done",
    "executed_set_is_lost_at_restart",
)
RUNS = 15
"""Breaching runs of each mutant."""
MODEL = CompiledReading(minimiser())


@dataclass
class Case:
    """One mutant and the property that it breaks."""

    mutant: str
    judged: dict[Choices, tuple[BreakingRun, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        mutant = mutant_named(self.mutant)
        self.prop = property_named(mutant.caught_by)
        self.system = system_of(mutant.subject, mutant.workload)

    def oracle(self) -> ReadableOracle:
        return ReadableOracle(self.system, self.prop)

    def breaches(self) -> list[BreakingRun]:
        found = []
        for schedule in random_schedules(11, 4_000):
            history = self.system(schedule)
            if self.prop.violations(history):
                found.append(BreakingRun.of(schedule.choices, history))
            if len(found) == RUNS:
                break
        return found

    def judge(self, choices: Choices) -> tuple[BreakingRun, bool]:
        """Return the run of these choices, and whether it breaks the property."""
        if choices not in self.judged:
            schedule = RecordedSchedule(choices)
            history = self.system(schedule)
            run = BreakingRun.of(schedule.choices, history)
            self.judged[choices] = run, bool(self.prop.violations(history))
        return self.judged[choices]


class Recorder:
    """Asks another oracle, and writes down each simplification in the order of trying."""

    def __init__(self, oracle: EditOracle) -> None:
        self.oracle = oracle
        self.rounds: list[tuple[Choices, list[Edit], int, BreakingRun | None]] = []

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        wanted = list(edits)
        tried, run = self.oracle.edited(program, wanted, below)
        self.rounds.append((program, wanted, tried, run))
        return tried, run


class Lister:
    """Notes what a minimiser with enough runs would try."""

    def __init__(self) -> None:
        self.offered: list[Edit] = []

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        self.offered = list(edits)
        return len(self.offered), None


def simplifications(choices: Choices) -> list[Edit]:
    lister = Lister()
    shrink_run(lister, BreakingRun(choices, (0, 0, 0, 0)), runs_max=1_000_000)
    return lister.offered


def read(case: Case, first: BreakingRun, recorder: Recorder, result: BreakingRun) -> Recorded:
    """Return the minimisation as steps of the model.

    Only the names of choices are taken from the minimiser: ``breaks`` and ``size`` are judged here.
    """
    known: dict[Choices, str] = {}
    breaks: Table = {}
    edit: Table = {}
    edits: Table = {}
    sizes: dict[str, Size] = {}
    steps: list[RecordedStep] = []

    def named(choices: Choices) -> str:
        run, is_broken = case.judge(choices)
        name = known.setdefault(run.choices, f"run{len(known)}")
        sizes[name], breaks[name, "property0"] = run.size, is_broken
        return name

    start = named(first.choices)
    for program, wanted, tried, run in recorder.rounds:
        here = known[program]
        edits[(here,)] = len(simplifications(program))
        for number, one in enumerate(wanted[:tried]):
            edit[here, number] = named(without_trailing_zeros(one.of(program)))
        taken = tried - 1 if run else tried
        steps += (_step("try_in_vain", i=number) for number in range(taken))
        if run is not None:
            after = (("kept", (), known[run.choices]),)
            steps.append(RecordedStep(actions=("take",), parameters={"i": taken}, seen=after))
    ended = (("kept", (), known[result.choices]),)
    steps.append(RecordedStep(actions=("end",), seen=ended))
    most = max(1, *(len(simplifications(program)) for program, *_ in recorder.rounds))
    ranks = {size: rank for rank, size in enumerate(sorted(set(sizes.values())))}
    return Recorded(
        scope=Scope(low=0, high=most, size=len(known)),
        start={
            "first": {(): start}, "kept": {(): start}, "wanted": {(): "property0"},
            "breaks": breaks, "edit": edit, "edits": edits,
            "size": {(name,): ranks[size] for name, size in sizes.items()},
        },
        steps=tuple(steps),
    )  # fmt: skip


def _step(action: str, **known: int) -> RecordedStep:
    return RecordedStep(actions=(action,), parameters=known)


def minimised(
    case: Case, first: BreakingRun, oracle: EditOracle, runs_max: int = SHRINK_RUNS_MAX
) -> tuple[Recorded, BreakingRun]:
    recorder = Recorder(oracle)
    result = shrink_run(recorder, first, runs_max=runs_max)
    return read(case, first, recorder, result), result


@cache
def case_of(mutant: str) -> Case:
    return Case(mutant)


@pytest.mark.long(each=5)
@pytest.mark.parametrize("name", MUTANTS)
def test_every_minimisation_is_a_run_of_the_model(name):
    case = case_of(name)
    oracle, taken = case.oracle(), 0
    breaches = case.breaches()
    assert len(breaches) >= 10
    for first in breaches:
        recorded, result = minimised(case, first, oracle)
        followed = follow(MODEL, recorded)
        assert followed.refused is None
        taken += sum("take" in step.actions for step in recorded.steps)
        assert case.judge(result.choices) == (result, True)
        assert result.size <= first.size
    assert taken >= len(breaches)


def test_every_single_choice_is_cut_and_lowered():
    choices = (3, 0, 2, 2, 1)
    tried = {one.of(choices) for one in simplifications(choices)}
    for place, choice in enumerate(choices):
        assert Edit(place, 1).of(choices) in tried
        for lower in {0, choice // 2, max(0, choice - 1)} - {choice}:
            assert Edit(place, 1, lower).of(choices) in tried


class AsksAnother:
    """A faulty oracle: it decides by other violations than the property's."""

    def __init__(self, case: Case, violations: Callable[[History], Sequence[object]]) -> None:
        self.case, self.violations = case, violations

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        tried = 0
        for tried, one in enumerate(edits, start=1):
            schedule = RecordedSchedule(one.of(program))
            history = self.case.system(schedule)
            run = BreakingRun.of(schedule.choices, history)
            if self.violations(history) and (below is None or run.size < below):
                return tried, run
        return tried, None


class AsksNoSize:
    """A faulty oracle: it takes runs of any size."""

    def __init__(self, case: Case) -> None:
        self.oracle = case.oracle()

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        return self.oracle.edited(program, edits)


class GoesOn:
    """A faulty minimiser's oracle: what was tried before a change is not tried again."""

    def __init__(self, case: Case) -> None:
        self.oracle, self.done = case.oracle(), 0

    def edited(
        self, program: Choices, edits: Iterable[Edit], below: Size | None = None
    ) -> tuple[int, BreakingRun | None]:
        tried, run = self.oracle.edited(program, list(edits)[self.done :], below)
        tried += self.done
        self.done = tried - 1
        return tried, run


def unknown_or_broken(case: Case) -> AsksAnother:
    def is_not_shown(history: History) -> Sequence[object]:
        return [Verdict.UNKNOWN] if verdict_of(history, case.prop) is not Verdict.HOLDS else []

    return AsksAnother(case, is_not_shown)


def any_breach(case: Case) -> AsksAnother:
    others = properties_about(mutant_named(case.mutant).subject)
    return AsksAnother(case, lambda history: [one for one in others if one.violations(history)])


FAULTS = {
    "C107": (unknown_or_broken, "take"),
    "C108": (any_breach, "take"),
    "C109": (AsksNoSize, "take"),
    "C110": (GoesOn, "try_in_vain"),
}


@pytest.mark.long(each=5)
@pytest.mark.parametrize("refuted", FAULTS)
def test_steps_of_a_faulty_minimiser_are_refused(refuted):
    faulty, action = FAULTS[refuted]
    case = case_of("looks_past_the_blocked")
    records = (minimised(case, one, faulty(case), runs_max=300)[0] for one in case.breaches())
    refusals = (follow(MODEL, recorded).refused for recorded in records)
    assert any(refused and refused.actions == (action,) for refused in refusals)


def test_run_is_not_called_minimal_where_the_budget_ended():
    case = case_of("first_item_decides")
    first = max(case.breaches(), key=lambda run: run.size)
    recorded, result = minimised(case, first, case.oracle(), runs_max=5)
    refused = follow(MODEL, recorded).refused
    assert refused is not None
    assert refused.actions == ("end",)
    given_up = replace(recorded, steps=(*recorded.steps[:-1], _step("give_up")))
    assert follow(MODEL, given_up).refused is None
    subject, workload = mutant_named(case.mutant).subject, mutant_named(case.mutant).workload
    found = case.oracle().counterexample(result, 1)
    raw = Smallest(workload=workload, counterexample=found)
    assert not minimality_of(subject, raw, case.prop).is_one_minimal


def test_each_refuted_statement_has_its_fault_here():
    (entry,) = (one for one in THEOREMS if one.id == "P52")
    assert {*FAULTS, "C111"} == set(entry.delimited_by)
