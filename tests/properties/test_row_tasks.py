"""Rows given out one by one, and errors that cancel every part: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.row_tasks import (
    another_workers_part_is_cancelled,
    channels_hold_one_row,
    errors_cancel_every_part,
    no_row_is_given_out_after_an_error,
)
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

BEGUN = "begun T1@w0 ; "
GIVEN = "scheduled T1@w{} ; "
APPLIED = "row_applied T1@w{} {{a}} {} ; "
ERROR = BEGUN + GIVEN.format(1) + GIVEN.format(2) + APPLIED.format(1, "error")


ROWS = tuple(RowWrite(table="d.t", operation=Operation.INSERT, after=(item, 1)) for item in "abc")


def run(events):
    history = history_of("| T1{a b c} | " + events.rstrip(" ;"))
    (one,) = history.transactions
    given = (
        event._replace(row=0) if event.kind is EventKind.SCHEDULED else event
        for event in history.events
    )
    return replace(history, transactions=(replace(one, rows=ROWS),), events=tuple(given)).check()


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        (APPLIED.format(1, "ok"), Verdict.HOLDS),
        (APPLIED.format(1, "error"), Verdict.HOLDS),
        ("", Verdict.VIOLATED),
        (APPLIED.format(1, "lock_wait"), Verdict.VIOLATED),
        (APPLIED.format(2, "ok"), Verdict.VIOLATED),
        ("crashed ; recovered ; " + BEGUN, Verdict.HOLDS),
        (BEGUN, Verdict.HOLDS),
    ],
)
def test_row_is_given_when_the_last_is_executed(between, expected):
    given = BEGUN + GIVEN.format(1) + between + GIVEN.format(1)
    assert verdict(run(given), channels_hold_one_row) is expected


def test_full_channel_is_named():
    (breach,) = channels_hold_one_row(run(BEGUN + GIVEN.format(1) * 2))
    assert str(breach) == ("r1: worker 1 was given a row of T1 while its channel held another")


def test_row_that_is_given_after_an_error_is_reported():
    (breach,) = no_row_is_given_out_after_an_error(run(ERROR + GIVEN.format(1)))
    assert str(breach) == "r1: worker 1 was given a row of T1 after another row of it had failed"
    good = run(ERROR + "rolled_back T1@w2 ; failed T1@w1")
    assert verdict(good, no_row_is_given_out_after_an_error) is Verdict.HOLDS


CANCELLED = "rolled_back T1@w2 ; failed T1@w1"


@pytest.mark.parametrize(
    ("events", "worker"),
    [
        (CANCELLED, None),
        ("failed T1@w1", 2),
        ("visible T1@w2 {b}", 2),
        ("rolled_back T1@w2 ; engine_committed T1@w1", 1),
        ("crashed ; recovered ; " + BEGUN + GIVEN.format(2) + "failed T1@w1", None),
    ],
)
def test_part_that_is_not_cancelled_is_reported(events, worker):
    breaches = errors_cancel_every_part(run(ERROR + events))
    assert [breach.worker for breach in breaches] == ([worker] if worker else [])
    if worker:
        assert str(breaches[0]) == (
            f"r1: worker {worker} did not cancel its part of T1, of which a row had failed"
        )


def test_emergency_is_a_rollback_for_another_workers_row():
    assert another_workers_part_is_cancelled(run(ERROR + CANCELLED))
    assert not another_workers_part_is_cancelled(run(ERROR + "rolled_back T1@w1"))
    assert EventKind.ROLLED_BACK not in run(ERROR).kinds
    assert not another_workers_part_is_cancelled(run(ERROR))
