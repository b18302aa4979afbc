"""Judge generated mutants of the judges, and of the conformance harness, by their own tests.

``python -m ci.mutation judges --sample 400 --seed 1`` continues where the last call ended.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from math import inf
from pathlib import Path

import pytest

from ci.mutation.differing import Input, inputs
from ci.mutation.own_tests import OwnTests, with_tests
from ci.mutation.sampling import Sample, sampling_options
from ci.pages.judge_score import records_of
from ci.pages.writing import ROOT
from paraply.exploring.generated.fates import Fate, Judged, Mutant, judged, mutants_of
from paraply.exploring.generated.forking import Forks
from paraply.mutating.operators import Swaps
from paraply.mutating.patches import CodeKey, LoadedFunctions, PatchError

OF_JUDGES = ("tests/properties", "tests/machines", "tests/auditing/in_parts")
OF_KERNELS = (
    *OF_JUDGES,
    "tests/adapters/binlog/test_short_logs.py",
    "tests/auditing/test_engine_choice.py",
)
OF_HARNESS = (
    "tests/conforming",
    "tests/adapters/conformance",
    "tests/campaigning/test_mine_children.py",
)
OWN_TESTS: Mapping[str, tuple[str, ...]] = {
    "paraply.properties.logs.compiled": OF_KERNELS,
    "paraply.properties": OF_JUDGES,
    "paraply.conforming": OF_HARNESS,
    "paraply.adapters.conformance.database": OF_HARNESS,
    "paraply.adapters.conformance.tables": OF_HARNESS,
    "paraply.adapters.conformance.locks": OF_HARNESS,
    "paraply.adapters.conformance.stamps": OF_HARNESS,
}
"""Packages and modules with their tests; the first that contains a module counts."""
ANSWERED, OF_ANSWERS = "tests.properties.answers", "tests/properties/test_answers.py"
"""These tests know what judges answered, not why; they run last."""
SWAPS = Swaps(has_words=False)
CPU_SECONDS = 240
INPUTS_MIN = 200
"""Random inputs that a mutant must answer as unchanged code does to count as equivalent."""


def modules(packages: Sequence[str]) -> Iterator[str]:
    """Yield the modules of packages, each once."""
    found: dict[str, None] = {}
    for name in packages:
        path = getattr(import_module(name), "__path__", ())
        found |= dict.fromkeys(
            [name, *(one.name for one in pkgutil.walk_packages(path, f"{name}."))]
        )
    yield from found


def own_tests(module: str, own: Mapping[str, tuple[str, ...]] = OWN_TESTS) -> tuple[str, ...]:
    """Return the folders of a module's tests."""
    return next(
        folders
        for package, folders in own.items()
        if module == package or module.startswith(f"{package}.")
    )


def ordered(mutants: Sequence[Mutant], seed: int) -> list[Mutant]:
    """Return a random order that a change of other functions does not change."""
    return sorted(mutants, key=lambda one: sha256(f"{seed} {one.name}".encode()).digest())


def called_at_import(names: Sequence[str]) -> frozenset[CodeKey]:
    """Return the functions that a new process calls while it imports modules."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTING, *names],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return frozenset((file, name, line) for file, name, line in json.loads(done.stdout))


_IMPORTING = """
import importlib, json, sys
codes = set()
sys.setprofile(lambda frame, event, _: codes.add(frame.f_code))
for name in sys.argv[1:]:
    importlib.import_module(name)
sys.setprofile(None)
found = [(one.co_filename, one.co_qualname, one.co_firstlineno) for one in codes]
print(json.dumps(found))
"""


def _is_of_answers(item: pytest.Item) -> bool:
    return item.nodeid.startswith(OF_ANSWERS)


class JudgeCampaign:
    """Mutants against the tests that reach them."""

    def __init__(
        self,
        tests: OwnTests,
        inputs: Sequence[Input] = (),
        own: Mapping[str, tuple[str, ...]] = OWN_TESTS,
    ) -> None:
        self._tests = tests
        self._inputs = inputs
        self._own = own
        every = list(modules(tuple(own)))
        self._functions = LoadedFunctions("paraply", "tests")
        self._early = called_at_import(every)

    def mutants(self, names: Sequence[str] = ()) -> list[Mutant]:
        """Return the mutants of packages or modules, or of all.

        A function that only runs while modules are imported is left out: a change comes too late.
        """
        return [
            one
            for one in mutants_of(modules(names or tuple(self._own)), SWAPS)
            if not self._is_early(one)
        ]

    def _is_early(self, one: Mutant) -> bool:
        key = str(one.module.__file__), one.mutation.place, one.mutation.function_line
        return key in self._early and not self._tests.reaching(key)

    def judged(self, mutants: Sequence[Mutant], *, processes: int = 1) -> Iterator[Judged]:
        """Yield the fates."""
        forks = Forks(
            self.judge,
            lambda one: judged(one, Fate.CAUGHT, "the process ends"),
            processes=processes,
            seconds=CPU_SECONDS,
        )
        yield from forks.over(mutants)

    def judge(self, mutant: Mutant) -> Judged:
        """Return a mutant's fate; changes this process, so call it in a fork."""
        try:
            key = self._functions.load(mutant.mutation, mutant.module)
        except PatchError as error:
            return judged(mutant, Fate.INVALID, str(error))
        folders = own_tests(mutant.module.__name__, self._own)
        items = self._tests.reaching(key, folders)
        if OF_ANSWERS.startswith(folders):
            items += self._tests.reaching(key, (OF_ANSWERS,), inf)
        if not items:
            return judged(mutant, Fate.SURVIVED, "no test reaches it")
        # Stored answers come last, all of them.
        items = sorted(dict.fromkeys(items), key=_is_of_answers)
        failure = self._tests.first_failure(items)
        if failure.test:
            fate = Fate.NOTICED if failure.test.startswith(OF_ANSWERS) else Fate.CAUGHT
            return judged(mutant, fate, failure.why, failure.runs, where=failure.test)
        fate, by = self._compared(key)
        return judged(mutant, fate, by, failure.runs)

    def _compared(self, key: CodeKey) -> tuple[Fate, str]:
        """Return whether a survivor answers random inputs as unchanged code does."""
        if not self._inputs:
            return Fate.SURVIVED, "not compared"
        reaching = [one for one in self._inputs if key in one.reached]
        for one in reaching:
            if one.answered() != one.expected:
                return Fate.SURVIVED, f"answers otherwise: {one.name}"
        if len(reaching) < INPUTS_MIN:
            return Fate.SURVIVED, f"only {len(reaching)} random inputs reach it"
        return Fate.SAME, f"equal on {len(reaching):,} random inputs"


def main(arguments: list[str] | None = None) -> int:
    """Run a sample and print the counts."""
    parser = argparse.ArgumentParser(prog="python -m ci.mutation judges", description=__doc__)
    sampling_options(parser)
    parser.add_argument("--modules", nargs="+", metavar="NAME", default=list(OWN_TESTS))
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="instead of all own tests")
    parser.add_argument(
        "--uncompared", action="store_true", help="do not compare survivors with unchanged code"
    )
    given = parser.parse_args(arguments)
    own = {name: tuple(given.tests) for name in OWN_TESTS} if given.tests else OWN_TESTS
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # A compiled kernel would keep its unchanged code.
    sample = Sample(given, "judges")
    if given.publish:
        sample.publish(records_of(given.modules))
        return 0

    def run(tests: OwnTests) -> None:
        import_module(ANSWERED).groups()  # Drawn once, before processes fork.
        sources = [Path(str(import_module(one).__file__)) for one in modules(tuple(OWN_TESTS))]
        store = given.store / "calls.jsonl"
        tests.record(str(ROOT / "paraply"), store, sources, given.processes)
        for name in tests.failing:
            sys.stderr.write(f"left out, fails without a change: {name}\n")
        under = str(ROOT / "paraply/properties")
        found = [] if given.uncompared else inputs(under, given.seed)
        campaign = JudgeCampaign(tests, found, own)
        sample.run(campaign.mutants(given.modules), campaign.judged, order=ordered)

    folders = {folder for name in given.modules for folder in own_tests(name, own)}
    return with_tests(sorted(folders), run)
