from __future__ import annotations

import subprocess
import sys

import pytest

from paraply.models.kernel.certificate import Certificate
from paraply.models.kernel.check import check_unsealed
from paraply.models.kernel.theory import Theory
from paraply.models.language.system import Obligation
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Equal,
    Function,
    Ite,
    Literal,
    Plus,
    Variable,
    conj,
    disj,
    eq,
    exists,
    forall,
    implies,
    ite,
    negate,
)
from tests.models.kernel.problems import (
    AT,
    FLAG,
    WS,
    A,
    B,
    C,
    F,
    G,
    P,
    R,
    S,
    X,
    Y,
    finding,
    problem,
    proves,
)

CONTRADICTIONS = {
    "a fact and its negation": (FLAG(), ~FLAG()),
    "falsehood": (FALSE,),
    "order is irreflexive": (A < A,),
    "order is transitive": (A < B, B < C, C < A),
    "no integer lies between neighbours": (A < B, B < A + 1),
    "equal arguments, different results": (eq(A, B), ~eq(F(A), F(B))),
    "a sum as argument": (eq(A, B + 1), ~eq(F(A), F(B + 1))),
    "sums of sums are one": (~eq(F(Plus(Plus(A, 1), 1)), F(A + 2)),),
    "a number as argument": (eq(A, 3), P(A), ~P(3)),
    "a predicate of equals": (eq(A, B), P(A), ~P(B)),
    "two of three are equal": (
        A >= 0, A <= 1, B >= 0, B <= 1, C >= 0, C <= 1,
        ~eq(F(A), F(B)), ~eq(F(B), F(C)), ~eq(F(A), F(C)),
    ),
    "squeezed between bounds by way of a third": (
        A <= B, B <= C, C <= A, P(A), ~P(C), ~eq(F(B), F(A)),
    ),
    "squeezed between bounds": (A <= B, B <= A, P(A), ~P(B)),
    "congruence tells the order": (eq(R, S), ite(WS(0, R), F(0) < 5, F(0) < 6), F(0) >= 6),
    "equal results of another sort bound a number": (
        eq(AT(A), AT(B)), eq(G(AT(A)), R), ~eq(G(AT(B)), R),
    ),
    "g five times and three times is once": (
        eq(G(G(G(G(G(R))))), R), eq(G(G(G(R))), R), ~eq(G(R), R),
    ),
    "if-then-else inside a term": (FLAG(), ~eq(F(ite(FLAG(), A, B)), F(A))),
    "if-then-else as a formula": (Ite(FLAG(), P(A), P(B)), ~P(A), ~P(B)),
    "equivalence": (Equal(FLAG(), P(A)), Equal(P(A), ~FLAG())),
    "four colours short": tuple(
        disj(*(WS(number, row) for row in (R, S))) for number in range(3)
    ) + tuple(
        negate(conj(WS(a, row), WS(b, row))) for row in (R, S) for a in range(3) for b in range(a)
    ),
}  # fmt: skip

CONSISTENT = {
    "nothing": (TRUE,),
    "one fact": (FLAG(),),
    "order of three": (A < B, B < C, C < A + 3),
    "different arguments": (~eq(A, B), ~eq(F(A), F(B))),
    "different arguments, equal results": (~eq(A, B), eq(F(A), F(B))),
    "neighbours": (A < B, B < A + 2),
    "two of two differ": (A >= 0, A <= 1, B >= 0, B <= 1, ~eq(F(A), F(B))),
    "g six times and four times": (
        eq(G(G(G(G(G(G(R)))))), R), eq(G(G(G(G(R)))), R), ~eq(G(R), R),
    ),
    "rows may be equal or not": (WS(0, R), ~WS(1, S)),
    "rows are not numbers": (eq(R, S), ~eq(A, B)),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradiction_without_quantifiers_is_refuted(name):
    assert proves(problem(*CONTRADICTIONS[name]))


def test_numbers_that_happen_to_be_equal_are_decided_upon(monkeypatch):
    asked = problem(*CONTRADICTIONS["two of three are equal"])
    monkeypatch.setattr(Theory, "undecided", lambda self, literals: None)
    assert not proves(asked)


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradiction_is_refuted_in_any_order_of_its_facts(name):
    for order in range(1, 6):
        assert proves(problem(*CONTRADICTIONS[name]).shuffled(order))


@pytest.mark.parametrize("name", CONSISTENT)
def test_consistent_facts_are_not_refuted(name):
    assert not proves(problem(*CONSISTENT[name]))


def test_instance_of_a_universal_statement_is_used():
    all_of_them = forall(X, implies(X >= 0, P(X)))
    asked = problem(all_of_them, A >= 0, goal=P(A))
    assert proves(asked, [0, "a"], [1], [2])
    assert not proves(asked, [0, "b"], [1], [2])
    assert not proves(asked, [1], [2])


def test_nested_universals_are_one_assertion_with_all_variables():
    nested = forall(X, implies(P(X), forall(Y, implies(X < Y, P(Y)))))
    asked = problem(nested, P(0), goal=P(A) | (A <= 0))
    assert proves(asked, [0, 0, "a"], [1], [2], [3])


def test_witness_of_an_existential_depends_on_the_universals_around_it():
    # Every number has a larger one, so none is the largest.
    larger = forall(X, exists(Y, X < Y))
    assert not proves(problem(larger), [0, "a"], [0, "b"])
    largest = exists(Y, forall(X, X <= Y))
    assert proves(problem(largest, larger), [0, ["y!4", "y!1"]], [1, "y!1"])


def test_negated_goal_turns_its_quantifiers_round():
    asked = problem(P(A), goal=exists(X, P(X)))
    assert proves(asked, [0], [1, "a"])
    asked = problem(exists(X, P(X)), goal=forall(X, P(X)))
    assert not proves(asked, [0], [1])


def test_bound_variable_hides_a_constant_of_the_same_name():
    # for all a: p(a); and not p(b). Were the two a one, the instance would say nothing of b.
    asked = problem(forall(A, P(A)), goal=P(B))
    assert proves(asked, [0, "b"], [1])


def test_inner_bound_variable_hides_the_outer_one():
    asked = problem(forall(X, disj(P(X), forall(X, ~P(X)))), goal=P(A))
    assert not proves(asked, [0, "a", "a"], [1])
    assert not proves(asked, [0, "a", "b"], [1])
    assert proves(problem(forall(X, conj(P(X), forall(X, ~P(X))))), [0, "a"], [1, "a"])


def test_quantifier_in_the_condition_of_a_term_is_understood():
    every = forall(X, P(X))
    asked = problem(every, goal=eq(ite(every, A, B), A))
    assert proves(asked, [0, "x!2"], [1])
    assert not proves(asked, [0, "a"], [2, "a"])


def test_sort_without_constants_has_some_element():
    row = Variable("some", R.sort)
    asked = Obligation(
        "by hand", "statement", "step",
        (forall(row, WS(0, row)), forall(row, ~WS(0, row))), FALSE, (),
    )  # fmt: skip
    steps = ((0, "any!Row"), (1, "any!Row"))
    assert check_unsealed(asked, Certificate("", steps)).is_proved


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ([0], "takes other terms"),
        ([0, "a", "a"], "takes other terms"),
        ([0, "r"], "takes other terms"),
        ([0, "nobody"], "not a ground term"),
        ([0, ["f"]], "not a ground term"),
        ([0, ["f", "r"]], "takes"),
        ([0, ["+", "r", 1]], "not a number"),
        ([0, ["+", "a", True]], "not a ground term"),
        ([0, True], "not a ground term"),
        ([0, {"f": "a"}], "not a ground term"),
        ([0, None], "not a ground term"),
        ([7], "not a step"),
        ([-1], "not a step"),
        (["0"], "not a step"),
        ([], "not a step"),
    ],
    ids=str,
)
def test_step_that_fits_no_assertion_is_refused(step, why):
    asked = problem(forall(X, P(F(X))), ~P(F(A)), eq(R, S))
    said = finding(asked, step)
    assert not said.is_proved
    assert said.reason.startswith("bad certificate")
    assert why in said.reason


def test_endless_term_is_refused():
    deep = "a"
    for _ in range(100_000):
        deep = ["+", deep, 1]
    said = finding(problem(forall(X, P(X))), [0, deep])
    assert (said.is_proved, said.reason) == (False, "a term is nested too deeply")


def test_what_the_kernel_does_not_read_is_no_proof():
    takes_truth = Function("takes_truth", (BOOL,), BOOL)
    marked = Function("x!1", (), INT)
    both = Function("a", (), INT)
    stranger = Variable("stranger", INT)
    for asserted in (takes_truth(TRUE), eq(marked(), 0), both() < A, P(stranger)):
        said = finding(problem(asserted, FALSE), [1])
        assert not said.is_proved
        assert said.reason.startswith("not supported")


def test_number_is_no_truth_value():
    # True == 1 in Python; a term must not take one for the other.
    asked = problem(forall(X, P(X)), goal=P(1))
    assert not finding(asked, [0, True], [1]).is_proved
    assert proves(asked, [0, 1], [1])
    assert Literal(True).sort == BOOL


def test_kernel_loads_neither_solver_nor_the_door_to_them():
    program = "import sys, paraply.models.kernel.check; print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "paraply.models.kernel.search" in loaded
    assert loaded.isdisjoint(
        {"z3", "cvc5", "paraply.models.judging.solver", "paraply.models.judging.certificates"}
    )
