"""The three readings of a step agree: by substitution, written out, and on plain values."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.judging import proving
from paraply.models.judging.solver import Answer, Judgment, judge_z3
from paraply.models.language.concrete import Scope, World, evaluate, step
from paraply.models.language.smtlib import text
from paraply.models.language.system import Action, Statement, System, choice_of, obligations
from paraply.models.language.terms import BOOL, INT, Apply, Variable, eq, implies, substitute
from paraply.models.language.transition import (
    AFTER,
    BEFORE,
    readings_agree,
    relation,
    two_vocabulary_obligations,
)
from paraply.proving import readings
from paraply.proving.readings import RECORD
from tests.models.built import SYSTEMS

SEED, WORLDS = 7, 12


@pytest.mark.long(each=3)
@pytest.mark.parametrize("name", SYSTEMS)
def test_what_is_proved_by_substitution_is_proved_of_the_relation_written_out(name):
    parts = list(two_vocabulary_obligations(SYSTEMS[name]))
    for part in Random(SEED).sample(parts, min(20, len(parts))):
        judgment = judge_z3(part, timeout_s=60.0)
        assert judgment.answer is Answer.PROVED, (part.statement, part.step)


def progress(system):
    """Return the statements of responses: they are not invariants of steps."""
    return {response.part(case) for response in system.responses for case in response.cases} | {
        response.name for response in system.responses
    }


@pytest.mark.long
def test_relation_has_an_obligation_for_each_invariant_and_action():
    for system in SYSTEMS.values():
        written = {(part.statement, part.step) for part in two_vocabulary_obligations(system)}
        substituted = {
            (part.statement, part.step)
            for part in obligations(system)
            if part.step not in ("initially", "safety") and part.statement not in progress(system)
        }
        assert written == substituted


@pytest.mark.long
def test_what_is_false_by_substitution_is_not_proved_of_the_relation():
    tried = 0
    small = [e for e in COUNTEREXAMPLES if len(obligations(e.system())) <= 150]
    for entry in Random(SEED).sample(small, 20):
        system = entry.system()
        written = {(p.statement, p.step): p for p in two_vocabulary_obligations(system)}
        for part in islice(obligations(system), 30):
            both = written.get((part.statement, part.step))
            if both and judge_z3(part, steps_max=300_000).answer is Answer.REFUTED:
                tried += 1
                assert judge_z3(both, steps_max=1_000_000).answer is not Answer.PROVED
                break
    assert tried >= 8


def random_world(system, chance):
    """Return a world of random tables, its values well inside the scope."""
    scope = Scope(low=-2, high=6, size=2)
    world = World(scope)
    chosen = {choice_of(f) for action in system.actions for f in action.havoc}
    for function in (*system.functions, *sorted(chosen, key=str)):
        world.tables[function.name] = {
            arguments: random_value(function.result, scope, chance)
            for arguments in scope.arguments(function)
        }
    return world


def random_value(sort, scope, chance):
    if sort == INT:
        return chance.randint(scope.low + 1, scope.high - 2)
    return chance.choice(scope.values(sort))


def disagreement(system, chance):
    """Return an action and a statement of which substitution and evaluation differ, if any do.

    Guards do not matter here: an update is the same function of the state wherever it is taken.
    """
    stated = {s.name: s for s in (*system.invariants, *system.safety)}
    for response in system.responses:
        formulas = [response.pending, response.goal, response.bounded(), response.covered()]
        for number, formula in enumerate(formulas):
            stated[f"{response.name} {number}"] = Statement("part", response.variables, formula)
    for action in system.actions:
        world = random_world(system, chance)
        scope = world.scope
        chosen = {p: random_value(p.sort, scope, chance) for p in action.parameters}
        after = step(system, action, world, chosen)
        for statement in stated.values():
            fresh = {v: Variable(f"any_{v.name}", v.sort) for v in statement.variables}
            values = {c: random_value(c.sort, scope, chance) for c in fresh.values()}
            goal = substitute(statement.body, fresh)
            before = evaluate(action.post(goal), world, {**chosen, **values})
            if before != evaluate(goal, after, values):
                return action.name, statement.name
    return None


@pytest.mark.long(each=3)
@pytest.mark.parametrize("name", SYSTEMS)
def test_substitution_says_of_the_state_before_what_evaluation_says_of_the_state_after(name):
    chance = Random(SEED)
    for _ in range(WORLDS):
        assert disagreement(SYSTEMS[name], chance) is None


def shallow_post(self, node):
    """Substitute only at the top of an application, and forget its arguments."""
    if isinstance(node, Apply) and node.function in self.updates:
        variables, value = self.updates[node.function]
        return substitute(value, dict(zip(variables, node.arguments, strict=True)))
    return POST(self, node)


POST = Action.post


def test_substitution_that_forgets_arguments_is_noticed(monkeypatch):
    monkeypatch.setattr(Action, "post", shallow_post)
    chance = Random(SEED)
    assert any(disagreement(SYSTEMS["members"], chance) or
               disagreement(SYSTEMS["parallel_applier[wl8440]"], chance)
               for _ in range(WORLDS))  # fmt: skip


def test_substitution_that_changes_nothing_is_noticed_in_every_system(monkeypatch):
    monkeypatch.setattr(Action, "post", lambda self, node: node)
    for system in SYSTEMS.values():
        chance = Random(SEED)
        assert any(disagreement(system, chance) for _ in range(WORLDS))


def counter():
    system = System("counter")
    n, big = system.state("n", INT), system.state("big", INT, BOOL)
    p = Variable("p", INT)
    system.action("up", guard=n() < 3, updates={n: lambda: n() + 1})
    system.action("mark", (p,), guard=p > n(), updates={big: lambda q: big(q) | eq(p, q)})
    system.invariant("marked", (p,), implies(big(p), p > 0), "")
    return system


def test_relation_says_what_changes_and_what_does_not():
    assert text(relation(counter(), counter().actions[0])) == (
        "(and (< n@0 3) (= n@1 (+ n@0 1)) (forall ((big~0 Int)) (= (big@1 big~0) (big@0 big~0))))"
    )


def test_relation_leaves_open_what_the_environment_chooses():
    for system in SYSTEMS.values():
        for action in system.actions:
            said = repr(relation(system, action))
            for function in action.havoc:
                chosen = f"{choice_of(function).name}@{BEFORE}"
                assert f"'{function.name}@{AFTER}'" in said
                assert f"'{chosen}'" in said
                assert f"'{function.name}@{BEFORE}'" not in said


@pytest.mark.long
def test_both_readings_of_every_small_system_are_one():
    for name in ("members", "certification", "commit_order", "restart[in order]"):
        for part in readings_agree(SYSTEMS[name]):
            assert judge_z3(part, timeout_s=60.0).answer is Answer.PROVED


def test_readings_compare_what_responses_read_after_each_step():
    with_responses = [system for system in SYSTEMS.values() if system.responses]
    assert with_responses
    for system in with_responses:
        compared = Counter((part.statement, part.step) for part in readings_agree(system))
        for response in system.responses:
            assert {response.goal, response.rank[0].top} <= set(response.read_after)
            for action in system.actions:
                assert compared[response.name, action.name] > 1


@pytest.mark.long
def test_stored_comparison_is_of_todays_systems():
    stored = json.loads(RECORD.read_text(encoding="utf-8"))
    assert stored["unproved"] == 0
    for kind, parts in {
        "equivalences": readings_agree, "obligations": two_vocabulary_obligations
    }.items():  # fmt: skip
        assert stored[kind] == sum(1 for system in SYSTEMS.values() for _ in parts(system)), kind


@pytest.mark.parametrize(("decided_by", "count"), [(2, 0), (None, 1)])
def test_comparison_asks_again_with_another_seed_where_the_clock_ends_the_solver(
    monkeypatch, decided_by, count
):
    part = next(readings_agree(counter()))
    now = [0.0]

    def judge(obligation, *, timeout_s, seed):
        now[0] += timeout_s
        answer = Answer.PROVED if seed == decided_by else Answer.UNDECIDED
        return Judgment(obligation=obligation, solver="z3", answer=answer, seconds=timeout_s)

    monkeypatch.setattr(proving.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(readings, "judge_z3", judge)
    assert readings.unproved([part])[:2] == (1, [part] * count)


def test_readings_disagree_where_substitution_keeps_a_chosen_function(monkeypatch):
    system = SYSTEMS["members"]

    def keeping(self, node):
        kept = {f: v for f, v in self.updates.items() if f not in self.havoc}
        return POST(replace(self, updates=kept), node)

    monkeypatch.setattr(Action, "post", keeping)
    grown = next(f for f in system.functions if f.name == "grown")
    t = Variable("t", grown.arguments[0])
    stated = Statement("not_grown", (t,), ~grown(t))
    parts = readings_agree(replace(system, invariants=[stated], safety=[]))
    assert any(judge_z3(part, timeout_s=60.0).answer is Answer.REFUTED for part in parts)
