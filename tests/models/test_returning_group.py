"""Members that come back: inside the group, each step is one of the group below.

Outside it, only the commits of recovery change what the group knows.
"""

from __future__ import annotations

from paraply.models.language.terms import conjuncts
from paraply.models.systems.parallel_group import Rules, parallel_group
from paraply.models.systems.returning_group import returning_group

BELOW = parallel_group(Rules(commits_in_order=False, copies_state=False))
RETURNING = returning_group()


def test_steps_in_the_group_are_its_steps_with_more_conditions_and_counts():
    names = {action.name for action in BELOW.actions}
    for base in BELOW.actions:
        action = RETURNING.action_named(base.name)
        changed = {f: value for f, value in action.updates.items() if f in BELOW.functions}
        assert changed == base.updates
        assert (action.parameters, action.havoc) == (base.parameters, base.havoc)
        added = set(conjuncts(action.guard)) - set(conjuncts(base.guard))
        assert set(conjuncts(base.guard)) <= set(conjuncts(action.guard))
        assert bool(added) == (action.name in {"apply", "join"}), action.name
    changing = {
        action.name
        for action in RETURNING.actions
        if action.name not in names and any(f in BELOW.functions for f in action.updates)
    }
    assert changing == {"recover"}


def test_group_begins_as_the_group_below_does_and_keeps_its_statements():
    for stated in ("initially", "axioms", "invariants", "safety"):
        whole, part = getattr(RETURNING, stated), getattr(BELOW, stated)
        assert whole[: len(part)] == part


def test_a_joiner_keeps_its_own_rows_and_executed_set():
    own = {function.name for function in RETURNING.action_named("join").updates}
    assert not own & {"upto", "value"}
    copied = {function.name for function in parallel_group().action_named("join").updates}
    assert {"upto", "value"} <= copied
