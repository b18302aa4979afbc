from __future__ import annotations

import copy

import pytest

from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.judging.proving import replayed
from paraply.models.judging.traces import stored_runs, to_data

RUNS = stored_runs()


@pytest.mark.long(quick=12)
@pytest.mark.parametrize("entry", COUNTEREXAMPLES, ids=lambda entry: entry.id)
def test_stored_run_breaks_its_statement_without_asking_a_solver(entry):
    run = replayed(entry, RUNS[entry.id])
    assert len(run.steps) == entry.steps
    assert to_data(run) == RUNS[entry.id]


@pytest.mark.long
@pytest.mark.parametrize("entry", COUNTEREXAMPLES, ids=lambda entry: entry.id)
def test_stored_run_with_a_step_left_out_is_refused(entry):
    # One-minimal: whichever step is left out, the rest is no run or breaks nothing.
    for number in range(entry.steps):
        data = copy.deepcopy(RUNS[entry.id])
        del data["steps"][number]
        with pytest.raises(
            ValueError, match=r"not enabled|does not end in|does not choose|no lasso"
        ):
            replayed(entry, data)


def test_tampered_run_is_refused():
    entry = COUNTEREXAMPLES[0]
    data = copy.deepcopy(RUNS[entry.id])
    data["steps"][0]["action"] = "fly"
    with pytest.raises(ValueError, match="no action"):
        replayed(entry, data)
    data = copy.deepcopy(RUNS[entry.id])
    data["start"]["started"] = [[0, True]]
    with pytest.raises(ValueError, match="at the start"):
        replayed(entry, data)
    data = copy.deepcopy(RUNS[entry.id])
    data["steps"][0]["chosen"] = {"has": [["row0", True]]}
    with pytest.raises(ValueError, match="does not choose"):
        replayed(entry, data)
