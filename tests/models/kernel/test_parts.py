"""The parts of the kernel, each for itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest

from paraply.models.kernel.congruence import Congruence
from paraply.models.kernel.differences import Edge, solve, total
from paraply.models.kernel.nodes import Difference, Nodes
from paraply.models.kernel.normal_form import NotSupportedError, assertions
from paraply.models.kernel.search import Outcome, search
from paraply.models.kernel.theory import Theory
from paraply.models.language.terms import (
    INT,
    And,
    Function,
    Variable,
    conj,
    disj,
    exists,
    forall,
    implies,
)
from tests.models.kernel.problems import FLAG, WS, A, B, F, G, P, R, S, X, Y, problem


def test_normal_form_splits_conjunctions_and_names_what_each_piece_is_about():
    both = forall(X, forall(Y, conj(P(X), implies(P(Y), X < Y))))
    first, second, goal = assertions(problem(both, goal=FLAG()))
    assert [len(part.variables) for part in (first, second, goal)] == [1, 2, 0]
    assert goal.matrix == ~FLAG()
    assert not isinstance(second.matrix, And)


def test_normal_form_is_the_same_each_time():
    asked = problem(forall(X, exists(Y, X < Y)), goal=forall(X, P(X)))
    assert assertions(asked) == assertions(asked)


def test_remembered_normal_form_is_that_of_its_place_and_of_its_constants():
    told = exists(Y, A < Y)
    asked = problem(told, told)
    first, second, _ = assertions(asked)
    assert (first.origin, second.origin) == (0, 1)
    assert first.matrix != second.matrix, "each has a witness of its own"
    with pytest.raises(NotSupportedError, match="a is declared nowhere"):
        assertions(replace(asked, constants=(B,)))


def test_equal_terms_are_one_node_and_sums_are_nodes_with_an_offset():
    nodes = Nodes()
    assert nodes.node(F(A), {}) == nodes.node(F(A), {})
    assert nodes.node(A + 1, {}) == nodes.node((A + 2) - 1, {})
    assert nodes.linear((A + 2) - 1, {}) == (nodes.node(A, {}), 1)
    assert nodes.linear(Function("n", (), INT)() + 0, {})[1] == 0
    assert nodes.without_offset(nodes.node(A + 1, {})) == (nodes.node(A, {}), 1)


def test_comparison_and_its_negation_are_one_atom():
    nodes = Nodes()
    left, right = (nodes.node(A, {}), 0), (nodes.node(B, {}), 0)
    assert nodes.at_most(left, right) == -nodes.at_most(right, left, strictly=True)
    assert nodes.at_most(left, left) == 1
    assert nodes.at_most(left, left, strictly=True) == -1
    assert Difference(3, 4, 5).negated().negated() == Difference(3, 4, 5)


def chain(length):
    """Return nodes of g applied 0, 1, ... times to r, with an unrelated row at the end."""
    nodes, term, found = Nodes(), R, []
    for _ in range(length):
        found.append(nodes.node(term, {}))
        term = G(term)
    return nodes, found, nodes.node(S, {})


def test_congruence_follows_and_is_explained_by_what_was_told():
    nodes, g, other = chain(6)
    closure = Congruence(nodes)
    closure.merge(g[5], g[0], (50,))
    assert not closure.same(g[1], g[0])
    closure.merge(g[3], g[0], (30,))
    assert closure.same(g[1], g[0])  # 5 and 3 steps round a ring: 1 step is round it too
    assert not closure.same(other, g[0])
    assert closure.explain(g[1], g[0]) == {50, 30}
    assert closure.explain(g[3], g[0]) == {30}
    assert closure.explain(g[2], g[2]) == set()


@pytest.mark.parametrize("seed", range(20))
def test_explanation_alone_makes_the_same_two_nodes_equal(seed):
    chance = Random(seed)
    nodes, g, other = chain(12)
    told = {
        number: tuple(chance.sample([*g, other], 2)) for number in range(10, 10 + seed % 5 + 2)
    }  # fmt: skip
    closure = Congruence(nodes)
    for number, (left, right) in told.items():
        closure.merge(left, right, (number,))
    for left, right in product([*g, other], repeat=2):
        if closure.same(left, right):
            again = Congruence(nodes)
            for number in closure.explain(left, right):
                again.merge(*told[number], (number,))
            assert again.same(left, right)


@pytest.mark.parametrize("seed", range(60))
def test_differences_have_a_solution_or_a_negative_cycle_of_given_edges(seed):
    chance = Random(seed)
    edges = [
        Edge(chance.randrange(6), chance.randrange(6), chance.randint(-2, 4), number)
        for number in range(chance.randint(1, 14))
    ]
    found = solve(edges, 6)
    if isinstance(found[0], Edge):
        assert total(found) < 0
        assert set(found) <= set(edges)
        for edge, following in zip(found, [*found[1:], found[0]], strict=True):
            assert edge.right == following.left
    else:
        assert all(found[e.left] - found[e.right] <= e.bound for e in edges)


def test_both_answers_about_differences_are_met():
    kinds = set()
    for seed in range(60):
        chance = Random(seed)
        edges = [
            Edge(chance.randrange(6), chance.randrange(6), chance.randint(-2, 4), number)
            for number in range(chance.randint(1, 14))
        ]
        kinds.add(type(solve(edges, 6)[0]))
    assert kinds == {Edge, int}


def test_theory_asks_to_decide_arguments_that_happen_to_be_equal():
    nodes = Nodes()
    for fact in (P(A), ~P(B), A <= 0, B <= 0):
        nodes.holds(fact, {})
    theory = Theory(nodes)
    told = [clause[0] for clause in nodes.clauses[1:]]
    assert theory.contradiction(told) is None
    asked = theory.undecided(told)
    assert nodes.atoms[abs(asked)] in {
        Difference(*sorted((nodes.node(A, {}), nodes.node(B, {}))), 0),
        Difference(*sorted((nodes.node(A, {}), nodes.node(B, {}))), -1),
    }


def test_contradiction_names_only_what_is_needed():
    nodes = Nodes()
    for fact in (FLAG(), A < B, WS(A, R), B <= A, P(A)):
        nodes.holds(fact, {})
    told = [clause[0] for clause in nodes.clauses[1:]]
    assert set(Theory(nodes).contradiction(told)) == {told[1], told[3]}


def truth_table(clauses, size):
    """Return whether clauses over propositional variables 2 .. size + 1 can be true."""
    return any(
        all(any(values[abs(x) - 2] == (x > 0) for x in clause) for clause in clauses)
        for values in product((False, True), repeat=size)
    )


@pytest.mark.parametrize("seed", range(8))
def test_propositional_search_agrees_with_truth_tables(seed):
    chance, met = Random(seed), set()
    for _ in range(40):
        size = 6
        clauses = [
            tuple(chance.choice((1, -1)) * chance.randint(2, size + 1)
                  for _ in range(chance.randint(1, 3)))
            for _ in range(chance.randint(6, 30))
        ]  # fmt: skip
        nodes = Nodes()
        for number in range(size):
            nodes.holds(Function(f"fact{number}", (), FLAG().sort)(), {})
        nodes.clauses = nodes.clauses[:1]
        for clause in clauses:
            nodes.clause(clause)
        expected = truth_table(clauses, size)
        assert search(nodes) is (Outcome.NOT_REFUTED if expected else Outcome.REFUTED)
        met.add(expected)
    assert met == {True, False}


def test_search_gives_up_at_its_bound_and_calls_it_neither_answer():
    # Pigeons: five in four holes.
    nodes = Nodes()
    holes = [Variable(f"hole{number}", R.sort) for number in range(4)]
    for pigeon in range(5):
        nodes.holds(disj(*(WS(pigeon, hole) for hole in holes)), {})
        for other in range(pigeon):
            for hole in holes:
                nodes.holds(~WS(pigeon, hole) | ~WS(other, hole), {})
    assert search(nodes, conflicts_max=3) is Outcome.GAVE_UP
    assert search(nodes) is Outcome.REFUTED
