"""Tests of ``sample`` that only ``judging_the_sample`` collects."""

from hypothesis import given
from hypothesis import strategies as st

from tests.mutating.sample import Account, greater


def test_last_cent_may_be_taken():
    assert Account(5).may_take(5)
    assert not Account(5).may_take(6)


@given(st.integers(), st.integers())
def test_greater_is_the_maximum(one, other):
    assert greater(one, other) == max(one, other)


def test_that_fails_without_a_change():
    assert Account(1).is_empty
