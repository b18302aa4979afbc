"""Sessions that wait: each step is one of the group below, or leaves that group alone.

So what is proved of the group (P49, P53, P54, P55) holds with waiting sessions, too.
"""

from __future__ import annotations

import pytest

from paraply.models.judging.solver import SOLVERS, Answer
from paraply.models.language.system import obligations
from paraply.models.language.terms import conjuncts
from paraply.models.systems.acknowledged_group import acknowledged_group
from paraply.models.systems.parallel_group import Rules, parallel_group

PAIRS = {
    "in order": (parallel_group(), acknowledged_group()),
    "in any order": (
        parallel_group(Rules(commits_in_order=False)),
        acknowledged_group(commits_in_order=False),
    ),
}
MODES = pytest.mark.parametrize(("below", "waiting"), PAIRS.values(), ids=PAIRS)


@MODES
def test_waiting_adds_conditions_to_steps_of_the_group_and_steps_beside_it(below, waiting):
    names = {action.name for action in below.actions}
    assert names <= {action.name for action in waiting.actions}
    for action in waiting.actions:
        changed = {f: value for f, value in action.updates.items() if f in below.functions}
        if action.name not in names:
            assert not changed
            continue
        base = below.action_named(action.name)
        assert (action.parameters, action.havoc) == (base.parameters, base.havoc)
        assert changed == base.updates
        added = set(conjuncts(action.guard)) - set(conjuncts(base.guard))
        assert set(conjuncts(base.guard)) <= set(conjuncts(action.guard))
        assert len(added) == (action.name == "apply"), action.name


@MODES
def test_group_that_waits_begins_as_the_group_does_and_keeps_its_statements(below, waiting):
    for stated in ("initially", "axioms", "invariants", "safety"):
        whole, part = getattr(waiting, stated), getattr(below, stated)
        assert whole[: len(part)] == part


@pytest.mark.long
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_what_waiting_adds_is_proved_without_commit_order_too(solver):
    below, waiting = PAIRS["in any order"]
    known = {one.name for one in (*below.invariants, *below.safety)}
    asked = [one for one in obligations(waiting) if one.statement not in known]
    assert asked
    assert {SOLVERS[solver](one).answer for one in asked} == {Answer.PROVED}
