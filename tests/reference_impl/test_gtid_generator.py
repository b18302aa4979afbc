"""Automatic GTIDs, with and without blocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.reference_impl.certification.gtid_generator import (
    NUMBER_MAX,
    GtidGenerator,
    first_free,
)
from paraply.reference_impl.certification.gtids import Gtid
from paraply.vocabulary.errors import ParaplyError


def numbers(generator, origins, taken=()):
    used = {Gtid("group", number) for number in taken}
    given_out = []
    for origin in origins:
        gtid = generator.next_gtid(origin, used)
        used.add(gtid)
        given_out.append(gtid.number)
    return given_out


def test_without_blocks_the_lowest_hole_is_filled():
    assert numbers(GtidGenerator(), ["r1", "r2", "r1"], taken=(1, 3)) == [2, 4, 5]


def test_with_blocks_each_member_counts_in_its_own():
    assert numbers(GtidGenerator(3), ["r1", "r2", "r1", "r2"]) == [1, 4, 2, 5]


def test_view_change_takes_the_lowest_number_whatever_the_blocks():
    assert numbers(GtidGenerator(3), ["r1", "r2", None]) == [1, 4, 2]


def test_member_whose_block_is_used_up_reserves_the_next():
    assert numbers(GtidGenerator(2), ["r1", "r1"]) == [1, 2]
    generator = GtidGenerator(2)
    used = {Gtid("group", 2)}
    # Number 2 was specified by a session: the first free interval is 1 alone, and is taken whole.
    assert generator.next_gtid("r1", used).number == 1
    assert generator.next_gtid("r1", used | {Gtid("group", 1)}).number == 3


def test_holes_are_handed_out_again_after_a_block_of_assignments():
    # r2 takes one of its block, r1 goes on; after three assignments the intervals are new.
    assert numbers(GtidGenerator(2), ["r1", "r2", "r1", "r1", "r1"]) == [1, 3, 2, 4, 5]


def test_numbers_of_other_sources_do_not_count():
    assert GtidGenerator().next_gtid("r1", {Gtid("uuid", 1)}) == Gtid("group", 1)


def test_exhausted_range_is_a_clear_error():
    generator = GtidGenerator(2)
    generator.next_gtid("r1", set())
    generator.free = []
    with pytest.raises(ParaplyError, match="P402"):
        generator.reserve_block("r2")
    assert first_free(NUMBER_MAX, NUMBER_MAX, {NUMBER_MAX}) is None


@given(
    block_size=st.integers(1, 4),
    origins=st.lists(st.sampled_from(["r1", "r2", "r3", None]), max_size=25),
    taken=st.sets(st.integers(1, 12), max_size=6),
)
def test_no_number_is_given_twice_and_members_agree(block_size, origins, taken):
    once = numbers(GtidGenerator(block_size), origins, taken)
    assert len(set(once)) == len(once)
    assert taken.isdisjoint(once)
    assert numbers(GtidGenerator(block_size), origins, taken) == once
