"""Write sets: sharing an item, and the barrier of having none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paraply.vocabulary.write_set import (
    EMPTY_WRITE_SET,
    conflict,
    format_item,
    parse_item,
    share_items,
    sorted_items,
    write_set,
)

items = (
    st.integers(-(2**63), 2**64 - 1) | st.text() | st.sampled_from(["7", '"7"', "-0", "007", '"'])
)
write_sets = st.frozensets(st.sampled_from(["a", "b", 1, "1"]))


def test_write_sets_with_a_common_item_conflict():
    assert conflict(write_set("a", "b"), write_set("b", "c"))


def test_write_sets_without_a_common_item_do_not_conflict():
    assert not conflict(write_set("a"), write_set("b"))


def test_number_and_its_text_are_two_items():
    assert not conflict(write_set(1), write_set("1"))


@given(write_sets)
def test_empty_write_set_is_a_barrier_that_shares_nothing(other):
    assert conflict(EMPTY_WRITE_SET, other)
    assert conflict(other, EMPTY_WRITE_SET)
    assert not share_items(EMPTY_WRITE_SET, other)


@given(write_sets, write_sets)
def test_conflict_is_symmetric_and_follows_from_sharing(a, b):
    assert conflict(a, b) == conflict(b, a)
    assert share_items(a, b) == bool(a & b)
    assert conflict(a, b) or not share_items(a, b)


@given(items)
def test_item_round_trips_as_text(item):
    back = parse_item(format_item(item))
    assert back == item
    assert type(back) is type(item)


@given(st.frozensets(items))
def test_sorted_items_are_all_items_numbers_first(some):
    order = sorted_items(some)
    assert frozenset(order) == some
    kinds = [isinstance(item, str) for item in order]
    assert kinds == sorted(kinds)
