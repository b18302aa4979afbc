"""One case of the suite, on runs that a script makes up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.conforming import suite
from paraply.conforming.suite import FAULT_REPEATS, Conformance, Result
from paraply.properties.registry import Evidence
from paraply.vocabulary.schedule import RecordedSchedule

(CASE,) = cases_named(["C-random-01"])


def scripted(faults, **options):
    """Return the suite whose runs have these faults in turn, and what it ran."""
    ran, left = [], iter(faults)

    class Scripted(Conformance):
        def run_once(self, case, schedule, seed, kept=None):
            if not isinstance(schedule, RecordedSchedule):
                schedule.choose_index(5)
            ran.append((case, tuple(schedule.choices), seed, kept))
            return SimpleNamespace(fault=next(left), history=None, stderr=("oh",), is_proved=True)

    return Scripted(None, schedules=1, seed=4, **options), ran


@pytest.fixture
def evidence(monkeypatch):
    """Let the case's property have any evidence, and no property be broken."""
    found = SimpleNamespace(now=Evidence(relevant=1, decided=1))
    judge = SimpleNamespace(
        name="any", evidence=lambda _: found.now, violations=lambda _: (), witness=lambda _: ()
    )
    monkeypatch.setattr(suite, "property_named", lambda _: judge)
    return found


@pytest.mark.parametrize("broken", range(FAULT_REPEATS + 1))
def test_fault_is_told_with_its_share_of_runs_of_its_schedule(evidence, broken):
    again = ["died"] * broken + [""] * (FAULT_REPEATS - broken)
    tested, ran = scripted(["died", *again[::-1]])
    found = tested.run_case(CASE)
    share = f" (in {broken + 1} of {FAULT_REPEATS + 1} runs of the same schedule)"
    assert found.reason == "died" + (share if broken < FAULT_REPEATS else "")
    assert (found.result, found.runs, found.stderr) == (Result.FAIL, 1, ("oh",))
    assert len(ran) == FAULT_REPEATS + 1
    assert {(case.id, seed, kept) for case, _, seed, kept in ran} == {(CASE.id, 4, None)}


def test_fault_is_not_run_again_where_nothing_is_shrunk(evidence):
    tested, ran = scripted(["died"], shrink_runs_max=0)
    assert (tested.run_case(CASE).reason, len(ran)) == ("died", 1)


def test_case_is_unknown_where_its_situation_never_came_or_was_not_decided(evidence):
    for now, reason in (
        (Evidence(relevant=0, decided=0), f"the situation of {CASE.decides} never occurred"),
        (Evidence(relevant=2, decided=1), Evidence(relevant=2, decided=1).reason),
    ):
        evidence.now = now
        found = scripted([""])[0].run_case(CASE)
        assert (found.result, found.reason) == (Result.UNKNOWN, reason)
    evidence.now = Evidence(relevant=2, decided=2)
    assert scripted([""])[0].run_case(CASE).result is Result.PASS
