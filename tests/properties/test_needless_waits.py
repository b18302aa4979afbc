"""Waits for rows have a holder: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.needless_waits import (
    rows_are_waited_for_while_held,
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
