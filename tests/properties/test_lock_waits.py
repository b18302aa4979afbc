"""Row waits, commit-order deadlocks and crashed servers: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.lock_waits import (
    changed_rows_are_locked_until_the_end,
    commit_order_rolls_back_the_later,
    crashed_servers_are_silent,
    row_waits_last_until_the_holder_ends,
)
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{a} | scheduled T1@r1 ; scheduled T2@r1 ; begun T1@r1 ; begun T2@r1 ; "
WAITS = "row_applied T1@r1 outcome=lock_wait other=2 ; "
ROLLED_BACK = 'rolled_back T2@r1 other=1 note="commit order deadlock" ; '


def history(events):
    return history_of(LOG + events)


@pytest.mark.parametrize(
    "release",
    ["engine_committed T2@r1", ROLLED_BACK.removesuffix(" ; "), "crashed @r1 ; recovered @r1"],
)
def test_wait_that_ends_with_the_holder_holds(release):
    run = history(f"{WAITS}{release} ; row_applied T1@r1 outcome=ok")
    assert verdict(run, row_waits_last_until_the_holder_ends) is Verdict.HOLDS


@pytest.mark.parametrize(
    "event",
    ["row_applied T1@r1 outcome=ok", "row_applied T1@r1 outcome=lock_wait other=2"],
)
def test_waiter_that_moves_while_the_holder_holds_is_reported(event):
    (breach,) = row_waits_last_until_the_holder_ends(history(WAITS + event))
    assert str(breach) == "r1: T1 went on while T2 held its row"


READER = 'row_applied T1@r1 worker=1 outcome=lock_wait note="local reader" ; '


@pytest.mark.parametrize(
    "between", ["read @r1 session=reader", "row_applied T1@r1 worker=2 outcome=ok"]
)
def test_wait_for_a_reader_ends_with_its_read_and_binds_one_worker(between):
    run = history(f"{READER}{between} ; read @r1 ; row_applied T1@r1 worker=1 outcome=ok")
    assert verdict(run, row_waits_last_until_the_holder_ends) is Verdict.HOLDS


def test_waiter_that_moves_before_the_read_is_reported():
    (breach,) = row_waits_last_until_the_holder_ends(history(READER + READER.removesuffix(" ; ")))
    assert str(breach) == "r1: T1 went on while a reader held its row"


def test_wait_that_times_out_is_over():
    run = history(f"{WAITS}row_applied T1@r1 outcome=error ; failed T1@r1")
    assert verdict(run, row_waits_last_until_the_holder_ends) is Verdict.HOLDS


@pytest.mark.parametrize("event", ["", "row_applied T2@r1 {b} ok"])
def test_wait_that_does_not_end_in_the_record_shows_nothing(event):
    run = history(WAITS + event)
    assert verdict(run, row_waits_last_until_the_holder_ends) is Verdict.UNKNOWN


def test_waiter_that_is_rolled_back_waits_no_more():
    run = history(f"{WAITS}rolled_back T1@r1 ; row_applied T1@r1 outcome=ok")
    assert not row_waits_last_until_the_holder_ends(run)


def test_later_transaction_is_rolled_back_for_the_earlier():
    run = history(WAITS + ROLLED_BACK)
    assert verdict(run, commit_order_rolls_back_the_later) is Verdict.HOLDS


def test_holder_that_is_rolled_back_again_before_the_waiter_moves_is_no_breach():
    run = history(f"{WAITS}{ROLLED_BACK}retried T2@r1 ; begun T2@r1 ; {ROLLED_BACK}")
    assert not commit_order_rolls_back_the_later(run)


@pytest.mark.parametrize("moves", ["rolled_back T1@r1 ; ", "row_applied T1@r1 {b} ok ; "])
def test_transaction_that_is_rolled_back_though_nobody_waits_for_it_is_reported(moves):
    (breach,) = commit_order_rolls_back_the_later(history(WAITS + moves + ROLLED_BACK))
    assert str(breach) == "r1: T2 was rolled back for T1, which did not wait for its row"


def test_waiter_that_is_rolled_back_for_its_holder_is_reported():
    wait = "row_applied T2@r1 outcome=lock_wait other=1 ; "
    (breach,) = commit_order_rolls_back_the_later(history(wait + ROLLED_BACK))
    assert str(breach) == "r1: T2 was rolled back for T1, which did not wait for its row"


@pytest.mark.parametrize("wait", ["", "row_applied T1@r1 outcome=lock_wait ; "])
def test_rollback_without_a_record_of_the_wait_is_unknown(wait):
    run = history(wait + ROLLED_BACK)
    assert verdict(run, commit_order_rolls_back_the_later) is Verdict.UNKNOWN


def test_earlier_transaction_that_is_rolled_back_is_reported():
    run = history('rolled_back T1@r1 other=2 note="commit order deadlock"')
    (breach,) = commit_order_rolls_back_the_later(run)
    assert str(breach) == "r1: T1 was rolled back for T2, a later one"


def test_rollback_for_another_reason_has_no_order():
    run = history("rolled_back T1@r1 other=2 note=timeout")
    assert verdict(run, commit_order_rolls_back_the_later) is Verdict.UNKNOWN


def test_server_that_starts_again_may_act_and_recovery_may_commit():
    run = history("crashed @r1 ; recovered @r1 ; engine_committed T1@r1")
    assert verdict(run, crashed_servers_are_silent) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ('crashed @r1 note="lost for good" ; engine_committed T1@r1', "engine_committed"),
        ("crashed @r1 ; flushed T1@r1 ; recovered @r1", "flushed"),
    ],
)
def test_server_that_acts_while_it_is_down_is_reported(events, kind):
    (breach,) = crashed_servers_are_silent(history(events))
    assert str(breach).startswith(f"r1: {kind} at ")


def test_stop_closes_the_record():
    assert not crashed_servers_are_silent(history("crashed @r1 note=lost ; stopped @r1"))


def test_start_may_be_unrecorded_where_a_run_was_only_observed():
    exact = history("crashed @r1 ; engine_committed T1@r1")
    observed = replace(exact, header=replace(exact.header, tier=EvidenceTier.ROW_OUTCOMES))
    assert crashed_servers_are_silent(exact)
    assert not crashed_servers_are_silent(observed)


CHANGED = "row_applied T1@r1 {a} ok ; "
AGAIN = "row_applied T2@r1 {a} ok"


@pytest.mark.parametrize(
    "between",
    [
        "engine_committed T1@r1 ; ",
        "rolled_back T1@r1 ; ",
        "failed T1@r1 ; ",
        "crashed @r1 ; recovered @r1 ; ",
        "visible T1@r1 {a} ; ",
        "begun T2@r1 transactions=1,2 ; ",
    ],
)
def test_row_is_free_when_its_holder_has_ended(between):
    run = history(CHANGED + between + AGAIN)
    assert verdict(run, changed_rows_are_locked_until_the_end) is Verdict.HOLDS


@pytest.mark.parametrize("between", ["", "prepared T1@r1 ; ", "visible T1@r1 {b} ; "])
def test_row_of_an_unfinished_transaction_is_not_changed(between):
    (breach,) = changed_rows_are_locked_until_the_end(history(CHANGED + between + AGAIN))
    assert str(breach) == (
        "r1: T2 changed a before T1, which had changed it, was committed or rolled back"
    )


@pytest.mark.parametrize("other", ["row_applied T2@r1 {a} lock_wait other=1", "", CHANGED])
def test_waits_and_own_changes_are_no_breach(other):
    assert not changed_rows_are_locked_until_the_end(history((CHANGED + other).rstrip(" ;")))
