"""The appliers of WL#4648 as a subject: each scheme keeps what it can, and breaks what it must."""

from __future__ import annotations

from functools import cache

import pytest

from ci.pages import wl4648_example as example
from paraply.properties.apply.commit_order import (
    applier_reaches_the_end,
    saved_positions_are_executed,
)
from paraply.properties.apply.consistency_levels import (
    gap_free_states_are_the_sources,
    replica_ends_in_the_sources_state,
    replica_states_existed_on_the_source,
    restart_reaches_the_sources_state,
    restart_repeats_a_transaction,
)
from paraply.properties.readers.replica_reads import readers_see_prefixes
from paraply.properties.registry import property_named, verdict_of
from paraply.properties.search import random_schedules
from paraply.reference_impl.applier.source_log import TABLE, Entry, Part, RelayLog
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.coordinator import JOBS_PER_WORKER
from paraply.reference_impl.wl4648.subject import SCHEMES, WL4648
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.log import Operation
from paraply.vocabulary.schedule import Exploration, RecordedSchedule, SeededSchedule
from paraply.vocabulary.transactions import RowWrite, Transaction
from paraply.vocabulary.verdict import Verdict
from tests.reference_impl.judges import judges_of
from tests.reference_impl.reference_clocks import scheme_run


@cache
def judges():
    return judges_of(WL4648)


SETTINGS = ({}, {"workers": 3, "crashes": 1, "checkpoints": 2}, {"workers": 0, "crashes": 1})
SMALL = {"sessions": 1, "deletes": False, "reads": 0}


def enumerate_runs(dialect, transactions, rows=2, **options):
    workload = Workload(
        transactions=transactions, rows=rows, dialect=dialect, options=SMALL | options
    )
    exploration = Exploration()
    for schedule in exploration:
        yield WL4648.run(schedule, workload)
    assert exploration.is_complete


@pytest.mark.long
@pytest.mark.parametrize("dialect", WL4648.dialects)
@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_no_schedule_breaks_what_the_scheme_keeps(dialect, options):
    workload = Workload(transactions=5, rows=3, dialect=dialect, options=options)
    known = WL4648.breaks[dialect]
    for schedule in random_schedules(0, 80):
        history = WL4648.run(schedule, workload)
        assert not list(history.faults())
        for prop in judges().values():
            if prop.name not in known:
                assert not prop.violations(history), (prop.name, schedule.seed)


@pytest.mark.long(quick=12)
@pytest.mark.parametrize(
    ("dialect", "name"), [(d, n) for d, names in WL4648.breaks.items() for n in sorted(names)]
)
def test_breach_that_a_scheme_is_known_for_is_found(dialect, name):
    # With one transaction a job C4 is the scheme that serves it, which shows the breach sooner.
    options = {"crashes": 1, "reads": 4, "workers": 3, "deletes": False, "sessions": 1,
               "merged": 1}  # fmt: skip
    workload = Workload(transactions=5, rows=3, dialect=dialect, options=options)
    runs = (WL4648.run(schedule, workload) for schedule in random_schedules(0, 1500))
    assert any(property_named(name).violations(history) for history in runs)


def test_example_of_the_document_shows_the_state_that_never_existed():
    assert example.NEVER_EXISTED == (5, 6, 0, 0)
    assert example.states_of_the_source() == (
        (0, 0, 0, 0), (1, 2, 0, 0), (1, 2, 3, 4), (5, 6, 3, 4), (5, 6, 7, 8),
    )  # fmt: skip
    runs, states = example.never_existed_on_the_source(workers=2)
    assert runs == 415
    assert states == {(5, 6, 0, 0), (1, 2, 7, 8), (0, 0, 3, 4)}


def test_reader_of_the_example_sees_it_and_the_late_change_is_discarded():
    # The order of the mail: 1, 3, then the SELECT, 4, and 2 last, which is discarded.
    recorder = Recorder()
    log = example.log_of(recorder)
    workload = Workload(rows=2, dialect="c0_timestamp", options={"workers": 4, "reads": 1})
    options = WL4648.options_of(workload)
    replica = WL4648.replica(log, workload, "c0_timestamp", options, recorder)
    example.fill(replica.store)
    replica.on_job_list_short()
    for worker in replica.workers:
        replica.on_pop(worker)
    for number in (1, 3):
        replica.on_row(replica.workers[number - 1])
        replica.on_engine_commit(replica.workers[number - 1])
    replica.on_read()
    for number in (4, 2):
        replica.on_row(replica.workers[number - 1])
        replica.on_engine_commit(replica.workers[number - 1])
    (read,) = (event for event in recorder.events if event.kind is EventKind.READ)
    assert example.state_of(read.observed) == (5, 6, 0, 0)
    outcomes = {e.transaction: e.outcome for e in recorder.events if e.outcome is not None}
    assert outcomes == {1: Outcome.OK, 3: Outcome.OK, 4: Outcome.OK, 2: Outcome.DISCARDED}
    assert example.state_of(replica.store.snapshot()) == (5, 6, 7, 8)


# Pinned, as runs and breaches of any-time and of eventual consistency over every run of a scope of
# two transactions: a change in the numbers is a change of the subject.
@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("dialect", "counts"),
    [
        ("c0", (72, 4, 11)),
        ("c0_timestamp", (88, 13, 6)),
        ("c1", (68, 0, 11)),
        ("c2", (17, 4, 0)),
        ("c2_c1", (13, 0, 0)),
        ("c3", (35, 4, 0)),
        ("c3_c1", (31, 0, 0)),
        ("p2", (813, 804, 0)),
        ("p3", (98, 96, 0)),
    ],
)
def test_claims_of_the_document_are_decided_in_a_whole_scope(dialect, counts):
    runs = any_time = eventual = 0
    for history in enumerate_runs(dialect, 2):
        runs += 1
        any_time += bool(replica_states_existed_on_the_source(history))
        eventual += bool(replica_ends_in_the_sources_state(history))
        if dialect != "c0":
            assert not gap_free_states_are_the_sources(history)
    assert (runs, any_time, eventual) == counts


@pytest.mark.long(each=5)
def test_serializable_readers_of_p3_see_source_states_and_may_stop_the_replica():
    failed = 0
    for history in enumerate_runs("p3_serializable", 2, reads=1):
        assert not readers_see_prefixes(history)
        assert not applier_reaches_the_end(history)
        failed += bool(replica_ends_in_the_sources_state(history))
    assert failed == 248


@pytest.mark.parametrize("dialect", ["c2_c1", "c3_c1"])
def test_restart_reaches_the_source_from_every_crash_of_a_scope(dialect):
    repeated = 0
    for history in enumerate_runs(dialect, 2, crashes=1):
        assert not restart_reaches_the_sources_state(history)
        repeated += restart_repeats_a_transaction(history)
    assert repeated > 10


def test_restart_in_reentrant_mode_shows_an_old_row_beside_newer_ones():
    prop = judges()["replica_states_existed_on_the_source"]
    workload = Workload(
        transactions=3, rows=2, dialect="c2_c1", options=SMALL | {"crashes": 1, "checkpoints": 0}
    )
    # T1{a}, T2{a,b}, T3{b}: the log; crash at every moment.
    histories = [WL4648.run(schedule, workload) for schedule in Exploration(prefix=(0, 2, 0))]
    assert histories[0].transaction(2).write_set == {"a", "b"}
    broken = [history for history in histories if prop.violations(history)]
    assert broken
    assert all(restart_repeats_a_transaction(history) for history in broken)


@pytest.mark.long
def test_watermark_as_written_covers_jobs_under_way_and_the_exact_one_does_not():
    found = {}
    for watermark in ("exact", "as_written"):
        options = {"watermark": watermark, "checkpoints": 1}
        histories = list(enumerate_runs("c2_c1", 3, **options))
        assert any(any(h.events_of(EventKind.POSITION_SAVED)) for h in histories)
        found[watermark] = any(map(saved_positions_are_executed, histories))
    assert found == {"exact": False, "as_written": True}


@pytest.mark.parametrize("dialect", ["c0", "c3_c1", "p2", "p3"])
def test_zero_workers_apply_one_by_one_and_keep_every_level(dialect):
    workload = Workload(transactions=5, dialect=dialect, options={"workers": 0})
    for schedule in random_schedules(0, 60):
        history = WL4648.run(schedule, workload)
        commits = [e.transaction for e in history.events_of(EventKind.ENGINE_COMMITTED)]
        assert commits == [1, 2, 3, 4, 5]
        assert {e.worker for e in history.events_of(EventKind.ENGINE_COMMITTED)} == {0}
        levels = ["replica_ends_in_the_sources_state"]
        levels += ["replica_states_existed_on_the_source"] if dialect[0] == "c" else []
        for name in levels:
            assert verdict_of(history, judges()[name]) is Verdict.HOLDS


@pytest.mark.parametrize("dialect", ["c0", "c0_timestamp", "c2", "c3"])
def test_speed_up_is_near_the_number_of_workers_without_conflicts_and_order(dialect):
    replicas = {
        workers: scheme_run(dialect, 64, workers, count=60, conflicts=False)
        for workers in (0, 1, 2, 4, 8)
    }  # fmt: skip
    assert all(one.has_finished for one in replicas.values())
    assert replicas[0].recorder.now == replicas[1].recorder.now
    for workers in (2, 4, 8):
        assert replicas[0].recorder.now / replicas[workers].recorder.now >= 0.95 * workers


def test_blind_workers_stop_on_a_log_with_conflicts():
    assert not scheme_run("c0", 24, 8, count=60).has_finished
    assert scheme_run("c3", 24, 8, count=60).has_finished


def test_job_list_has_room_for_twice_the_workers_and_is_filled_to_that():
    history = WL4648.run(SeededSchedule(0), Workload(transactions=9, rows=3))
    coordinator = SCHEMES["c0"].coordinator(2)
    left = list(history.transactions)
    while coordinator.has_room:
        coordinator.append(left.pop(0))
    assert len(coordinator.job_list) == JOBS_PER_WORKER * 2
    coordinator.job_list.popleft()
    assert coordinator.has_room


@pytest.mark.long
def test_scheme_that_fails_rolls_back_what_only_waits_in_queues():
    workload = Workload(
        transactions=8, rows=5, members=3, dialect="p2",
        options={"crashes": 4, "watermark": "as_written", "checkpoints": 3},
    )  # fmt: skip
    leaves_nothing = property_named("failed_appliers_leave_nothing_open")
    queued = 0
    for seed in range(300):
        history = WL4648.run(SeededSchedule(seed), workload)
        if EventKind.FAILED in history.kinds:
            assert verdict_of(history, leaves_nothing) is not Verdict.VIOLATED, seed
            undone = history.events_of(EventKind.ROLLED_BACK)
            queued += any(event.worker == 0 for event in undone)
    assert queued


def test_run_is_replayed_by_its_choices():
    workload = Workload(dialect="p3_serializable", options={"crashes": 1, "reads": 3})
    schedule = SeededSchedule(3)
    history = WL4648.run(schedule, workload)
    replayed = RecordedSchedule(schedule.choices, strict=True)
    assert WL4648.run(replayed, workload).events == history.events
    assert replayed.is_faithful


class OneTransaction:
    """A replica of P3 with two workers before one transaction; takes steps by their labels."""

    def __init__(self, dialect, rows, reads=0):
        recorder, log = Recorder(), RelayLog()
        writes = tuple(
            RowWrite(table=TABLE, operation=Operation.INSERT, after=(row, 1)) for row in rows
        )
        transaction = Transaction(id=recorder.next_id(), write_set=frozenset(rows), rows=writes)
        recorder.add(transaction)
        log.append(Entry(Part.WHOLE, transaction))
        workload = Workload(rows=3, dialect=dialect, options={"workers": 2, "reads": reads})
        options = WL4648.options_of(workload)
        self.replica = WL4648.replica(log, workload, dialect, options, recorder)
        self.events = recorder.events

    @property
    def labels(self):
        return [step.label for step in self.replica.progress_steps()]

    def take(self, *labels):
        for label in labels:
            steps = [*self.replica.progress_steps(), *self.replica.other_steps()]
            next(step for step in steps if step.label == label).act()


def test_coordinator_of_p3_waits_for_an_empty_channel():
    # The rows go to workers 1, 2 and 1.
    run = OneTransaction("p3", "abc")
    run.take("distribute", "hand out a row", "hand out a row")
    assert run.labels == ["worker 1 applying", "worker 2 applying"]
    run.take("worker 2 applying")
    assert run.labels == ["worker 1 applying"]
    run.take("worker 1 applying")
    assert run.labels == ["hand out a row"]
    run.take("hand out a row")
    given = [(e.worker, e.row) for e in run.events if e.kind is EventKind.SCHEDULED]
    assert given == [(0, None), (1, 0), (2, 1), (1, 2)]
    assert run.labels == ["worker 1 applying"]
    run.take("worker 1 applying")
    assert run.labels == ["worker 1 finished", "worker 2 finished"]


def test_coordinator_of_p3_cancels_what_it_began_in_an_emergency():
    run = OneTransaction("p3_serializable", "bac", reads=1)
    run.take("distribute", "hand out a row", "worker 2 applying", "begin to read")
    run.take("hand out a row", "worker 1 applying")
    # The reader waits for b, and worker 1 for a: no engine sees the circle.
    assert run.labels == ["time out"]
    run.take("time out")
    assert run.labels == ["cancel"]
    run.take("cancel")
    ends = [(e.kind, e.worker) for e in run.events[-2:]]
    assert ends == [(EventKind.ROLLED_BACK, 2), (EventKind.FAILED, 1)]
    assert run.replica.has_failed
    assert not run.replica.store.pending
    assert set(run.replica.store.holders) == {"a"}
