"""Quantifiers that solvers stumble over are warned of, and others are not."""

from __future__ import annotations

import pytest

from paraply.models.judging.certificates.__main__ import systems
from paraply.models.language.quantifier_lint import (
    NoTrigger,
    SortCycle,
    StepMakesTerms,
    WitnessDependsOnUniversal,
    lint,
)
from paraply.models.language.system import System
from paraply.models.language.terms import BOOL, INT, Sort, Variable, conj, eq, exists, implies

ROW, TXN = Sort("Row"), Sort("Txn")
P, Q, T = Variable("p", INT), Variable("q", INT), Variable("t", TXN)
R, S = Variable("r", ROW), Variable("s", ROW)


def system(**functions):
    """Return a system with state variables of the given sorts, and the functions by name."""
    made = System("by hand")
    return made, *(made.state(name, *sorts) for name, sorts in functions.items())


def test_statement_about_applied_variables_is_not_warned_of():
    made, done, sn = system(done=(INT, BOOL), sn=(INT, INT))
    made.invariant("fine", (P, Q), implies(conj(P < Q, done(Q)), sn(P) < sn(Q)), "")
    assert lint(made) == ()


def test_variable_in_arithmetic_only_has_no_trigger():
    made, done, n = system(done=(INT, BOOL), n=(INT,))
    made.invariant("between", (P, Q), implies(conj(P < Q, Q < n()), done(P)), "")
    assert lint(made) == (NoTrigger("between", "q"),)
    assert "between: q is no argument" in str(lint(made)[0])


def test_existential_inside_a_universal_makes_new_terms():
    made, ws = system(ws=(INT, ROW, BOOL))
    made.invariant("writes", (P,), exists(R, ws(P, R)), "")
    assert WitnessDependsOnUniversal("writes", "r") in lint(made)


def test_existential_in_a_premise_is_universal_and_not_warned_of():
    made, ws, done = system(ws=(INT, ROW, BOOL), done=(INT, BOOL))
    made.invariant("writers", (P,), implies(exists(R, ws(P, R)), done(P)), "")
    assert lint(made) == ()


def test_functions_there_and_back_are_a_circle_only_if_both_ways_are_taken():
    made, writer, shared = system(writer=(ROW, TXN), shared=(TXN, ROW))
    made.invariant("there", (R,), eq(shared(writer(R)), R), "")
    assert SortCycle(("shared", "writer")) in lint(made)
    made, writer, _ = system(writer=(ROW, TXN), shared=(TXN, ROW))
    made.invariant("there", (R, S), implies(eq(writer(R), writer(S)), eq(R, S)), "")
    assert not any(isinstance(warned, SortCycle) for warned in lint(made))


def test_circle_by_way_of_a_third_sort_is_found():
    made, writer, at, row = system(writer=(ROW, TXN), at=(TXN, INT), row=(INT, ROW))
    made.invariant("one", (R, T), implies(eq(writer(R), T), at(T) <= 0), "")
    assert lint(made) == ()
    made.invariant("two", (P, Q), implies(eq(row(P), row(Q)), eq(P, Q)), "")
    assert set(lint(made)) == {SortCycle(("at", "row", "writer"))}


def test_function_of_the_next_number_is_warned_of():
    made, done = system(done=(INT, BOOL))
    made.invariant("chain", (P,), implies(done(P + 1), done(P)), "")
    assert lint(made) == (StepMakesTerms("chain", "done"),)


@pytest.mark.long
def test_systems_of_the_theorems_are_warned_of_where_a_prototype_stumbled():
    warned = {made.name: {str(one) for one in lint(made)} for made in systems()}
    assert any("item_position" in one for one in warned["parallel_applier[wl8440]"])
    assert any("waiters_follow" in one for one in warned["semi_sync[waits]"])
    assert not warned["commit_order"]
