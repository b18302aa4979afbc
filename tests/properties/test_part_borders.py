"""Borders of parts: each value that an approach got wrong is named; intervals against sets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.part_borders import Border, Carried, PartBorders, _overlap, _union

BEFORE = Border(
    highest={"u": 5}, domains={0: (5, "0-1-5")}, servers=frozenset({1, 2}), time_s=9,
    committed_at_us=8, stamped=True, named=True, half=False,
)  # fmt: skip
EARLIER = PartBorders(
    begin=Border(), end=BEFORE, transactions_before=0, reaches_back="", writes_settled=True,
    reads_settled=True, has_writes=True, has_reads=True, has_groups=True, from_file_start=True,
    numbers={"u": [(1, 5)]}, servers=frozenset({1, 2}),
)  # fmt: skip
LATER = replace(
    EARLIER, begin=BEFORE, from_file_start=False, numbers={"u": [(6, 7)]}, servers=frozenset({1}),
    end=replace(BEFORE, highest={"u": 7}, domains={0: (7, "0-1-7")}),
)  # fmt: skip


def faults(later, earlier=EARLIER):
    carried = Carried()
    carried.add(earlier)
    return carried.get_faults(later)


def test_part_that_begins_as_the_one_before_it_ended_has_no_fault():
    assert faults(LATER) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"reaches_back": "a commit group"}, "a commit group"),
        ({"writes_settled": False}, "earlier writers of keys"),
        ({"reads_settled": False}, "earlier readers of keys"),
        ({"numbers": {"u": [(5, 7)]}}, "GTIDs of u seen before"),
        ({"begin": replace(BEFORE, highest={"u": 4})}, "GTIDs of u"),
        ({"begin": replace(BEFORE, highest={})}, "GTIDs of u"),
        ({"begin": replace(BEFORE, domains={0: (4, "0-1-4")})}, "GTIDs of domain 0"),
        ({"begin": replace(BEFORE, domains={})}, "GTIDs of domain 0"),
        ({"begin": replace(BEFORE, servers=frozenset({2}))}, "servers"),
        ({"begin": replace(BEFORE, servers=frozenset()), "servers": frozenset()}, "servers"),
        ({"begin": replace(BEFORE, time_s=8)}, "times"),
        ({"begin": replace(BEFORE, committed_at_us=7)}, "times"),
        *(
            ({"begin": replace(BEFORE, **{name: not getattr(BEFORE, name)})},
             "the kind of GTIDs and timestamps before")
            for name in ("stamped", "named", "half")
        ),
    ],
)  # fmt: skip
def test_value_that_an_approach_got_wrong_is_named(change, fault):
    assert faults(replace(LATER, **change)) == [fault]


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": {"v": [(1, 3)]}, "begin": replace(BEFORE, highest={"u": 5, "v": 0})},
        {"begin": replace(BEFORE, servers=frozenset({1})), "servers": frozenset({1, 3})},
        {"end": replace(BEFORE, domains={}), "begin": replace(BEFORE, domains={})},
        {"begin": BEFORE, "servers": frozenset({3})},
    ],
)
def test_value_that_the_part_does_not_meet_may_be_unknown(change):
    assert faults(replace(LATER, **change)) == []


def test_keys_need_no_approach_from_a_files_start_but_for_commit_groups_or_without_earlier_ones():
    unsettled = replace(LATER, writes_settled=False, reads_settled=False)
    none_before = replace(EARLIER, has_writes=False, has_reads=False)
    assert faults(unsettled, none_before) == []
    clocks = replace(EARLIER, has_groups=False)
    at_start = replace(unsettled, has_groups=False, from_file_start=True)
    assert faults(at_start, clocks) == []
    assert len(faults(at_start)) == 2
    assert len(faults(replace(at_start, has_groups=True), clocks)) == 2


def test_what_is_carried_grows_with_each_part():
    middle = replace(
        LATER, numbers={"v": [(1, 2)]}, servers=frozenset({3}),
        begin=BEFORE, end=Border(highest={"v": 2}, domains={1: (2, "1-3-2")}, time_s=10),
    )  # fmt: skip
    carried = Carried()
    for part in (EARLIER, middle):
        carried.add(part)
    begin = Border(
        highest={"u": 5, "v": 2}, domains={0: (5, "0-1-5"), 1: (2, "1-3-2")},
        servers=frozenset({1, 2}), time_s=10,
    )  # fmt: skip
    last = replace(LATER, begin=begin, numbers={"u": [(6, 6)], "v": [(3, 3)]})
    assert carried.get_faults(last) == []
    for wrong in ({"u": [(3, 3)]}, {"v": [(1, 1)]}):
        assert carried.get_faults(replace(last, numbers=wrong)) != []


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
