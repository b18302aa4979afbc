"""Monitors of semi-synchronous sources, and of replicas that crash: no false alarm, and catches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from paraply.mining.drawing import SEEDS, drawn_schedule, drawn_workload
from paraply.models.recorded.monitors import MONITORS
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload, subject_named
from paraply.registries import mutant_named, property_named
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.verdict import Verdict
from tests.conformance.pairs import PAIRS

SOURCES = ("P10", "P11", "P12", "P13", "P30")
RECOVERIES = ("P17", "P18", "P19", "P50")
BREACHES = (
    "no_event_is_applied_twice", "applied_exactly_once", "saved_positions_are_executed",
    "position_covers_only_what_is_applied", "position_covers_all_that_is_applied",
)  # fmt: skip
"""What dialects with documented faults break."""
DECIDED = {
    "semi_sync": SOURCES, "semi_sync_clock": SOURCES[1:4],
    "applier": ("P17", "P18", "P50"), "wl4648": ("P17", "P18", "P50"),
    "gtid_positions": ("P17", "P18", "P19"), "mariadb_parallel": ("P17", "P18", "P19"),
    "gap_free": ("P50",), "gtid_topology": (), "composed": (),
}  # fmt: skip
"""What runs of each subject decide."""
CAUGHT = {
    "P10": "unwritten_transaction_commits", "P11": "killed_waiter_commits_in_silence",
    "P12": "group_waits_for_its_first", "P13": "replicas_are_sent_the_unsynced",
    "P17": "reading_goes_on_after_crash", "P18": "begun_counts_as_executed",
    "P19": "sub_ids_follow_execution", "P30": "recovery_opens_at_once",
    "P50": "purge_asks_no_replica",
}  # fmt: skip
"""A mutant of each, which at least one of 30 runs shows."""
STAYS = {"losses": 0}
THREE = {"acknowledgements": 3}


def judged(theorem, history):
    return MONITORS[theorem].judge(history)


def stages(runs, **options):
    pair = PAIRS["semi-sync, recovered wait"]
    workload = replace(pair.workload, options={**pair.workload.options, **options})
    for schedule in random_schedules(3, runs):
        yield subject_named("semi_sync").run(schedule, workload)


def connections(runs, **options):
    workload = Workload(transactions=5, options={**STAYS, **options})
    for schedule in random_schedules(3, runs):
        yield subject_named("gap_free").run(schedule, workload)


def without(history, *kinds):
    events = tuple(event for event in history.events if event.kind not in kinds)
    return replace(history, events=events)


@pytest.mark.long(each=30)
@pytest.mark.parametrize("subject", DECIDED)
def test_no_drawn_healthy_run_is_a_false_alarm(subject):
    random, said, verdicts = Random(subject), subject_named(subject), Counter()
    for dialect in said.dialects:
        for _ in range(25):
            workload = drawn_workload(said, dialect, random)
            history = said.run(drawn_schedule(random.randrange(SEEDS)), workload)
            for theorem in (*SOURCES, *RECOVERIES):
                found = judged(theorem, history)
                verdicts[theorem, found.verdict] += 1
                if found.verdict is Verdict.VIOLATED:
                    assert theorem in RECOVERIES, found.reason
                    assert any(property_named(name).violations(history) for name in BREACHES)
    held = [theorem for (theorem, verdict) in verdicts if verdict is Verdict.HOLDS]
    assert sorted(held) == sorted(DECIDED[subject])


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("theorem", CAUGHT)
def test_mutant_is_seen(theorem):
    mutant = mutant_named(CAUGHT[theorem])
    runs = (mutant.subject.run(one, mutant.workload) for one in random_schedules(0, 30))
    assert any(judged(theorem, run).verdict is Verdict.VIOLATED for run in runs)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"dialect": "after_commit"}, "its dialect, after_commit, is not known to chain mutexes"),
        ({"dialect": "mysql_ordered"}, "not known to chain mutexes"),
        ({"dialect": ""}, "it names no dialect"),
        ({"dialect": "stock_recovery"}, "a recovery that commits"),
        ({"abandons": 2}, "the model has no more: the wait of T"),
        ({"sync_binlog": 0}, "no synced events"),
        ({"keeps_relay_log": False, "replica_crashes": 2}, "has lost what it had received"),
    ],
)
def test_what_the_theorem_excludes_is_the_reason(options, reason):
    dialect = options.pop("dialect", "after_sync")
    found = []
    for history in stages(60, **options):
        stated = replace(history, header=replace(history.header, dialect=dialect))
        if dialect == "stock_recovery":
            events = [
                event._replace(note="commits") if event.kind is EventKind.RECOVERED else event
                for event in stated.events
            ]
            stated = replace(stated, events=tuple(events))
        found.append(judged("P13", stated))
    assert not any(one.verdict is Verdict.VIOLATED for one in found)
    assert any(one.verdict is Verdict.UNKNOWN and reason in one.reason for one in found)


@pytest.mark.parametrize(("theorem", "other"), [("P10", "P30"), ("P30", "P10")])
def test_other_remedy_than_that_of_the_theorem_is_unknown(theorem, other):
    pair = PAIRS["semi-sync, barred" if theorem == "P10" else "semi-sync, recovered wait"]
    runs = [subject_named(pair.subject).run(s, pair.workload) for s in random_schedules(0, 40)]
    recovered = [run for run in runs if {EventKind.RECOVERED, EventKind.READ} <= run.kinds]
    assert any(judged(other, run).verdict is Verdict.HOLDS for run in recovered)
    assert {judged(theorem, run).verdict for run in recovered} == {Verdict.UNKNOWN}


def test_receipt_that_is_not_recorded_is_named():
    history = next(run for run in stages(40) if judged("P10", run).verdict is Verdict.HOLDS)
    one = next(e.transaction for e in history.events_of(EventKind.DELIVERED))
    kept = tuple(
        event
        for event in history.events
        if event.transaction != one
        or event.kind not in (EventKind.DELIVERED, EventKind.ACKNOWLEDGED)
    )
    found = judged("P10", replace(history, events=kept))
    assert found.verdict is Verdict.UNKNOWN
    assert "receive(g=0)" in found.reason or "no delivered events" in found.reason


def test_as_many_replicas_as_must_acknowledge_have_it():
    workload = Workload(
        transactions=3, members=4, dialect="after_sync",
        options={"acknowledgements": 2, "abandons": 0, "loses_source": False},
    )  # fmt: skip
    runs = [subject_named("semi_sync").run(s, workload) for s in random_schedules(0, 30)]
    assert Verdict.VIOLATED not in {judged("P10", run).verdict for run in runs}
    held = [run for run in runs if judged("P10", run).verdict is Verdict.HOLDS]
    asked = [
        replace(run, header=replace(run.header, options={**run.header.options, **THREE}))
        for run in held
    ]
    assert any(judged("P10", run).verdict is not Verdict.HOLDS for run in asked)
    assert {judged("P13", run).verdict for run in asked} == {Verdict.HOLDS}


def test_source_that_goes_on_after_its_loss_is_unknown():
    history = next(run for run in stages(40) if judged("P10", run).verdict is Verdict.HOLDS)
    lost = history.events[-1]._replace(kind=EventKind.CRASHED, note="lost", transaction=None)
    found = judged("P10", replace(history, events=(*history.events, lost)))
    assert found.verdict is Verdict.HOLDS
    read = next(event for event in history.events if event.kind is EventKind.READ)
    found = judged("P10", replace(history, events=(*history.events, lost, read)))
    assert found.verdict is Verdict.UNKNOWN
    assert "read after the loss of the source" in found.reason


@pytest.mark.long
def test_groups_that_wait_are_not_what_parts_of_groups_show():
    # T2 is released, and read, before T3 of its group is anywhere.
    pair = PAIRS["semi-sync, recovered wait"]
    workload = replace(pair.workload, transactions=4)
    runs = (subject_named("semi_sync").run(s, workload) for s in random_schedules(0, 400))
    found = [judged("P10", run) for run in runs]
    assert any("and not all of its group" in one.reason for one in found)
    assert not any(one.verdict is Verdict.VIOLATED for one in found)


@pytest.mark.parametrize(
    ("theorem", "changed", "reason"),
    [
        ("P17", {"transactions": (99,)}, "merged with others"),
        ("P17", {"note": "filtered"}, "T1 is filtered"),
        ("P19", {"gtid_set": "7-7-7"}, "a position that is no transaction of the log"),
    ],
)
def test_replica_that_the_system_does_not_have_is_unknown(theorem, changed, reason):
    pair = PAIRS["position" if theorem == "P19" else "restart"]
    history = subject_named(pair.subject).run(next(iter(random_schedules(0, 1))), pair.workload)
    kind = EventKind.STARTED if theorem == "P19" else EventKind.SCHEDULED
    place = next(n for n, event in enumerate(history.events) if event.kind is kind)
    event = history.events[place]._replace(**changed)
    events = (*history.events[:place], event, *history.events[place + 1 :])
    assert judged(theorem, history).verdict is Verdict.HOLDS
    found = judged(theorem, replace(history, events=events))
    assert found.verdict is Verdict.UNKNOWN
    assert reason in found.reason


def test_each_domain_has_a_position_of_its_own():
    workload = Workload(transactions=6, dialect="table", options={"domains": 3, "crashes": 2})
    runs = [subject_named("gtid_positions").run(s, workload) for s in random_schedules(0, 12)]
    assert any(len({one.domain for one in run.transactions}) == 3 for run in runs)
    for run in runs:
        assert {judged(one, run).verdict for one in RECOVERIES[:3]} == {Verdict.HOLDS}
        assert judged("P50", run).verdict is Verdict.UNKNOWN


def test_replicas_that_connect_by_sets_are_followed_each():
    found = [judged("P50", run) for run in connections(20, restarts=2)]
    assert {one.verdict for one in found} <= {Verdict.HOLDS, Verdict.UNKNOWN}
    assert sum(one.verdict is Verdict.HOLDS for one in found) >= 10
    lost = [judged("P50", run) for run in connections(20, losses=1)]
    assert any("the source crashes" in one.reason for one in lost)
    assert not any(one.verdict is Verdict.VIOLATED for one in lost)


def test_set_that_is_lost_when_a_replica_connects_is_seen():
    subject = mutant_named("executed_set_is_lost_at_restart").subject
    workload = Workload(transactions=4, options=STAYS)
    runs = [subject.run(one, workload) for one in random_schedules(0, 20)]
    twice = [run for run in runs if property_named("no_event_is_applied_twice").violations(run)]
    assert twice
    assert {judged("P50", run).verdict for run in twice} == {Verdict.VIOLATED}


def test_commit_that_comes_again_is_seen_by_each():
    for theorem, pair in (("P17", PAIRS["restart"]), ("P50", PAIRS["auto-position, crashes"])):
        history = subject_named(pair.subject).run(next(iter(random_schedules(2, 1))), pair.workload)
        commit = next(history.events_of(EventKind.ENGINE_COMMITTED))
        again = replace(history, events=(*history.events, commit))
        assert judged(theorem, again).verdict is Verdict.VIOLATED
    history = next(run for run in connections(20) if judged("P50", run).verdict is Verdict.HOLDS)
    commit = next(history.events_of(EventKind.ENGINE_COMMITTED, member="r1"))
    again = replace(history, events=(*history.events, commit))
    assert judged("P50", again).verdict is not Verdict.HOLDS
