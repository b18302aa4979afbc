"""Configured limits, failing rows and counted groups: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.commit_groups import commit_groups_are_counted_one_by_one
from paraply.properties.apply.configured import (
    a_coordinator_runs_ahead_of_its_workers,
    a_transaction_waits_for_its_worker,
    all_configured_workers_are_busy,
    attempts_end_with_the_configured_retries,
    coordinators_run_ahead_within_their_limit,
    jobs_have_at_most_the_configured_transactions,
    queues_have_at_most_the_configured_groups,
    workers_are_those_configured,
)
from paraply.properties.apply.row_errors import (
    a_row_change_fails_in_an_attempt,
    row_errors_end_the_attempt,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "| T1{a} | T2{b} | "


def limited(option, number, events):
    return history_of(f'options={{"{option}":{number}}} {LOG}{events}')


@pytest.mark.parametrize(("limit", "found"), [(3, 0), (2, 0), (1, 1), (0, 1)])
def test_workers_are_numbered_up_to_the_limit(limit, found):
    history = limited("workers", limit, "scheduled T1 worker=1 ; scheduled T2 worker=2")
    assert len(workers_are_those_configured(history)) == found


def test_breach_names_the_worker_and_the_limit():
    history = limited("workers", 2, "scheduled T1 worker=3 ; begun T2 worker=0")
    assert [str(one) for one in workers_are_those_configured(history)] == [
        "r1: T1 is given to worker 3, and at most 2 are configured"
    ]


@pytest.mark.parametrize(("attempt", "found"), [(1, 0), (2, 0), (3, 1)])
def test_last_attempt_is_the_last_retry(attempt, found):
    history = limited("retries_max", 1, f"begun T1 worker=1 attempt={attempt}")
    assert len(attempts_end_with_the_configured_retries(history)) == found


@pytest.mark.parametrize(("merged", "found"), [(2, 0), (1, 1)])
def test_job_has_at_most_the_configured_transactions(merged, found):
    history = limited("merged", merged, "begun T1 worker=1 transactions=1,2")
    assert len(jobs_have_at_most_the_configured_transactions(history)) == found


@pytest.mark.parametrize(
    ("between", "found"),
    [("", 1), ("begun T1 worker=1 ; ", 0), ("stopped @r1 ; started @r1 ; ", 0)],
)
def test_queue_has_at_most_the_configured_groups(between, found):
    events = f"scheduled T1 worker=1 ; {between}scheduled T2 worker=1"
    history = limited("queued_max", 1, events)
    assert len(queues_have_at_most_the_configured_groups(history)) == found
    assert not queues_have_at_most_the_configured_groups(limited("queued_max", 2, events))


def test_limit_that_is_not_stated_is_not_judged():
    run = history_of(f"{LOG}scheduled T1 worker=3 ; begun T1 worker=3")
    judged = {one.name for one in registered_properties() if one.applies_to(run)}
    assert workers_are_those_configured.__name__ not in judged


FAILS = "begun T1 worker=1 ; row_applied T1 worker=1 missing_before_image items=a ; "


@pytest.mark.parametrize("end", ["rolled_back T1 worker=1", "failed T1 worker=1"])
def test_attempt_ends_after_an_error(end):
    history = history_of(f"{LOG}{FAILS}{end}")
    assert a_row_change_fails_in_an_attempt(history)
    assert verdict(history, row_errors_end_the_attempt) is Verdict.HOLDS


def test_step_after_an_error_is_reported():
    (breach,) = row_errors_end_the_attempt(history_of(f"{LOG}{FAILS}engine_committed T1 worker=1"))
    assert str(breach) == "r1: T1 engine committed after its row met a missing before image"


@pytest.mark.parametrize("between", ["crashed ; recovered ; ", "rolled_back T1 worker=1 ; "])
def test_new_attempt_may_change_the_row(between):
    again = FAILS.replace("missing_before_image", "ok")
    assert not row_errors_end_the_attempt(history_of(f"{LOG}{FAILS}{between}{again}".rstrip(" ;")))


@pytest.mark.parametrize(
    ("groups", "found"),
    [((1, 1, 2), 0), ((1, 3), 1), ((2,), 1), ((1, 2, 1), 1), ((0, 1), 1)],
)
def test_groups_are_counted_one_by_one(groups, found):
    events = " ; ".join(f"flushed T1 group={one}" for one in groups)
    assert len(commit_groups_are_counted_one_by_one(history_of(LOG + events))) == found


def test_count_starts_anew_with_the_server():
    events = "flushed T1 group=1 ; started ; flushed T1 group=7"
    assert not commit_groups_are_counted_one_by_one(history_of(LOG + events))


@pytest.mark.parametrize(("limit", "found"), [(2, 1), (0, 0)])
def test_worker_that_commits_has_a_number_from_one(limit, found):
    history = limited("workers", limit, "begun T1 worker=0 ; engine_committed T1 worker=0")
    assert len(workers_are_those_configured(history)) == found
    if found:
        (breach,) = workers_are_those_configured(history)
        assert str(breach) == "r1: T1 is given to worker 0, and numbers begin with 1"


BOTH = "begun T1 worker=1 ; {}begun T2 worker=2"


@pytest.mark.parametrize(
    ("limit", "between", "expected"),
    [
        (2, "", True),
        (3, "", False),
        (2, "engine_committed T1 worker=1 ; ", False),
        (2, "rolled_back T1 worker=1 ; ", False),
        (2, "crashed ; recovered ; ", False),
    ],
)
def test_all_workers_are_busy_at_once(limit, between, expected):
    history = limited("workers", limit, BOTH.format(between))
    assert bool(all_configured_workers_are_busy(history)) is expected


@pytest.mark.parametrize(("begins", "expected"), [("", True), ("begun T1 worker=1 ; ", False)])
def test_transaction_waits_behind_one_that_is_not_begun(begins, expected):
    events = f"scheduled T1 worker=1 ; {begins}scheduled T2 worker=1"
    history = limited("queued_max", 2, events)
    assert bool(a_transaction_waits_for_its_worker(history)) is expected


@pytest.mark.parametrize(("workers", "found"), [(1, 1), (0, 1), (2, 0)])
def test_coordinator_runs_ahead_of_its_workers_within_limits(workers, found):
    given = " ; ".join(f"scheduled T{one} worker=0" for one in (1, 2, 3, 4))
    history = history_of(
        f'options={{"workers":{workers}}} | T1{{a}} | T2{{b}} | T3{{c}} | T4{{d}} | {given}'
    )
    assert len(coordinators_run_ahead_within_their_limit(history)) == found


@pytest.mark.parametrize(("workers", "is_judged"), [(0, False), (1, True)])
def test_coordinator_that_applies_by_itself_does_not_run_ahead(workers, is_judged):
    # Without workers it begins all transactions of a merged job at once.
    history = limited("workers", workers, "scheduled T1 worker=0")
    name = coordinators_run_ahead_within_their_limit.__name__
    (prop,) = [one for one in registered_properties() if one.name == name]
    assert prop.applies_to(history) is is_judged


def test_committed_transactions_leave_room():
    given = "scheduled T{0} worker=0 ; engine_committed T{0} worker=1"
    history = limited("workers", 1, " ; ".join(given.format(one) for one in (1, 2)))
    assert verdict(history, coordinators_run_ahead_within_their_limit) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("workers", "events", "expected"),
    [
        (2, "{1} ; {2} ; {3} ; {4}", True),
        (2, "{1} ; {2} ; {3} ; engine_committed T1 worker=1 ; {4}", False),
        (1, "{1} ; {2}", True),
        (1, "{1} ; crashed ; recovered ; {2}", False),
    ],
)
def test_coordinator_fills_its_list_of_jobs(workers, events, expected):
    given = [f"scheduled T{one} worker=0" for one in range(5)]
    log = f'options={{"workers":{workers}}} | T1{{a}} | T2{{b}} | T3{{c}} | T4{{d}} | '
    history = history_of(log + events.format(*given))
    assert bool(a_coordinator_runs_ahead_of_its_workers(history)) is expected


@pytest.mark.parametrize(("workers", "is_judged"), [(0, False), (1, True), (2, False)])
def test_short_log_fills_no_list_of_jobs(workers, is_judged):
    name = a_coordinator_runs_ahead_of_its_workers.__name__
    (prop,) = [one for one in registered_properties() if one.name == name]
    assert prop.applies_to(limited("workers", workers, "scheduled T1 worker=0")) is is_judged
