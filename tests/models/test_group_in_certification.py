"""A group beside certification: both step as they do alone, and snapshots may be fixed before."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from ci.pages.proofs.witnesses import stored, wanted
from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.judging.traces import replay
from paraply.models.language.concrete import (
    World,
    choosing,
    evaluate,
    is_enabled,
    step,
    without_choices,
)
from paraply.models.language.simulation import taken
from paraply.models.language.system import obligations
from paraply.models.language.terms import conj, conjuncts, forall, functions_in, nodes_in
from paraply.models.systems import certification as certifier
from paraply.models.systems.certification import Rules, certification
from paraply.models.systems.group import ROW, TXN, group
from paraply.models.systems.group_in_certification import PREFIX, group_in_certification
from tests.models.test_transition import random_value, random_world

GROUP, JOINT = group(), group_in_certification()
FREE = certification(Rules(snapshots_are_fixed=False, snapshots_are_closed=False))
FIXED = certification()
TAKEN = {
    "certify": ("take_snapshot", "certify_positively"),
    "refuse": ("take_snapshot", "certify_negatively"),
    "settle": ("grow_stable_set",),
    "collect": ("collect_garbage",),
}
"""Steps of certification in each step of the group."""


def table(world, system, name, prefix=""):
    """Return all values of one function."""
    function = next(f for f in system.functions if f.name == name)
    return {at: world.lookup(function, at) for at in world.scope.arguments(function)}


def of_certification(world, system=FREE):
    """Return certification's part of a joint world."""
    own = {f.name: "ws" if f.name == "ws" else PREFIX + f.name for f in system.functions}
    return World(world.scope, {n: dict(world.tables.get(name, {})) for n, name in own.items()})


def choices(action, before, chosen):
    """Return what the map chooses for certification, and which parameters it gives."""
    told = {parameter.name: value for parameter, value in chosen.items()}
    scope, look = before.scope, {f.name: f for f in GROUP.functions}
    txns = scope.values(TXN)

    def below(limit):
        return {(u,): before.lookup(look["certified"], (u,))
                and before.lookup(look["place"], (u,)) < limit for u in txns}  # fmt: skip

    if action == "settle":
        return {"grown": below(told["level"])}, []
    if action == "collect":
        return {"purged": {(r,): r == told["row"] for r in scope.values(ROW)}}, []
    seen = {"chosen": below(before.lookup(look["snap"], (told["t"],)))}
    if action == "certify":
        return seen, [told["t"]]
    last = before.lookup(look["version"], (before.lookup(look["n"], ()), told["row"]))
    return seen, [told["t"], told["row"], before.lookup(look["txn_at"], (last,))]


def certified_alone(system, part, action, before, chosen, *, asked=False):
    """Return certification's world after its own steps; ``asked`` checks each guard."""
    values, arguments = choices(action, before, chosen)
    for name in TAKEN[action]:
        if name == "take_snapshot" and system is FIXED:
            continue
        own = system.action_named(name)
        given = arguments[: len(own.parameters)]
        bound = dict(zip(own.parameters, given, strict=True))
        ready = choosing(part, {f.name: values[f.name] for f in own.havoc})
        assert not asked or is_enabled(own, ready, bound), (action, name)
        part = step(system, own, ready, bound)
    return part


def test_each_step_of_the_group_is_a_joint_step_with_its_guard_and_effect():
    assert {a.name for a in JOINT.actions} == {a.name for a in GROUP.actions}
    for base in GROUP.actions:
        action = JOINT.action_named(base.name)
        renamed = {f.name for f in action.updates if f not in GROUP.functions}
        assert (renamed != set()) == (base.name in TAKEN)
        assert all(name.startswith(PREFIX) or name == "matched" for name in renamed)
        alone = taken(GROUP, base.name, *action.parameters)
        assert {f: v for f, v in action.updates.items() if f in GROUP.functions} == alone.updates
        assert set(conjuncts(action.guard)) == set(conjuncts(alone.guard))


@pytest.mark.parametrize("action", sorted(TAKEN))
@pytest.mark.parametrize("seed", range(3))
def test_joint_step_changes_each_part_as_the_part_does_alone(action, seed):
    chance = Random(seed)
    world = random_world(JOINT, chance)
    joint, base = JOINT.action_named(action), GROUP.action_named(action)
    values = [random_value(p.sort, world.scope, chance) for p in joint.parameters]
    chosen = dict(zip(joint.parameters, values, strict=True))
    after = step(JOINT, joint, world, chosen)
    alone = step(GROUP, base, world, dict(zip(base.parameters, values, strict=True)))
    for function in GROUP.functions:
        assert after.tables[function.name] == alone.tables[function.name], function.name
    ours = certified_alone(FREE, of_certification(world), action, world, chosen)
    kept = without_choices(ours)
    for function in FREE.functions:
        name = "ws" if function.name == "ws" else PREFIX + function.name
        assert table(after, JOINT, name) == table(kept, FREE, function.name), name


@pytest.mark.parametrize("name", [situation.name for situation in wanted(JOINT)])
def test_a_certifier_whose_snapshots_are_fixed_before_takes_the_same_steps(name):
    situation = next(one for one in wanted(JOINT) if one.name == name)
    run = replay(JOINT, situation, stored()[JOINT.name][name])
    worlds = [run.start, *(one.world for one in run.steps)]
    part = of_certification(worlds[0], FIXED)
    part.tables["snap"] = dict(worlds[-1].tables.get(f"{PREFIX}snap", {}))
    for statement in (*FIXED.initially, *FIXED.axioms):
        assert evaluate(statement.closed, part, {}), statement.name
    for before, made in zip(worlds, run.steps, strict=False):
        if made.action in TAKEN:
            parameters = JOINT.action_named(made.action).parameters
            chosen = {p: made.parameters[p.name] for p in parameters}
            part = certified_alone(FIXED, part, made.action, before, chosen, asked=True)
    for function in ("delivered", "certified", "before", "stable", "has"):
        assert table(part, FIXED, function) == table(worlds[-1], JOINT, PREFIX + function)


def test_decisions_change_nothing_by_a_snapshot():
    """A certifier with other snapshots changes the same, where it takes a step."""
    for action in FREE.actions:
        changed = [value for _, value in action.updates.values()]
        read = functions_in(node for value in changed for node in nodes_in(value))
        assert ("snap" in read) == (action.name == "take_snapshot")


def test_certifier_that_reads_a_snapshot_before_its_delivery_is_not_matched(monkeypatch):
    def reading_early(rules):
        """Return a certifier that accepts nothing that is in a snapshot, of others to come too."""
        system = certification(rules)
        snap = next(f for f in system.functions if f.name == "snap")
        unseen = forall(certifier.U, ~snap(certifier.U, certifier.T))
        system.actions = [
            replace(one, guard=conj(one.guard, unseen)) if one.name == "certify_positively" else one
            for one in system.actions
        ]
        return system

    monkeypatch.setattr(certifier, "certification", reading_early)
    asked = ("every_step_is_matched", "certify")
    parts = obligations(group_in_certification())
    certify = next(one for one in parts if (one.statement, one.step) == asked)
    assert judge_z3(certify).answer is Answer.REFUTED


def test_a_delivered_transaction_takes_no_other_snapshot():
    action = FREE.action_named("take_snapshot")
    world = random_world(FREE, Random(1))
    for txn in world.scope.values(TXN):
        delivered = table(world, FREE, "delivered")[txn,]
        assert is_enabled(action, world, {action.parameters[0]: txn}) != delivered
