"""Run the suite against generated faulty appliers."""

from __future__ import annotations

import ast
import inspect
import multiprocessing
import signal
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from random import Random

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import Case, log_for
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.rules import applier, correct
from paraply.adapters.conformance.rules.rule import Rule
from paraply.adapters.conformance.session import Run
from paraply.conforming.suite import CaseResult, Conformance, Result
from paraply.mutating.operators import NAMES, Mutation, Swaps, mutations

RUN_CPU_SECONDS = 5.0
"""A mutant's limit for one case."""
FIRST_SCHEDULES = 4
CASES_AFTER_NOTICED = 10
"""Cases that may still fail after an unknown one."""
SWAPS = Swaps(
    names=NAMES
    | {"earlier": "later", "later": "earlier", "written": "wanted", "wanted": "written"},
    attributes={
        "lc": "sn",
        "sn": "lc",
        "keys": "reads",
        "reads": "keys",
        "id": "sn",
        "file": "lc",
    },
)
_MACHINERY = frozenset({"RuleApplier"})


class Fate(Enum):
    """The outcome of a mutant."""

    CAUGHT = "caught"
    NOTICED = "noticed"
    """A case is newly unknown, none fails: exit code 2."""
    SAME = "same"
    """Every run equals the unchanged applier's."""
    SURVIVED = "survived"
    INVALID = "invalid"
    """Python rejects it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A class to change and its rule."""

    rule: str
    classes: frozenset[str]
    module: types.ModuleType = correct


TARGETS = (
    Target("LogicalClock", frozenset({"LogicalClock"})),
    Target("MySQLCoordinator", frozenset({"MySQLCoordinator"})),
    Target("WriteSet", frozenset({"WriteSet"})),
    Target("OwnKeys", frozenset({"OwnKeys"})),
    Target("GroupCommit", frozenset({"GroupCommit"})),
    Target("LogicalClock", _MACHINERY, applier),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant's fate; ``case`` caught it, or ``runs`` did not."""

    rule: str
    place: str
    line: int
    what: str
    fate: Fate
    case: str = ""


@dataclass(frozen=True, slots=True)
class _Mutant:
    target: Target
    mutation: Mutation


@lru_cache(maxsize=2)
def mutants(seed: int = 0) -> list[_Mutant]:
    """Return mutants; each prefix is a random sample."""
    found = [
        _Mutant(target, mutation)
        for target in TARGETS
        for mutation in mutations(inspect.getsource(target.module), target.classes, SWAPS)
    ]
    return Random(seed).sample(found, len(found))


def judged_mutants(
    *, schedules: int, seed: int, processes: int, sample: int | None = None
) -> Iterator[tuple[Judged, int]]:
    """Yield mutants' fates and the total, ``sample`` limits it."""
    global _jobs
    _jobs = _Jobs(mutants(seed), _shuffled(cases_named([]), seed), schedules, seed)
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for one in pool.imap(_judge_numbered, range(len(_jobs.mutants))[:sample]):
            yield one, len(_jobs.mutants)


@dataclass(slots=True)
class _Jobs:
    mutants: list[_Mutant]
    cases: Sequence[Case]
    schedules: int
    seed: int


_jobs: _Jobs
"""Inherited, because sending trees and logs is slow."""
_unchanged: dict[tuple[str, str, int], tuple[Result, list[int]]] = {}
"""Result and run hashes by rule, case and schedules, cached per process."""


def _judge_numbered(number: int) -> Judged:
    return judge(_jobs.mutants[number], _jobs.cases, schedules=_jobs.schedules, seed=_jobs.seed)


def judge(mutant: _Mutant, cases: Sequence[Case], *, schedules: int, seed: int) -> Judged:
    """Run a mutant, with few schedules first, until a case fails."""
    first = _judge(mutant, cases, schedules=min(FIRST_SCHEDULES, schedules), seed=seed)
    if first.fate in (Fate.CAUGHT, Fate.INVALID) or schedules <= FIRST_SCHEDULES:
        return first
    return _judge(mutant, cases, schedules=schedules, seed=seed)


def _judge(mutant: _Mutant, cases: Sequence[Case], *, schedules: int, seed: int) -> Judged:
    target, mutation = mutant.target, mutant.mutation

    def judged(fate: Fate, case: str = "") -> Judged:
        return Judged(target.rule, mutation.place, mutation.line, mutation.what, fate, case)

    try:
        launcher = _launcher(target, mutation.tree)
    except Exception as error:
        return judged(Fate.INVALID, f"{type(error).__name__}: {error}")
    conformance = _Watched(launcher, schedules=schedules, seed=seed, shrink_runs_max=0)
    signal.signal(signal.SIGVTALRM, _on_hang)
    fate, at = Fate.SAME, ""
    patience = CASES_AFTER_NOTICED
    try:
        _start_watch()
        if conformance.meet().fault:
            return judged(Fate.CAUGHT, "it does not begin")
        for case in cases:
            before, hashes = _of_the_unchanged(target.rule, case, schedules, seed)
            conformance.hashes.clear()
            _start_watch()
            result = conformance.with_hindsight(conformance.run_case(case)).result
            if result in (Result.FAIL, Result.SLOW) and before not in (Result.FAIL, Result.SLOW):
                return judged(Fate.CAUGHT, case.id)
            if result is not before and fate is not Fate.NOTICED:
                fate, at = Fate.NOTICED, case.id
            if fate is Fate.NOTICED:
                patience -= 1
                if not patience:
                    break
            if fate is Fate.SAME and conformance.hashes != hashes:
                fate = Fate.SURVIVED
    except _HangError:
        return judged(Fate.CAUGHT, "it hangs")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return judged(fate, at)


class _HangError(BaseException):
    """A mutant hangs; no handler may swallow it."""


def _on_hang(*_: object) -> None:
    raise _HangError


def _start_watch() -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, RUN_CPU_SECONDS)


class _Watched(Conformance):
    hashes: list[int]

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.hashes = []

    def run_once(self, *arguments: object, **options: object) -> Run:
        run: Run = super().run_once(*arguments, **options)  # type: ignore[arg-type]
        self.hashes.append(hash((run.fault, run.history.events)))
        return run


def _of_the_unchanged(rule: str, case: Case, schedules: int, seed: int) -> tuple[Result, list[int]]:
    key = rule, case.id, schedules
    if key not in _unchanged:
        conformance = _Watched(
            InlineLauncher(getattr(correct, rule)),
            schedules=schedules,
            seed=seed,
            shrink_runs_max=0,
        )
        conformance.meet()
        conformance.hashes.clear()
        result: CaseResult = conformance.with_hindsight(conformance.run_case(case))
        _unchanged[key] = result.result, list(conformance.hashes)
    return _unchanged[key]


def _launcher(target: Target, tree: ast.Module) -> InlineLauncher:
    names = {**vars(target.module), "__name__": "mutant"}
    exec(compile(tree, "mutant", "exec"), names)
    if target.module is correct:
        rule: type[Rule] = names[target.rule]
        return InlineLauncher(rule)
    make: Callable[..., Rule] = getattr(correct, target.rule)
    return InlineLauncher(make, base=names["RuleApplier"])


def _shuffled(cases: Sequence[Case], seed: int) -> list[Case]:
    """Few cases of each family come first, so that most mutants end soon."""
    order = Random(seed).sample(list(cases), len(cases))
    for case in order:
        log_for(case, seed)
    return order
