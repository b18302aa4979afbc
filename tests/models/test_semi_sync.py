"""AFTER_COMMIT with a server's own recovery: what is still proved, though readers see too much.

It is no theorem with a page. The kernel gets certificates that are made here.
"""

from __future__ import annotations

import pytest

from paraply.models.judging.bounded import breach_of
from paraply.models.judging.certificates.maker import make
from paraply.models.judging.proving import reach, safety_statement
from paraply.models.judging.solver import SOLVERS, Answer
from paraply.models.kernel.check import check
from paraply.models.language.concrete import Scope
from paraply.models.language.system import obligations
from paraply.models.systems.semi_sync import Rules, semi_sync

AFTER_COMMIT = semi_sync(Rules(name="after_commit", after_sync=False, recovery="commits"))
ASKED = [one for one in obligations(AFTER_COMMIT) if one.claim != "no_phantom_visibility"]
SMALL = Scope(low=-1, high=2, size=1)


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_all_but_the_statement_about_readers_is_proved_by_each_solver(solver):
    assert {one.claim for one in ASKED} >= {"confirmed_survives", "replica_is_not_ahead"}
    left = [one for one in ASKED if SOLVERS[solver](one).answer is not Answer.PROVED]
    assert not left


@pytest.mark.long
def test_all_but_the_statement_about_readers_is_proved_by_the_kernel():
    for one in ASKED:
        certificate = make(one)
        assert certificate is not None, one.statement
        assert check(one, certificate).is_proved, one.statement


@pytest.mark.long
def test_client_is_answered_when_its_group_is_acknowledged_in_part():
    early = next(one for one in AFTER_COMMIT.covers if one.name == "answered_before_its_group")
    run = reach(AFTER_COMMIT, early, SMALL, 8)
    assert [step.action for step in run.steps][-1] == "answer_client"
    assert "receive_one" in [step.action for step in run.steps]
    assert "receive" not in [step.action for step in run.steps]


@pytest.mark.long
def test_answer_after_a_time_out_may_be_to_what_no_replica_has():
    abandoned = semi_sync(Rules(name="abandoned", after_sync=False, wait_stands=False))
    breach = breach_of(safety_statement(abandoned, "confirmed_survives"))
    assert reach(abandoned, breach, SMALL, 6) is not None
    assert reach(AFTER_COMMIT, breach_of(safety_statement(AFTER_COMMIT, "confirmed_survives")),
                 SMALL, 6) is None  # fmt: skip
