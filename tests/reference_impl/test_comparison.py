"""The clock of every applier: held to the reference moment by moment, to its bounds, to faults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paraply.reference_impl.applier.coordinator import Database, LogicalClock, schema_of
from paraply.reference_impl.certification.trackers import CommitOrderTracker, WritesetTracker
from paraply.reference_impl.comparison.appliers import APPLIERS, COMMIT_ORDER, WRITESET
from paraply.reference_impl.comparison.jobs import (
    Blind,
    Breaking,
    Graph,
    InOrder,
    Serial,
    lock_order,
)
from paraply.reference_impl.comparison.mariadb import ParallelMode
from paraply.reference_impl.comparison.measures import bounds_of, measured
from paraply.reference_impl.comparison.merging import Merged
from paraply.reference_impl.comparison.runs import NEVER
from paraply.reference_impl.comparison.tasks import LogBuilder, RowEvent, task_log
from paraply.reference_impl.comparison.workers import Workers
from paraply.reference_impl.mariadb.modes import Mode
from paraply.reference_impl.workloads.small_logs import small_relay_log
from paraply.reference_impl.workloads.stamps import (
    commit_groups,
    timestamps,
    tracked,
)
from paraply.reference_impl.workloads.streams import STREAMS, transactions_of
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionKind
from tests.reference_impl.reference_clocks import (
    COUNT,
    in_tables,
    mode_run,
    mysql_ends,
    scheme_ends,
    tasks_of_rows,
    with_commit_ids,
)

SCHEMES = {
    "c0": "c0", "c0_timestamp": "c0-timestamp", "c1": "c1", "c2": "c2", "c2_c1": "c2-c1",
    "c3": "c3", "c3_c1": "c3-c1", "p2": "p2", "p3": "p3",
}  # fmt: skip
TRACKERS = {"commit-order": CommitOrderTracker, "writeset": WritesetTracker}


def log_of(*transactions):
    """Return the tasks of transactions, each given as the names of its rows, or ``DDL``."""
    builder = LogBuilder()
    for rows in transactions:
        events = [RowEvent(table="t", writes=(builder.key(row),)) for row in rows if rows != "DDL"]
        builder.add(events, is_barrier=rows == "DDL")
    return builder.log()


def workload(name, count=150, seed=0):
    """Return the tasks of a generated workload, and its stamps by tracker."""
    log = transactions_of(STREAMS[name], count=count, seed=seed)
    groups = commit_groups(log, seed=seed)
    stamps = {COMMIT_ORDER: timestamps(tracked(log), groups, CommitOrderTracker()),
              WRITESET: timestamps(tracked(log), groups, WritesetTracker())}  # fmt: skip
    return task_log(log, groups=groups), stamps


def run(applier, log, stamps, workers):
    """Run an applier on the stamps that it goes by."""
    for task, stamp in zip(log.tasks[1:], stamps.get(applier.stamps, ()), strict=False):
        task.stamp = stamp
    return applier.run(log, workers)


# Held to the reference.


@pytest.mark.long(quick=12)
@pytest.mark.parametrize("dialect", SCHEMES)
@pytest.mark.parametrize("rows", [4, 12])
def test_clock_of_a_scheme_commits_when_the_reference_does(dialect, rows):
    finished = 0
    for seed in range(4):
        for workers in (1, 2, 5):
            log, ends = scheme_ends(dialect, rows, seed, workers)
            found = APPLIERS[SCHEMES[dialect]].run(tasks_of_rows(log), workers)
            assert found.done == ends
            finished += found.has_finished
    # C0 and C1 stall where rows are few; with one worker they are serial.
    assert finished >= 4


@pytest.mark.parametrize(
    ("dialect", "served_by"), [("c4", Graph), ("c4_c1", InOrder), ("c4_c2", Breaking)]
)
def test_clock_of_merged_jobs_commits_when_the_reference_does(dialect, served_by):
    for seed in range(3):
        for rows, workers, merged in ((4, 2, 2), (12, 3, 4), (40, 5, 3)):
            log, ends = scheme_ends(dialect, rows, seed, workers, merged=merged)
            found = Merged(task_log(log), workers, served_by=served_by, merged=merged).run()
            assert found.done == ends
            assert len(set(found.job_of)) < len(log)


@pytest.mark.parametrize("tracker", TRACKERS)
@pytest.mark.parametrize("is_ordered", [True, False])
def test_clock_of_logical_clock_commits_when_the_reference_does(tracker, is_ordered):
    for seed in range(4):
        _, recorder = small_relay_log((4, 12, 40)[seed % 3], COUNT, seed=seed)
        log = recorder.transactions
        stamps = timestamps(tracked(log), commit_groups(log, seed=seed), TRACKERS[tracker]())
        stamped = [replace(one, timestamp=stamp) for one, stamp in zip(log, stamps, strict=True)]
        applier = APPLIERS[f"mysql-{tracker}" + ("" if is_ordered else "-unordered")]
        for workers in (1, 2, 5):
            ends = mysql_ends(stamped, LogicalClock, workers, is_ordered=is_ordered)
            assert applier.run(task_log(stamped), workers).done == ends
            assert NEVER not in ends


def test_clock_of_logical_clock_waits_at_gaps_and_rotations_as_the_reference_does():
    _, recorder = small_relay_log(40, 18, conflicts=False, seed=5)
    numbers = [(0, 1), (1, 2), (1, 3), (1, 6), (3, 7), (6, 8)]
    log = [
        replace(one, timestamp=LogicalTimestamp.of(*numbers[place % 6]), clock=place // 6)
        for place, one in enumerate(recorder.transactions)
    ]
    ends = mysql_ends(log[:6], LogicalClock, 4, is_ordered=True)
    found = APPLIERS["mysql-as-logged"].run(task_log(log), 4)
    assert found.done[:7] == ends
    # A new binary log is begun when all before is done.
    assert all(min(found.begun[first : first + 6]) >= max(found.done[:first]) for first in (7, 13))


@pytest.mark.parametrize("is_ordered", [True, False])
def test_clock_of_database_commits_when_the_reference_does(is_ordered):
    for seed in range(4):
        _, recorder = small_relay_log(12, COUNT, seed=seed)
        log = recorder.transactions
        tasks = task_log(in_tables(log, lambda item: f"s{schema_of(item)}.t"))
        applier = APPLIERS["mysql-database" + ("" if is_ordered else "-unordered")]
        for workers in (1, 2, 5):
            ends = mysql_ends(log, Database, workers, is_ordered=is_ordered)
            assert applier.run(tasks, workers).done == ends


@pytest.mark.long
@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("name", STREAMS)
def test_clock_of_a_parallel_mode_commits_when_the_reference_does(mode, name):
    retries = 0
    for seed in range(2):
        log = transactions_of(STREAMS[name], count=60, seed=seed)
        groups = commit_groups(log, seed=seed)
        logged = with_commit_ids(log, groups)
        for workers in (1, 2, 4, 7):
            found = ParallelMode(task_log(log, groups=groups), workers, mode=mode).run()
            reference = mode_run(logged, mode, workers=workers)
            assert reference.has_finished
            ends = [reference.engine_commits[number] for number in range(1, 61)]
            assert found.done[1:] == ends
            assert found.retries == reference.retries
            retries += found.retries
    speculates = mode in (Mode.OPTIMISTIC, Mode.AGGRESSIVE)
    assert bool(retries) == (speculates and name != "fresh-rows")


@pytest.mark.long
def test_domains_of_a_parallel_mode_commit_when_the_reference_does():
    log = transactions_of(STREAMS["oltp"], count=90, seed=3)
    # A table per domain: no row is shared between two.
    domains = [int(one.rows[0].table[-1]) for one in log]
    groups = list(range(1, 91))
    logged, sequence = [], {}
    for one, domain in zip(with_commit_ids(log, groups), domains, strict=True):
        sequence[domain] = sequence.get(domain, 0) + 1
        logged.append(replace(one, domain=domain, gtid=f"{domain}-1-{sequence[domain]}"))
    for mode in Mode:
        for workers in (2, 5):
            reference = mode_run(logged, mode, workers=workers)
            found = ParallelMode(task_log(logged, groups=groups), workers, mode=mode).run()
            assert reference.has_finished
            assert found.done[1:] == [reference.engine_commits[n] for n in range(1, 91)]
            if mode >= Mode.CONSERVATIVE:
                what = measured(task_log(logged, groups=groups), found)
                assert what.out_of_order > 0 == what.domain_gap_max


def test_moments_are_equal_with_more_workers_where_none_was_waited_for():
    spare = {name: set() for name in APPLIERS if name.startswith("mysql")}
    for name in STREAMS:
        log, stamps = workload(name, count=80)
        for applier in map(APPLIERS.__getitem__, spare):
            for workers in (1, 2, 5, 20):
                found = run(applier, log, stamps, workers)
                spare[applier.name].add(found.has_spare_workers)
                if found.has_spare_workers:
                    for more in (workers + 1, 40):
                        again = run(applier, log, stamps, more)
                        assert replace(again, workers=workers) == found
    assert spare["mysql-commit-order"] == spare["mysql-writeset"] == {True, False}


# Held to its bounds.


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("workers", [1, 3, 8])
def test_no_applier_beats_the_bounds_that_bind_it(name, workers):
    log, stamps = workload(name)
    bounds = bounds_of(log, workers)
    for applier in APPLIERS.values():
        what = measured(log, run(applier, log, stamps, workers))
        if what.makespan is None:
            assert not applier.keeps_dependencies
            assert what.applied < log.count
            continue
        speedup = what.speedup(log.work)
        if applier.keeps_whole:
            assert speedup <= workers
            assert what.makespan >= -(-log.work // workers)
        if applier.keeps_dependencies and applier.keeps_whole:
            assert what.makespan >= bounds.makespan_min
        assert what.applied == log.count


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", STREAMS)
def test_serial_has_no_anomaly_and_whoever_keeps_dependencies_ends_as_it_does(name):
    log, stamps = workload(name)
    serial = measured(log, Serial(log).run())
    assert (serial.out_of_order, serial.overlaps, serial.misapplied, serial.gap_max) == (0,) * 4
    assert serial.ends_as_serial
    assert serial.makespan == log.work
    parallel = 0
    for applier in APPLIERS.values():
        what = measured(log, run(applier, log, stamps, 8))
        if applier.keeps_dependencies:
            assert what.ends_as_serial, applier.name
            assert not what.misapplied, applier.name
            assert not what.overlaps, applier.name
            parallel += what.speedup(log.work) > 1.2
        if not applier.name.endswith("unordered") and applier.name.startswith(("my", "maria")):
            assert what.out_of_order == what.gap_max == 0, applier.name
    assert parallel >= 6


@pytest.mark.long
def test_zero_workers_and_one_are_the_serial_applier_for_all_that_keep_a_transaction_whole():
    for name in STREAMS:
        log, stamps = workload(name, count=120, seed=1)
        serial = Serial(log).run()
        for applier in APPLIERS.values():
            assert run(applier, log, stamps, 0).done == serial.done
            if applier.keeps_whole:
                assert run(applier, log, stamps, 1).done == serial.done, applier.name


def test_without_conflicts_the_speed_up_is_near_the_number_of_workers():
    log, stamps = workload("fresh-rows", count=600)
    for name in ("c0", "c2", "c3", "mysql-writeset-unordered"):
        for workers in (2, 4):
            what = measured(log, run(APPLIERS[name], log, stamps, workers))
            assert what.speedup(log.work) >= 0.95 * workers
    # Where commits are in order, one by one, they are the limit.
    assert measured(log, run(APPLIERS["c1"], log, stamps, 8)).makespan >= log.count


# Held to faults.


def test_blind_workers_overtake_overlap_and_end_elsewhere_on_hot_keys():
    log, _ = workload("hot-keys")
    what = measured(log, Blind(log, 8).run())
    assert what.makespan is not None
    assert what.out_of_order
    assert what.overlaps
    assert what.misapplied
    assert what.gap_max
    assert not what.ends_as_serial
    timestamped = measured(log, APPLIERS["c0-timestamp"].run(log, 8))
    assert timestamped.ends_as_serial
    assert timestamped.overlaps
    assert not timestamped.misapplied


class ForgetsPredecessors(Graph):
    """C3 whose graph has no edges."""

    def may_apply(self, worker, number, row):
        """Wait for nobody."""
        return True


def test_graph_without_edges_is_caught():
    log, _ = workload("hot-keys")
    what = measured(log, ForgetsPredecessors(log, 8).run())
    assert what.overlaps
    assert what.misapplied
    assert not what.ends_as_serial


def test_two_transactions_that_lock_two_rows_crosswise_stall_the_blind_and_cost_others_an_attempt():
    log = log_of("ab", "ba")
    what = measured(log, Blind(log, 2).run())
    assert (what.makespan, what.applied) == (None, 0)

    class Detects(Blind):
        resolves_deadlocks = True

    run_of = Detects(log, 2).run()
    assert run_of.has_finished
    assert run_of.retries == 1


def test_commit_order_with_a_row_held_by_a_later_one_stalls_c1_and_not_a_server():
    log = log_of("xa", "a", "b")

    class Server(Workers):
        commits_in_order = shares_syncs = True

    assert not APPLIERS["c1"].run(log, 3).has_finished
    found = Server(log, 3).run()
    assert found.has_finished
    assert found.retries == 1
    assert measured(log, found).ends_as_serial


# Small logs, by hand.


def test_serial_takes_a_tick_per_row_and_one_per_commit():
    run_of = Serial(log_of("ab", "DDL", "c")).run()
    assert run_of.done == [0, 3, 4, 6]


def test_graph_lets_a_row_wait_for_the_commit_of_its_last_writer():
    # T1 ends at 2; T2 applies a at 2 and c, a key that is met later, at 3.
    log = log_of("a", "ca")
    run_of = Graph(log, 2).run()
    assert run_of.touched[2] == [3, 2]
    assert run_of.done == [0, 2, 5]
    assert bounds_of(log, 2).critical_path == 4


def test_graph_that_sorts_may_beat_the_critical_path_of_the_logs_order():
    log = log_of("a", "bcd", "ba")
    assert Graph(log, 3).run().done[3] == 6 < bounds_of(log, 3).critical_path


def test_sorted_row_events_with_a_common_key_keep_their_order():
    # A value of a second unique key, 1, moves from the row 2 to the row 0.
    events = [(2, 1), (0, 1), (3,), (0,)]
    order = lock_order([RowEvent(table="t", writes=keys) for keys in events])
    assert order == [0, 1, 3, 2]
    assert lock_order([RowEvent(table="t", writes=(key,)) for key in (2, 0, 1, 0)]) == [1, 3, 2, 0]


def test_critical_path_runs_through_barriers():
    assert bounds_of(log_of("a", "b", "DDL", "c"), 9).critical_path == 2 + 1 + 2


def test_readers_of_a_key_overlap_and_its_writer_waits_for_both():
    builder = LogBuilder()
    parent = builder.key("parent")
    for child in "ab":
        row = RowEvent(table="c", writes=(builder.key(child),), reads=(parent,))
        builder.add([row])
    builder.add([RowEvent(table="p", writes=(parent,))])
    run_of = Graph(builder.log(), 3).run()
    assert run_of.done == [0, 2, 2, 4]


def test_gap_is_what_has_committed_past_the_first_that_has_not():
    log = log_of("abcd", "e", "f", "g")
    what = measured(log, Graph(log, 2).run())
    # T2, T3 and T4 are done at 2, 4 and 6, T1 at 5.
    assert (what.gap_max, what.gap_ticks, what.out_of_order) == (2, 3, 2)


def test_empty_log_takes_no_time_and_has_no_gap():
    log = log_of()
    for applier in APPLIERS.values():
        what = measured(log, applier.run(log, 4))
        assert (what.makespan, what.gap_max, what.speedup(log.work)) == (0, 0, 1.0)
        assert what.ends_as_serial


def test_log_without_write_set_runs_one_by_one_under_every_scheme_that_keeps_dependencies():
    kind = TransactionKind.NO_WRITE_SET
    log = task_log([Transaction(id=number, kind=kind) for number in range(1, 6)])
    for applier in APPLIERS.values():
        if applier.keeps_dependencies:
            assert applier.run(log, 4).done == [0, 1, 2, 3, 4, 5], applier.name


def test_parts_of_p2_are_visible_apart_and_p3_commits_its_parts_in_one_tick():
    tasks = tasks_of_rows(
        [one for one in small_relay_log(12, COUNT, seed=1)[1].transactions if len(one.rows) == 2][
            :COUNT
        ]
    )
    assert measured(tasks, APPLIERS["p2"].run(tasks, 4)).partly_visible > 0
    assert measured(tasks, APPLIERS["p3"].run(tasks, 4)).partly_visible == 0
