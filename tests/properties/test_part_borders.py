"""Intervals of GTID numbers against sets of numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.part_borders import _overlap, _union

NUMBERS = st.frozensets(st.integers(1, 20))


def intervals(numbers):
    """Return the runs of numbers, in order."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


@given(NUMBERS, NUMBERS)
def test_intervals_overlap_where_they_have_a_common_number(first, second):
    assert _overlap(intervals(first), intervals(second)) == bool(first & second)


@given(NUMBERS, NUMBERS)
def test_union_of_intervals_has_the_numbers_of_both(first, second):
    assert _union(intervals(first), intervals(second)) == intervals(first | second)
