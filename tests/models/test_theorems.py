from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from paraply.models.claims.claim import about
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS, theorem
from paraply.models.judging import proving, solver
from paraply.models.judging.bounded import breach_of
from paraply.models.judging.judges import JUDGES
from paraply.models.judging.proving import (
    ObligationCache,
    Proof,
    needed,
    prove,
    reach,
    refute,
    safety_statement,
)
from paraply.models.judging.solver import SOLVERS, Answer, Judgment
from paraply.models.language.concrete import Scope
from paraply.models.language.refusal import IllFormedError
from paraply.models.language.system import Obligation, System, obligations
from paraply.models.language.terms import BOOL, FALSE, INT, Variable, conj, eq, forall, implies
from paraply.vocabulary.verdict import Verdict
from tests.models.built import SYSTEMS

CACHE = ObligationCache()


ASKED_MAX = 40
"""Obligations of a system that the solvers are asked here; `make prove` asks them all of them.

The kernel is asked every one in tests/proving/test_prove.py, where no solver is installed.
"""


@pytest.mark.long(each=5)
@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_many_obligations_of_a_system_are_proved_by_each_solver(name, solver):
    wanted = obligations(SYSTEMS[name])
    if len(wanted) > ASKED_MAX:
        wanted = Random(7).sample(wanted, ASKED_MAX)
    left = [
        (obligation.statement, obligation.step)
        for obligation in wanted
        if JUDGES[solver](obligation, timeout_s=60.0, seed=0).answer is not Answer.PROVED
    ]
    assert not left


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("entry", THEOREMS, ids=lambda entry: entry.id)
def test_theorem_consists_of_obligations_of_its_systems(entry):
    for build in entry.systems:
        parts = list(needed(build(), entry.statements))
        stated = {part.claim for part in parts if part.claim}
        assert stated == set(entry.statements)
        own = "covered" if entry.kind == "progress" else "safety"
        assert {part.step for part in parts} > {"initially", own}


def test_proof_of_a_theorem_holds_when_all_its_obligations_are_proved():
    proof = prove(theorem("P14"), "z3", CACHE)
    assert proof.verdict is Verdict.HOLDS
    assert {judgment.answer for judgment in proof.judgments} == {Answer.PROVED}


@pytest.mark.long(each=6)
@pytest.mark.parametrize("entry", COUNTEREXAMPLES, ids=lambda entry: entry.id)
def test_refuted_statement_breaks_in_exactly_the_recorded_number_of_steps(entry):
    found = refute(entry)
    assert found.run is not None
    assert len(found.run.steps) == entry.steps


@pytest.mark.long(each=3)
@pytest.mark.parametrize("entry", COUNTEREXAMPLES, ids=lambda entry: entry.id)
def test_faulty_system_has_an_obligation_that_no_solver_proves(entry):
    # The proof of the statement must notice the fault, not only the search for a run. No obligation
    # of a right system takes Z3 half a second.
    parts = needed(entry.system(), (entry.statement,))
    assert any(
        JUDGES["z3"](obligation, timeout_s=1.0, seed=0).answer is not Answer.PROVED
        for obligation in sorted(parts, key=lambda part: part.statement != entry.statement)
    )


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_no_invariant_is_false_by_mistake_of_the_premise(name):
    # Were the hypotheses contradictory, everything would follow from them, also falsehood.
    system = SYSTEMS[name]
    some = obligations(system)[0]
    nonsense = Obligation(
        system.name, "falsehood", "safety",
        tuple(s.closed for s in (*system.axioms, *system.invariants)), FALSE, some.constants,
    )  # fmt: skip
    assert JUDGES["z3"](nonsense, timeout_s=3.0, seed=0).answer is not Answer.PROVED


def test_every_theorem_names_counterexamples_that_exist_and_none_is_left_over():
    known = {entry.id for entry in COUNTEREXAMPLES}
    named = {identifier for entry in THEOREMS for identifier in entry.delimited_by}
    assert named == known


def test_theorem_is_found_by_its_identifier_in_any_case():
    assert theorem("p01") is THEOREMS[0]
    assert theorem("C01") is COUNTEREXAMPLES[0]
    assert theorem("P99") is None


def counter(guarded):
    system = System("counter")
    n = system.state("n", INT)
    system.starts_with("zero", (), eq(n(), 0))
    system.action("up", guard=n() < 3 if guarded else n() >= 0, updates={n: lambda: n() + 1})
    small = n() <= 3
    system.safe("small", (), small, "")
    system.invariant("small", (), small, "")
    return system


def test_undecided_obligation_leaves_the_theorem_undecided():
    proof = Proof(THEOREMS[0], "z3")
    assert proof.verdict is Verdict.UNKNOWN  # nothing judged is no proof
    for answer in (Answer.PROVED, Answer.UNDECIDED):
        proof.judgments.append(
            Judgment(obligation=obligations(counter(True))[0], solver="z3", answer=answer,
                     seconds=0.0)
        )  # fmt: skip
    assert proof.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("share", "is_ended", "asked"),
    [
        pytest.param(0.05, True, [2.5] * 4 + [10] * 4 + [40] * 4, id="others had the processor"),
        pytest.param(0.9, True, [2.5] * 4, id="the CPU time is used"),
        pytest.param(0.1, False, [2.5], id="gave up by itself"),
    ],
)
def test_judge_that_the_clock_ends_is_asked_again(monkeypatch, share, is_ended, asked):
    now, limits, seeds = [0.0], [], []
    monkeypatch.setattr(proving.time, "monotonic", lambda: now[0])
    obligation, *_ = obligations(counter(True))

    def judge(limit, seed, decides=()):
        limits.append(limit)
        seeds.append(seed)
        now[0] += limit if is_ended else limit / 2
        answer = Answer.PROVED if seed in decides else Answer.UNDECIDED
        return Judgment(obligation=obligation, solver="z3", answer=answer, seconds=share * limit)

    found = proving.patiently(judge, timeout_s=10, seed=7)
    assert found.answer is Answer.UNDECIDED
    assert found.seconds == pytest.approx(share * sum(limits))
    assert limits == asked
    assert seeds == ([7, 8, 9, 10] * 3)[: len(asked)]
    if is_ended:
        seeds.clear()
        found = proving.patiently(partial(judge, decides={9}), timeout_s=10, seed=7)
        assert (found.answer, seeds) == (Answer.PROVED, [7, 8, 9])


class BusySolver:
    """Answers ``unknown`` when its limit is over; ``share`` of the clock is CPU time."""

    def __init__(self, monkeypatch, share):
        self.share, self.now, self.limits = share, 0.0, []
        monkeypatch.setattr(solver.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(solver.time, "process_time", lambda: self.now * self.share)

    def reset(self):
        pass

    def from_string(self, text):
        assert text == "(assert false)"

    def set(self, *, timeout, random_seed):
        self.limits.append(timeout / 1000)

    def check(self):
        wanted_s = 90.0 / self.share
        self.now += min(self.limits[-1], wanted_s)
        return "unsat" if self.limits[-1] >= wanted_s else "unknown"


@pytest.mark.parametrize(
    ("share", "answer", "limits"),
    [
        pytest.param(0.1, "unsat", [100, 400, 1600], id="others had the processor"),
        pytest.param(1.0, "unsat", [100], id="alone"),
        pytest.param(0.6, "unknown", [100], id="the CPU time is used"),
    ],
)
def test_run_that_the_clock_ends_is_searched_again(monkeypatch, share, answer, limits):
    busy = BusySolver(monkeypatch, share)
    assert solver.searched(busy, "(assert false)", 100.0) == answer
    assert busy.limits == limits


def test_counter_with_a_guard_is_proved_and_without_it_refuted():
    cache = ObligationCache()
    for guarded, expected in ((True, {Answer.PROVED}), (False, {Answer.PROVED, Answer.REFUTED})):
        system = counter(guarded)
        system.name += str(guarded)
        answers = {
            cache.judge(obligation, solver, timeout_s=3, seed=0).answer
            for obligation in obligations(system)
            for solver in SOLVERS
        }
        assert answers == expected


def test_shortest_run_stops_at_the_bound_and_finds_the_exact_depth():
    system = counter(False)
    breach = breach_of(safety_statement(system, "small"))
    scope = Scope(high=9)
    assert reach(system, breach, scope, 3) is None
    found = reach(system, breach, scope, 9)
    assert [step.action for step in found.steps] == ["up"] * 4


def test_counterexample_that_the_solver_gives_up_on_is_unknown(monkeypatch):
    given = []

    def gives_up(system, situation, scope, *, timeout_s, **_):
        given.append(timeout_s)
        raise TimeoutError(f"{system.name}: undecided at depth 2")

    monkeypatch.setattr(proving, "shortest_run", gives_up)
    found = refute(COUNTEREXAMPLES[0], timeout_s=2.5)
    assert found.verdict is Verdict.UNKNOWN
    assert found.undecided.endswith("undecided at depth 2")
    assert given == [2.5]


@pytest.mark.long
def test_counterexample_of_another_length_than_recorded_is_not_as_stated():
    entry = COUNTEREXAMPLES[1]
    assert refute(entry).verdict is Verdict.HOLDS
    assert refute(replace(entry, steps=entry.steps - 1)).verdict is Verdict.VIOLATED


def test_theorem_that_names_an_unstated_claim_is_refused():
    bad = THEOREMS[0].__class__(
        id="P99", claim="", systems=(lambda: counter(True),), statements=("large",), assumes=(),
        delimited_by=(), standing=about("a counter"), source="",
    )  # fmt: skip
    with pytest.raises(ValueError, match="large"):
        prove(bad, "z3", CACHE)


def test_update_of_a_rigid_function_is_refused():
    system = System("s")
    ws = system.rigid("ws", INT, INT)
    with pytest.raises(IllFormedError, match="ws, which is no state"):
        system.action("a", updates={ws: lambda p: p})
    with pytest.raises(IllFormedError, match="twice"):
        system.state("ws", INT)


def test_parameter_is_not_taken_for_a_variable_of_the_same_name():
    system = System("s")
    marked, p = system.state("marked", INT, BOOL), Variable("p", INT)
    system.action("mark", (p,), updates={marked: lambda q: eq(p, q)})
    assert system.actions[0].post(marked(3)) == eq(p, 3)
    other = Variable("p~", INT)
    assert system.actions[0].post(forall(p, marked(p))) == forall(other, eq(p, other))


def test_sorts_are_checked_when_a_term_is_made():
    system = System("s")
    f = system.state("f", INT, INT)
    with pytest.raises(IllFormedError, match="takes"):
        f(conj())
    with pytest.raises(IllFormedError, match="expected Int, got Bool"):
        eq(f(1), implies(conj(), conj()))
    assert f(Variable("x", INT)) == f(Variable("x", INT))
