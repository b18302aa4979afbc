"""A program with gh-ost's structure in Go, right and wrong, under the profile of gh-ost."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from paraply.adapters.conformance.adversaries import Adversary
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.servers import ServerRoom, find_mysql
from paraply.adapters.wire import samples
from paraply.adapters.wire.run import Fault
from paraply.commands.conform_wire import own_target
from paraply.conforming.wire.profiles import PROFILES, options_of
from paraply.conforming.wire.suite import WireConformance
from paraply.vocabulary.verdict import Verdict
from tests.live.runs import installed

pytestmark = pytest.mark.live

GHOST = PROFILES["gh-ost"]
ROWS, ROTATION = "B-random-01", "A-rotation-02"
SEEDS = 8


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    go = shutil.which("go")
    if go is None:
        pytest.skip("no go; run ci/servers --only tools")
    binary = tmp_path_factory.mktemp("go") / "ghost"
    sources = sorted((Path(samples.__file__).parent / "ghost").glob("*.go"))
    subprocess.run([go, "build", "-o", str(binary), *map(str, sources)], check=True, timeout=300)
    words = ["host", "port", "user", "database", "table"]
    places = {"host": "target_host", "port": "target_port"}
    options = [part for word in words for part in (f"-{word}", f"{{{places.get(word, word)}}}")]
    return [str(binary), *options]


@pytest.fixture(scope="module")
def wire(program, tmp_path_factory):
    with ServerRoom() as room:
        server = own_target(room, installed(find_mysql))
        # It commits each transaction as a whole, which gh-ost itself does not promise.
        options = options_of(replace(GHOST, required="atomic", patience_s=0.6))
        yield lambda *words: WireConformance(
            server, [*program, *words], tmp_path_factory.mktemp("cases"), options
        )


def runs(conformance, name, adversary, faults, seeds=SEEDS):
    (case,) = cases_named([name])
    for seed in range(seeds):
        schedule = conformance.schedule(case, seed, adversary, faults)
        yield conformance.run_once(case, schedule, seed, faults)


@pytest.mark.parametrize("injected", [None, *GHOST.faults], ids=str)
def test_right_program_passes(wire, injected):
    faults = () if injected is None else (injected,)
    (judged,) = runs(wire(), ROWS, Adversary.PRIORITIES, faults, seeds=1)
    assert judged.verdict is Verdict.HOLDS, (judged.findings, judged.run.trace)
    assert judged.run.delivered == judged.transactions
    assert judged.run.faults == len(faults)
    assert judged.run.overlapped or faults
    assert not any("_ghc" in step for step in judged.run.trace), "heartbeats wait for nothing"


def test_right_program_passes_a_rotation(wire):
    (judged,) = runs(wire(), ROTATION, Adversary.STARVE_TRANSACTION, (), seeds=1)
    assert judged.verdict is Verdict.HOLDS, (judged.findings, judged.run.trace)


@pytest.mark.parametrize(
    ("fault", "case", "adversary", "injected"),
    [
        ("ignore-stamps", ROWS, Adversary.STARVE_TRANSACTION, ()),
        ("forget-rotation", ROTATION, Adversary.STARVE_TRANSACTION, ()),
        ("skip-after-deadlock", ROWS, Adversary.UNIFORM, (Fault.DEADLOCK,)),
        ("skip-after-loss", ROWS, Adversary.UNIFORM, (Fault.LOST_BEFORE,)),
    ],
)
def test_faulty_program_is_caught(wire, fault, case, adversary, injected):
    for number, judged in enumerate(runs(wire("-fault", fault), case, adversary, injected), 1):
        if judged.verdict is Verdict.VIOLATED:
            print(f"live: ghost {fault}: run {number}: {judged.findings[0]}")
            return
    pytest.fail(f"{fault} was not caught in {SEEDS} runs")
