"""In which states of a member crashes, checkpoints and views are found."""

from __future__ import annotations

from dataclasses import replace

from paraply.mining.coverage import features_of
from paraply.mining.drawing import Drawing, drawn_schedules
from paraply.mining.moments import moments_of
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.events import Event, EventKind
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


def test_default_runs_crash_with_a_hole_behind_a_saved_position():
    subject = subject_named("wl4648")
    drawing = Drawing(subject=subject, given=Workload(dialect="c0"))
    found = set()
    for schedule in drawn_schedules(0, 300):
        found |= moments_of(drawing.run(schedule))
    assert "crashed: hole, saved, in flight" in found
