"""Touches sorted into attempts."""

from __future__ import annotations

import pytest

from paraply.adapters.live.observed import Touch
from paraply.adapters.live.pair.attempts import attempts_of, split_passes
from paraply.adapters.live.source_log import Keys, source_log
from tests.adapters.live.observations import STATEMENTS, update

A, B, C = ("t", 1), ("t", 2), ("t", 3)


@pytest.mark.parametrize(
    ("touched", "expected"),
    [
        ([A, B, C], [3]),
        ([A, A, B, C], [1, 3]),
        ([A, B, A, B, C, A, B, C], [2, 3, 3]),
        ([A, B], None),
        ([B, A, B, C], None),
        ([], None),
    ],
    ids=["once", "cut short", "three times", "not whole", "not from the start", "nothing"],
)
def test_passes_over_rows_are_told_apart(touched, expected):
    assert split_passes(touched, [A, B, C]) == expected


def test_row_touched_twice_by_one_transaction_is_one_pass():
    assert split_passes([A, B, A, A, B, A], [A, B, A]) == [3, 3]


def test_transaction_without_rows_has_no_passes():
    assert split_passes([A], []) is None


def test_touches_that_are_no_passes_are_left_out_and_counted():
    log = source_log([update(1, 1)], Keys(STATEMENTS))
    touch = Touch(connection=9, gtid="0-1-1", table="live0.account", key=1)
    found = attempts_of(log, [touch])
    assert (found.steps, found.unmatched) == ([], [1])


def test_touches_of_unknown_transactions_are_ignored():
    log = source_log([update(1, 1)], Keys(STATEMENTS))
    touch = Touch(connection=9, gtid="0-7-7", table="live0.account", key=1)
    assert attempts_of(log, [touch]).steps == []
