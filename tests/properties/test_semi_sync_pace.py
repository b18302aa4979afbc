from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.properties.registry import property_named, verdict_of
from paraply.properties.semi_sync.pace import (
    clients_are_answered_at_once,
    clients_begin_as_stated,
    commits_per_second,
    commits_take_the_whole_queue,
    commits_wait_for_two_round_trips,
    flushes_on_a_clock,
    groups_are_flushed_at_once,
    round_trips_overlap,
    syncs_and_commits_take_their_time,
    syncs_of_queues,
    syncs_take_the_whole_queue,
)
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.verdict import Verdict

CLOCK = '{"round_trip_us":100,"sync_us":10,"engine_commit_us":0,"clients":4}'
# Two round trips and the work of two groups: 2 * (100 + 2 * 10).
BOUND = 240


def history(*events, options=CLOCK):
    head = f"members=source,r1 options={options} | T1{{}} | T2{{}} | T3{{}} | T4{{}} | "
    return parse_history(head + " ; ".join(events))


def commit(until):
    return "prepared T1@source time=0", f"client_acknowledged T1@source time={until}"


@pytest.mark.parametrize(("until", "is_late"), [(BOUND, False), (BOUND + 1, True)])
def test_commit_may_take_two_round_trips_and_no_longer(until, is_late):
    found = commits_wait_for_two_round_trips(history(*commit(until)))
    assert bool(found) is is_late
    for breach in found:
        assert "241 us to commit, more than the 240 us" in str(breach)


def test_few_clients_show_nothing_because_taking_turns_would_do():
    prop = property_named("commits_wait_for_two_round_trips")
    assert verdict_of(history(*commit(100)), prop) is Verdict.HOLDS
    two = CLOCK.replace('"clients":4', '"clients":2')
    assert verdict_of(history(*commit(100), options=two), prop) is Verdict.UNKNOWN


def test_history_without_a_clock_is_not_judged():
    run = history(*commit(9_999), options="{}")
    assert not commits_wait_for_two_round_trips(run)
    prop = property_named("commits_wait_for_two_round_trips")
    assert verdict_of(run, prop) is Verdict.UNKNOWN


def test_round_trips_overlap_only_between_groups_that_both_wait():
    first, second = "synced T1@source group=1 time=1", "synced T2@source group={} time=2"
    assert round_trips_overlap(history(first, second.format(2)))
    assert not round_trips_overlap(history(first, second.format(1)))
    done = "engine_committed T1@source time=1"
    assert not round_trips_overlap(history(first, done, second.format(2)))


def test_pace_counts_answers_over_the_time_of_the_last():
    assert commits_per_second(history(*commit(500))) == 2_000
    assert commits_per_second(history("prepared T1@source time=0")) == 0


STEPS = "flushed T1@source time=0 ; synced T1@source time={} ; engine_committed T1@source time={}"


@pytest.mark.parametrize(
    ("synced", "committed", "found"),
    [(10, 15, []), (11, 99, []), (9, 15, ["synced"]), (10, 14, ["engine_committed"])],
)
def test_sync_and_engine_commit_last_as_long_as_is_stated(synced, committed, found):
    slow = CLOCK.replace('"engine_commit_us":0', '"engine_commit_us":5')
    run = history(STEPS.format(synced, committed), options=slow)
    breaches = syncs_and_commits_take_their_time(run)
    assert [one.step for one in breaches] == found
    prop = property_named("syncs_and_commits_take_their_time")
    assert verdict_of(run, prop) is (Verdict.VIOLATED if found else Verdict.HOLDS)


@pytest.mark.parametrize(
    ("heard", "committed", "is_early"),
    [("100", 105, False), ("100", 104, True), ("100 101", 105, False), ("200", 15, False)],
)
def test_engine_commit_begins_when_the_wait_is_over(heard, committed, is_early):
    slow = CLOCK.replace('"engine_commit_us":0', '"engine_commit_us":5')
    events = ["flushed T1@source time=0", "synced T1@source time=10"]
    events += [f"acknowledged T1@r1 time={at}" for at in heard.split() if int(at) < committed]
    run = history(*events, f"engine_committed T1@source time={committed}", options=slow)
    assert bool(syncs_and_commits_take_their_time(run)) is is_early


def test_breach_tells_how_short_a_step_was():
    (breach,) = syncs_and_commits_take_their_time(history(STEPS.format(9, 9)))
    assert str(breach) == "T1 was synced after 9 us; it takes 10 us"


def queue(flushed, synced, dialect="mysql_ordered"):
    """Return a run whose second sync begins at 10, with T3 flushed and synced at those times."""
    times = [("flushed", 1, 0), ("flushed", 2, 5), ("flushed", 3, flushed)]
    times += [("synced", 1, 10), ("synced", 2, 20), ("synced", 3, synced)]
    times.sort(key=lambda one: one[2])
    run = history(*(f"{kind} T{one}@source time={at}" for kind, one, at in times))
    return replace(run, header=replace(run.header, dialect=dialect))


@pytest.mark.parametrize(
    ("flushed", "synced", "is_left"),
    [(9, 20, False), (9, 30, True), (10, 30, False), (11, 30, False)],
)
def test_sync_takes_what_was_flushed_before_it_began(flushed, synced, is_left):
    run = queue(flushed, synced)
    assert verdict_of(run, property_named("syncs_take_the_whole_queue")) is (
        Verdict.VIOLATED if is_left else Verdict.HOLDS
    )
    assert [str(one) for one in syncs_take_the_whole_queue(run)] == is_left * [
        "T3, queued at 9 us, was left out of the stage that began at 10 us"
    ]


@pytest.mark.parametrize(("dialect", "is_judged"), [("mysql_unordered", True), ("chained", False)])
def test_only_groups_of_mysql_queue_for_a_sync(dialect, is_judged):
    assert syncs_of_queues(queue(9, 30, dialect)) is is_judged


@pytest.mark.parametrize(
    ("dialect", "second", "is_early"),
    [("chained", 20, False), ("chained", 19, True), ("mysql_unordered", 15, False)],
)
def test_transactions_of_a_group_commit_one_after_another(dialect, second, is_early):
    slow = CLOCK.replace('"engine_commit_us":0', '"engine_commit_us":5')
    events = [f"flushed T{one}@source time=0 group=1" for one in (1, 2)]
    events += [f"synced T{one}@source time=10 group=1" for one in (1, 2)]
    events += ["engine_committed T1@source time=15 group=1"]
    run = history(*events, f"engine_committed T2@source time={second} group=1", options=slow)
    run = replace(run, header=replace(run.header, dialect=dialect))
    assert bool(syncs_and_commits_take_their_time(run)) is is_early


def led(synced, group, dialect="mysql_ordered"):
    """Return a run whose second group leads the commit stage at 30; T3 may be of it."""
    times = [("synced", 1, 10, 1), ("synced", 2, 20, 2), ("synced", 3, synced, 3)]
    times += [("engine_committed", 1, 30, 1), ("engine_committed", 2, 40, 2)]
    times += [("engine_committed", 3, 50, group)]
    times.sort(key=lambda one: one[2])
    run = history(
        *(f"{kind} T{one}@source time={at} group={group}" for kind, one, at, group in times)
    )
    return replace(run, header=replace(run.header, dialect=dialect))


@pytest.mark.parametrize(
    ("synced", "group", "is_left"), [(29, 2, False), (29, 3, True), (30, 3, False), (31, 3, False)]
)
def test_commit_takes_what_was_synced_before_the_stage_was_free(synced, group, is_left):
    run = led(synced, group)
    assert verdict_of(run, property_named("commits_take_the_whole_queue")) is (
        Verdict.VIOLATED if is_left else Verdict.HOLDS
    )
    assert [str(one) for one in commits_take_the_whole_queue(run)] == is_left * [
        "T3, queued at 29 us, was left out of the stage that began at 30 us"
    ]


@pytest.mark.parametrize(("answered", "is_late"), [(20, False), (21, True)])
def test_client_is_answered_when_its_group_has_committed(answered, is_late):
    run = history(
        "engine_committed T1@source time=10 group=1",
        "engine_committed T2@source time=20 group=1",
        f"client_acknowledged T1@source time={answered} group=1",
    )
    assert [str(one) for one in clients_are_answered_at_once(run)] == is_late * [
        "T1 is answered at 21 us, not at 20 us"
    ]


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ((0, 7, 30), []),
        ((0, 8, 30), ["T2 is prepared at 8 us, not at 7 us"]),
        ((0, 7, 31), ["T3 is prepared at 31 us, not at an answer"]),
    ],
)
def test_clients_begin_staggered_and_then_with_an_answer(times, found):
    options = CLOCK.replace('"clients":4', '"clients":2,"stagger_us":7')
    events = [f"prepared T{one}@source time={at}" for one, at in enumerate(times, start=1)]
    events.insert(2, "client_acknowledged T1@source time=30")
    run = history(*events, options=options)
    assert [str(one) for one in clients_begin_as_stated(run)] == found
    prop = property_named("clients_begin_as_stated")
    assert verdict_of(run, prop) is (Verdict.VIOLATED if found else Verdict.HOLDS)


LOCKED = "dialect={} members=source,r1 options={} | T1{{}} | T2{{}} | T3{{}} | "
COMMITS_TAKE_5 = CLOCK.replace('"engine_commit_us":0', '"engine_commit_us":5')
STAGES = ("prepared", "flushed", "synced", "engine_committed", "client_acknowledged")


def flushes(dialect, *rows, options=COMMITS_TAKE_5):
    """Return the run of a dialect; a row has the times of a transaction's stages, None for none."""
    events = [
        (time, STAGES.index(stage), f"{stage} T{one}@source group={one} time={time}")
        for one, times in enumerate(rows, start=1)
        for stage, time in zip(STAGES, times, strict=False)
        if time is not None
    ]
    text = " ; ".join(text for _, _, text in sorted(events))
    return parse_history(LOCKED.format(dialect, options) + text)


@pytest.mark.parametrize(
    ("dialect", "free"),
    [("mysql_ordered", 3), ("mysql_unordered", 3), ("chained", 12), ("global_mutex", 115)],
)
def test_group_is_flushed_when_it_is_queued_and_the_log_is_free(dialect, free):
    first = (0, 0, 10, 115, 115)
    for late in (-1, 0, 1):
        # The second group is prepared at 3 us; the first one is synced at 12 us, in a chain.
        run = flushes(dialect, (0, 0, 12, 115, 115) if free == 12 else first, (3, free + late))
        assert [str(one) for one in groups_are_flushed_at_once(run)] == bool(late) * [
            f"T2 is flushed at {free + late} us; it was queued, and LOCK_log free, at {free} us"
        ]


def test_chained_group_keeps_the_log_until_the_next_mutex_is_free():
    first, second = (0, 0, 10, 115, 115), (3, 10, 20, 220, 220)
    # The first group leaves the mutex of the wait where its commit begins: at 110 us.
    assert not groups_are_flushed_at_once(flushes("chained", first, second, (4, 110)))
    (breach,) = groups_are_flushed_at_once(flushes("chained", first, second, (4, 20)))
    assert (breach.at_us, breach.due_us) == (20, 110)


def test_flush_is_undecided_after_a_release_that_is_not_recorded():
    prop = property_named("groups_are_flushed_at_once")
    for dialect, first in (("global_mutex", (0, 0, 10, 115)), ("chained", (0, 0))):
        run = flushes(dialect, first, (3, 99))
        assert prop.evidence(run).decided == 1
        assert verdict_of(run, prop) is Verdict.HOLDS
    assert verdict_of(flushes("chained", (0, None, 7)), prop) is Verdict.UNKNOWN


def test_flushes_are_judged_where_locks_and_durations_are_stated():
    assert flushes_on_a_clock(flushes("chained", (0, 7)))
    assert not flushes_on_a_clock(flushes("after_sync", (0, 7)))
    assert not flushes_on_a_clock(flushes("chained", (0, 7), options="{}"))
