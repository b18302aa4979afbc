"""Borders of parts: each value that an approach got wrong is named; intervals against sets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.properties.logs.naive_conflict_graph import check_all_pairs
from paraply.properties.logs.part_borders import (
    Border,
    Carried,
    PartBorders,
    PartLint,
    _overlap,
    _union,
)
from tests.builders.logged import transaction
from tests.properties.logged_strategies import mariadb_logs, mysql_logs

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


def windows_reach_back(log, approach, begin):
    lint = PartLint()
    for txn in log[approach:begin]:
        lint.observe(txn)
    lint.begin_part()
    for txn in log[begin:]:
        lint.observe(txn)
    return lint.reaches_back


def overlaps_before(log, applier, approach, begin):
    """Return whether a transaction of the part may overlap one before its approach."""
    cut = {txn.ordinal: place for place, txn in enumerate(log)}
    allowed = check_all_pairs(log, applier).allowed
    return any(cut[one] < approach and cut[other] >= begin for one, other in allowed)


@given(mysql_logs(broken=False), st.integers(0, 14), st.integers(0, 5))
def test_window_of_the_clock_reaches_back_where_a_pair_may_overlap(log, at, length):
    approach, begin = min(at, len(log)), min(at + length, len(log))
    found = windows_reach_back(log, approach, begin)
    if overlaps_before(log, "logical-clock", approach, begin):
        assert found
    else:
        assert found in ("", "a commit group")


@pytest.mark.long
@given(mariadb_logs(), st.integers(0, 14), st.integers(0, 5))
def test_commit_group_that_reaches_back_is_noticed(log, at, length):
    approach, begin = min(at, len(log)), min(at + length, len(log))
    if overlaps_before(log, "commit-group", approach, begin):
        assert "a commit group" in windows_reach_back(log, approach, begin)


def test_commit_group_of_another_domain_does_not_reach_back():
    def reaches_back(*places):
        log = [
            transaction(number, "a", commit_id=commit_id, domain=domain)
            for number, (domain, commit_id) in enumerate(((0, 6), (1, 8), *places), start=1)
        ]
        return windows_reach_back(log, 0, 2)

    assert reaches_back((0, 9), (1, 9)) == ""
    assert reaches_back((0, 9), (0, 6)) == ""
    assert reaches_back((0, 9), (1, 8)) == "a commit group of a domain"
    assert reaches_back((2, 6)) == "a commit group of a domain"
