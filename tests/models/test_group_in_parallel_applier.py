"""A group beside the applier of one member: both step as they do alone, and no step is left out."""

from __future__ import annotations

from random import Random

import pytest

from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.language.concrete import World, step, without_choices
from paraply.models.language.simulation import Words, taken
from paraply.models.language.system import Obligation, obligations
from paraply.models.language.terms import (
    Quantified,
    conj,
    conjuncts,
    disj,
    eq,
    forall,
    implies,
    negate,
)
from paraply.models.systems.applier import MYSQL_8_3, MYSQL_8_4, parallel_applier
from paraply.models.systems.group import ROW, M, P, Q, R
from paraply.models.systems.group_in_parallel_applier import (
    LC,
    PREFIX,
    WINDOW,
    WITNESS,
    Rules,
    group_in_parallel_applier,
)
from paraply.models.systems.parallel_group import Rules as Group
from paraply.models.systems.parallel_group import parallel_group
from tests.models.test_transition import random_value, random_world

GROUP, JOINT = parallel_group(), group_in_parallel_applier()
APPLIER, BURNS = parallel_applier(MYSQL_8_4), parallel_applier(MYSQL_8_3)
OF_GROUP = {
    "receive_first": ["receive"],
    "receive_elsewhere": ["receive"],
    "pass_over_session": ["pass_over"],
    "collect_at_last": ["collect_at"],
    "collect_at_burn": ["leave_out_number", "collect_at"],
    "start_elsewhere": ["start"],
    "finish": ["apply"],
}
"""The group's actions in a joint step, where the name is another."""
OF_APPLIER = {
    "receive_first": "certify_first",
    "receive": "certify",
    "pass_over_session": "certify_local",
    "collect_at_last": "collect_garbage",
    "collect_at_burn": "collect_garbage",
    "start": "start",
    "finish": "finish",
}
"""The applier's action in a joint step; it stands still in the others."""


def own_name(function):
    """Return the name of an applier's function in the joint system."""
    return function.name if function.name == "purged" else PREFIX + function.name


def named(world, name, *at):
    function = next(f for f in JOINT.functions if f.name == name)
    return world.lookup(function, at)


def group_alone(world, action, told):
    """Return the group's world after its own actions."""
    here = named(world, "here")
    kept = {name: table for name, table in world.tables.items() if name.endswith("~")}
    window = named(world, "next_sn", here) - (action.name != "collect_at_burn")
    given = {"m": here, "window": window, **told}
    for name in OF_GROUP.get(action.name, [action.name]):
        world = World(world.scope, {**world.tables, **kept})
        base = GROUP.action_named(name)
        world = step(GROUP, base, world, {p: given[p.name] for p in base.parameters})
    return world


def applier_alone(world, action, told):
    """Return the applier's world after its own action, with what the map chooses for it."""
    here, rows = named(world, "here"), world.scope.values(ROW)
    system = BURNS if action.name == "collect_at_burn" else APPLIER
    part = World(world.scope, {f.name: dict(world.tables[own_name(f)]) for f in APPLIER.functions})
    if action.name not in OF_APPLIER:
        return part
    base = system.action_named(OF_APPLIER[action.name])
    txn = named(world, "txn_at", named(world, "received", here))
    part.tables["purged~"] = world.tables["purged~"]
    part.tables["imported~"] = {(r,): named(world, "known", here, r) for r in rows}
    part.tables["local_ws~"] = {(r,): named(world, "ws", txn, r) for r in rows}
    given = {
        **told,
        "number": named(world, "next_sn", here),
        "opened": named(world, "lc_global", here),
        "q": named(world, "rank", told.get("q", 0)),
    }
    if action.name == "finish":
        given["p"] = named(world, "rank", named(world, "upto", told["m"]))
    part = step(system, base, part, {p: given[p.name] for p in base.parameters})
    return without_choices(part)


@pytest.mark.parametrize("seed", range(3))
def test_joint_step_changes_each_part_as_the_part_does_alone(seed):
    chance = Random(seed)
    for action in JOINT.actions:
        world = random_world(JOINT, chance)
        chosen = {p: random_value(p.sort, world.scope, chance) for p in action.parameters}
        told = {p.name: value for p, value in chosen.items()}
        after = step(JOINT, action, world, chosen)
        alone = group_alone(world, action, told)
        for function in GROUP.functions:
            if function.name != "purged":
                assert after.tables[function.name] == alone.tables[function.name], action.name
        ours = applier_alone(world, action, told)
        for function in APPLIER.functions:
            if function.name not in {"purged", "imported", "local_ws"}:
                mine = after.tables[own_name(function)]
                assert mine == ours.tables[function.name], (action.name, function.name)


def test_joint_step_asks_for_all_that_the_group_asks_for():
    here = Words(JOINT).here()
    for action in JOINT.actions:
        names = OF_GROUP.get(action.name, [action.name])
        if len(names) > 1 or action.name.startswith("collect_at_"):
            continue
        base = GROUP.action_named(names[0])
        given = {p.name: p for p in action.parameters}
        alone = taken(GROUP, base.name, *(given.get(p.name, here) for p in base.parameters))
        assert set(conjuncts(alone.guard)) <= set(conjuncts(action.guard)), action.name


def told_alike():
    """Return that both are told the same of the next transaction, and its LC is the least."""
    j = Words(JOINT)
    here, log = j.here(), j.applier_n()
    at = j.received(here)
    txn = j.txn_at(at)
    items = conj(j.certified(txn), j.ws(txn, R), j.known(here, R), eq(j.item_sn(here, R), LC))
    return conj(
        eq(j.applier_vc(log), eq(at, j.first(here))),
        eq(j.applier_empty(log), j.empty(txn)),
        forall(R, eq(j.applier_ws(log, R), j.ws(txn, R))),
        disj(j.empty(txn), eq(LC, j.lc_global(here)), Quantified(False, R, items)),
    )


def in_turn():
    """Return that the coordinator has given out what waits before ``Q``."""
    j = Words(JOINT)
    here = j.here()
    txn = j.txn_at(P)
    waits = conj(
        P < Q, j.first(here) <= P, j.upto(here) <= P, P < j.received(here),
        j.certified(txn), negate(conj(j.live(txn), eq(j.home(txn), here))),
    )  # fmt: skip
    return forall(P, implies(waits, j.started(here, P)))


def windows():
    """Return that a collection opens a window of a dialect."""
    j = Words(JOINT)
    return eq(WINDOW, j.next_sn(j.here()) - 1)


@pytest.mark.parametrize(
    ("base", "restricted", "steps"),
    [
        ("receive", told_alike(), ["receive_first", "receive", "receive_elsewhere"]),
        ("pass_over", conj(), ["pass_over_session", "pass_over"]),
        ("collect_at", windows(), ["collect_at_last", "collect_at"]),
        ("start", in_turn(), ["start", "start_elsewhere"]),
        ("apply", conj(), ["finish", "apply"]),
    ],
)
def test_each_step_of_the_group_with_the_choices_of_servers_is_a_joint_step(
    base, restricted, steps
):
    j, action = Words(JOINT), GROUP.action_named(base)
    here_or_not = disj(negate(eq(M, j.here())), restricted)
    taken_by = []
    for name in steps:
        guard = JOINT.action_named(name).guard
        if M not in JOINT.action_named(name).parameters:
            guard = conj(eq(M, j.here()), guard)
        taken_by.append(Quantified(False, WITNESS, guard) if name == "receive" else guard)
    constants = tuple({M, *action.parameters, LC, WINDOW})
    some = tuple(one.closed for one in JOINT.invariants if one.name == "received_is_in_the_order")
    asked = Obligation(
        JOINT.name, "covered", base, (*some, action.guard, here_or_not), disj(*taken_by), constants
    )
    assert judge_z3(asked).answer is Answer.PROVED
    for left in range(len(taken_by)):
        others = disj(*(one for at, one in enumerate(taken_by) if at != left))
        fewer = Obligation(JOINT.name, "covered", base, asked.hypotheses, others, constants)
        assert judge_z3(fewer, timeout_s=3).answer is not Answer.PROVED, steps[left]


def test_other_steps_of_the_group_are_joint_steps_as_they_are():
    others = {action.name for action in GROUP.actions} - {"leave_out_number"}
    assert others <= {action.name for action in JOINT.actions}


def answers(system, statement):
    """Return what Z3 answers about each step of a statement."""
    asked = [one for one in obligations(system) if one.statement == statement]
    return {one.step: judge_z3(one, timeout_s=5).answer for one in asked if one.own is None}


@pytest.mark.long(quick=4)
@pytest.mark.parametrize(
    "statement",
    dict.fromkeys(one.name for one in (*JOINT.safety, *JOINT.invariants)),
)
def test_each_step_of_the_applier_is_possible_whenever_the_group_takes_it(statement):
    assert set(answers(JOINT, statement).values()) == {Answer.PROVED}


@pytest.mark.parametrize(
    ("rules", "step_of_it"),
    [
        (Rules(group=Group(covers_items=False)), "receive"),
        (Rules(group=Group(waits_for_lc=False)), "start"),
        (Rules(sessions_are_apart=False), "finish"),
        (Rules(chooses_as_servers=False), "receive"),
    ],
    ids=["items are not covered", "LC is not waited for", "sessions are workers", "LC is higher"],
)
def test_fault_of_the_group_or_of_the_map_is_not_matched(rules, step_of_it):
    found = answers(group_in_parallel_applier(rules), "every_step_is_matched")
    assert {step for step, answer in found.items() if answer is not Answer.PROVED} >= {step_of_it}
