"""Waits for rows have a holder: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.needless_waits import (
    rows_are_waited_for_while_held,
    waits_for_readers,
    waits_for_readers_time_out_in_circles,
    waits_for_written_rows,
)
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{a} | T3{a b} | begun T1@w1 ; begun T2@w2 ; "
CHANGED = "row_applied T1@w1 {a} ok ; "
WAITS = "row_applied T2@w2 {a} lock_wait other=1"
ENDS = "engine_committed T1@w1"


def run(*events):
    return history_of(LOG + " ; ".join(event.removesuffix(" ; ") for event in events))


def third_waits(other):
    return f"row_applied T3@w3 {{a}} lock_wait other={other}"


@pytest.mark.parametrize(
    "events",
    [
        (CHANGED, WAITS, ENDS),
        # The row may be granted to the first that waits before it changes it.
        (CHANGED, WAITS, ENDS, third_waits(2)),
        # A failed change locks the row, too.
        (CHANGED.replace("ok", "duplicate_key"), WAITS, ENDS),
    ],
)
def test_wait_for_a_row_that_is_held_holds(events):
    assert verdict(run(*events), rows_are_waited_for_while_held) is Verdict.HOLDS


@pytest.mark.parametrize(
    "events",
    [
        (WAITS, ENDS),
        (CHANGED.replace("{a}", "{b}"), WAITS, ENDS),
        (CHANGED, ENDS, WAITS),
        (CHANGED, "rolled_back T1@w1", WAITS, ENDS),
        (CHANGED, "crashed ; recovered", WAITS, ENDS),
    ],
)
def test_wait_for_a_row_that_is_free_is_reported(events):
    (breach,) = rows_are_waited_for_while_held(run(*events))
    assert str(breach) == "r1: T2 waited for a of T1, which had not asked for it, or had ended"


def test_merged_job_holds_the_rows_of_all_its_transactions():
    begun = "begun T1@w1 transactions=1,3 ; begun T3@w1 transactions=1,3"
    changed = "row_applied T3@w1 {a} ok"
    assert not rows_are_waited_for_while_held(run(begun, changed, WAITS, ENDS))
    assert rows_are_waited_for_while_held(run(changed, WAITS, ENDS))


def test_locks_beside_the_rows_written_are_not_judged():
    history = run(WAITS, ENDS)
    for locks, is_judged in ((False, True), ("none", True), (True, False), ("any", False)):
        header = replace(history.header, options={"extra_locks": locks})
        assert waits_for_written_rows(replace(history, header=header)) is is_judged


FOR_A_READER = 'row_applied T2@w2 {a} lock_wait note="local reader"'
TOO_LONG = 'row_applied T2@w2 {a} error note="lock wait timeout"'


@pytest.mark.parametrize(
    "events",
    [
        # The reader may need what T1 has changed.
        (CHANGED, FOR_A_READER, TOO_LONG),
        (FOR_A_READER, CHANGED.replace("{a}", "{b}"), TOO_LONG),
        # The row was granted, or the change failed for another reason.
        (FOR_A_READER, "row_applied T2@w2 {a} ok"),
        (FOR_A_READER, "row_applied T2@w2 {a} duplicate_key"),
        (FOR_A_READER, TOO_LONG.replace("lock wait timeout", "disk full")),
    ],
)
def test_wait_for_a_reader_that_waits_itself_holds(events):
    assert verdict(run(*events), waits_for_readers_time_out_in_circles) is Verdict.HOLDS


@pytest.mark.parametrize(
    "events",
    [
        (FOR_A_READER, TOO_LONG),
        (CHANGED, FOR_A_READER, ENDS, TOO_LONG),
        (CHANGED, FOR_A_READER, "visible T1@w1 {a}", TOO_LONG),
        (CHANGED, "crashed ; recovered", FOR_A_READER, TOO_LONG),
        (CHANGED.replace("ok", "duplicate_key"), FOR_A_READER, TOO_LONG),
    ],
)
def test_wait_for_a_reader_that_could_go_on_is_reported(events):
    (breach,) = waits_for_readers_time_out_in_circles(run(*events))
    assert str(breach) == (
        "r1: T2 waited too long for a reader that could go on: no row was changed and uncommitted"
    )


def test_only_waits_for_readers_of_workers_are_judged():
    assert waits_for_readers(run(FOR_A_READER, ENDS))
    assert not waits_for_readers(run(CHANGED, WAITS, ENDS))
    time_out = run(CHANGED, WAITS, ENDS, TOO_LONG)
    assert verdict(time_out, waits_for_readers_time_out_in_circles) is Verdict.UNKNOWN
    again = run(FOR_A_READER, "crashed ; recovered", TOO_LONG)
    assert verdict(again, waits_for_readers_time_out_in_circles) is Verdict.UNKNOWN


def test_rows_of_another_member_keep_no_reader():
    other = history_of(
        f"members=r1,r2 {LOG}row_applied T1@r2 worker=1 {{a}} ok ; {FOR_A_READER} ; {TOO_LONG}"
    )
    assert len(waits_for_readers_time_out_in_circles(other)) == 1
