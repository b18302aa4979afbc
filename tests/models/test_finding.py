"""Invariants found by machine are invariants; of a faulty system none is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ci.pages.proofs.finding import CORE, core_of_the_applier, page, stored, subjects
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS
from paraply.models.judging.certificates.maker import make
from paraply.models.judging.finding import cases, find_invariants, says_nothing, with_invariants
from paraply.models.judging.lifting import NotLiftableError, found_invariants, read_tree
from paraply.models.judging.projection import Projection
from paraply.models.judging.proving import safety_statement
from paraply.models.judging.solver import Answer, judge_cvc5
from paraply.models.kernel.check import check
from paraply.models.language.smtlib import text
from paraply.models.language.system import Statement, System, obligations
from paraply.models.language.terms import BOOL, INT, Sort, Variable, conj, eq, implies
from paraply.models.systems.variants import (
    variant_of_applier,
    variant_of_certification,
    variant_of_commit_order,
    variant_of_semi_sync,
)

ROW = Sort("Row")
P, Q = Variable("p", INT), Variable("q", INT)
R, S = Variable("r", ROW), Variable("s", ROW)


def search(system, name):
    """Return the system with invariants found for one of its statements, and what was found."""
    statement = safety_statement(system, name)
    found = find_invariants(system, statement)
    assert found is not None
    return with_invariants(system, found, statement), found


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "name"),
    [
        (core_of_the_applier(), "conflicting_rows_are_ordered"),
        (variant_of_certification(name="certification")(), "first_certified_wins"),
        (variant_of_commit_order(name="commit_order")(), "readers_see_prefixes"),
        (variant_of_semi_sync(name="semi_sync")(), "no_phantom_visibility"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_found_invariants_are_proved_by_all_three_judges(system, name):
    built, found = search(system, name)
    assert {s.name for s in found}.isdisjoint(s.name for s in system.invariants)
    parts = obligations(built)
    assert parts[-1].step == "safety"
    for part in parts:
        assert judge_cvc5(part).answer is Answer.PROVED
        certificate = make(part)  # Z3 proves it, too, or there is none
        assert certificate is not None
        assert check(part, certificate).is_proved


@pytest.mark.long
def test_search_does_not_look_at_the_invariants_written_by_hand():
    whole = variant_of_commit_order(name="commit_order")()
    bare = replace(whole, invariants=[])
    name = "commit_order_preserved"
    assert search(whole, name)[1] == search(bare, name)[1]


def core(**switches):
    system = variant_of_applier(name="faulty", **switches)()
    return replace(system, actions=[a for a in system.actions if a.name in CORE])


FAULTY = [
    (core(window="none"), "conflicting_rows_are_ordered"),
    (core(prefix=False), "conflicting_rows_are_ordered"),
    (core(fence_without_write_set=False), "without_write_set_is_alone"),
    *(
        (entry.system(), entry.statement)
        for entry in COUNTEREXAMPLES
        if entry.id in ("C08", "C11", "C12", "C14", "C15", "C17", "C24", "C26")
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "name"), FAULTY, ids=lambda value: getattr(value, "name", value)
)
def test_no_invariant_is_found_for_a_statement_that_is_false(system, name):
    assert find_invariants(system, safety_statement(system, name)) is None


def answer(body, *variables):
    """Return what is read from a solver's answer about a system of a few functions."""
    system = System("by hand")
    system.state("n", INT)  # v2
    system.state("done", INT, BOOL)  # v3, v4: at p, at q
    statement = Statement("safe", variables or (P, Q), conj())
    projection = Projection(system, statement)
    return [text(s.body) for s in found_invariants(projection, body, statement)]


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("true", []),
        ("(or v3 (not v4))", ["(or (= p q) (done p) (not (done q)))"]),
        ("(and v3 v4)", ["(or (= p q) (done p))", "(or (= p q) (done q))"]),
        ("(not (and v3 v4))", ["(or (= p q) (not (done p)) (not (done q)))"]),
        ("(=> v3 v4)", ["(or (= p q) (not (done p)) (done q))"]),
        ("(<= v2 5)", ["(or (= p q) (<= n 5))"]),
        ("(>= v2 (- 5))", ["(or (= p q) (<= (- 5) n))"]),
        ("(not (<= v2 5))", ["(or (= p q) (<= 6 n))"]),
        ("(< v0 v2)", ["(or (= p q) (<= p (+ n (- 1))))"]),
        ("(not (>= (+ v0 (* (- 1) v2)) 1))", ["(or (= p q) (<= p n))"]),
        ("(= v2 (+ 1 v0))", ["(or (= p q) (= (+ n (- 1)) p))"]),
        ("(= v2 3)", ["(or (= p q) (= n 3))"]),
        ("(= v3 v4)",
         ["(or (= p q) (and (done p) (done q)) (and (not (done p)) (not (done q))))"]),
        ("(let ((a!1 (<= v2 0))) (or a!1 v3))", ["(or (= p q) (<= n 0) (done p))"]),
        ("(let ((a!1 (+ v0 1))) (let ((a!2 (<= a!1 v2))) a!2))",
         ["(or (= p q) (<= p (+ n (- 1))))"]),
    ],
)  # fmt: skip
def test_answer_is_read_as_statements_about_all_elements(body, read):
    assert answer(body) == read


@pytest.mark.parametrize(
    "body", ["(<= (+ v0 v1) v2)", "(<= (* 2 v0) v2)", "(exists ((x Int)) v3)", "(<= (f v0) 1)", "x"]
)
def test_answer_beyond_differences_is_refused(body):
    with pytest.raises(NotLiftableError):
        answer(body)


def test_order_between_elements_without_order_is_read_as_equality_or_falsehood():
    system = System("by hand")
    system.state("writer", ROW, ROW)
    statement = Statement("safe", (R,), conj())
    projection = Projection(system, statement)  # v0 is r, v1 its writer

    def read(body):
        return [text(s.body) for s in found_invariants(projection, body, statement)]

    assert read("(<= v0 v1)") == ["(= r (writer r))"]
    assert read("(not (<= v0 v1))") == ["false"]
    assert read("(= v0 v1)") == ["(= r (writer r))"]


def test_tree_is_read_with_its_nesting():
    assert read_tree("(a (b c) d)") == ["a", ["b", "c"], "d"]
    assert read_tree("x") == "x"


def test_statement_is_also_sought_with_two_elements_made_one():
    statement = Statement("safe", (P, Q, R, S), implies(P < Q, eq(R, S)))
    names = [tuple(v.name for v in case.variables) for case in cases(statement)]
    assert names[0] == ("p", "q", "r", "s")
    assert set(names) == {("p", "q", "r", "s"), ("p", "r", "s"), ("p", "q", "r"), ("p", "r")}


def test_statement_that_is_true_in_any_state_needs_no_invariant():
    assert says_nothing(Statement("safe", (P,), implies(P < P, eq(P, 0))))
    assert not says_nothing(Statement("safe", (P,), eq(P, 0)))


def test_system_that_starts_wrong_has_no_invariant():
    system = System("by hand")
    n = system.state("n", INT)
    system.starts_with("four", (), eq(n(), 4))
    system.safe("small", (), n() <= 3, "")
    assert find_invariants(system, system.safety[0]) is None


def test_environment_may_choose_anything_outside_the_names():
    # A step that marks any other element must not be lost, nor one that marks the named one.
    system = System("by hand")
    marked = system.state("marked", INT, BOOL)
    system.starts_with("unmarked", (P,), ~marked(P))
    system.action("mark", (Q,), updates={marked: lambda p: marked(p) | eq(p, Q)})
    system.safe("never", (P,), ~marked(P), "")
    assert find_invariants(system, system.safety[0]) is None
    system.actions[0] = replace(system.actions[0], guard=Q < 0)
    system.safe("only_below", (P,), implies(marked(P), P < 0), "")
    assert find_invariants(system, system.safety[1]) is not None


@pytest.mark.long
def test_record_speaks_of_every_statement_and_some_are_found():
    record = stored()
    assert [(s.name, t.name) for s, t in subjects()] == [
        (row["system"], row["statement"]) for row in record
    ]
    found = {(row["system"], row["statement"]) for row in record if row["found"]}
    assert (core_of_the_applier().name, "conflicting_rows_are_ordered") in found
    assert ("certification[open snapshots]", "first_certified_wins") in found
    # Group models are too large for the search.
    smaller = {(row["system"], row["statement"]) for row in record if "group" not in row["system"]}
    assert len(found & smaller) >= len(smaller) // 4
    assert f"Found for {len(found)} of {len(record)} statements" in page()
    assert len(record) > len(THEOREMS)
