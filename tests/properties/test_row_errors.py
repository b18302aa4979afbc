"""Row changes that fail, and appliers that fail: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.row_errors import (
    failed_appliers_leave_nothing_open,
    row_changes_fail_when_they_must,
)
from paraply.properties.certification.write_sets import row_changes_have_their_images
from paraply.properties.registry import registered_properties
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.log import Operation
from paraply.vocabulary.transactions import RowWrite
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

FIRST = "begun T1 worker=1 ; row_applied T1 worker=1 items=a outcome=ok ; "
COMMIT = "engine_committed T1 worker=1 ; "
SECOND = "begun T2 worker=2 ; row_applied T2 worker=2 items=a outcome="
ROWS = (
    RowWrite(table="d.t", operation=Operation.INSERT, after=("a", 1)),
    RowWrite(table="d.t", operation=Operation.UPDATE, before=("a", 1), after=("a", 2)),
)


def run(events, *, second=ROWS[1], options='"workers":2'):
    history = history_of(
        f"members=r1 options={{{options}}} | T1{{a}} | T2{{a}} | scheduled T1 worker=1 ; "
        + events.rstrip(" ;")
    )
    one, other = history.transactions
    rows = (replace(one, rows=ROWS[:1]), replace(other, rows=(second,)))
    events = (
        event._replace(row=0) if event.kind is EventKind.ROW_APPLIED else event
        for event in history.events
    )
    return replace(history, transactions=rows, events=tuple(events)).check()


def test_change_of_the_row_as_logged_holds():
    history = run(f"{FIRST}{COMMIT}{SECOND}ok")
    assert verdict(history, row_changes_fail_when_they_must) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("before", "second", "outcome", "expected"),
    [
        (FIRST + COMMIT, replace(ROWS[1], before=("a", 3)), "ok", "missing_before_image"),
        (FIRST + COMMIT, ROWS[0], "ok", "duplicate_key"),
        (FIRST + COMMIT, ROWS[1], "missing_before_image", "ok"),
        (FIRST + COMMIT + FIRST + "rolled_back T1 worker=1 ; ", ROWS[0], "ok", "duplicate_key"),
    ],
)
def test_outcome_that_does_not_fit_the_row_is_reported(before, second, outcome, expected):
    breach = row_changes_fail_when_they_must(run(f"{before}{SECOND}{outcome}", second=second))[-1]
    assert str(breach) == (
        f"r1: T2 changed a with outcome {outcome}; the row that it found makes this {expected}"
    )


@pytest.mark.parametrize(
    ("events", "options"),
    [
        (f"{SECOND}ok ; engine_committed T2 worker=2", '"workers":2'),
        (f"begun T1 worker=1 ; {COMMIT}{SECOND}ok", '"workers":2'),
        (f"{FIRST}{COMMIT}crashed ; recovered ; {SECOND}ok", '"watermark":"exact"'),
    ],
)
def test_unknown_rows_are_not_judged(events, options):
    assert verdict(run(events, options=options), row_changes_fail_when_they_must) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("options", "applies"), [('"exec_mode":"idempotent"', False), ('"exec_mode":"strict"', True)]
)
def test_rows_that_are_overwritten_are_exempt(options, applies):
    name = row_changes_fail_when_they_must.__name__
    (prop,) = (one for one in registered_properties() if one.name == name)
    assert prop.applies_to(run(f"{FIRST}{COMMIT}{SECOND}ok", options=options)) is applies


FAILS = f"{FIRST}{COMMIT}begun T2 worker=2 ; scheduled T1 worker=1 ; begun T1 worker=1 ; "


@pytest.mark.parametrize(
    "end", ["rolled_back T1 worker=1 ; failed T2 worker=2", "failed T2 worker=2 ; crashed"]
)
def test_applier_that_rolls_back_or_starts_again_holds(end):
    assert not failed_appliers_leave_nothing_open(run(FAILS + end))


def test_attempt_that_a_failed_applier_leaves_open_is_reported():
    (breach,) = failed_appliers_leave_nothing_open(run(f"{FAILS}failed T2 worker=2"))
    assert str(breach) == "r1 failed, and did not roll T1 back"


@pytest.mark.parametrize(
    ("operation", "before", "after"),
    [
        (Operation.INSERT, ("a", 1), ("a", 2)),
        (Operation.DELETE, ("a", 1), ("a", 2)),
        (Operation.UPDATE, ("a", 1), None),
    ],
)
def test_images_of_another_operation_are_reported(operation, before, after):
    row = RowWrite(table="d.t", operation=operation, before=before, after=after)
    (breach,) = row_changes_have_their_images(run(FIRST, second=row))
    assert str(breach) == f"T2 has images of a row that are not those of an {operation.value}"


def test_rows_with_their_images_hold():
    assert verdict(run(FIRST), row_changes_have_their_images) is Verdict.HOLDS
