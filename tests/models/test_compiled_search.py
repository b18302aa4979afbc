"""The compiled search finds what the readable one finds, and a mutated program does not."""

import sys
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from paraply.models.explicit.compiled import search as compiled
from paraply.models.explicit.compiled.program import BEGIN, PUT, UNLESS, Program, TooWideError
from paraply.models.explicit.search import ScopeExceededError, StateSpace
from paraply.models.explicit.symmetry import canonical_by, symmetries
from paraply.models.language.concrete import Scope
from paraply.models.language.system import System
from paraply.models.language.terms import INT, TRUE, eq, ite
from paraply.models.systems.applier import WL8440
from paraply.models.systems.two_phase_commit import two_phase_commit
from tests.models.built import SYSTEMS
from tests.models.random_systems import SCOPE, in_bounds, random_system
from tests.models.test_compiled_reading import random_world
from tests.models.test_explicit import READINGS, SAFETY, applier_space

NEVER = 1 << 60


def outcome(space, **options):
    """Return what a search finds, with the length of its trace, which must be a run."""
    try:
        found = space.search(**options)
    except ScopeExceededError:
        return "outside"
    if found.broken:
        moves = symmetries(space.layout, space.rigid, space.start) if found.orbit > 1 else []
        canonical = canonical_by(moves) or (lambda state: state)
        assert found.trace[0] == canonical(space.start)
        for before, after in pairwise(found.trace):
            made = []
            space.successors(before, made.append)
            assert after in map(canonical, made)
        assert dict(space.broken)[found.broken](found.trace[-1])
    return replace(found, trace=len(found.trace))


def both(space, **options):
    """Return what each of the two searches finds."""
    return [outcome(space, readable_max=one, **options) for one in (NEVER, 0)]


def compare_random_systems(seeds):
    kinds = set()
    for seed in seeds:
        system, rigid = random_system(seed)
        for statements in ([], system.safety[:2], system.safety):
            inside = replace(system, safety=list(statements))
            for bound in (None, in_bounds(system)):
                space = StateSpace(inside, SCOPE, rigid=rigid, bound=bound, split=("count", "one"))
                readable, fast = both(space, states_max=40)
                assert readable == fast, seed
                kinds.add(readable if readable == "outside" else
                          (bool(readable.broken), readable.is_complete))  # fmt: skip
    assert kinds >= {(True, False), (False, True)}


@pytest.mark.long
def test_random_systems():
    compare_random_systems(range(1, 31))


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 600, 50))
def test_more_random_systems(first):
    compare_random_systems(range(first, first + 50))


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("managers", [1, 3, 4])
def test_two_phase_commit(managers, symmetry):
    space = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=managers))
    readable, fast = both(space, symmetry=symmetry)
    assert readable == fast
    assert (readable.orbit > 1) == (symmetry and managers > 1)


def test_states_of_three_words():
    space = applier_space(WL8440, 2, writes=[(0, 0), (1, 0), (2, 1)], high=9)
    assert space.layout.width > 128
    readable, fast = both(space)
    assert readable == fast
    assert readable.is_complete


@pytest.mark.long
def test_symmetry_of_states_of_three_words():
    space = applier_space(WL8440, 2, writes=[(0, 0), (0, 1), (1, 0), (1, 1)], high=9)
    assert space.layout.width > 128
    readable, fast = both(space, symmetry=True)
    assert readable == fast
    assert readable.orbit == 2


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("name", READINGS)
def test_refuted_reading(name):
    dialect, workload, which = READINGS[name]
    space = applier_space(dialect, **{"rows": 1, **workload}, safety=SAFETY[which : which + 1])
    readable, fast = both(space)
    assert readable == fast
    assert fast.broken == SAFETY[which]


@pytest.mark.long(quick=11)
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_of_theorems_from_any_state(monkeypatch, name):
    monkeypatch.setattr(StateSpace, "_check_start", lambda self: None)
    system, scope = SYSTEMS[name], Scope(low=-1, high=3, size=2)
    tables = random_world(system, scope, Random(name)).tables
    rigid = {f.name: tables[f.name] for f in system.functions if f.rigid}
    for start in ({}, tables):
        space = StateSpace(system, scope, rigid=rigid, start=start)
        readable, fast = both(space, states_max=2_000)
        assert readable == fast


def counter(after, guard=TRUE):
    """Return a system that counts from 0."""
    system = System("counter")
    count = system.state("count", INT)
    system.starts_with("zero", (), eq(count(), 0))
    system.action("step", (), guard(count()) if guard is not TRUE else TRUE,
                  {count: lambda: after(count())})  # fmt: skip
    system.safe("small", (), count() <= 100, "")
    return system


@pytest.mark.parametrize("high", [1, 2, 9])
def test_number_just_above_the_scope_is_refused(high):
    space = StateSpace(counter(lambda n: n + 1), Scope(low=0, high=high, size=1))
    for limit in (NEVER, 0):
        with pytest.raises(ScopeExceededError, match=f"{high + 1} lies outside"):
            space.search(readable_max=limit)


def test_known_number_outside_of_the_scope_is_refused_where_the_guard_is_true():
    for least, result in ((0, "outside"), (1, 1)):
        system = counter(lambda _: 5, lambda count, least=least: count >= least)
        readable, fast = both(StateSpace(system, Scope(low=0, high=4, size=1)))
        assert readable == fast
        assert getattr(readable, "distinct", readable) == result


def test_arrays_grow(monkeypatch):
    monkeypatch.setattr(compiled, "_STATES_FIRST", 1)
    readable, fast = both(StateSpace(two_phase_commit(), Scope(low=0, high=3, size=4)))
    assert readable == fast


def test_wide_numbers_are_left_to_the_readable_search(monkeypatch):
    space = StateSpace(counter(lambda n: ite(n <= 3, n + 1, 0)), Scope(low=0, high=1 << 50, size=1))
    with pytest.raises(TooWideError):
        Program(space)
    assert space.search(readable_max=0).distinct == 5


def test_without_numba_the_search_stays_readable(monkeypatch):
    space = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=3))
    monkeypatch.setitem(sys.modules, "paraply.models.explicit.compiled.search", None)
    assert space.search(readable_max=0) == space.search()


def test_large_search_is_compiled_without_an_option(monkeypatch):
    taken = []
    monkeypatch.setattr(StateSpace, "_compiled", lambda self, moves: taken.append(self))
    space = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=5))
    space.search()
    assert not taken
    space.search(readable_max=10_000)
    assert taken


def mutants(program):
    """Yield once for each wrong bit of a guard or an update, while it is wrong."""
    for row in program.rows[: min(program.statements.values())]:
        numbers, place, wrong = {
            UNLESS: (row, 3, row[2] & -row[2]),
            PUT: (row, 3, 1),
            BEGIN: (program.added[row[1]] if row[0] == BEGIN else [], 0, 1),
        }.get(row[0], ([], 0, 0))
        if wrong:
            numbers[place] ^= wrong
            yield
            numbers[place] ^= wrong


def test_mutated_program_is_noticed(monkeypatch):
    space = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=2))
    readable, fast = both(space)
    assert readable == fast
    program = Program(space)
    monkeypatch.setattr(compiled, "Program", lambda _: program)
    noticed = [outcome_of_mutant(space) != readable for _ in mutants(program)]
    # Two mutants set a bit that is set in every state with this step.
    assert (len(noticed), sum(noticed)) == (24, 22)


def outcome_of_mutant(space):
    try:
        return outcome(space, readable_max=0)
    except AssertionError:
        return "no run"
