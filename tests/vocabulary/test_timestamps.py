"""Logical timestamps: a prefix bound, and who may run beside whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.timestamps import VIEW_CHANGE, LogicalTimestamp, may_overlap, waits_for

stamp = LogicalTimestamp.of


@pytest.mark.parametrize(
    ("last_committed", "sequence_number", "reason"),
    [(4, 4, "wait for itself"), (5, 4, "wait for a later one"), (-1, 4, "negative")],
)
def test_malformed_timestamp_is_refused_with_both_fields(last_committed, sequence_number, reason):
    with pytest.raises(ParaplyError, match=f"P003 last_committed={last_committed}.*{reason}"):
        stamp(last_committed, sequence_number)


@given(st.integers(-3, 5), st.integers(-3, 5))
def test_recorded_timestamp_keeps_what_was_said_and_knows_if_it_is_well_formed(lc, sn):
    timestamp = LogicalTimestamp.as_recorded(lc, sn)
    assert (timestamp.last_committed, timestamp.sequence_number) == (lc, sn)
    try:
        checked = stamp(lc, sn)
    except ParaplyError:
        assert not timestamp.is_well_formed
    else:
        assert timestamp.is_well_formed
        assert timestamp == checked
        assert hash(timestamp) == hash(checked)


def test_timestamp_is_written_sequence_number_first():
    assert str(stamp(1, 2)) == "2<1"


def test_transaction_waits_for_its_whole_prefix_and_no_more():
    assert [number for number in range(1, 9) if waits_for(5, number)] == [1, 2, 3, 4, 5]


def test_later_transaction_may_overlap_while_it_does_not_wait_for_the_earlier():
    assert may_overlap(stamp(1, 2), stamp(1, 3))


def test_later_transaction_may_not_overlap_when_last_committed_is_the_earlier():
    assert not may_overlap(stamp(1, 2), stamp(2, 3))


def test_last_committed_bounds_a_prefix_and_not_one_transaction():
    # 4 waits for 3, so it waits for 2 as well, though 2 is not its last_committed.
    assert not may_overlap(stamp(1, 2), stamp(3, 4))


@pytest.mark.parametrize(
    ("earlier", "later"), [(VIEW_CHANGE, stamp(0, 1)), (stamp(0, 1), VIEW_CHANGE)]
)
def test_view_change_overlaps_nothing(earlier, later):
    assert not may_overlap(earlier, later)
