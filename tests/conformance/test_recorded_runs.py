"""Recorded runs of the reference are runs of the specifications, by written abstraction functions.

Each pair is a subject and a system that were written apart. What a run does not show (which mutex
is held, where a crashed replica begins again) is tried: a refusal means that nothing fits.
"""

from __future__ import annotations

from functools import partial

import pytest

from models import applier as al1
from models import (
    batches,
    commit_order,
    crash_points,
    end_to_end,
    low_water_mark,
    quorum,
    restart,
    rotation,
    semi_sync,
    trackers,
)
from models import certification as certifier
from models import members as two
from models.compiled_reading import CompiledReading
from models.concrete import Scope
from models.proving import safety_statement
from models.recorded import mariadb, members, quorums, replicas, sources, whole_members
from models.recorded.following import Recorded, RecordedStep, follow
from properties.search import random_schedules
from reference_impl.subject import Workload, subject_named
from reference_impl.subjects import APPLIER  # noqa: F401 - registers the subjects

UNORDERED = "logical_clock_unordered"
ONE_FILE = {"rotations": 0, "collections": 0}
STAYS = {"joins": 0, "departures": 0}
ONE_JOINS = {"joins": 1, "departures": 0, "absent": 1, "barriers": False}
"""A donor's own transaction may commit ahead of a barrier that was certified before it, and a
joiner copies it so; in the specification what came before a view is applied like a relay log."""
ASKED = {"abandons": 0, "source_returns": False, "replica_crashes": 1}
STANDS = {"abandons": 0, "loses_source": False}

PAIRS = {
    "commit order": (
        commit_order.commit_order(), replicas.commit_order, "applier",
        Workload(transactions=4, rows=3, options={"workers": 3}), 2_000,
    ),
    "restart": (
        restart.restart(), replicas.restart, "applier",
        Workload(transactions=4, rows=3, dialect=UNORDERED, options={"workers": 3, "crashes": 2}),
        1_500,
    ),
    "low-water mark": (
        low_water_mark.low_water_mark(), replicas.low_water_mark, "applier",
        Workload(transactions=5, rows=3, dialect=UNORDERED, options={"workers": 3}), 1_000,
    ),
    "log and starts": (
        al1.parallel_applier(), replicas.log_and_starts, "applier",
        Workload(transactions=4, rows=3, dialect=UNORDERED,
                 options={"workers": 3, "view_changes": 1, **ONE_FILE}), 1_000,
    ),
    "bounds on a replica": (
        trackers.tracker(trackers.Rules(lowers_to_commit_order=False)),
        replicas.bounds_on_replica, "applier",
        Workload(transactions=4, rows=3, dialect=UNORDERED,
                 options={"workers": 3, "barriers": False, **ONE_FILE}), 1_000,
    ),
    "writeset": (
        trackers.tracker(), sources.bounds_at_source, "source",
        Workload(transactions=4, rows=3, dialect="writeset",
                 options={"rotations": 0, "history_size": 2}), 300,
    ),
    "commit-order parents": (
        trackers.tracker(), sources.bounds_at_source, "source",
        Workload(transactions=4, rows=3, dialect="commit_order", options={"rotations": 0}), 300,
    ),
    "semi-sync, recovered wait": (
        semi_sync.semi_sync(), sources.semi_sync, "semi_sync",
        Workload(transactions=3, dialect="after_sync", options=STANDS), 500,
    ),
    "semi-sync, barred": (
        semi_sync.semi_sync(semi_sync.Rules(name="semi_sync[barred]", recovery="barred")),
        sources.semi_sync, "semi_sync",
        Workload(transactions=3, dialect="barred_recovery", options=STANDS), 500,
    ),
    "timestamps": (
        al1.parallel_applier(), members.timestamps, "certifier",
        Workload(transactions=5, rows=3, dialect="wl8440"), 500,
    ),
    "timestamps, a number burned": (
        al1.parallel_applier(al1.MYSQL_8_0), members.timestamps, "certifier",
        Workload(transactions=5, rows=3, dialect="mysql_8_0"), 500,
    ),
    "certification in a group": (
        certifier.certification(), members.certification, "group",
        Workload(transactions=3, rows=2, dialect="wl8440", options=STAYS), 500,
    ),
    "batches": (
        batches.batches(), mariadb.batches, "mariadb_parallel",
        Workload(transactions=4, rows=2, dialect="conservative",
                 options={"reads": 0, "stops": 0, "marks": 0, "ddl": 0, "failures": 0,
                          "timeouts": 1}), 2_000,
    ),
    "crash points": (
        crash_points.crash_points(), mariadb.crash_points, "gtid_positions",
        Workload(transactions=3, rows=2, dialect="table",
                 options={"domains": 1, "stops": 0, "cleanups": 0}), 2_000,
    ),
    "rotation": (
        rotation.rotation(), sources.rotation, "semi_sync",
        Workload(transactions=3, dialect="after_sync",
                 options={**STANDS, "source_crashes": 0, "replica_crashes": 1}), 1_000,
    ),
    "end to end": (
        end_to_end.end_to_end(), whole_members.end_to_end, "group",
        Workload(transactions=3, rows=2, members=3, dialect="wl8440",
                 options={"joins": 1, "departures": 0, "absent": 1}), 1_000,
    ),
    "end to end, a number left out": (
        end_to_end.end_to_end(), whole_members.end_to_end, "group",
        Workload(transactions=3, rows=2, members=3, dialect="mysql_8_0",
                 options={"joins": 1, "departures": 0, "absent": 1}), 1_000,
    ),
    "end to end, sessions that commit late and DDL": (
        end_to_end.end_to_end(), whole_members.end_to_end, "group",
        Workload(transactions=4, rows=2, dialect="wl8440",
                 options={**STAYS, "sessions_commit_apart": True, "sessions": 2,
                          "alterations": 2}), 500,
    ),
    "end to end, a joiner": (
        end_to_end.end_to_end(), partial(whole_members.end_to_end, member="r2"), "group",
        Workload(transactions=4, rows=2, members=2, dialect="wl8440", options=ONE_JOINS), 1_000,
    ),
    "timestamps of a joiner": (
        al1.parallel_applier(), partial(members.timestamps, member="r3"), "group",
        Workload(transactions=4, rows=2, members=3, dialect="wl8440", options=ONE_JOINS), 1_000,
    ),
    "timestamps of a joiner, a number burned": (
        al1.parallel_applier(al1.MYSQL_8_0), partial(members.timestamps, member="r3"), "group",
        Workload(transactions=4, rows=2, members=3, dialect="mysql_8_0", options=ONE_JOINS), 1_000,
    ),
    "position": (
        restart.restart(restart.Rules(name="position", by_position=True, commits_in_order=True)),
        replicas.restart, "gtid_positions",
        Workload(transactions=4, rows=2, dialect="table", options={"domains": 1, "crashes": 2}),
        2_000,
    ),
    "quorum, one of two": (
        quorum.quorum(), quorums.quorum, "semi_sync",
        Workload(transactions=3, members=3, dialect="after_sync", options=ASKED), 1_500,
    ),
    "quorum, two of three": (
        quorum.quorum(), quorums.quorum, "semi_sync",
        Workload(transactions=3, members=4, dialect="mysql_ordered",
                 options={**ASKED, "acknowledgements": 2, "loses_replicas": 1}), 2_000,
    ),
    "two members": (
        two.members(), members.two_members, "group",
        Workload(transactions=3, rows=2, dialect="wl8440", options=STAYS), 700,
    ),
}  # fmt: skip
RUNS = 40

UNSEEN = {
    "log and starts": {"certify_local", "collect_garbage", "join"},
    "bounds on a replica": {"forget"},
    "writeset": {"start", "leave", "advance"},
    "commit-order parents": {"start", "leave", "advance"},
    "end to end": {"join", "leave_out_number"},
    "end to end, a number left out": {"join"},
    "end to end, sessions that commit late and DDL": {"join", "leave_out_number", "change_view"},
    "end to end, a joiner": {"leave_out_number", "change_view"},
    "timestamps": {"join"},
    "timestamps of a joiner": {"change_view", "certify_local"},
    "timestamps of a joiner, a number burned": {"change_view", "certify_local"},
    "timestamps, a number burned": {"join"},
}
"""Actions that an abstraction function never reads off a run, whatever the run."""


@pytest.mark.parametrize("name", PAIRS)
def test_every_run_of_the_reference_is_a_run_of_the_specification(name):
    system, abstraction, subject, workload, steps_min = PAIRS[name]
    reading, steps = CompiledReading(system), 0
    actions = set()
    for schedule in random_schedules(0, RUNS):
        recorded = abstraction(subject_named(subject).run(schedule, workload))
        followed = follow(reading, recorded)
        assert followed.refused is None, f"seed {schedule.seed}: {followed.refused}"
        steps += followed.steps
        actions |= {action for step in recorded.steps for action in step.actions}
    observable = {action.name for action in system.actions} - recorded.hidden
    assert observable - actions == UNSEEN.get(name, set())
    assert steps >= steps_min * RUNS // 150


def _recorded(*steps, start=None, **hidden):
    tables = {"ws": {(0, "row0"): True, (1, "row0"): True}, "holder": {("row0",): -1}}
    return Recorded(scope=Scope(high=2), start=start or tables, steps=steps, **hidden)


def _step(action, **known):
    return RecordedStep(actions=(action,), parameters=known)


QUEUED = (_step("queue"), _step("queue"))
QUEUE = CompiledReading(commit_order.commit_order())


def test_step_that_no_world_allows_is_refused():
    followed = follow(QUEUE, _recorded(*QUEUED, _step("start", p=0), _step("start", p=1)))
    assert followed.steps == 3
    assert str(followed.refused) == "start(p=1)"


def test_unknown_parameter_is_tried_in_every_way():
    taken = _recorded(*QUEUED, _step("start"), _step("lock_row"), _step("engine_commit", p=0))
    assert follow(QUEUE, taken).refused is None


def test_hidden_action_fills_what_was_not_seen():
    steps = (*QUEUED, _step("start", p=0), _step("engine_commit", p=0))
    assert follow(QUEUE, _recorded(*steps)).refused is not None
    assert follow(QUEUE, _recorded(*steps, hidden=frozenset({"lock_row"}))).refused is None


def test_value_seen_afterwards_must_fit():
    seen = RecordedStep(actions=("start",), parameters={"p": 0}, seen=(("started", (0,), False),))
    assert follow(QUEUE, _recorded(*QUEUED, seen)).refused is seen


def test_run_that_does_not_begin_as_the_specification_is_an_error():
    with pytest.raises(ValueError, match="empty does not hold at the start"):
        follow(QUEUE, _recorded(start={"n": {(): 1}, "holder": {("row0",): -1}}))


def test_breach_is_found_where_it_happens():
    system = commit_order.commit_order(
        commit_order.Rules(name="order_off", preserve_commit_order=False)
    )
    statement = safety_statement(system, "commit_order_preserved")
    steps = (*QUEUED, _step("start", p=0), _step("start", p=1), _step("engine_commit", p=1))
    apart = {"ws": {}, "holder": {("row0",): -1}}
    followed = follow(CompiledReading(system), _recorded(*steps, start=apart), statement)
    assert followed.broken_after == 5
    assert followed.broken_for == {"p": 0, "q": 1}
