"""E1 to E4 of WL#4648 and the internal requirements 1 and 2, each with what would break it."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from ci.pages.requirements import fresh_rows
from paraply.properties.apply.commit_order import applier_reaches_the_end
from paraply.reference_impl.applier.row_store import RowStore, item_of
from paraply.reference_impl.applier.worker import Stage
from paraply.reference_impl.comparison.appliers import APPLIERS
from paraply.reference_impl.comparison.requirements import (
    DealtInBlocks,
    DealtInBlocksInOrder,
    Napping,
)
from paraply.reference_impl.comparison.runs import no_news
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.coordinator import JOBS_PER_WORKER
from paraply.reference_impl.wl4648.subject import SCHEMES, WL4648, Scheme
from paraply.reference_impl.workloads.small_logs import small_relay_log
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import SeededSchedule
from tests.reference_impl.test_wl4648 import enumerate_runs

P1 = [name for name, scheme in SCHEMES.items() if name[0] == "c"]
LOG = fresh_rows()


def speedup(run):
    """Return the speed-up of a run over the log without conflicts."""
    return LOG.work / run.makespan


def serial_events(history):
    """Return what the loop of a single SQL thread does: kind, transaction, row and outcome."""
    store, events = RowStore(), []
    for one in history.transactions:
        events += [(EventKind.SCHEDULED, one.id, None, None), (EventKind.BEGUN, one.id, None, None)]
        for place, row in enumerate(one.rows):
            outcome = store.apply(one.id, row).outcome
            events.append((EventKind.ROW_APPLIED, one.id, place, outcome))
        store.engine_commit(one.id)
        events.append((EventKind.ENGINE_COMMITTED, one.id, None, None))
    return events, store.snapshot()


_SHOWN = (EventKind.SCHEDULED, EventKind.BEGUN, EventKind.ROW_APPLIED, EventKind.ENGINE_COMMITTED)


def events_of(history):
    """Return the same of a history, and what the last reader saw."""
    found = [(e.kind, e.transaction, e.row, e.outcome) for e in history.events if e.kind in _SHOWN]
    *_, last = history.events_of(EventKind.READ)
    present = tuple(one for one in last.observed if one.writer)
    return found, present


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("dialect", P1)
def test_without_workers_events_are_those_of_the_serial_loop(dialect):
    differ = 0
    for seed in range(25):
        options = {"workers": 0, "reads": 0, "merged": 1}
        workload = Workload(transactions=7, rows=4, dialect=dialect, options=options)
        history = WL4648.run(SeededSchedule(seed), workload)
        assert events_of(history) == serial_events(history)
        with_two = replace(workload, options=options | {"workers": 2, "exec_mode": "idempotent"})
        parallel = WL4648.run(SeededSchedule(seed), with_two)
        reads = any(parallel.events_of(EventKind.READ))
        differ += not reads or events_of(parallel)[0] != serial_events(parallel)[0]
    # The comparison can tell: two workers do something else. C2 finds a conflict nearly always
    # among so few rows, and then does what the serial loop does.
    assert differ > 15 or "c2" in dialect


def test_without_workers_merged_jobs_end_in_the_state_of_the_serial_loop():
    for dialect in ("c4", "c4_c1", "c4_c2"):
        for seed in range(20):
            workload = Workload(
                transactions=7, rows=4, dialect=dialect, options={"workers": 0, "reads": 0}
            )
            history = WL4648.run(SeededSchedule(seed), workload)
            assert events_of(history)[1] == serial_events(history)[1]


def test_blind_workers_scale_close_to_linear_and_ordered_commits_do_not():
    for workers in (2, 8, 32):
        for name in ("c0", "c2", "c3", "c4"):
            assert speedup(APPLIERS[name].run(LOG, workers)) > 0.9 * workers
    # One commit at a time: never more than a job's ticks per commit.
    assert speedup(APPLIERS["c1"].run(LOG, 32)) <= LOG.work / LOG.count


def test_every_scheme_of_p1_is_c0_with_parts_replaced():
    base = SCHEMES["c0"]
    parts = {
        "c1": {"commit_order"}, "c2": {"coordinator"}, "c3": {"coordinator"},
        "c2_c1": {"coordinator", "commit_order"}, "c3_c1": {"coordinator", "commit_order"},
        "c4": {"coordinator", "replica"}, "c4_c1": {"replica", "commit_order"},
        "c4_c2": {"coordinator", "replica"}, "c0_timestamp": {"store"}, "c0": set(),
    }  # fmt: skip
    assert set(parts) == set(P1)
    for name, replaced in parts.items():
        differ = {
            field.name
            for field in fields(Scheme)
            if field.name != "meaning"
            and getattr(SCHEMES[name], field.name) is not getattr(base, field.name)
        }
        assert differ == replaced, name
        for part in replaced:
            assert issubclass(getattr(SCHEMES[name], part), getattr(base, part)) or (
                part == "commit_order"
            )


def test_unfair_dealing_costs_ordered_commits_most():
    def speed(make, block):
        return speedup(make(LOG, 8, no_news, block=block).run())

    assert speed(DealtInBlocks, 16) > 0.85 * speed(DealtInBlocks, 1)
    assert speed(DealtInBlocksInOrder, 16) < 0.5 * speed(DealtInBlocksInOrder, 1)


def test_loads_without_conflicts_never_deadlock_and_others_do():
    for dialect in ("c0", "c1"):
        for history in enumerate_runs(dialect, 2, rows=3, conflicts=False):
            assert not applier_reaches_the_end(history)
    idempotent = {"exec_mode": "idempotent"}
    for dialect in ("c0", "c1"):
        assert any(map(applier_reaches_the_end, enumerate_runs(dialect, 2, **idempotent)))
    for dialect in ("c2", "c3"):
        assert not any(map(applier_reaches_the_end, enumerate_runs(dialect, 2, **idempotent)))


def test_nobody_is_hungry_while_naps_are_short_and_the_list_is_long():
    def hungry(**settings):
        clock = Napping(LOG, 8, **settings)
        run = clock.run()
        assert run.has_finished
        assert clock.longest_list <= settings["jobs_per_worker"] * 8
        return clock.hungry_ticks, run.makespan

    assert hungry(jobs_per_worker=2, nap=1)[0] == 0
    assert hungry(jobs_per_worker=2, nap=1)[1] == APPLIERS["c0"].run(LOG, 8).makespan
    # The control: too little room, or too long a nap; the document's remedy makes it shorter.
    assert hungry(jobs_per_worker=1, nap=8)[0] > 1000
    assert hungry(jobs_per_worker=2, nap=16)[0] > 1000
    assert hungry(jobs_per_worker=2, nap=16, adapts=True)[0] < (
        hungry(jobs_per_worker=2, nap=16)[0] / 4
    )


def replica_of(workers, count=30):
    """Return a replica of C0 before a log without conflicts."""
    log, _ = small_relay_log(40, count, conflicts=False, seed=1)
    options = {"workers": workers, "conflicts": False}
    workload = Workload(transactions=count, rows=40, dialect="c0", options=options)
    return WL4648.replica(log, workload, "c0", WL4648.options_of(workload), Recorder())


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_nobody_waits_for_the_coordinator(workers):
    # Whenever a worker is idle and the log goes on, a step of the coordinator is what comes next.
    replica = replica_of(workers)
    idle = 0
    while steps := list(replica.progress_steps()):
        is_over = replica.next_entry == len(replica.entries)
        if any(worker.stage is Stage.IDLE for worker in replica.workers) and not is_over:
            idle += 1
            assert steps[0].label in ("fill the job list", "pop")
        steps[0].act()
    assert idle >= 20


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_job_list_is_filled_to_twice_the_workers_and_never_longer(workers):
    replica = replica_of(workers)
    lengths = []
    while steps := list(replica.progress_steps()):
        steps[0].act()
        lengths.append(len(replica.coordinator.job_list))
        if steps[0].label == "fill the job list":
            left = len(replica.entries) - replica.next_entry
            assert lengths[-1] == JOBS_PER_WORKER * workers or not left
    assert max(lengths) == JOBS_PER_WORKER * workers
    # The control: a list that knows no limit takes the whole log.
    endless = replica_of(workers)
    endless.coordinator.limit = 1_000
    endless.on_job_list_short()
    assert len(endless.coordinator.job_list) > JOBS_PER_WORKER * workers


def test_items_of_the_log_without_conflicts_are_written_once():
    _, recorder = small_relay_log(40, 40, conflicts=False, seed=1)
    items = [item_of(row) for one in recorder.transactions for row in one.rows]
    assert len(set(items)) == len(items)


def updates_too_early(history, workers):
    """Count updates of rli info when fewer than |W| groups had committed past the last one."""
    committed = saved = early = 0
    for event in history.events:
        if event.kind is EventKind.ENGINE_COMMITTED:
            committed += 1
        elif event.kind is EventKind.POSITION_SAVED:
            early += committed - saved < workers
            saved = len(event.transactions)
    return early


def test_rli_info_is_updated_once_per_workers_groups_and_as_written_more_often():
    early = {}
    for watermark in ("exact", "as_written"):
        options = {"workers": 3, "checkpoints": 9, "watermark": watermark, "reads": 0}
        early[watermark] = updates = 0
        for seed in range(40):
            workload = Workload(transactions=9, rows=4, dialect="c3_c1", options=options)
            history = WL4648.run(SeededSchedule(seed), workload)
            early[watermark] += updates_too_early(history, 3)
            updates += sum(1 for _ in history.events_of(EventKind.POSITION_SAVED))
        assert updates > 40
    assert early["exact"] == 0 < early["as_written"]
