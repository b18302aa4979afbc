"""The simulated clock: every order of what happens at once keeps the shape of the pace."""

from __future__ import annotations

import pytest

from paraply.properties.search import random_schedules
from paraply.properties.semi_sync.pace import commits_wait_for_two_round_trips, round_trips_overlap
from paraply.reference_impl.semi_sync.timed_subject import SEMI_SYNC_CLOCK
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind

DURATIONS = (
    {"round_trip_us": 1_000, "sync_us": 200},
    {"round_trip_us": 300, "sync_us": 1_000},
    {"round_trip_us": 100, "sync_us": 100, "stagger_us": 0},
)


def runs_of(dialect, schedules=12, **options):
    workload = Workload(transactions=40, dialect=dialect, options={"clients": 8, **options})
    for schedule in random_schedules(0, schedules):
        yield SEMI_SYNC_CLOCK.run(schedule, workload).check()


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("durations", DURATIONS, ids=str)
@pytest.mark.parametrize("dialect", ["chained", "mysql_ordered", "mysql_unordered"])
def test_commit_waits_for_two_round_trips_at_most(dialect, durations):
    overlapping = 0
    for history in runs_of(dialect, **durations):
        assert not commits_wait_for_two_round_trips(history)
        overlapping += round_trips_overlap(history)
    # A round trip shorter than the next group's sync is over before that group is sent.
    assert overlapping or durations["round_trip_us"] < durations["sync_us"]


def test_with_the_global_mutex_a_commit_waits_for_everybody():
    for history in runs_of("global_mutex"):
        assert commits_wait_for_two_round_trips(history)


@pytest.mark.parametrize("dialect", SEMI_SYNC_CLOCK.dialects)
def test_every_commit_waits_for_its_own_round_trip(dialect):
    options = {"round_trip_us": 1_000, "sync_us": 200, "engine_commit_us": 10}
    for history in runs_of(dialect, schedules=3, **options):
        prepared = {e.transaction: e.time for e in history.events_of(EventKind.PREPARED)}
        told = {e.transaction: e.time for e in history.events_of(EventKind.CLIENT_ACKNOWLEDGED)}
        assert len(told) == 40
        assert min(told[one] - prepared[one] for one in told) >= 1_000 + 200 + 10


def test_clients_begin_one_after_the_other():
    (history,) = runs_of("chained", schedules=1, stagger_us=70)
    prepared = [event.time for event in history.events_of(EventKind.PREPARED)]
    assert prepared[:4] == [0, 70, 140, 210]
