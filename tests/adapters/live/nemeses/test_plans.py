"""Plans are drawn from a seed, and every strike of a plan ends within it."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.live.nemeses import shapes
from paraply.adapters.live.nemeses.kinds import NEMESES
from paraply.adapters.live.nemeses.plan import draw_names, draw_plan

seeds = st.integers(0, 10**6)
sizes = st.integers(2, 7)


@st.composite
def plans(draw):
    members = draw(sizes)
    fitting = [name for name, one in NEMESES.items() if one.members_min <= members]
    names = draw(st.lists(st.sampled_from(fitting), min_size=1, max_size=6))
    seconds = draw(st.floats(1, 60))
    return names, draw_plan([NEMESES[name]() for name in names], draw(seeds), members, seconds)


@given(plans())
def test_every_strike_starts_and_stops_once_in_time_order_within_the_plan(found):
    names, plan = found
    assert sorted(one.nemesis for one in plan.strikes) == sorted(names)
    actions = list(plan.actions())
    assert [one.at_s for one in actions] == sorted(one.at_s for one in actions)
    running = set()
    for one in actions:
        assert 0 <= one.at_s <= plan.seconds + 0.001
        if one.is_start:
            running.add(one.number)
        else:
            running.remove(one.number)
    assert not running
    assert len(actions) == 2 * len(names)


@given(plans())
def test_strikes_on_one_resource_do_not_overlap(found):
    _, plan = found
    for one, other in combinations(plan.strikes, 2):
        if NEMESES[one.nemesis].resource == NEMESES[other.nemesis].resource:
            assert one.ends_s <= other.begins_s + 0.001 or other.ends_s <= one.begins_s + 0.001


@given(seeds, sizes)
def test_one_seed_gives_one_plan(seed, members):
    def drawn():
        fitting = [name for name, one in NEMESES.items() if one.members_min <= members]
        names = draw_names(fitting, seed)
        return draw_plan([NEMESES[name]() for name in names], seed, members, 12)

    assert drawn() == drawn()


def test_seeds_combine_every_nemesis_with_every_other():
    pairs = set()
    for seed in range(400):
        pairs |= set(combinations(sorted(draw_names(list(NEMESES), seed)), 2))
    assert pairs == set(combinations(sorted(NEMESES), 2))


def reaches(cut, members, one):
    """Return the members that a member exchanges messages with in both directions."""
    return {
        other
        for other in range(members)
        if (one, other) not in cut and (other, one) not in cut
    }  # fmt: skip


@given(seeds, st.integers(3, 7))
def test_a_minority_is_cut_off_and_the_rest_has_a_quorum(seed, members):
    aim = shapes.minority(random.Random(seed), members)
    assert 1 <= len(aim.victims) < members / 2
    rest = set(range(members)) - set(aim.victims)
    assert all(reaches(aim.cut, members, one) == rest for one in rest)
    assert all(reaches(aim.cut, members, one) == set(aim.victims) for one in aim.victims)


@given(seeds, sizes)
def test_without_a_majority_no_member_reaches_a_quorum(seed, members):
    aim = shapes.majority(random.Random(seed), members)
    assert len(aim.victims) > members / 2
    assert all(len(reaches(aim.cut, members, one)) <= members / 2 for one in range(members))


@given(seeds, st.integers(3, 7))
def test_a_bridge_reaches_all_and_each_half_only_itself_and_the_bridge(seed, members):
    aim = shapes.bridge(random.Random(seed), members)
    (bridge,) = aim.victims
    assert reaches(aim.cut, members, bridge) == set(range(members))
    halves = {
        frozenset(reaches(aim.cut, members, one) - {bridge})
        for one in range(members)
        if one != bridge
    }
    assert len(halves) == 2
    left, right = halves
    assert not left & right
    assert abs(len(left) - len(right)) <= 1


@given(seeds, sizes)
def test_a_one_way_partition_leaves_the_other_direction(seed, members):
    aim = shapes.one_way(random.Random(seed), members)
    assert aim.cut
    assert not any((other, one) in aim.cut for one, other in aim.cut)


@pytest.mark.parametrize("name", NEMESES)
def test_names_are_those_of_the_command_and_have_a_meaning(name):
    assert NEMESES[name].name == name
    assert "," not in name
    assert NEMESES[name].meaning
