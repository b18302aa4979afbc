"""The suite's test of itself: what is good, and what the command says."""

from __future__ import annotations

from itertools import product

import pytest

from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.rules.faulty import FAULTS
from paraply.conforming import self_test
from paraply.conforming.self_test import RIGHT, SelfTest, run_self_test, self_tests


def result_of(must_fail="", failed=(), unrelated=(), what=""):
    return SelfTest(name="one", what=what, must_fail=must_fail, failed=failed, unrelated=unrelated)


@pytest.mark.parametrize(
    ("must_fail", "is_caught", "is_unrelated"),
    list(product(["", "A"], [False, True], [False, True])),
)
def test_good_is_who_fails_the_named_case_and_none_that_is_unrelated(
    must_fail, is_caught, is_unrelated
):
    found = result_of(must_fail, ("A",) if is_caught else (), ("Z",) if is_unrelated else ())
    assert found.is_good == ((is_caught or not must_fail) and not is_unrelated)


@pytest.mark.parametrize(("missed", "code"), [(0, 0), (1, 1)])
def test_command_tells_of_each_and_fails_for_one(monkeypatch, capsys, missed, code):
    results = [
        result_of(),
        result_of("A", ("A", "B"), what="it forgets"),
        *[result_of("A", ("B",), what="it lies")] * missed,
    ]
    monkeypatch.setattr(self_test, "self_tests", lambda *_, **__: iter(results))
    assert run_self_test((), schedules=1, seed=0) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ok   one: right, fails nothing"
    assert lines[1:3] == ["ok   one: caught by A and 1 more", "       it forgets"]
    assert ("FAIL one: NOT caught by A and 1 more" in lines) == bool(missed)
    how = "NOT as" if missed else "all as"
    assert lines[-1] == (
        f"1 right appliers and trackers, {1 + missed} faulty ones: {how} they should be"
    )


def test_several_processes_give_the_results_of_one():
    cases = cases_named(["A-rotation-02", FAULTS[0].case])
    one, several = (
        list(
            self_tests(
                cases, schedules=2, seed=0, faults=FAULTS[:1], right=RIGHT[:1], processes=number
            )
        )
        for number in (1, 2)
    )
    assert one == several
    assert [test.what for test in one] == ["", FAULTS[0].what]
