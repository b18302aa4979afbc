"""The layer over the group: each of its steps is a step of the group, or leaves the group alone."""

from __future__ import annotations

import pytest

from paraply.models.judging.solver import SOLVERS, Answer
from paraply.models.language.system import Obligation
from paraply.models.language.terms import conjuncts
from paraply.models.systems.group import Group, Rules, fill
from paraply.models.systems.parallel_group import Rules as LayerRules
from paraply.models.systems.parallel_group import parallel_group
from paraply.models.systems.unordered_group import UnorderedGroup


def group(kind):
    """Return the system of a group."""
    made = kind(Rules())
    fill(made)
    return made.system


PAIRS = {
    "in order": (group(Group), parallel_group()),
    "in any order": (group(UnorderedGroup), parallel_group(LayerRules(commits_in_order=False))),
}
MODES = pytest.mark.parametrize(("own", "layer"), PAIRS.values(), ids=PAIRS)


@MODES
def test_layer_adds_conditions_and_changes_to_steps_of_the_group_and_nothing_else(own, layer):
    names = {action.name for action in own.actions}
    for action in layer.actions:
        changed = {f: value for f, value in action.updates.items() if f in own.functions}
        if action.name in names:
            base = own.action_named(action.name)
            assert (action.parameters, action.havoc) == (base.parameters, base.havoc)
            assert changed == base.updates
            missing = set(conjuncts(base.guard)) - set(conjuncts(action.guard))
            assert len(missing) == (action.name == "apply"), action.name
        else:
            assert not changed, action.name


@MODES
def test_layer_begins_as_the_group_does_and_keeps_its_invariants_and_statements(own, layer):
    for stated in ("initially", "axioms", "invariants", "safety"):
        whole, part = getattr(layer, stated), getattr(own, stated)
        assert whole[: len(part)] == part


def commit_of_the_group(own, layer, invariants):
    """Return that a commit of the layer meets the guard of the group's commit."""
    action, base = layer.action_named("apply"), own.action_named("apply")
    known = tuple(statement.closed for statement in (*layer.axioms, *invariants))
    return Obligation(
        layer.name, "refinement", "apply", (*known, action.guard), base.guard, action.parameters
    )


@MODES
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_commit_of_the_layer_waits_for_sessions_as_the_group_does(solver, own, layer):
    asked = commit_of_the_group(own, layer, layer.invariants)
    assert SOLVERS[solver](asked).answer is Answer.PROVED


@pytest.mark.long
@MODES
def test_that_is_not_proved_if_workers_ignore_the_locks_of_sessions(own, layer):
    blind = [s for s in layer.invariants if s.name != "rows_of_a_session_are_its_own"]
    asked = commit_of_the_group(own, layer, blind)
    assert SOLVERS["z3"](asked, timeout_s=3.0).answer is not Answer.PROVED
