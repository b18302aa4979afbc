"""The group, scene by scene."""

from __future__ import annotations

import pytest

from paraply.counterexamples.hunt import properties_of, system_of
from paraply.properties.certification.decisions import (
    first_certified_wins,
    members_execute_the_same,
)
from paraply.properties.certification.timestamps import sequence_numbers_increase
from paraply.properties.registry import NO_EVIDENCE, Expectation
from paraply.properties.search import random_schedules
from paraply.reference_impl.certification.dialects import dialect_named
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Status
from paraply.reference_impl.group.settings import Settings
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.registries import registered_properties, subject_named
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.verdict import Verdict
from tests.reference_impl.test_golden_traces import ScriptedGroup

NAMES = ("r1", "r2", "r3")


def group_of(present, dialect="wl8440", **settings):
    recorder = Recorder()
    group = Group(NAMES, dialect_named(dialect), Settings(**settings), recorder)
    group.boot(present)
    return group


def deliver_all(member, group):
    while member.next_message < len(group.total_order):
        group.deliver_next(member)


def recorded(group):
    return group.recorder.history(HistoryHeader()).check()


def test_each_member_certifies_at_its_own_pace_and_decides_alike():
    group = group_of(("r1", "r2"))
    r1, r2 = group.members["r1"], group.members["r2"]
    group.submit(r1, ("a",))
    group.submit(r2, ("a",))
    deliver_all(r1, group)
    assert len(r1.executed) == 1
    assert not r2.executed
    deliver_all(r2, group)
    assert not first_certified_wins(recorded(group))
    # r2 wrote the row too, and was rolled back: the relay log holds the winner.
    assert [entry.transaction for entry in r2.relay_log] == [1]
    assert not r2.sessions


def session_and_worker(first, second):
    """Return a member whose session is certified and has yet to commit, and who comes next."""
    group = group_of(("r1", "r2"), sessions_commit_apart=True)
    r1, r2 = group.members["r1"], group.members["r2"]
    group.submit(r1, **first)
    deliver_all(r2, group)
    r2.apply(r2.relay_log[0])
    group.submit(r2, **second)
    deliver_all(r1, group)
    return r1


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        ({"items": ("d.t.a",)}, {"items": ("d.t.a",)}, True),
        ({"items": ("d.t.a",)}, {"items": ("d.t.b",)}, False),
        ({"items": (), "alters": "d.t"}, {"items": ("d.t.b",)}, True),
        ({"items": ("d.t.a",)}, {"items": (), "alters": "d.t"}, True),
        ({"items": (), "alters": "d.t"}, {"items": (), "alters": "d.t"}, True),
        ({"items": (), "alters": "d.t"}, {"items": ("d.u.b",)}, False),
        ({"items": ()}, {"items": ("d.t.b",)}, False),
    ],
)
def test_certified_session_keeps_its_locks_until_it_commits(first, second, waits):
    for one in (first, second):
        if one.get("alters"):
            one["kind"] = TransactionKind.DDL
    member = session_and_worker(first, second)
    assert bool(member.applicable()) is not waits
    member.commit_session(*member.committing()[0])
    assert member.applicable()
    assert not member.sessions


def test_view_change_waits_for_sessions_that_were_certified_before_it():
    group = group_of(("r1", "r2"), sessions_commit_apart=True)
    r1 = group.members["r1"]
    group.submit(r1, ("a",))
    group.join(group.members["r3"])
    deliver_all(r1, group)
    assert not r1.applicable()
    r1.commit_session(*r1.committing()[0])
    assert r1.applicable()


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("is_apart", [True, False])
def test_members_at_rest_agree_whatever_sessions_and_ddl_do(is_apart):
    options = {"sessions_commit_apart": is_apart, "sessions": 2, "alterations": 2}
    subject = subject_named("group")
    workload = Workload(transactions=6, members=3, options=options)
    judged = [
        prop
        for prop in properties_of(subject)
        if prop.expectation is Expectation.ALWAYS and prop.is_safety
    ]
    for schedule in random_schedules(0, 25):
        history = system_of(subject, workload)(schedule)
        broken = [prop.name for prop in judged if prop.violations(history)]
        assert not broken, schedule.seed


def test_row_lock_of_an_undecided_local_transaction_holds_the_applier_back():
    group = group_of(("r1", "r2"))
    r1, r2 = group.members["r1"], group.members["r2"]
    group.submit(r1, ("a",))
    group.submit(r2, ("a",))
    group.deliver_next(r2)
    # The winner waits for the lock until the loser is told that it lost.
    assert r2.applicable() == []
    group.deliver_next(r2)
    assert [entry.transaction for entry in r2.applicable()] == [1]


def test_bug_89195_local_transaction_commits_before_an_earlier_remote_one():
    group = group_of(("r1", "r2"))
    r1, r2 = group.members["r1"], group.members["r2"]
    group.submit(r1, ("a",))
    group.submit(r2, ("b",))
    deliver_all(r2, group)
    # The executed set has a hole until the relay log is applied.
    assert [transaction for transaction, _ in r2.binlog] == [2]
    assert [entry.transaction for entry in r2.relay_log] == [1]


def test_joiner_recovers_to_the_view_change_and_certifies_from_there():
    group = ScriptedGroup("wl8440", ("s1", "s2"), ("s1",))
    group.write("s1", "a")
    group.join("s2")
    joiner = group.group.members["s2"]
    assert joiner.status is Status.ONLINE
    assert joiner.executed == group.group.members["s1"].executed
    recovered = [e for e in group.recorder.events if e.kind is EventKind.RECOVERED]
    assert recovered[0].transactions == (1, 2)


def test_joiner_changes_its_donor_when_the_donor_crashes():
    group = group_of(("r1", "r2"))
    r1, r2, r3 = (group.members[name] for name in NAMES)
    group.submit(r1, ("a",))
    group.join(r3)
    for member in (r1, r2):
        deliver_all(member, group)
        while member.applicable():
            member.apply(member.applicable()[0])
    assert group.donor_of(r3) is r1
    group.step_recovery(r3)
    group.crash(r1)
    assert group.donor_of(r3) is r2
    while r3.status is Status.RECOVERING:
        group.step_recovery(r3)
    assert r3.executed == r2.executed


def test_joiner_without_a_donor_that_knows_its_view_gives_up():
    group = group_of(("r1", "r2"))
    r1, r2, r3 = (group.members[name] for name in NAMES)
    group.crash(r2)
    group.join(r3)
    assert not group.has_lost_its_donors(r3)
    deliver_all(r1, group)
    r1.donor_states.clear()
    assert group.has_lost_its_donors(r3)
    assert not group.may_step_recovery(r3)


@pytest.mark.parametrize("dialect", ["mysql_8_0", "mysql_8_4"])
def test_rejoining_member_marks_the_restart_of_its_numbers(dialect):
    group = ScriptedGroup(dialect, ("s1", "s2"), ("s1", "s2"))
    group.write("s1", "a")
    group.write("s1", "b")
    group.group.crash(group.group.members["s2"])
    group.settle()
    group.join("s2")
    group.write("s1", "a")
    history = group.recorder.history(HistoryHeader()).check()
    assert (0, 0) in group.timestamps("s2")[2:]
    assert not sequence_numbers_increase(history)
    assert not members_execute_the_same(history)


def test_new_primary_detects_conflicts_until_its_backlog_is_applied():
    group = group_of(("r1", "r2"), is_single_primary=True, waits_for_backlog=False)
    r1, r2 = group.members["r1"], group.members["r2"]
    assert r1.may_write()
    assert not r2.may_write()
    assert not r2.certifier.detects_conflicts
    group.submit(r1, ("a",))
    deliver_all(r1, group)
    group.crash(r1)
    deliver_all(r2, group)
    assert r2.primary == "r2"
    assert r2.certifier.detects_conflicts
    # It writes on top of what it has not applied, and is refused.
    group.submit(r2, ("a",))
    deliver_all(r2, group)
    refused = [e for e in group.recorder.events if e.outcome and e.outcome.value == "negative"]
    assert [event.transaction for event in refused] == [3]
    while r2.applicable():
        r2.apply(r2.applicable()[0])
    group.announce_backlog_applied(r2)
    deliver_all(r2, group)
    assert not r2.certifier.detects_conflicts


def test_new_primary_that_waits_takes_no_writes_before_its_backlog_is_applied():
    group = group_of(("r1", "r2"), is_single_primary=True)
    r1, r2 = group.members["r1"], group.members["r2"]
    group.submit(r1, ("a",))
    group.crash(r1)
    deliver_all(r2, group)
    assert not r2.may_write()
    while r2.applicable():
        r2.apply(r2.applicable()[0])
    assert r2.may_write()


def test_report_that_comes_twice_counts_once():
    group = group_of(("r1", "r2"))
    r1 = group.members["r1"]
    for _ in range(3):
        group.broadcast_executed_set(r1)
    deliver_all(r1, group)
    assert not [e for e in group.recorder.events if e.kind is EventKind.GARBAGE_COLLECTED]
    group.broadcast_executed_set(group.members["r2"])
    deliver_all(r1, group)
    assert [e for e in group.recorder.events if e.kind is EventKind.GARBAGE_COLLECTED]


CAMPAIGNS = (
    ("group", Workload(transactions=8, members=3, rows=2, options={"broadcasts": 9})),
    ("group", Workload(transactions=4, rows=2, options={"broadcasts": 9, "joins": 0})),
    ("certifier", Workload(transactions=6, rows=2)),
    ("source", Workload(transactions=6, rows=2)),
    ("write_sets", Workload(transactions=6)),
)
"""Between them they are to reach every situation that certification speaks of."""


@pytest.mark.long
def test_every_situation_is_reached_and_nothing_breaks():
    reached = set()
    for name, workload in CAMPAIGNS:
        subject = subject_named(name)
        known = subject.breaks.get(subject.dialects[0], frozenset())
        system = system_of(subject, workload)
        histories = [system(schedule) for schedule in random_schedules(0, 250)]
        for prop in properties_of(subject):
            if prop.name in known:
                continue
            assert not any(map(prop.violations, histories)), (name, prop.name)
            evidence = sum((prop.evidence(one, ()) for one in histories), NO_EVIDENCE)
            if evidence.verdict is Verdict.HOLDS:
                reached.add(prop.name)
    areas = {
        "certification/decisions", "certification/timestamps",
        "certification/garbage_collection", "group/commit_order", "group/view_change",
        "certification/write_sets",
    }  # fmt: skip
    wanted = {
        prop.name
        for prop in registered_properties()
        if prop.area in areas and prop.expectation is Expectation.SOMETIMES
    }
    assert wanted <= reached
