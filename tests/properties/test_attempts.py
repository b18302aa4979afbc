"""Attempts of workers: holds, breaks, and edges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.apply.attempts import (
    a_job_has_several_transactions,
    attempts_are_counted_one_by_one,
    attempts_take_their_steps_in_order,
    irreversible_changes_are_final_at_once,
    logs_are_synced_before_the_next_step,
    workers_apply_one_job_at_a_time,
    workers_keep_the_order_of_their_queues,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.history import EvidenceTier
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{b} | "
T1 = "scheduled T1@w1 ; begun T1@w1 ; row_applied T1@w1 {a} ok ; "


def history(*events, log=LOG):
    return history_of(log + "".join(events).removesuffix(" ; "))


def test_attempt_from_begin_to_commit_holds():
    run = history(T1, "prepared T1@w1 ; flushed T1@w1 ; synced T1@w1 ; engine_committed T1@w1")
    assert verdict(run, attempts_take_their_steps_in_order) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (T1 + "engine_committed T1@w2", "r1: worker 2 engine_committed T1 without having begun it"),
        (
            T1 + "row_applied T2@w2 {b} ok ; engine_committed T1@w1",
            "r1: worker 2 row_applied T2 without having begun it",
        ),
        (
            "scheduled T1@w1 ; begun T1@w2 ; engine_committed T1@w2",
            "r1: worker 2 begins T1 without having begun it",
        ),
        (
            T1 + "flushed T1@w1 ; prepared T1@w1 ; engine_committed T1@w1",
            "r1: T1 prepared after it had flushed",
        ),
        (
            T1 + "prepared T1@w1 ; prepared T1@w1 ; engine_committed T1@w1",
            "r1: T1 prepared after it had prepared",
        ),
        (T1 + "begun T1@w1 ; engine_committed T1@w1", "r1: T1 begins after it had begun"),
        (
            T1 + "engine_committed T1@w1 ; engine_committed T1@w1",
            "r1: worker 1 engine_committed T1 without having begun it",
        ),
        (
            T1 + "rolled_back T1@w1 ; begun T1#2@w1 ; engine_committed T1@w1",
            "r1: worker 1 engine_committed T1 without having begun it",
        ),
    ],
)
def test_step_of_no_attempt_or_out_of_order_is_reported(events, message):
    (breach,) = attempts_take_their_steps_in_order(history(events))
    assert str(breach) == message


def test_repeated_attempt_has_its_own_steps():
    retried = "rolled_back T1@w1 ; retried T1#2@w1 ; begun T1#2@w1 ; row_applied T1#2@w1 {a} ok ; "
    assert not attempts_take_their_steps_in_order(history(T1, retried, "engine_committed T1#2@w1"))


def test_recovery_commits_what_was_prepared_and_nothing_else():
    crash = "crashed ; recovered ; engine_committed T1@w1 ; "
    assert not attempts_take_their_steps_in_order(history(T1, "prepared T1@w1 ; ", crash))
    assert attempts_take_their_steps_in_order(history(T1, crash))


def test_statements_that_commit_by_themselves_have_another_order():
    ddl = "| T1:ddl statement=x domain=0 | begun T1@w1 ; engine_committed T1@w1 ; flushed T1@w1"
    assert not attempts_take_their_steps_in_order(history_of(ddl))


def test_parts_are_given_by_worker_0():
    run = history("begun T1@w0 ; row_applied T1@w1 {a} ok ; engine_committed T1@w2")
    assert not attempts_take_their_steps_in_order(run)


def test_observed_run_is_not_judged():
    run = history("begun T1@w1 ; engine_committed T1@w2")
    observed = replace(run, header=replace(run.header, tier=EvidenceTier.ROW_OUTCOMES))
    (prop,) = (
        one for one in registered_properties() if one.name == "attempts_take_their_steps_in_order"
    )
    assert prop.applies_to(run)
    assert not prop.applies_to(observed)


def test_worker_that_begins_a_second_transaction_is_reported():
    (breach,) = workers_apply_one_job_at_a_time(history(T1, "begun T2@w1"))
    assert str(breach) == "r1: worker 1 began T2 while it applied T1"
    one_by_one = history(T1, "engine_committed T1@w1 ; begun T2@w1 ; engine_committed T2@w1")
    assert verdict(one_by_one, workers_apply_one_job_at_a_time) is Verdict.HOLDS


def test_merged_transactions_are_one_job():
    run = history("begun T1@w1 transactions=1,2 ; begun T2@w1 transactions=1,2")
    assert not workers_apply_one_job_at_a_time(run)
    assert a_job_has_several_transactions(run)
    assert not a_job_has_several_transactions(history(T1))


LOGGED = "begun T1@w1 ; flushed T1@w1 ; "


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("flushed T1@w1 ; synced T1@w1 ; ", Verdict.HOLDS),
        ("flushed T1@w1 ; ", Verdict.HOLDS),
        ("synced T1@w1 ; ", Verdict.UNKNOWN),
    ],
)
def test_order_of_log_and_sync_is_unknown_where_only_the_sync_is_recorded(steps, expected):
    run = history(T1, steps, "engine_committed T1@w1")
    assert verdict(run, attempts_take_their_steps_in_order) is expected


@pytest.mark.parametrize("event", ["engine_committed T1@w1", "begun T2@w1", "stopped"])
def test_log_must_be_synced_before_the_next_step(event):
    synced = history(LOGGED, "synced T1@w1 ; ", event)
    assert verdict(synced, logs_are_synced_before_the_next_step) is Verdict.HOLDS
    other = "flushed T2@w2 ; synced T2@w2 ; "
    (breach,) = logs_are_synced_before_the_next_step(history(LOGGED, other, event))
    assert str(breach).startswith("r1: T1 was logged and not synced before ")


def test_sync_without_a_recorded_next_step_shows_nothing():
    run = history(LOGGED, "synced T1@w1 ; row_applied T2@w2 {b} ok")
    assert verdict(run, logs_are_synced_before_the_next_step) is Verdict.UNKNOWN


def test_crash_takes_the_unsynced_log():
    run = history(LOGGED, "flushed T2@w2 ; synced T2@w2 ; crashed ; recovered ; stopped")
    assert not logs_are_synced_before_the_next_step(run)


def test_rollback_of_what_was_never_begun_is_reported():
    scheduled = "scheduled T1@w1 ; "
    (breach,) = attempts_take_their_steps_in_order(
        history(T1.replace(T1, scheduled), "rolled_back T1@w1")
    )
    assert "worker 1 rolls back T1 without having begun it" in str(breach)
    failed = history(T1, "failed T1@w1 ; rolled_back T1@w1")
    assert not attempts_take_their_steps_in_order(failed)


@pytest.mark.parametrize(
    ("numbers", "found"), [((1, 2, 3), 0), ((2,), 1), ((1, 3), 1), ((1, 1), 1)]
)
def test_attempts_are_numbered_from_one(numbers, found):
    run = history(*(f"begun T1@w1 attempt={number} ; " for number in numbers))
    assert len(attempts_are_counted_one_by_one(run)) == found


@pytest.mark.parametrize("restart", ["crashed ; recovered ; ", "stopped ; started ; "])
def test_attempts_are_counted_anew_after_a_start(restart):
    again = history("begun T1@w1 ; begun T1@w1 attempt=2 ; ", restart, "begun T1@w1 ; ")
    assert verdict(again, attempts_are_counted_one_by_one) is Verdict.HOLDS
    (breach,) = attempts_are_counted_one_by_one(
        history("begun T1@w1 ; ", restart, "begun T1@w1 attempt=2 ; ")
    )
    assert str(breach) == "r1: T1 began in attempt 2 after 0 attempts"


GIVEN = "scheduled T1@w1 ; scheduled T2@w1 ; "


@pytest.mark.parametrize(
    "events",
    [
        (GIVEN, "begun T1@w1 ; begun T2@w1 ; "),
        (GIVEN, "skipped T1@w1 ; begun T2@w1 ; "),
        (GIVEN, "stopped ; started ; scheduled T2@w1 ; begun T2@w1 ; "),
        ("scheduled T1@w1 ; scheduled T2@w2 ; ", "begun T2@w2 ; begun T1@w1 ; "),
    ],
)
def test_worker_begins_what_it_was_given_first(events):
    assert verdict(history(*events), workers_keep_the_order_of_their_queues) is Verdict.HOLDS


def test_worker_that_overtakes_its_own_queue_is_reported():
    (breach,) = workers_keep_the_order_of_their_queues(history(GIVEN, "begun T2@w1 ; "))
    assert str(breach) == "r1: worker 1 began T2 before T1, which it had been given first"


FINAL = "| T1{a} domain=0 flags=non_transactional | T2{b} | "


def test_change_that_cannot_be_rolled_back_is_final_at_once():
    change = "begun T1@w1 ; row_applied T1@w1 {a} ok time=7"
    good = history_of(f"{FINAL}{change} ; engine_committed T1@w1 time=7")
    assert verdict(good, irreversible_changes_are_final_at_once) is Verdict.HOLDS
    (breach,) = irreversible_changes_are_final_at_once(
        history_of(f"{FINAL}{change} ; engine_committed T1@w1 time=8")
    )
    assert str(breach) == (
        "r1: T1 cannot be rolled back, and was committed some time after its change"
    )


def test_only_changes_that_cannot_be_rolled_back_are_final_at_once():
    events = "begun T2@w1 ; row_applied T2@w1 {b} ok ; engine_committed T2@w1"
    run = history_of(FINAL + events)
    assert not irreversible_changes_are_final_at_once(run)
    name = "irreversible_changes_are_final_at_once"
    (prop,) = [one for one in registered_properties() if one.name == name]
    assert not prop.applies_to(run)
