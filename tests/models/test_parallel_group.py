"""The layer over the group: each of its steps is a step of the group, or leaves the group alone."""

from __future__ import annotations

import pytest

from paraply.models.judging.solver import SOLVERS, Answer
from paraply.models.language.system import Obligation
from paraply.models.language.terms import conjuncts
from paraply.models.systems.group import group
from paraply.models.systems.parallel_group import parallel_group

GROUP, LAYER = group(), parallel_group()
OWN = {action.name for action in GROUP.actions}


def test_layer_adds_conditions_and_changes_to_steps_of_the_group_and_nothing_else():
    for action in LAYER.actions:
        changed = {f: value for f, value in action.updates.items() if f in GROUP.functions}
        if action.name in OWN:
            own = GROUP.action_named(action.name)
            assert (action.parameters, action.havoc) == (own.parameters, own.havoc)
            assert changed == own.updates
            missing = set(conjuncts(own.guard)) - set(conjuncts(action.guard))
            assert len(missing) == (action.name == "apply"), action.name
        else:
            assert not changed, action.name


def test_layer_begins_as_the_group_does_and_keeps_its_invariants_and_statements():
    for stated in ("initially", "axioms", "invariants", "safety"):
        whole, part = getattr(LAYER, stated), getattr(GROUP, stated)
        assert whole[: len(part)] == part


def commit_of_the_group(invariants):
    """Return that a commit of the layer meets the guard of the group's commit."""
    action, own = LAYER.action_named("apply"), GROUP.action_named("apply")
    known = tuple(statement.closed for statement in (*LAYER.axioms, *invariants))
    return Obligation(
        LAYER.name, "refinement", "apply", (*known, action.guard), own.guard, action.parameters
    )


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_commit_of_the_layer_waits_for_sessions_as_the_group_does(solver):
    assert SOLVERS[solver](commit_of_the_group(LAYER.invariants)).answer is Answer.PROVED


def test_that_is_not_proved_if_workers_ignore_the_locks_of_sessions():
    blind = [s for s in LAYER.invariants if s.name != "rows_of_a_session_are_its_own"]
    asked = commit_of_the_group(blind)
    assert SOLVERS["z3"](asked, timeout_s=3.0).answer is not Answer.PROVED
