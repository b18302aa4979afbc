"""Interval sets against plain Python sets."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.vocabulary.intervals import EMPTY_INTERVALS, IntervalSet

naive_sets = st.frozensets(st.integers(-3, 25), max_size=20)


def held(numbers):
    return IntervalSet((number, number) for number in numbers)


def numbers_in(intervals):
    return {number for first, last in intervals for number in range(first, last + 1)}


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 6))))
def test_intervals_in_any_order_are_held_apart_and_sorted(pairs):
    intervals = [(first, first + more) for first, more in pairs]
    made = IntervalSet(intervals)
    assert numbers_in(made) == numbers_in(intervals)
    bounds = [bound for pair in made for bound in pair]
    assert bounds == sorted(bounds)
    assert all(
        later - earlier > 1 for earlier, later in zip(bounds[1::2], bounds[2::2], strict=False)
    )


@given(naive_sets, naive_sets)
def test_operations_agree_with_plain_sets(a, b):
    one, two = held(a), held(b)
    assert (one | two, one & two, one - two) == (held(a | b), held(a & b), held(a - b))
    assert (one <= two, one.isdisjoint(two), one == two) == (a <= b, a.isdisjoint(b), a == b)
    assert (numbers_in(one | two), numbers_in(one & two)) == (a | b, a & b)
    assert numbers_in(one - two) == a - b
    assert (len(one), bool(one)) == (len(a), bool(a))
    assert hash(one | two) == hash(two | one)


@given(naive_sets, st.integers(-4, 26))
def test_one_number_is_looked_up_and_added_as_in_plain_sets(a, number):
    one = held(a)
    assert (number in one) == (number in a)
    assert one.add(number) == held(a | {number})


@given(naive_sets.filter(bool))
def test_bounds_are_the_least_and_the_greatest(a):
    assert held(a).bounds == (min(a), max(a))


def test_interval_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError, match="interval 3-2 ends before it starts"):
        IntervalSet([(3, 2)])


def test_large_set_is_counted_where_len_cannot():
    large = IntervalSet([(0, sys.maxsize)])
    assert large.count == sys.maxsize + 1
    with pytest.raises(OverflowError):
        len(large)


def test_other_things_are_neither_equal_nor_inside():
    assert EMPTY_INTERVALS != ()
    assert "1" not in IntervalSet([(1, 1)])


def test_set_shows_its_intervals():
    assert repr(IntervalSet([(1, 3)])) == "IntervalSet([(1, 3)])"
    assert IntervalSet([(1, 3), (9, 9)]).interval_count == 2
