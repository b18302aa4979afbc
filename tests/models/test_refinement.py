"""Two models side by side: each steps as it does alone, and what is not matched is noticed."""

from __future__ import annotations

from random import Random

import pytest

from paraply.models.judging.bounded import breach_of
from paraply.models.judging.proving import reach, safety_statement
from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.language.concrete import Scope, World, evaluate, step, without_choices
from paraply.models.language.simulation import Simulation, Words, in_turn, renamed, taken
from paraply.models.language.system import System, obligations
from paraply.models.language.terms import INT, Variable, conj, eq
from paraply.models.systems.applier import MYSQL_8_0, parallel_applier
from paraply.models.systems.applier_in_member import applier_in_member
from paraply.models.systems.end_to_end import ROW, end_to_end
from paraply.models.systems.member_in_applier import member_in_applier
from paraply.models.systems.side_by_side import CHOSEN, PREFIX
from tests.models.test_transition import random_value, random_world

N = Variable("k", INT)
JOINT = {"applier": applier_in_member(), "member": member_in_applier()}
APPLIER, BURNS, MEMBER = parallel_applier(), parallel_applier(MYSQL_8_0), end_to_end()
PARTNER = {
    "finish": ("finish", "engine_commit"),
    "commit_session": (None, "engine_commit"),
    "change_row": (None, "change_row"),
    "alter": (None, "alter"),
}
"""The action of the applier and of the member in a joint step, where the names differ."""


def alone(world, system, prefix):
    """Return the part of a joint world that one model knows."""
    names = {f.name: f.name if f.name in CHOSEN else prefix + f.name for f in system.functions}
    chosen = {own + "~": name + "~" for own, name in names.items() if name + "~" in world.tables}
    return World(world.scope, {own: world.tables[n] for own, n in {**names, **chosen}.items()})


def scope_rows(world):
    return world.scope.values(ROW)


def stepped(world, system, names, parameters):
    """Return the world after a model's own actions, one after the other."""
    choices = {name: table for name, table in world.tables.items() if name.endswith("~")}
    for name in names:
        world = World(world.scope, {**world.tables, **choices})
        action = next(action for action in system.actions if action.name == name)
        values = [parameters[parameter.name] for parameter in action.parameters]
        chosen = dict(zip(action.parameters, values, strict=True))
        world = step(system, action, world, chosen)
    return world


def parts_of(action):
    """Return what each model does in a joint step: names of its actions, in turn."""
    if action.name.startswith("collect_garbage"):
        burns = ["leave_out_number"] if action.name.endswith("burn") else []
        return ["collect_garbage"], [*burns, "collect_garbage"]
    of_applier, of_member = PARTNER.get(action.name, (action.name, action.name))
    return [of_applier] if of_applier else [], [of_member]


@pytest.mark.parametrize("leads", sorted(JOINT))
def test_joint_step_changes_each_part_as_the_part_does_alone(leads):
    system, chance = JOINT[leads], Random(7)
    place, rank = (next(f for f in system.functions if f.name == n) for n in ("place", "rank"))
    for action in system.actions:
        applier = BURNS if action.name == "collect_garbage_burn" else APPLIER
        world = random_world(system, chance)
        chosen = {p: random_value(p.sort, world.scope, chance) for p in action.parameters}
        after = step(system, action, world, chosen)
        told = {p.name: value for p, value in chosen.items()}
        worker = told.get("worker", told.get("q", 0))
        here, there = worker, told.get("here", world.lookup(place, (worker,)))
        if leads == "member":
            here, there = world.lookup(rank, (worker,)), worker
        of_applier, of_member = parts_of(action)
        at_applier = {**told, "q": here, "p": here}
        at_member = {**told, "q": there, "p": there, "r": told.get("row"), "t": told.get("tab")}
        if action.name == "certify_local":  # what the applier would choose is what is delivered
            here = world.lookup(next(f for f in MEMBER.functions if f.name == "n"), ())
            ws = world.tables["ws"]
            world.tables[f"{PREFIX}local_ws~"] = {(r,): ws[here, r] for r in scope_rows(world)}
        ours = stepped(alone(world, applier, PREFIX), applier, of_applier, at_applier)
        theirs = stepped(alone(world, MEMBER, ""), MEMBER, of_member, at_member)
        if action.name == "certify_local" and leads == "applier":
            theirs = stepped(theirs, MEMBER, ["engine_commit"], {"p": told["here"]})
        assert alone(after, APPLIER, PREFIX).tables == without_choices(ours).tables, action.name
        assert alone(after, MEMBER, "").tables == without_choices(theirs).tables, action.name


@pytest.mark.parametrize("leads", sorted(JOINT))
def test_every_step_of_the_leader_is_a_joint_step_and_asks_for_what_the_leader_asks_for(leads):
    taken_by = [parts_of(action)[leads == "member"] for action in JOINT[leads].actions]
    leader = {"applier": APPLIER, "member": MEMBER}[leads]
    alone_only = set() if leads == "applier" else {"leave_out_number"}  # it comes with a collection
    assert {name for names in taken_by for name in names} - alone_only == {
        action.name for action in leader.actions
    } - alone_only


def counting(name, limit):
    """Return a system that counts up to a limit."""
    system = System(name)
    n = system.state("n", INT)
    system.starts_with("zero", (), eq(n(), 0))
    system.action("up", (N,), guard=conj(eq(N, n()), n() < limit), updates={n: lambda: n() + 1})
    return system


def counting_together(concrete_limit, abstract_limit, steps=1):
    """Return a counter beside one that counts ``steps`` for each of its steps."""
    concrete, abstract = renamed(counting("c", concrete_limit), "c_"), counting("a", abstract_limit)
    joint = Simulation("together", "", concrete, abstract)
    c, a = Words(concrete, "c_"), Words(abstract)
    ups = [taken(abstract, "up", a.n()) for _ in range(steps)]
    joint.step("up", (N,), taken(concrete, "up", N), *ups, meaning="")
    joint.claim()
    joint.system.invariant("equal", (), eq(c.n(), a.n()), "")
    return joint.system


def answers(system):
    return {(o.statement, o.step): judge_z3(o, timeout_s=3).answer for o in obligations(system)}


def test_counter_with_the_lower_limit_is_simulated_by_the_other_and_not_the_other_way_round():
    assert set(answers(counting_together(3, 5)).values()) == {Answer.PROVED}
    faulty = counting_together(5, 3)
    assert answers(faulty)["every_step_is_matched", "up"] is Answer.REFUTED
    breach = breach_of(safety_statement(faulty, "every_step_is_matched"))
    assert len(reach(faulty, breach, Scope(low=0, high=6), 6).steps) == 4


def test_two_steps_in_turn_need_both_guards_and_have_both_effects():
    twice = counting_together(3, 5, steps=2)
    assert answers(twice)["equal", "up"] is Answer.REFUTED
    whole = in_turn(*(taken(counting("a", 5), "up", Variable(name, INT)) for name in "xy"))
    n = counting("a", 5).functions[0]
    for start, x, y, allowed in (
        (0, 0, 1, True),
        (0, 0, 0, False),
        (3, 3, 4, True),
        (4, 4, 5, False),
    ):
        world = World(Scope(low=0, high=9), {"n": {(): start}})
        chosen = {Variable("x", INT): x, Variable("y", INT): y}
        assert evaluate(whole.guard, world, chosen) is allowed
        assert evaluate(whole.post(n()), world, chosen) == start + 2


def test_no_step_in_turn_changes_nothing():
    assert (in_turn().updates, evaluate(in_turn().guard, World(Scope(high=1)), {})) == ({}, True)


def test_words_know_the_functions_of_their_system_only():
    words = Words(renamed(counting("c", 3), "c_"), "c_")
    assert words.n.name == "c_n"
    assert words.told(counting("a", 3).actions[0].guard) == words.told(
        renamed(counting("b", 3), "").actions[0].guard
    )
    with pytest.raises(AttributeError, match="m"):
        words.m()
