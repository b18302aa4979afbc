"""Explicit-state search: counts that are known, the concrete reading state by state, symmetry."""

from itertools import pairwise, product
from math import factorial

import pytest

from paraply.models.explicit.search import ScopeExceededError, StateSpace
from paraply.models.language.concrete import Scope, World, choosing, evaluate, is_enabled, step
from paraply.models.systems.applier import WL8440, Dialect, parallel_applier
from paraply.models.systems.two_phase_commit import two_phase_commit

SAFETY = (
    "conflicting_rows_are_ordered",
    "without_write_set_is_alone",
    "view_change_is_a_barrier",
    "last_committed_is_below",
)
START = {"next_sn": {(): 2}, "lc_global": {(): 1}}


def applier_space(dialect, rows, writes, empty=(), views=(), high=6, drop=(), safety=SAFETY):
    system = parallel_applier(dialect)
    system.actions = [action for action in system.actions if action.name not in drop]
    n = next(one for one in system.functions if one.name == "n")
    return StateSpace(
        system,
        Scope(low=-1, high=high, size=rows),
        rigid={
            "ws": {(place, f"row{row}"): True for place, row in writes},
            "empty": {(place,): True for place in empty},
            "vc": {(place,): True for place in views},
        },
        start=START,
        bound=n() <= len({place for place, _ in writes}) + len(empty) + len(views),
        split=("n",),
        safety=safety,
    )


@pytest.mark.parametrize(
    ("managers", "distinct", "generated"), [(2, 56, 154), (3, 288, 1_146), (5, 8_832, 58_146)]
)
def test_two_phase_commit_has_as_many_states_as_other_checkers_find(managers, distinct, generated):
    found = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=managers)).search()
    assert (found.distinct, found.generated, found.broken) == (distinct, generated, "")
    assert found.is_complete


@pytest.mark.long
def test_seven_managers_as_published():
    found = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=7)).search()
    assert (found.distinct, found.generated) == (296_448, 2_744_706)


@pytest.mark.parametrize(("managers", "orbits"), [(3, 80), (5, 314)])
def test_symmetry_leaves_one_state_of_each_orbit_and_the_same_verdict(managers, orbits):
    space = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=managers))
    whole, reduced = space.search(), space.search(symmetry=True)
    assert reduced.distinct == orbits
    assert (reduced.broken, reduced.depth) == (whole.broken, whole.depth)
    assert reduced.orbit == factorial(managers)


def reachable(space, bound=None):
    """Return every reachable state by the concrete reading alone, as packed states."""
    system, scope = space.system, space.layout.scope
    start = World(scope, {**space.rigid, **space.layout.unpack(space.start)})
    seen, todo = {space.start}, [start]
    generated = 1
    while todo:
        world = todo.pop()
        for action in system.actions:
            for after in successors(system, action, world, scope):
                if bound is not None and not evaluate(bound, after, {}):
                    continue
                generated += 1
                packed = space.layout.pack(after.tables)
                if packed not in seen:
                    seen.add(packed)
                    todo.append(World(scope, {**space.rigid, **space.layout.unpack(packed)}))
    return seen, generated


def successors(system, action, world, scope):
    havoc = [(f, one) for f in action.havoc for one in scope.arguments(f)]
    for chosen in product(*(scope.values(f.result) for f, _ in havoc)):
        tables = {f.name: {} for f in action.havoc}
        for (function, arguments), value in zip(havoc, chosen, strict=True):
            tables[function.name][arguments] = value
        here = choosing(world, tables)
        for values in product(*(scope.values(p.sort) for p in action.parameters)):
            bound = dict(zip(action.parameters, values, strict=True))
            if is_enabled(action, here, bound):
                yield step(system, action, here, bound)


def test_states_of_two_phase_commit_are_those_of_the_concrete_reading():
    space = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=2))
    seen, generated = reachable(space)
    found = space.search()
    assert (len(seen), generated) == (found.distinct, found.generated)


def test_states_of_the_applier_are_those_of_the_concrete_reading():
    space = applier_space(WL8440, 1, writes=[(0, 0), (1, 0)], high=5, drop=("join",))
    n = next(one for one in space.system.functions if one.name == "n")
    seen, generated = reachable(space, bound=n() <= 2)
    found = space.search()
    assert (len(seen), generated) == (found.distinct, found.generated)
    assert found.broken == ""


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    ("rows", "writes", "views", "distinct", "generated"),
    [
        (2, [(0, 0), (1, 0), (2, 1)], (), 447, 3_405),
        (2, [(0, 0), (2, 0)], (1,), 244, 2_099),
    ],
)
def test_reachable_states_of_the_applier_are_counted(rows, writes, views, distinct, generated):
    found = applier_space(WL8440, rows, writes=writes, views=views).search()
    assert found.broken == ""
    assert found.is_complete
    assert (found.distinct, found.generated) == (distinct, generated)


@pytest.mark.long
def test_six_transactions_on_three_rows_are_counted():
    writes = [(0, 0), (1, 0), (1, 1), (2, 1), (3, 2), (4, 0), (5, 2)]
    found = applier_space(WL8440, 3, writes=writes, high=9).search()
    assert (found.distinct, found.generated, found.depth) == (46_828, 650_469, 25)
    assert found.broken == ""


def test_symmetry_of_rows_gives_the_same_verdict_with_fewer_states():
    # Position 0 writes both rows, 1 one of them each in turn would not be symmetric: 0 and 1 do.
    space = applier_space(WL8440, 2, writes=[(0, 0), (0, 1), (1, 0), (1, 1)])
    whole, reduced = space.search(), space.search(symmetry=True)
    assert reduced.orbit == 2
    assert reduced.distinct < whole.distinct
    assert (reduced.broken, reduced.depth) == (whole.broken, whole.depth)


ONE_ROW = {"writes": [(0, 0), (1, 0), (2, 0)], "high": 7}
READINGS = {
    "literal_window": (Dialect(name="literal", window="literal"), ONE_ROW, 3),
    "no_window": (Dialect(name="none", window="none"), ONE_ROW, 0),
    "pairwise": (
        Dialect(name="pairwise", prefix=False),
        {"writes": [(0, 0), (1, 1), (2, 0), (2, 1)], "rows": 2},
        0,
    ),
    "no_fence": (
        Dialect(name="no_fence", fence_without_write_set=False),
        {"writes": [(0, 0)], "empty": (1,)},
        1,
    ),
}


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("name", READINGS)
def test_refuted_reading_is_broken_and_its_trace_is_a_run(name):
    dialect, workload, which = READINGS[name]
    space = applier_space(dialect, **{"rows": 1, **workload}, safety=SAFETY[which : which + 1])
    found = space.search()
    assert found.broken == SAFETY[which]
    assert len(found.trace) == found.depth + 1
    for before, after in pairwise(found.trace):
        made = []
        space.successors(before, made.append)
        assert after in made
    world = World(space.layout.scope, {**space.rigid, **space.layout.unpack(found.trace[-1])})
    (statement,) = space.statements
    assert not evaluate(statement.closed, world, {})


@pytest.mark.long
def test_states_pack_and_unpack():
    space = applier_space(WL8440, 2, writes=[(0, 0), (1, 1)])
    made = []
    space.successors(space.start, made.append)
    for state in made:
        assert space.layout.pack(space.layout.unpack(state)) == state


def test_value_outside_of_the_scope_is_an_error_and_not_a_wrong_count():
    space = applier_space(WL8440, 1, writes=[(0, 0), (1, 0), (2, 0)], high=3, drop=("join",))
    with pytest.raises(ScopeExceededError):
        space.search()


def test_false_start_is_refused():
    with pytest.raises(ValueError, match="undecided is false at the start"):
        StateSpace(two_phase_commit(), Scope(low=0, high=3, size=1), start={"outcome": {(): 1}})


def test_search_that_is_cut_is_not_complete():
    space = StateSpace(two_phase_commit(), Scope(low=0, high=3, size=5))
    assert not space.search(states_max=100).is_complete


def test_ghosts_are_left_out():
    names = {one.name for one in applier_space(WL8440, 1, writes=[(0, 0)]).layout.functions}
    assert "item_position" not in names
    assert "lc" in names
