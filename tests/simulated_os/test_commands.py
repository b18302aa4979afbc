"""Commands on a simulated system whose n-th call fails, or is the last before a crash.

A run ends with the verdict and the bytes of the undisturbed run, or without a verdict. A run after
it, without a fault, ends as the undisturbed run did: nothing lost, nothing repeated.
"""

from __future__ import annotations

import os

import pytest

from tests.simulated_os.runs import Lab, problems, sample
from tests.simulated_os.scenarios import SCENARIOS
from tests.simulated_os.system import Fault

SEED = int(os.environ.get("PARAPLY_SIMULATED_OS_SEED", "1"))
CASES = 8
PIECES = 8


def replayed(lab: Lab) -> str:
    name = f"test_some_calls_of_a_command[{lab.scenario.name}]"
    return f"PARAPLY_SIMULATED_OS_SEED={SEED} pytest 'tests/simulated_os/test_commands.py::{name}'"


@pytest.mark.long(each=1)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_some_calls_of_a_command(scenario, server, tmp_path):
    lab = Lab(server, scenario, tmp_path)
    found = problems(lab, sample(lab.cases(), CASES, SEED))
    assert found == [], replayed(lab)


@pytest.mark.long
def test_old_report_that_cannot_be_read_is_not_a_foreign_file(server, tmp_path):
    (scenario,) = (one for one in SCENARIOS if one.name == "audit over old reports")
    lab = Lab(server, scenario, tmp_path)
    run, _, _ = lab.undisturbed
    cases = [(at, Fault.EIO) for at, call in enumerate(run.calls, 1) if call == "read r.xml"]
    assert cases
    assert problems(lab, cases) == []


@pytest.mark.nightly
@pytest.mark.parametrize("piece", range(PIECES))
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_every_call_of_a_command(scenario, piece, server, tmp_path):
    lab = Lab(server, scenario, tmp_path)
    cases = lab.cases()
    assert len(cases) > CASES
    assert problems(lab, cases[piece::PIECES]) == []
