"""Judge generated faulty appliers by the conformance suite.

``python -m ci.mutation suite --sample 2000 --processes 2`` continues where the last call ended,
``--publish`` writes the data of docs/suite-mutants.md. The mutants are those of right rules, which
run in this process, and of the sample with threads, which runs as a child process.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Protocol

from ci.mutation.sampling import Sample, sampling_options
from ci.pages.suite_mutants import RECORDS
from paraply.adapters.conformance.cases import Case, suite
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.rules import applier, correct
from paraply.adapters.conformance.session import Launcher, Run
from paraply.conforming.suite import SCHEDULES, Conformance, Result
from paraply.exploring.generated.fates import Fate, Judged, Mutant, judged, mutants_of
from paraply.exploring.generated.forking import Forks, TimeOutError, limit_time
from paraply.mutating.operators import NAMES, Swaps

THREADS = "paraply.adapters.conformance.samples.python.lc_sn_threads"
CLASSES = {
    correct.__name__: ("LogicalClock", "MySQLCoordinator", "WriteSet", "OwnKeys", "GroupCommit"),
    applier.__name__: ("RuleApplier",),
}
"""The changed classes of modules that are not changed everywhere."""
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
SCHEDULES_OF_THREADS = 12
FIRST_SCHEDULES = 4
"""Most faulty appliers are caught on so few schedules a case."""
CASES_AFTER_NOTICED = 10
"""Cases that may still fail after an unknown one."""
ANSWER_SECONDS = 10.0
MUTANT_CPU_SECONDS = 1800
IT_HANGS = "it hangs"

Runs = tuple[Result, list[int]]
"""The result of a case, and a hash of each run."""


class Right(Protocol):
    """A right applier, which mutants change.

    Attributes:
        schedules: of a case.
        timer: the clock that limits a case to ``seconds``.
    """

    schedules: ClassVar[int]
    timer: ClassVar[int]
    seconds: ClassVar[float]

    def opened(
        self, tree: ast.Module, module: dict[str, Any]
    ) -> AbstractContextManager[Launcher[Any]]:
        """Return a launcher of it with the changed source of one module."""
        ...


@dataclass(frozen=True, slots=True)
class RightRule:
    """A rule in this process."""

    schedules: ClassVar[int] = SCHEDULES
    timer: ClassVar[int] = signal.ITIMER_VIRTUAL
    seconds: ClassVar[float] = 5.0

    name: str

    def opened(
        self, tree: ast.Module, module: dict[str, Any]
    ) -> AbstractContextManager[Launcher[Any]]:
        """Return a launcher of it with the changed source of one module."""
        names = {**module, "__name__": "mutant"}
        exec(compile(tree, "mutant", "exec"), names)
        if self.name in names:
            return nullcontext(InlineLauncher(names[self.name]))
        return nullcontext(InlineLauncher(getattr(correct, self.name), names["RuleApplier"]))


@dataclass(frozen=True, slots=True)
class RightThreads:
    """The sample with threads, as a child process."""

    schedules: ClassVar[int] = SCHEDULES_OF_THREADS
    timer: ClassVar[int] = signal.ITIMER_REAL
    seconds: ClassVar[float] = 300.0

    def opened(
        self, tree: ast.Module, module: dict[str, Any]
    ) -> AbstractContextManager[Launcher[Any]]:
        """Return a launcher of it with the changed source of its module."""
        del module
        compile(tree, "mutant", "exec")
        command = [sys.executable, "-I", "-S", "-c", ast.unparse(tree)]
        return CommandLauncher(command, timeout=ANSWER_SECONDS)


def right_of(mutant: Mutant) -> Right:
    """Return what a mutant changes; the machinery of rules runs one of them."""
    if mutant.module.__name__ == THREADS:
        return RightThreads()
    changed = mutant.mutation.place.partition(".")[0]
    return RightRule(changed if mutant.module is correct else "LogicalClock")


def mutants() -> list[Mutant]:
    """Return every mutant."""
    return [
        one
        for one in mutants_of((*CLASSES, THREADS), SWAPS)
        if one.module.__name__ == THREADS
        or one.mutation.place.partition(".")[0] in CLASSES[one.module.__name__]
    ]


class Watched(Conformance):
    """Hashes every run of a case."""

    runs = 0
    hashes: list[int]

    def run_once(self, *arguments: Any, **options: Any) -> Run:
        """Run a case on one schedule."""
        run: Run = super().run_once(*arguments, **options)
        self.hashes.append(hash((run.fault, run.history.events)))
        self.runs += 1
        return run

    def results(self, cases: Sequence[Case], right: Right) -> Iterator[tuple[str, Runs]]:
        """Yield what each case finds; ``TimeOutError`` if one takes too long."""
        for case in cases:
            self.hashes = []
            limit_time(right.seconds, right.timer)
            try:
                result = self.with_hindsight(self.run_case(case)).result
            finally:
                limit_time(0, right.timer)
            yield case.id, (result, self.hashes)


class SuiteCampaign:
    """Mutants against cases in a random order, so that most mutants end soon."""

    def __init__(self, cases: Sequence[Case], seed: int = 0) -> None:
        self._cases = Random(seed).sample(list(cases), len(cases))
        self._seed = seed
        self._unchanged: dict[tuple[Right, int], dict[str, Runs]] = {}

    def judged(self, mutants: Sequence[Mutant], *, processes: int = 1) -> Iterator[Judged]:
        """Yield the fates."""
        for one in mutants:
            for schedules in efforts(right_of(one)):
                self._runs_without(one, schedules)
        forks = Forks(
            self.judge,
            lambda one: judged(one, Fate.CAUGHT, IT_HANGS),
            processes=processes,
            seconds=MUTANT_CPU_SECONDS,
        )
        yield from forks.over(mutants)

    def judge(self, mutant: Mutant) -> Judged:
        """Return a mutant's fate, after few schedules if they suffice."""
        found = judged(mutant, Fate.INVALID)
        for schedules in efforts(right_of(mutant)):
            found = self._judge(mutant, schedules)
            if found.fate in (Fate.CAUGHT, Fate.INVALID):
                break
        return found

    def _judge(self, mutant: Mutant, schedules: int) -> Judged:
        right = right_of(mutant)
        unchanged = self._runs_without(mutant, schedules)
        with ExitStack() as stack:
            try:
                tree = mutant.mutation.tree
                launcher = stack.enter_context(right.opened(tree, vars(mutant.module)))
            except Exception as error:
                return judged(mutant, Fate.INVALID, f"{type(error).__name__}: {error}")
            watched = self._watched(launcher, schedules)
            try:
                limit_time(right.seconds, right.timer)
                if watched.meet().fault:
                    return judged(mutant, Fate.CAUGHT, "it does not begin")
                fate, by = compared(watched.results(self._cases, right), unchanged)
            except TimeOutError:
                fate, by = Fate.CAUGHT, IT_HANGS
            finally:
                limit_time(0, right.timer)
        return judged(mutant, fate, by, watched.runs)

    def _runs_without(self, mutant: Mutant, schedules: int) -> dict[str, Runs]:
        """Return the runs of what the mutant changes, made once."""
        right = right_of(mutant)
        if (right, schedules) not in self._unchanged:
            source = ast.parse(inspect.getsource(mutant.module))
            with right.opened(source, vars(mutant.module)) as launcher:
                watched = self._watched(launcher, schedules)
                watched.meet()
                found = dict(watched.results(self._cases, right))
            failed = [case for case, (result, _) in found.items() if result is Result.FAIL]
            if failed:
                raise ValueError(f"{right} fails {', '.join(failed)} without a change")
            self._unchanged[right, schedules] = found
        return self._unchanged[right, schedules]

    def _watched(self, launcher: Launcher[Any], schedules: int) -> Watched:
        return Watched(launcher, schedules=schedules, seed=self._seed, shrink_runs_max=0)


def compared(found: Iterable[tuple[str, Runs]], unchanged: Mapping[str, Runs]) -> tuple[Fate, str]:
    """Return the fate that runs of cases show, and the case that shows it."""
    fate, by = Fate.SAME, ""
    patience = CASES_AFTER_NOTICED
    for case, (result, hashes) in found:
        before, expected = unchanged[case]
        is_new = result is not before
        if is_new and result in (Result.FAIL, Result.SLOW):
            return Fate.CAUGHT, case
        if fate is Fate.NOTICED:
            patience -= 1
            if not patience:
                break
        elif is_new and result is Result.UNKNOWN:
            fate, by = Fate.NOTICED, case
        elif is_new and result is Result.SKIP and fate is Fate.SAME:
            fate, by = Fate.LEGAL, case
        elif fate is not Fate.SURVIVED and result is not Result.SKIP and hashes != expected:
            fate, by = Fate.SURVIVED, case
    return fate, by


def efforts(right: Right) -> tuple[int, ...]:
    """Return the schedules of a case, few first."""
    return tuple(sorted({min(FIRST_SCHEDULES, right.schedules), right.schedules}))


def main(arguments: list[str] | None = None) -> int:
    """Run a sample and print the counts."""
    parser = argparse.ArgumentParser(prog="python -m ci.mutation suite", description=__doc__)
    sampling_options(parser)
    given = parser.parse_args(arguments)
    sample = Sample(given, "suite")
    if given.publish:
        sample.publish(RECORDS)
        return 0
    campaign = SuiteCampaign(suite(), given.seed)
    sample.run(mutants(), campaign.judged, rules=SCHEDULES, threads=SCHEDULES_OF_THREADS)
    return 0
