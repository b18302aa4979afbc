"""Reference appliers on the simulated clock, over a log of small transactions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from paraply.reference_impl.applier.commit_order import CommitOrderQueue, NoCommitOrder
from paraply.reference_impl.applier.recovery import GtidRecovery
from paraply.reference_impl.applier.replica import Budget, Replica
from paraply.reference_impl.applier.row_store import RowStore, Version, item_of, value_of
from paraply.reference_impl.applier.source_log import Entry, Part, RelayLog
from paraply.reference_impl.applier.worker import Stage
from paraply.reference_impl.clock import take_steps
from paraply.reference_impl.comparison.runs import NEVER
from paraply.reference_impl.comparison.tasks import task_log
from paraply.reference_impl.mariadb.driver import Settings
from paraply.reference_impl.mariadb.groups import Stage as GroupStage
from paraply.reference_impl.mariadb.modes import Mode, Rules
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mariadb.source import ALLOW_PARALLEL, DDL, TRANSACTIONAL
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.step import Step
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.subject import WL4648
from paraply.reference_impl.workloads.small_logs import small_relay_log
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.timestamps import CommitId
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionKind

COUNT = 40
TICK = "tick "
"""Prefix of the steps that take a tick."""


def apply_on_clock(replica, *, shares_syncs=False):
    """Apply a log: a row event and a commit take one tick each, all other steps none.

    With ``shares_syncs`` commits share ticks: one that meets no sync begins its own at once, and
    those behind it share the next.
    """
    recorder, finished, synced = replica.recorder, {}, {}
    last = (NEVER, NEVER, False)
    """Begin and end of the last sync, and whether it began at once."""

    def next_sync(ready):
        begin, end, was_at_once = last
        if ready >= end:
            return ready, ready + 1, ready > end
        return (end, end + 1, False) if was_at_once or ready > begin else last

    def offered():
        if replica.has_failed:
            return
        # A row is locked until its commit ends.
        for stage in (Stage.APPLYING, Stage.FINISHED):
            for worker in replica.workers:
                if worker.stage is stage:
                    label = f"{TICK}{worker.number} {stage.value}"
                    finished.setdefault((label, worker.job_id, worker.attempt), recorder.now)
                    if (act := replica.step_of(worker)) is not None:
                        yield Step(label, act)
        yield from replica.coordinator_steps()
        for worker in replica.workers:
            is_free = worker.stage in (Stage.ASSIGNED, Stage.RETRYING, Stage.REPORTING)
            if is_free and (act := replica.step_of(worker)) is not None:
                yield Step(f"{worker.number} {worker.stage.value}", act)

    def end(step, since):
        nonlocal last
        if not step.label.startswith(TICK):
            return since
        if not (shares_syncs and step.label.endswith(Stage.FINISHED.value)):
            return since + 1
        worker = replica.workers[int(step.label.split()[1]) - 1]
        attempt = step.label, worker.job_id, worker.attempt
        if attempt not in synced:
            last = synced[attempt] = next_sync(finished[attempt])
        return synced[attempt][1]

    take_steps(recorder, offered, end)


def commit_ends(recorder):
    """Return by transaction, from 0, when its last engine commit ended; NEVER for none."""
    ends = {e.transaction: e.time for e in recorder.events if e.kind is EventKind.ENGINE_COMMITTED}
    return [0, *(ends.get(number, NEVER) for number in range(1, len(recorder.transactions) + 1))]


def scheme_run(dialect, rows, workers, *, count=COUNT, seed=0, conflicts=True, **options):
    """Apply a log by a scheme of WL#4648; return its replica."""
    log, recorder = small_relay_log(rows, count, conflicts=conflicts, seed=seed)
    workload = Workload(
        transactions=count, rows=rows, dialect=dialect, options={"workers": workers, **options}
    )
    replica = WL4648.replica(log, workload, dialect, WL4648.options_of(workload), recorder)
    apply_on_clock(replica)
    return replica


def scheme_ends(dialect, rows, seed, workers, **options):
    """Apply a log by a scheme of WL#4648; return its transactions and their commit ends."""
    replica = scheme_run(dialect, rows, workers, seed=seed, exec_mode="idempotent", **options)
    return replica.recorder.transactions, commit_ends(replica.recorder)


def mysql_ends(log, coordinator, workers, *, is_ordered):
    """Apply stamped transactions by one of MySQL's coordinators; return their commit ends."""
    recorder, relay = Recorder(), RelayLog()
    for transaction in log:
        recorder.add(transaction)
        relay.append(Entry(Part.WHOLE, transaction))
    replica = Replica(
        relay, recorder, store=store_before(log), coordinator=coordinator,
        commit_order=CommitOrderQueue if is_ordered else NoCommitOrder, recovery=GtidRecovery(),
        workers=workers, budget=Budget(reads=0, crashes=0, checkpoints=0), extra_locks={},
    )  # fmt: skip
    apply_on_clock(replica, shares_syncs=is_ordered)
    return commit_ends(recorder)


@dataclass(frozen=True, kw_only=True)
class ModeRun:
    """A parallel mode's run; ``engine_commits`` has ticks by transaction."""

    ticks: int
    has_finished: bool
    engine_commits: dict[int, int]
    commit_groups: int
    history: History

    @property
    def retries(self):
        """Return the number of undone attempts."""
        return sum(1 for _ in self.history.events_of(EventKind.RETRIED))


def mode_run(log, mode, *, workers):
    """Apply a MariaDB log: a row event, a DDL and a sync take one tick each."""
    recorder = Recorder()
    recorder.transactions = list(log)
    rules = Rules(mode if workers else Mode.NONE)
    settings = Settings(rules=rules, workers=max(1, workers))
    replica = ParallelReplica(log, recorder, settings, store=store_before(log))

    def executes(queue):
        return queue[0].stage is GroupStage.APPLYING and queue[0].killed_by is None

    def offered():
        if replica.has_failed:
            return
        steps_of = {
            number: (executes(queue), replica.step_of(queue[0]))
            for number, queue in replica.queues.items() if queue
        }  # fmt: skip
        for number, (is_row, act) in steps_of.items():
            if is_row and act is not None:
                yield Step(f"{TICK}{number}", act)
        if replica.binlog_queue:
            yield Step(f"{TICK}sync", replica.on_group_flushed)
        for step in replica.commit_steps():
            if step.act != replica.on_group_flushed:
                yield step
        yield from replica.kill_steps()
        for number, (is_row, act) in steps_of.items():
            if not is_row and act is not None:
                yield Step(str(number), act)
        yield from replica.driver_steps()

    replica.on_start()
    take_steps(recorder, offered, lambda step, since: since + step.label.startswith(TICK))
    replica.on_end()
    history = recorder.history(HistoryHeader())
    commits = history.events_of(EventKind.ENGINE_COMMITTED)
    return ModeRun(
        ticks=recorder.now,
        has_finished=replica.is_idle and not replica.rest and not replica.has_failed,
        engine_commits={event.transaction: event.time for event in commits},
        commit_groups=replica.groups_made,
        history=history,
    )


def store_before(log):
    """Return a store with the log's initial versions."""
    store = RowStore()
    for transaction in log:
        for row in transaction.rows:
            if item_of(row) not in store.versions:
                found = [Version(INITIAL_STATE, value_of(row.before))] if row.before else []
                store.versions[item_of(row)] = found
    return store


def in_tables(log, table_of):
    """Return the transactions with each row in the table that ``table_of`` says for its key."""
    return [
        replace(one, rows=tuple(replace(row, table=table_of(item_of(row))) for row in one.rows))
        for one in log
    ]


def tasks_of_rows(log):
    """Return the tasks of a log in which each row is a table of its own, as P2 here has it."""
    return task_log(in_tables(log, str))


def with_commit_ids(log, groups):
    """Return MariaDB transactions of one domain; single commits have no id."""
    sizes = Counter(groups)
    return [
        replace(
            one, gtid=f"0-1-{one.id}", domain=0,
            commit_id=CommitId(group) if sizes[group] > 1 else None,
            flags=frozenset({DDL} if one.kind is TransactionKind.DDL
                            else {TRANSACTIONAL, ALLOW_PARALLEL}),
        )
        for one, group in zip(log, groups, strict=True)
    ]  # fmt: skip
