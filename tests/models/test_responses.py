"""The response rule: what it proves, what it refuses, and lassos as its counterexamples."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS
from paraply.models.explicit.lasso import FairGraph, TooManyStatesError, components
from paraply.models.judging.certificates.maker import make
from paraply.models.judging.judges import JUDGES, STORE
from paraply.models.judging.lassos import search_lasso
from paraply.models.judging.proving import refute, replayed
from paraply.models.judging.solver import Answer
from paraply.models.judging.traces import stored_runs
from paraply.models.kernel.check import check
from paraply.models.language.concrete import Scope
from paraply.models.language.refusal import IllFormedError
from paraply.models.language.response import Case, Measure, Response
from paraply.models.language.system import System, obligations
from paraply.models.language.terms import BOOL, INT, TRUE, Variable, eq
from paraply.models.systems.lock_queue import Rules, lock_queue, workloads
from tests.models import random_responses
from tests.models.random_responses import fuzz

PROGRESS = [entry for entry in THEOREMS if entry.kind == "progress"]
SYSTEMS = {build().name: build for entry in PROGRESS for build in entry.systems}
QUEUES = {name: build for name, build in SYSTEMS.items() if name.partition("[")[0] == "lock_queue"}
OTHERS = ("commit_pipeline", "stable_rounds")
LASSOS = [entry for entry in COUNTEREXAMPLES if entry.kind == "progress"]
T = Variable("t", INT)


def test_kind_of_a_theorem_is_progress_where_it_states_a_response():
    for entry in THEOREMS:
        for build in entry.systems:
            responses = {response.name for response in build().responses}
            assert bool(responses & set(entry.statements)) == (entry.kind == "progress")
    assert len(PROGRESS) >= 2


@pytest.mark.long
def test_kind_of_a_counterexample_is_progress_where_it_refutes_a_response():
    for entry in COUNTEREXAMPLES:
        names = {response.name for response in entry.system().responses}
        assert (entry.statement in names) == (entry.kind == "progress")


# Controls: each change of a right response is refused by every judge.


def changed(response, **changes):
    return replace(response, **changes)


def without_case(number):
    return lambda r: changed(r, cases=r.cases[:number] + r.cases[number + 1 :])


def without_measure(number):
    return lambda r: changed(r, rank=r.rank[:number] + r.rank[number + 1 :])


def upside_down(number):
    def turned(response):
        rank = list(response.rank)
        rank[number] = Measure(rank[number].bottom, rank[number].top)
        return changed(response, rank=tuple(rank))

    return turned


def other_argument(response):
    cases = [replace(case, arguments=(T, *case.arguments[1:])) for case in response.cases]
    return changed(response, cases=tuple(cases))


CONTROLS = {
    **{f"without case {n}": without_case(n) for n in range(4)},
    **{f"without rank {n}": without_measure(n) for n in range(4)},
    **{f"rank {n} upside down": upside_down(n) for n in range(4)},
    "no rank": lambda r: changed(r, rank=()),
    "ranks in another order": lambda r: changed(r, rank=r.rank[::-1]),
    "helpful step of another transaction": other_argument,
    "a stronger goal": lambda r: changed(r, goal=T + 1 < r.goal.right),
    "what is not in the log": lambda r: changed(r, pending=TRUE),
}


def controls():
    for name in ("lock_queue[exact]", "lock_queue"):
        size = len(QUEUES[name]().responses[0].cases)
        for control in CONTROLS:
            if size == 4 or not control.endswith(("3", "3 upside down")):
                yield name, control
    for name in OTHERS:
        yield from ((name, control) for control in ("without case 0", "no rank"))
    for name in ("lock_queue[optimistic]", "lock_queue[conservative]", "lock_queue[sessions]"):
        yield name, "without case 3"


def altered(name, control):
    system = SYSTEMS[name]()
    system.responses = [CONTROLS[control](system.responses[0])]
    return system


@pytest.mark.long(each=6)
@pytest.mark.parametrize(("name", "control"), list(controls()))
def test_changed_response_is_refused_by_every_judge(name, control):
    parts = [part for part in obligations(altered(name, control)) if part.claim]
    parts = [part for part in parts if part.step != "safety"]
    refused = [
        part for part in parts
        if JUDGES["z3"](part, timeout_s=2.0, seed=0).answer is not Answer.PROVED
    ]  # fmt: skip
    assert refused
    for part in refused:
        assert JUDGES["cvc5"](part, timeout_s=2.0, seed=0).answer is not Answer.PROVED
        assert JUDGES["kernel"](part).answer is not Answer.PROVED
        stored = STORE.certificate(part)
        assert stored is None or not check(part, stored).is_proved
    assert make(refused[0], timeout_s=2.0) is None


@pytest.mark.parametrize("name", SYSTEMS)
def test_helpful_action_must_be_fair(name):
    system = SYSTEMS[name]()
    for response in SYSTEMS[name]().responses:
        for action in {case.action for case in response.cases}:
            fair = tuple(other for other in response.fair if other != action)
            system.responses = [replace(response, fair=fair)]
            with pytest.raises(IllFormedError, match=f"names {action}, which is not fair"):
                obligations(system)


SMALL = Scope(low=-1, high=3, size=1)


def lassos_of(system, response, transactions=2, scope=SMALL):
    n = next(function for function in system.functions if function.name == "n")
    return search_lasso(
        system, response, scope, list(workloads(transactions, scope)), inside=n() <= transactions
    )


@pytest.mark.long
def test_each_fairness_is_needed():
    system = lock_queue(Rules())
    (response,) = system.responses
    assert lassos_of(system, response) is None
    for action in response.fair:
        # The front end refuses such a response; the search takes it.
        unfair = replace(response, fair=tuple(one for one in response.fair if one != action))
        assert lassos_of(system, unfair) is not None, action


ILL = {
    "no case": lambda r: changed(r, cases=()),
    "two cases of one name": lambda r: changed(r, cases=r.cases[:1] * 2),
    "unknown action": lambda r: changed(
        r, cases=(replace(r.cases[0], action="fly"),), fair=("fly",)
    ),
    "too many arguments": lambda r: changed(r, cases=(replace(r.cases[0], arguments=(T, T)),)),
    "argument of another sort": lambda r: changed(
        r, cases=(replace(r.cases[0], arguments=(TRUE,)),)
    ),
    "open condition": lambda r: changed(
        r, cases=(replace(r.cases[0], condition=eq(Variable("z", INT), 0)),)
    ),
    "goal is a number": lambda r: changed(r, goal=T),
    "rank is a truth value": lambda r: changed(r, rank=(Measure(TRUE),)),
    "name of a safety statement": lambda r: changed(r, name="conflicts_do_not_overlap"),
}


@pytest.mark.parametrize("name", ILL)
def test_ill_formed_response_is_refused(name):
    system = lock_queue(Rules())
    response = ILL[name](system.responses.pop())
    with pytest.raises(IllFormedError):
        system.responds(response)


def test_action_that_chooses_functions_is_not_fair():
    system = System("s")
    flag = system.state("flag", BOOL)
    system.action("choose", havoc=(flag,))
    case = Case(name="c", condition=TRUE, action="choose")
    with pytest.raises(IllFormedError, match="chooses functions"):
        system.responds(Response(name="r", variables=(), pending=TRUE, goal=flag(), rank=(),
                                 cases=(case,), fair=("choose",)))  # fmt: skip


@pytest.mark.parametrize("step", ["covered", "bounded", "enabled", "helps"])
def test_no_action_is_named_like_a_step_of_a_response(step):
    with pytest.raises(IllFormedError):
        System("s").action(step)


# Random systems.


SYSTEMS_FUZZED = 300


@pytest.mark.long
def test_what_is_proved_of_random_systems_has_no_fair_lasso():
    proved, refuted, wrong = fuzz(1, SYSTEMS_FUZZED)
    print(f"seed 1: {proved} proved, {refuted} with a lasso")
    assert not wrong
    assert proved > SYSTEMS_FUZZED // 6
    assert refuted > SYSTEMS_FUZZED


WRONG_RULES = {
    "no case need hold": (1, "covered", lambda self: TRUE),
    "the helpful step need not lower the rank": (
        1, "helped", lambda self, after: self.not_worse(self.cases[0], (), after)
        if not self.cases[0].arguments else after(self.goal) | after(self.pending)
    ),
    "any step may raise the rank": (
        230, "not_worse", lambda self, case, given, after: after(self.goal) | after(self.pending)
    ),
    "what is pending may be forgotten": (
        60, "not_worse", lambda self, case, given, after: TRUE
    ),
}  # fmt: skip
"""By name: the seed from which a system notices soon, the method and what it is replaced by."""


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG_RULES)
def test_wrong_rule_is_noticed(monkeypatch, name):
    seed, method, wrong = WRONG_RULES[name]
    monkeypatch.setattr(Response, method, wrong)
    assert fuzz(seed, 50)[2]


@pytest.mark.long
def test_rule_without_enabled_steps_is_noticed(monkeypatch):
    made = random_responses.obligations
    monkeypatch.setattr(
        random_responses, "obligations",
        lambda system: [part for part in made(system) if part.step != "enabled"],
    )  # fmt: skip
    assert fuzz(1, 200)[2]


# Lassos.


@pytest.mark.long(each=12)
@pytest.mark.parametrize("entry", LASSOS, ids=lambda entry: entry.id)
def test_stored_lasso_is_a_shortest_one(entry):
    found = refute(entry)
    assert found.as_expected
    shorter = replace(entry, steps=entry.steps - 1)
    assert refute(shorter).run is None


def tampered(entry, change):
    data = copy.deepcopy(stored_runs()[entry.id])
    change(data)
    with pytest.raises(ValueError, match=r"no lasso|does not end") as refusal:
        replayed(entry, data)
    return str(refusal.value)


def by_id(name):
    return next(entry for entry in LASSOS if entry.id == name)


@pytest.mark.long
def test_tampered_lasso_is_refused():
    stuck, repeated = (by_id(name) for name in ("C68", "C69"))
    assert "does not close" in tampered(stuck, lambda data: data.update(loop=1))
    assert "does not close" in tampered(repeated, lambda data: data.update(loop=99))
    last = tampered(repeated, lambda data: (data["steps"].pop(), data.update(loop=0)))
    assert "call_back(1, 0) is always possible" in last
    assert "nothing is pending" in tampered(stuck, lambda data: data["witness"].update(t=4))
    early = tampered(stuck, lambda data: data["steps"].pop())
    assert "always possible" in early


def test_run_that_ends_without_work_is_no_lasso():
    # Both transactions have committed: nothing is pending any more.
    system = lock_queue(Rules())
    (response,) = system.responses
    assert lassos_of(system, response, transactions=1) is None


def spinner(fair):
    system = System("spinner")
    n, done = system.state("n", INT), system.state("done", BOOL)
    system.starts_with("zero", (), eq(n(), 0) & ~done())
    system.action("turn", guard=n() < 1, updates={n: lambda: n() + 1})
    system.action("back", guard=n() > 0, updates={n: lambda: n() - 1})
    system.action("finish", guard=n() > 0, updates={done: lambda: TRUE})
    cases = tuple(Case(name=name, condition=TRUE, action=name) for name in fair)
    system.responds(Response(name="done_in_the_end", variables=(), pending=TRUE, goal=done(),
                             rank=(), cases=cases, fair=fair))  # fmt: skip
    return system


@pytest.mark.parametrize(
    ("fair", "steps", "loop"),
    [(("turn",), 1, 0), (("turn", "finish"), 2, 2), (("turn", "back", "finish"), 2, 2),
     (("finish",), 0, 0)],
)  # fmt: skip
def test_shortest_lasso_of_a_small_system(fair, steps, loop):
    # `finish` is possible again and again but not all the time: weak fairness does not take it.
    system = spinner(fair)
    graph = FairGraph(system, system.responses[0], Scope(low=0, high=1), {})
    found = graph.lasso()
    assert (len(found.steps), found.loop) == (steps, loop)
    assert graph.lasso(longest=steps - 1) is None


def test_limit_of_states_is_an_error():
    system = spinner(("turn",))
    with pytest.raises(TooManyStatesError):
        FairGraph(system, system.responses[0], Scope(low=0, high=1), {}, states_max=1)


def test_components_are_the_circles():
    edges = {1: [2], 2: [3], 3: [1, 4], 4: [5], 5: [4], 6: []}
    found = components(edges, lambda state: iter(edges[state]))
    assert {frozenset(one) for one in found} == {
        frozenset({1, 2, 3}), frozenset({4, 5}), frozenset({6})
    }  # fmt: skip


def test_obligations_of_a_response_are_of_every_case_and_action():
    system = lock_queue(Rules())
    (response,) = system.responses
    parts = [part for part in obligations(system) if part.claim == response.name]
    wanted = {(response.name, step) for step in ("covered", "bounded")} | {
        (response.part(case), step)
        for case in response.cases
        for step in ("enabled", "helps", *(action.name for action in system.actions))
    }
    assert {(part.statement, part.step) for part in parts} == wanted
    assert len(parts) == len(wanted)
