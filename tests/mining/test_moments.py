"""In which states of a member crashes, checkpoints and views are found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from paraply.mining.coverage import features_of
from paraply.mining.drawing import Drawing, drawn_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.biased_schedules import MixedSchedule
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.moments import FLAGS, Members, moments_of, states
from paraply.vocabulary.notation_parser import parse_history

HOLE = """
T1{a} 2<1 | T2{b} 3<1
| begun T1@w1 ; position_saved ; begun T2@w2 ; engine_committed T2@w2 ; crashed
; begun T1@w1 ; engine_committed T1@w1 ; stopped
"""


def test_crash_with_a_hole_behind_a_saved_position_is_told_from_others():
    assert moments_of(parse_history(HOLE)) == {
        "position_saved: in flight",
        "crashed: hole, saved, in flight",
        "stopped: saved",
    }


def test_commits_in_order_leave_no_hole():
    in_order = (
        HOLE.partition("; begun T2@w2")[0]
        + """
; begun T2@w2 ; engine_committed T1@w1 ; crashed
"""
    )
    assert "crashed: saved, in flight" in moments_of(parse_history(in_order))


def test_certified_and_prepared_transactions_are_in_flight_until_they_commit():
    certified = Event(kind=EventKind.CERTIFIED, time=1, transaction=1, outcome=Outcome.POSITIVE)
    refused = Event(kind=EventKind.CERTIFIED, time=1, transaction=2, outcome=Outcome.NEGATIVE)
    prepared = Event(kind=EventKind.PREPARED, time=1, transaction=1)
    committed = Event(kind=EventKind.ENGINE_COMMITTED, time=2, transaction=1)
    for events, state in (
        ((certified,), "in flight"),
        ((prepared,), "in flight"),
        ((refused,), "-"),
        ((certified, committed), "-"),
    ):
        members = Members()
        for event in events:
            members.take(event)
        assert members.state("r1") == state


def test_states_are_all_that_may_be_true_together():
    known = states(may_log=True, may_join=True)
    assert len(set(known)) == len(known) == 20
    for state in known:
        held = state.split(", ")
        assert [one for one in FLAGS if one in held] == held or state == "-"
        assert "in flight" in held or not {"hole", "logged"} & set(held)
    assert set(states(may_log=False, may_join=True)) == {s for s in known if "logged" not in s}
    assert set(states(may_log=True, may_join=False)) == {s for s in known if "joining" not in s}


def test_flushed_transaction_is_logged_until_its_engine_commit():
    history = parse_history("""
T1{a} 2<1
| prepared T1 ; position_saved ; flushed T1 ; crashed
; prepared T1 ; flushed T1 ; engine_committed T1 ; stopped
""")
    assert moments_of(history) == {
        "position_saved: in flight",
        "crashed: saved, in flight, logged",
        "stopped: saved",
    }
    unprepared = parse_history("T1{a} 2<1\n| flushed T1 ; crashed")
    assert moments_of(unprepared) == {"crashed: -"}


def test_member_is_joining_until_it_is_online():
    events = (
        Event(kind=EventKind.VIEW_INSTALLED, time=1, view=1, members=("r1",)),
        Event(kind=EventKind.EXECUTED_SET_BROADCAST, time=2),
        Event(kind=EventKind.VIEW_INSTALLED, time=3, view=2, members=("r1", "r2")),
        Event(kind=EventKind.CRASHED, time=4),
        Event(kind=EventKind.ONLINE, time=5, members=("r1", "r2")),
        Event(kind=EventKind.GARBAGE_COLLECTED, time=6),
    )
    assert moments_of(replace(parse_history(HOLE), events=events)) == {
        "view_installed: -",
        "executed_set_broadcast: -",
        "crashed: joining",
        "online: joining",
        "garbage_collected: -",
    }


def test_moment_is_a_feature():
    history = parse_history(HOLE)
    assert features_of(history) < features_of(history, moments_of(history))


@pytest.mark.parametrize("first", [170, pytest.param(0, marks=pytest.mark.long(each=1))])
def test_default_runs_crash_with_a_hole_behind_a_saved_position(first):
    subject = subject_named("wl4648")
    drawing = Drawing(subject=subject, given=Workload(dialect="c0"))
    assert any(
        "crashed: hole, saved, in flight" in moments_of(drawing.run(schedule))
        for schedule in islice(drawn_schedules(0, 300), first, None)
    )


class Anywhere(MixedSchedule):
    """Takes faults as any step."""

    def _placed(self, placing, names, members, label):
        del placing, members
        return self._picked(names, label)


def crashes(kind, runs):
    """Count the runs of default workloads with a crash, by what was true at it."""
    subject = subject_named("applier")
    drawing = Drawing(subject=subject, given=Workload(dialect="logical_clock_unordered"))
    found = Counter()
    for schedule in drawn_schedules(0, runs):
        reached = moments_of(drawing.run(kind(schedule.seed)))
        states = [one.partition(": ")[2] for one in reached if one.startswith("crashed")]
        found["any"] += bool(states)
        found["hole"] += any("hole" in one for one in states)
        found["hole, saved"] += any("hole, saved" in one for one in states)
    return found


@pytest.mark.parametrize("runs", [200, pytest.param(1000, marks=pytest.mark.long(each=1))])
def test_faults_are_placed_in_rare_states_and_hardly_lost(runs):
    placed, anywhere = crashes(MixedSchedule, runs), crashes(Anywhere, runs)
    assert placed["hole"] > 3 * anywhere["hole"]
    assert placed["hole, saved"] > 2 * anywhere["hole, saved"]
    assert placed["any"] > 0.9 * anywhere["any"]
