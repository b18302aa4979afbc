"""The applier as a subject: what it keeps on every schedule, and which situations are reached."""

from __future__ import annotations

from functools import cache

import pytest

from paraply.properties.apply import parallel_apply
from paraply.properties.registry import Expectation, verdict_of
from paraply.properties.search import random_schedules
from paraply.reference_impl.applier.replica import RETRIES_MAX
from paraply.reference_impl.applier.subject import APPLIER, apply
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.programs import decode_program, parse_program
from paraply.vocabulary.schedule import Exploration, RecordedSchedule, SeededSchedule
from paraply.vocabulary.verdict import Verdict
from tests.reference_impl.judges import judges_of

SETTINGS = (
    {"workers": 3},
    {"workers": 2, "crashes": 1},
    {"workers": 3, "crashes": 2, "recovery": "positions", "checkpoints": 2},
    {"workers": 3, "extra_locks": True, "sessions": 1},
    {"workers": 2, "view_changes": 1, "stamps": "mysql_8_4"},
    {"workers": 3, "sleeps": True, "crashes": 1, "checkpoints": 1},
)


@cache
def judges():
    return judges_of(APPLIER, settings=SETTINGS)


@pytest.mark.long
@pytest.mark.parametrize("dialect", APPLIER.dialects)
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_no_schedule_breaks_what_the_dialect_keeps(dialect, options):
    workload = Workload(transactions=6, rows=4, dialect=dialect, options=options)
    known = APPLIER.breaks.get(dialect, frozenset())
    for schedule in random_schedules(0, 150):
        history = APPLIER.run(schedule, workload)
        assert not list(history.faults())
        for prop in judges().values():
            if prop.name not in known:
                assert not prop.violations(history), (prop.name, schedule.seed)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("two_transactions_overlap", {}),
        ("conflicting_transactions_are_applied", {}),
        ("replica_crashes_midway", {"crashes": 1}),
        ("a_sleeping_coordinator_is_woken", {"sleeps": True}),
        ("reader_sees_the_middle", {}),
    ],
)
def test_interesting_situation_is_reached(name, options):
    prop = judges()[name]
    assert prop.expectation is Expectation.SOMETIMES
    workload = Workload(transactions=5, options={"workers": 3, **options})
    reached = sum(prop.witness(APPLIER.run(s, workload)) for s in random_schedules(0, 300))
    assert reached >= 3


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(APPLIER.breaks["logical_clock_unordered"]))
def test_without_commit_order_the_documented_anomalies_are_found(name):
    options = {"workers": 3, "reads": 4, "barriers": False, "rotations": 0, "collections": 0}
    workload = Workload(transactions=6, rows=6, dialect="logical_clock_unordered", options=options)
    verdicts = {
        verdict_of(APPLIER.run(schedule, workload), judges()[name])
        for schedule in random_schedules(0, 800)
    }
    assert Verdict.VIOLATED in verdicts


def test_deadlock_of_row_locks_and_commit_order_is_met_and_resolved():
    workload = Workload(options={"extra_locks": True, "sessions": 1, "barriers": False})
    retried = 0
    for schedule in random_schedules(0, 200):
        history = APPLIER.run(schedule, workload)
        retried += any(history.events_of(EventKind.RETRIED))
        assert history.events[-1].kind is EventKind.STOPPED
    assert retried >= 3


def test_wait_for_a_row_that_a_third_one_has_taken_since_is_reported_again():
    program = "AAAAAQAAAAAAAAAAAAAAAQAAAABAAAACAgABAQABAQEBAAAAAgIAAAABAAICAgIAAgIBAQ"
    options = {
        "workers": 4,
        "collections": 3,
        "extra_locks": True,
        "sleeps": True,
        "checkpoints": 4,
    }
    workload = Workload(transactions=7, rows=6, members=3, options=options)
    history = APPLIER.run(RecordedSchedule(decode_program(parse_program(program))), workload)
    waits = [
        (event.transaction, event.other)
        for event in history.events_of(EventKind.ROW_APPLIED)
        if event.outcome is Outcome.LOCK_WAIT
    ]
    assert waits[:2] == [(2, 3), (2, 4)]
    assert history.events[-1].kind is EventKind.STOPPED


def test_run_is_replayed_by_the_program_in_its_header():
    workload = Workload(options={"crashes": 1, "workers": 3})
    schedule = SeededSchedule(7)
    history = APPLIER.run(schedule, workload)
    again = RecordedSchedule(schedule.choices, strict=True)
    replayed = APPLIER.run(again, workload)
    assert replayed.events == history.events
    assert replayed.header.program == history.header.program
    assert again.is_faithful


def test_every_schedule_of_a_small_scope_keeps_the_properties():
    # Two transactions, two rows, two workers: all workloads, all interleavings, all read moments.
    workload = Workload(transactions=2, rows=2, options={
        "rotations": 0, "collections": 0, "sessions": 1, "reads": 1})  # fmt: skip
    exploration = Exploration()
    distinct, overlaps = set(), 0
    for schedule in exploration:
        history = APPLIER.run(schedule, workload)
        distinct.add((history.transactions, history.events))
        overlaps += parallel_apply.two_transactions_overlap(history)
        for prop in judges().values():
            assert not prop.violations(history), prop.name
    assert exploration.is_complete
    assert len(distinct) == exploration.count
    # The first transaction of a group runs alone, so two never overlap: a bound that hides it.
    assert overlaps == 0


def test_history_names_what_made_it():
    history = apply(SeededSchedule(1), workers=3)
    assert history.header.subject == "applier"
    assert history.header.options["workers"] == 3
    outcomes = {event.outcome for event in history.events_of(EventKind.ROW_APPLIED)}
    assert outcomes <= {Outcome.OK}


CROSSED = {
    "extra_locks": True, "sessions": 1, "barriers": False, "rotations": 0, "collections": 0,
    "reads": 0,
}  # fmt: skip


def crossed(dialect, program, **sizes):
    """Apply a log of which transactions lock rows beside those that they write."""
    workers = {"workers": sizes["transactions"] - 1}
    workload = Workload(dialect=dialect, options={**CROSSED, **workers}, **sizes)
    return APPLIER.run(RecordedSchedule(program), workload)


def waits_of(history):
    return {
        event.transaction: event.other
        for event in history.events_of(EventKind.ROW_APPLIED)
        if event.outcome is Outcome.LOCK_WAIT
    }


def rolled_back_of(history):
    return [(one.transaction, one.other) for one in history.events_of(EventKind.ROLLED_BACK)]


def test_without_commit_order_only_the_latest_of_a_circle_is_rolled_back():
    program = [4, 5, 0, 0, 0, 4, 0, 0, 0, 0, 2, 4, 1, 0, 0, 1, 2, 1, 2]
    history = crossed("logical_clock_unordered", program, transactions=4, rows=6)
    assert waits_of(history) == {4: 3, 2: 4, 3: 2}
    assert rolled_back_of(history) == [(4, 2)]
    assert history.events[-1].kind is EventKind.STOPPED


def test_in_commit_order_who_waits_for_an_earlier_one_is_not_rolled_back():
    workload = Workload(transactions=6, rows=6, options={**CROSSED, "workers": 4})
    patient = 0
    for schedule in random_schedules(0, 100):
        history = APPLIER.run(schedule, workload)
        late = {one for one, holder in waits_of(history).items() if holder < one}
        patient += bool(late)
        assert all(waits_of(history)[to] == one for one, to in rolled_back_of(history))
        assert max(event.attempt for event in history.events) <= 2
        assert history.events[-1].kind is EventKind.STOPPED
    assert patient >= 10


def test_two_that_close_their_circle_for_ever_give_up_as_the_server_does():
    program = [2, 0, 0, 2, 0, 0, 2, 1, 0, 0, 1, 1, 0, *[1] * 20]
    history = crossed("logical_clock_unordered", program, transactions=3, rows=3)
    assert history.events[-1].kind is EventKind.FAILED
    retries = [event for event in history.events if event.kind is EventKind.RETRIED]
    assert max(event.attempt for event in retries) == RETRIES_MAX + 1
    rolled_back = [event for event in history.events if event.kind is EventKind.ROLLED_BACK]
    assert len(rolled_back) >= len(retries) + 1
