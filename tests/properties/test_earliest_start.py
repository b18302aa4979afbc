"""Waits of the coordinator that last_committed does not ask for: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.earliest_start import (
    coordinators_sleep_below_the_mark_only,
    transactions_start_as_soon_as_they_may,
)
from paraply.properties.registry import registered_properties
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

WORKERS = 'dialect=prompt_logical_clock options={{"workers":{workers}}} '
LOG = "| T1{{a}} 1<0 | T2{{b}} 2<1 | T3{{c}} {third} | started ; "


def replica(events, *, third="3<1", workers=2):
    head = WORKERS.format(workers=workers) + LOG.format(third=third)
    return history_of(head + " ; ".join(one for one in events if one))


def given(one, worker):
    return f"scheduled T{one}@w{worker} ; begun T{one}@w{worker}"


def committed(one, worker):
    return f"engine_committed T{one}@w{worker}"


FIRST = ("scheduled T1@w1", "begun T1@w1", committed(1, 1), "scheduled T2@w1")


def test_transaction_starts_with_an_idle_worker_when_all_up_to_last_committed_have_committed():
    run = replica((*FIRST, "scheduled T3@w2", "begun T2@w1"))
    assert verdict(run, transactions_start_as_soon_as_they_may) is Verdict.HOLDS


def test_transaction_that_is_kept_back_is_reported_once():
    (breach,) = transactions_start_as_soon_as_they_may(
        replica((*FIRST, "begun T2@w1", committed(2, 1), "scheduled T3@w2"))
    )
    assert str(breach) == ("r1: T3 could start with an idle worker, but begun of T2 came first")


@pytest.mark.parametrize(
    ("third", "why"),
    [
        ("3<2", "its last_committed"),
        ("4<1", "a gap"),
        ("3<0", "no last_committed"),
        ("2<1", "a number that does not rise"),
        ("", "no numbers"),
    ],
)
def test_transaction_waits_for_what_its_numbers_name(third, why):
    run = replica((*FIRST, "begun T2@w1", committed(2, 1), "scheduled T3@w2"), third=third)
    assert not transactions_start_as_soon_as_they_may(run), why


def test_transaction_waits_for_an_idle_worker():
    run = replica((*FIRST, "begun T2@w1", committed(2, 1), "scheduled T3@w1"), workers=1)
    assert not transactions_start_as_soon_as_they_may(run)


def test_transaction_waits_for_the_first_of_its_run_of_numbers():
    log = "| T1{a} 5<4 | T2{b} 6<4 | started ; scheduled T1@w1 ; begun T1@w1 ; "
    run = history_of(f"{WORKERS.format(workers=2)}{log}{committed(1, 1)} ; scheduled T2@w2")
    assert not transactions_start_as_soon_as_they_may(run)


@pytest.mark.parametrize("event", ["relay_rotated", "crashed ; recovered time=8"])
def test_new_file_and_restart_begin_a_new_run(event):
    done = ("begun T2@w1", committed(2, 1), event)
    assert not transactions_start_as_soon_as_they_may(replica((*FIRST, *done, "scheduled T3@w1")))
    late = replica((*FIRST, *done, "read @r1", "scheduled T3@w1"))
    assert len(transactions_start_as_soon_as_they_may(late)) == 1


def test_skipped_transaction_is_done_at_once():
    run = replica(("skipped T1", "scheduled T2@w1", "begun T2@w1", "scheduled T3@w2"))
    (breach,) = transactions_start_as_soon_as_they_may(run)
    assert breach.transaction == 3


def test_events_of_one_step_are_not_told_apart():
    step = ("row_applied T2@w1 {b} lock_wait other=1", "rolled_back T2@w1 time=6")
    run = replica((*FIRST, *step, "scheduled T3@w2"))
    assert len(transactions_start_as_soon_as_they_may(run)) == 1
    at_once = replica((*FIRST[:-1], "scheduled T2@w1 time=4", "scheduled T3@w2 time=5"))
    assert not transactions_start_as_soon_as_they_may(at_once)


@pytest.mark.parametrize(
    "head", ["dialect=logical_clock ", 'dialect=prompt_logical_clock options={"sleeps":true} ']
)
def test_coordinator_that_may_be_slow_is_not_judged(head):
    name = transactions_start_as_soon_as_they_may.__name__
    (prop,) = [one for one in registered_properties() if one.name == name]
    events = " ; ".join((*FIRST, "begun T2@w1", "scheduled T3@w2"))
    assert not prop.applies_to(history_of(f"{head}{LOG.format(third='3<1')}{events}"))


SLEPT = "slept T3@w0"


def test_coordinator_sleeps_until_last_committed_has_committed():
    run = replica((*FIRST, SLEPT, committed(2, 1), "woken @w0"), third="3<2")
    assert verdict(run, coordinators_sleep_below_the_mark_only) is Verdict.HOLDS


def test_sleep_above_the_mark_is_reported():
    (breach,) = coordinators_sleep_below_the_mark_only(replica((*FIRST, SLEPT)))
    assert str(breach) == (
        "r1: the coordinator slept before T3, though all up to its last_committed=1 had committed "
        "and reported"
    )


def test_commit_that_its_worker_may_not_have_reported_counts_as_open():
    reported = ("scheduled T1@w1", committed(1, 1), "scheduled T2@w2", committed(2, 2), SLEPT)
    assert not coordinators_sleep_below_the_mark_only(replica(reported))


def test_run_without_sleep_decides_nothing():
    assert verdict(replica(FIRST), coordinators_sleep_below_the_mark_only) is Verdict.UNKNOWN
