"""Every step of every system happens: stored runs say so, replayed on plain values."""

from __future__ import annotations

import pytest

from ci.pages.proofs.witnesses import measure, stored, wanted
from paraply.models.judging.solver import may_happen
from paraply.models.judging.traces import replay
from paraply.models.language.concrete import Scope
from paraply.models.language.system import System
from paraply.models.language.terms import FALSE, INT, eq
from tests.models.built import SYSTEMS

RECORD = stored()


def test_record_speaks_of_every_system_and_of_nothing_else():
    assert list(RECORD) == list(SYSTEMS)


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_action_and_situation_is_reached_by_the_stored_run(name):
    system = SYSTEMS[name]
    assert system.covers
    situations = {situation.name: situation for situation in wanted(system)}
    assert list(RECORD[name]) == list(situations)
    assert len(situations) == len(system.covers) + len(system.actions)
    for told, situation in situations.items():
        run = replay(system, situation, RECORD[name][told])
        assert len(run.steps) == len(RECORD[name][told]["steps"])


@pytest.mark.parametrize("name", SYSTEMS)
def test_run_does_not_reach_what_is_false(name):
    system = SYSTEMS[name]
    situation = next(wanted(system))
    nowhere = type(situation)(situation.name, situation.variables, FALSE)
    with pytest.raises(ValueError, match="does not end in"):
        replay(system, nowhere, RECORD[name][situation.name])


def counter(limit):
    system = System("counter")
    n = system.state("n", INT)
    system.starts_with("zero", (), eq(n(), 0))
    system.action("up", guard=n() < limit, updates={n: lambda: n() + 1})
    system.cover("two", (), eq(n(), 2))
    return system


def test_situation_that_is_never_reached_is_refused_by_name():
    assert [len(run["steps"]) for run in measure(counter(5)).values()] == [2, 0]
    with pytest.raises(SystemExit, match="counter never reaches two"):
        measure(counter(1))


def test_scopes_that_the_invariants_exclude_are_not_searched():
    system = counter(5)
    system.invariant("below", (), system.functions[0]() <= 5, "it is inductive")
    two = system.covers[0]
    assert [may_happen(system, two, Scope(high=high)) for high in (1, 2)] == [True, True]
    six = type(two)("six", (), eq(system.functions[0](), 6))
    assert not may_happen(system, six, Scope(high=6))
    system.invariants.clear()
    assert may_happen(system, six, Scope(high=6))
