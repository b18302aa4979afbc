"""The semi-sync source as a subject: each design keeps what it promises, and no more."""

from __future__ import annotations

import pytest

from paraply.exploring.state_space import state_space
from paraply.properties.registry import registered_properties, verdict_of
from paraply.properties.search import random_schedules
from paraply.properties.semi_sync import promises as semi_sync
from paraply.properties.semi_sync.watch import ABANDON_REASONS
from paraply.reference_impl.semi_sync.settings import Abandon
from paraply.reference_impl.semi_sync.subject import SEMI_SYNC
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.verdict import Verdict

JUDGES = [prop for prop in registered_properties() if prop.name in vars(semi_sync)]

SETTINGS = (
    {},
    {"acknowledgements": 2, "replica_crashes": 2},
    {"abandons": 2, "source_crashes": 2},
    {"waits_without_replicas": False, "replica_crashes": 2},
    {"loses_source": False, "source_crashes": 3, "rotations": 2},
)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("dialect", SEMI_SYNC.dialects)
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_no_schedule_breaks_what_the_design_promises(dialect, options):
    workload = Workload(transactions=4, members=3, dialect=dialect, options=options)
    known = SEMI_SYNC.breaks.get(dialect, frozenset())
    for schedule in random_schedules(0, 50):
        history = SEMI_SYNC.run(schedule, workload)
        assert not list(history.faults())
        for prop in JUDGES:
            if prop.name not in known:
                assert not prop.violations(history), (prop.name, schedule.seed)


@pytest.mark.parametrize(
    ("dialect", "name"), [(d, n) for d, names in SEMI_SYNC.breaks.items() for n in sorted(names)]
)
def test_documented_loss_is_found(dialect, name):
    prop = next(prop for prop in JUDGES if prop.name == name)
    workload = Workload(transactions=3, members=2, dialect=dialect)
    broken = (
        verdict_of(SEMI_SYNC.run(schedule, workload), prop) is Verdict.VIOLATED
        for schedule in random_schedules(0, 1500)
    )
    assert any(broken)


@pytest.mark.parametrize("name", ["commit_stages_overlap", "source_recovers_unacknowledged",
                                  "source_is_lost_after_a_read"])  # fmt: skip
def test_interesting_situation_is_reached(name):
    prop = next(prop for prop in JUDGES if prop.name == name)
    workload = Workload(transactions=4, members=3)
    reached = sum(prop.witness(SEMI_SYNC.run(s, workload)) for s in random_schedules(0, 300))
    assert reached >= 10


def test_global_mutex_lets_no_two_groups_overlap():
    workload = Workload(transactions=4, members=2, dialect="global_mutex")
    histories = [SEMI_SYNC.run(schedule, workload) for schedule in random_schedules(0, 200)]
    assert not any(map(semi_sync.commit_stages_overlap, histories))


def test_group_of_several_waits_once_for_its_last_position():
    workload = Workload(transactions=4, members=2, options={"source_crashes": 0})
    sizes = set()
    for schedule in random_schedules(0, 100):
        groups = {}
        for event in SEMI_SYNC.run(schedule, workload).events_of(EventKind.FLUSHED):
            groups.setdefault(event.group, []).append(event.transaction)
        sizes |= {len(members) for members in groups.values()}
    assert {1, 2, 3} <= sizes


def runs_of(dialect="after_sync", transactions=2, members=3, schedules=150, **options):
    quiet = {"source_crashes": 0, "loses_source": False, "rotations": 0, "abandons": 0}
    workload = Workload(
        transactions=transactions, members=members, dialect=dialect, options={**quiet, **options}
    )
    for schedule in random_schedules(0, schedules):
        yield SEMI_SYNC.run(schedule, workload).check()


def notes(history, kind):
    return [event.note for event in history.events_of(kind)]


def broken_by(histories):
    return {p.name for h in histories for p in JUDGES if p.violations(h)}


def test_mysql_queues_join_groups_and_keep_the_order_of_the_log():
    joined = 0
    for history in runs_of("mysql_ordered", transactions=4):
        assert not broken_by([history])
        flushed = {e.transaction: e.group for e in history.events_of(EventKind.FLUSHED)}
        synced = {e.transaction: e.group for e in history.events_of(EventKind.SYNCED)}
        joined += any(synced[one] != flushed[one] for one in synced)
    assert joined >= 10


def test_without_commit_order_the_engine_goes_its_own_way_and_readers_see_gaps():
    broken = broken_by(runs_of("mysql_unordered", reads=4))
    assert broken == {"stages_follow_the_binary_log", "readers_at_the_source_see_prefixes"}


def test_dump_thread_that_needs_lock_log_stalls_the_chain_and_not_the_queues():
    stalled = {"commits_reach_their_end"}
    assert broken_by(runs_of("after_sync", dump_takes_lock_log=True)) == stalled
    assert broken_by(runs_of("global_mutex", dump_takes_lock_log=True)) == set()
    assert broken_by(runs_of("mysql_ordered", dump_takes_lock_log=True)) == set()


@pytest.mark.parametrize("dialect", ["after_sync", "after_commit"])
def test_shutdown_lets_waiters_go_and_they_are_seen_afterwards(dialect):
    abandoned, seen_after = 0, 0
    known = SEMI_SYNC.breaks.get(dialect, frozenset())
    for history in runs_of(dialect, shutdowns=1, reads=3, replicas_return=False):
        assert broken_by([history]) <= known
        gone = list(history.events_of(EventKind.WAIT_ABANDONED))
        assert {e.note for e in gone} <= {"shutdown"}
        told = {e.transaction for e in history.events_of(EventKind.CLIENT_ACKNOWLEDGED)}
        assert not told & {e.transaction for e in gone}
        abandoned += bool(gone)
        stop = next((n for n, e in enumerate(history.events) if e.note == "after a shutdown"), None)
        if gone and stop is not None:
            after = history.events[stop:]
            seen_after += any(o.writer == gone[0].transaction for e in after for o in e.observed)
    assert abandoned >= 5
    assert seen_after


@pytest.mark.parametrize("dialect", ["after_sync", "after_commit"])
def test_shutdown_that_waits_for_replicas_abandons_nothing(dialect):
    stopped = 0
    for history in runs_of(dialect, shutdowns=1, shutdown_waits=True):
        assert not list(history.events_of(EventKind.WAIT_ABANDONED))
        stopped += "shutdown" in notes(history, EventKind.STOPPED)
    assert stopped >= 20


def test_time_out_makes_later_groups_asynchronous_until_a_replica_has_caught_up():
    asynchronous = back = 0
    for history in runs_of(transactions=5, members=2, abandons=1, abandon_by="time_out"):
        assert not broken_by([history])
        asynchronous += "asynchronous" in notes(history, EventKind.WAIT_ABANDONED)
        back += semi_sync.semi_sync_comes_back_on(history)
    assert asynchronous >= 10
    assert back >= 10


def test_reasons_of_the_subject_are_those_on_the_list_of_the_property():
    assert {why.value for why in Abandon} == set(ABANDON_REASONS)


def test_semi_sync_that_was_switched_off_stays_off():
    for history in runs_of(transactions=4, members=2, abandons=1, abandon_by="switch_off"):
        events = [e for e in history.events if e.kind in (EventKind.FLUSHED,
                  EventKind.WAIT_ABANDONED)]  # fmt: skip
        off = next((n for n, e in enumerate(events) if e.note == "switched off"), len(events))
        later = {e.transaction for e in events[off:] if e.kind is EventKind.FLUSHED}
        waited = later - {e.transaction for e in events[off:] if e.note == "asynchronous"}
        acknowledged = {e.transaction for e in history.events_of(EventKind.ACKNOWLEDGED)}
        # Whoever did not pass asynchronously found its acknowledgement there already.
        assert waited <= acknowledged
        assert not semi_sync.semi_sync_comes_back_on(history)


def test_killed_connection_is_never_answered_and_a_killed_query_is():
    for how, is_told in (("kill_connection", False), ("kill_query", True)):
        told = set()
        for history in runs_of(transactions=1, abandons=1, abandon_by=how):
            if notes(history, EventKind.WAIT_ABANDONED):
                told.add(bool(list(history.events_of(EventKind.CLIENT_ACKNOWLEDGED))))
        assert told == {is_told}


def test_source_leaves_at_once_when_it_sees_that_all_replicas_have_gone():
    gone = {"waits_without_replicas": False, "replica_crashes": 1, "replicas_return": False}
    noticed, stalled = 0, 0
    for history in runs_of(transactions=1, members=2, **gone):
        left = "too few replicas" in notes(history, EventKind.WAIT_ABANDONED)
        silent = "without a word" in notes(history, EventKind.CRASHED)
        assert not (left and silent)
        noticed += left
        stalled += silent and bool(semi_sync.commits_reach_their_end(history))
    assert noticed >= 5
    # A loss of power closes no connection: only the time-out helps.
    assert stalled >= 5


def test_waiting_without_replicas_stalls_until_one_comes():
    options = {"replica_crashes": 1, "transactions": 1, "members": 2}
    assert broken_by(runs_of(**options)) == set()
    assert broken_by(runs_of(replicas_return=False, **options)) == {"commits_reach_their_end"}


def test_unsynced_log_loses_what_replicas_have():
    broken = broken_by(runs_of(sync_binlog=0, source_crashes=1, members=2))
    assert {"replicas_are_never_ahead", "commits_reach_their_end"} <= broken


@pytest.mark.parametrize(("acknowledgements", "is_lost"), [(1, True), (2, False)])
def test_losing_a_replica_with_the_source_takes_one_more_acknowledgement(acknowledgements, is_lost):
    options = {"acknowledgements": acknowledgements, "loses_replicas": 1, "source_crashes": 0}
    scope = SEMI_SYNC.small_scope(Workload(transactions=2, members=3, options=options))
    space = state_space(SEMI_SYNC, scope)
    assert space.is_complete
    # One acknowledgement promises nothing about the loss of both: no property is broken.
    assert not space.breaches
    ends = [end.watch for end in space.ends if end.watch.kept is not None]
    assert any(end.confirmed for end in ends)
    assert any(set(end.confirmed) - end.kept for end in ends) is is_lost


@pytest.mark.parametrize(
    ("truncates", "outcomes"), [(True, {"rejoins"}), (False, {"rejoins", "refused"})]
)
def test_old_source_is_taken_back_after_truncation_and_may_be_refused_without(truncates, outcomes):
    found = set()
    for history in runs_of(loses_source=True, source_returns=True, truncates=truncates, reads=0):
        assert not broken_by([history])
        found |= {n for kind in (EventKind.RECOVERED, EventKind.STOPPED)
                  for n in notes(history, kind)} & {"rejoins", "refused"}  # fmt: skip
    assert found == outcomes


def test_old_source_that_committed_more_is_refused_though_it_truncates():
    histories = runs_of("after_commit", loses_source=True, source_returns=True, reads=0)
    assert any("refused" in notes(history, EventKind.STOPPED) for history in histories)


@pytest.mark.long
def test_relay_log_that_is_discarded_loses_what_was_acknowledged():
    options = {"loses_source": True, "replica_crashes": 1, "members": 2}
    assert broken_by(runs_of(**options)) == set()
    lost = broken_by(runs_of(keeps_relay_log=False, schedules=600, **options))
    assert "what_was_seen_survives" in lost


def test_rotation_that_waits_stalls_only_a_dump_thread_that_needs_lock_log():
    options = {"rotations": 1, "rotation_waits": True, "transactions": 1, "members": 2}
    assert broken_by(runs_of(**options)) == set()
    assert broken_by(runs_of(dump_takes_lock_log=True, **options)) == {"commits_reach_their_end"}
