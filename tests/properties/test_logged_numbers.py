"""Numbers of an applied log: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.logged_numbers import (
    logged_numbers_rise_above_last_committed,
    numbers_begin_again_in_each_file,
    rotations_are_read_between_files,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict


def history(*numbers):
    log = " ".join(f"| T{place}{{a}} {one}" for place, one in enumerate(numbers, start=1))
    return history_of(f"{log} | scheduled T1@w1")


@pytest.mark.parametrize(
    "numbers", [("1<0", "2<1", "5<1"), ("1<0", "1<0 clock=1"), ("1<0", "0<0", "1<0")]
)
def test_rising_numbers_hold_and_begin_again_after_a_view_change_or_in_a_file(numbers):
    assert verdict(history(*numbers), logged_numbers_rise_above_last_committed) is Verdict.HOLDS


@pytest.mark.parametrize("second", ["1<0", "2<2"])
def test_number_that_does_not_rise_above_both_is_reported(second):
    (breach,) = logged_numbers_rise_above_last_committed(history("1<0", second))
    assert breach.transaction == 2
    assert str(breach).endswith("after sequence_number 1")


def test_log_without_numbers_is_unknown():
    run = history("", "")
    assert verdict(run, logged_numbers_rise_above_last_committed) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("2<1", "3<1", "2<1 clock=1"), Verdict.HOLDS),
        (("0<0", "3<1", "0<0 clock=1"), Verdict.HOLDS),
        (("2<1", "3<1"), Verdict.UNKNOWN),
        (("", ""), Verdict.UNKNOWN),
    ],
)
def test_numbers_begin_again_in_the_next_file(numbers, expected):
    assert verdict(history(*numbers), numbers_begin_again_in_each_file) is expected


@pytest.mark.parametrize("second", ["3<1", "2<0", "0<0"])
def test_file_that_begins_with_other_numbers_is_reported(second):
    (breach,) = numbers_begin_again_in_each_file(history("2<1", f"{second} clock=1"))
    assert str(breach) == f"T2 begins a file of the log with {second}; the log began with 2<1"


@pytest.mark.parametrize(("clock", "is_wrong"), [(1, False), (0, True)])
def test_numbers_of_a_source_rise_in_each_of_its_files(clock, is_wrong):
    log = f"T1{{a}} 1<0 | T2{{b}} 1<0 clock={clock}" if clock else "T1{a} 1<0 | T2{b} 1<0"
    run = history_of(f"{log} | flushed T1 1<0 ; relay_rotated ; flushed T2 1<0")
    assert verdict(run, logged_numbers_rise_above_last_committed) is (
        Verdict.VIOLATED if is_wrong else Verdict.HOLDS
    )


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("relay_rotated @w1 ; ", Verdict.HOLDS),
        ("", Verdict.VIOLATED),
        ("crashed @w1 ; ", Verdict.UNKNOWN),
    ],
)
def test_rotation_is_read_before_a_transaction_of_another_file(between, expected):
    run = history_of(
        f"T1{{a}} 1<0 | T2{{b}} 1<0 clock=1 | scheduled T1@w1 ; {between}scheduled T2@w1"
    )
    assert verdict(run, rotations_are_read_between_files) is expected


def test_file_without_a_rotation_is_reported():
    (breach,) = rotations_are_read_between_files(
        history_of("T1{a} 1<0 | T2{b} 1<0 clock=1 | scheduled T1@w1 ; scheduled T2@w1")
    )
    assert str(breach) == "r1 handed out T2 of another file without a rotation"
