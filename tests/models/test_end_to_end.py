"""What the model of one whole member says of the assumptions that models of its parts make."""

from __future__ import annotations

import pytest

from paraply.models.judging.solver import SOLVERS, Answer
from paraply.models.language.system import Obligation
from paraply.models.language.terms import INT, Sort, Variable, conj, implies
from paraply.models.systems.end_to_end import Rules, end_to_end

P, R = Variable("p", INT), Variable("r", Sort("Row"))


def function(system, name):
    return next(function for function in system.functions if function.name == name)


def assumption_a1(**switches):
    """Return that a certified session came after the commits of all earlier writers of its rows."""
    system = end_to_end(Rules(**switches))
    n, ws, committed = (function(system, name) for name in ("n", "ws", "committed"))
    action = next(action for action in system.actions if action.name == "certify_local")
    known = tuple(statement.closed for statement in (*system.axioms, *system.invariants))
    earlier = conj(P >= 0, P < n(), ws(P, R), ws(n(), R))
    return Obligation(
        system.name, "A1", action.name, (*known, action.guard), implies(earlier, committed(P)),
        (P, R),
    )  # fmt: skip


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_what_the_applier_assumes_of_sessions_is_proved_of_the_whole_member(solver):
    assert SOLVERS[solver](assumption_a1()).answer is Answer.PROVED


def test_it_is_not_proved_of_a_session_that_had_not_seen_what_certification_asks_for():
    blind = assumption_a1(snapshot_is_executed=False)
    assert SOLVERS["z3"](blind, timeout_s=3.0).answer is not Answer.PROVED
