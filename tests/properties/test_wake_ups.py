"""Threads that are woken: holds, breaks, and edges."""

from __future__ import annotations

import pytest

from paraply.properties.apply.wake_ups import sleepers_are_woken_for_cause
from paraply.vocabulary.verdict import Verdict
from tests.properties.histories import history_of, verdict

LOG = "T1{a} 1<0 | T2{b} 2<0 | T3{c} 3<1 | scheduled T1@w1 ; "
SLEPT, WOKEN, COMMITTED = "slept T3@w0", "woken @w0", "engine_committed T1@w1"


def run(*events):
    return history_of(LOG + " ; ".join(events))


@pytest.mark.parametrize(
    "events", [(SLEPT, COMMITTED, WOKEN), (COMMITTED, SLEPT, WOKEN), (SLEPT, "skipped T1", WOKEN)]
)
def test_sleeper_is_woken_when_what_it_waits_for_has_committed(events):
    assert verdict(run(*events), sleepers_are_woken_for_cause) is Verdict.HOLDS


def test_early_wake_up_is_reported():
    (breach,) = sleepers_are_woken_for_cause(run(SLEPT, WOKEN, COMMITTED))
    assert str(breach) == "r1: thread 0, asleep before T3, was woken before T1 had committed"


@pytest.mark.parametrize(
    "events", [(SLEPT, COMMITTED, WOKEN, WOKEN), (SLEPT, "crashed", COMMITTED, WOKEN)]
)
def test_wake_up_of_a_thread_that_does_not_sleep_is_reported(events):
    (breach,) = sleepers_are_woken_for_cause(run(*events))
    assert str(breach) == "r1: thread 0 was woken, and did not sleep"


def test_numbers_of_another_file_are_not_awaited():
    log = "T1{a} 1<0 | T2{b} 1<0 clock=1 | T3{c} 2<1 clock=1 | scheduled T2@w1 ; "
    events = f"{SLEPT} ; engine_committed T2@w1 ; {WOKEN}"
    assert verdict(history_of(log + events), sleepers_are_woken_for_cause) is Verdict.HOLDS
