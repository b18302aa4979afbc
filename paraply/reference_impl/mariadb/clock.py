"""Time of a parallel mode on a simulated clock.

A row event, a DDL and a commit group's sync cost one tick each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paraply.reference_impl.applier.row_store import RowStore, Version, item_of, value_of
from paraply.reference_impl.mariadb.driver import Settings
from paraply.reference_impl.mariadb.groups import Stage, Step
from paraply.reference_impl.mariadb.modes import Mode, Rules
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mariadb.source import GroupCommitSource, GroupSettings
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.schedule import SeededSchedule
from paraply.vocabulary.transactions import INITIAL_STATE, Transaction, TransactionId

TICKS_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Result of a run on the clock.

    Attributes:
        ticks: until the log's end or a stall.
        engine_commits: transaction -> last tick of its engine commit.
        commit_groups: syncs of the replica's binary log.
    """

    ticks: int
    has_finished: bool
    engine_commits: dict[TransactionId, int]
    commit_groups: int
    retries: int
    history: History


def timing(
    log: Sequence[Transaction], mode: Mode, *, workers: int, domain_workers: int = 0
) -> Timing:
    """Apply a source's log; without workers the driver applies it."""
    recorder = Recorder()
    recorder.transactions = list(log)
    replica = ParallelReplica(
        log,
        recorder,
        Settings(
            rules=Rules(mode if workers else Mode.NONE),
            workers=max(1, workers),
            domain_workers=domain_workers,
        ),
        store=store_before(log),
    )
    replica.on_start()
    while recorder.now < TICKS_MAX and not replica.has_failed:
        while (step := next(free_steps(replica), None)) is not None:
            step.act()
        # All steps of a tick are chosen before the first one runs.
        acts = list(costly_steps(replica))
        if not acts:
            break
        recorder.next_step()
        for step in acts:
            step.act()
    replica.on_end()
    history = recorder.history(HistoryHeader())
    events = list(history.events_of(EventKind.ENGINE_COMMITTED))
    return Timing(
        ticks=recorder.now,
        has_finished=replica.is_idle and not replica.rest and not replica.has_failed,
        engine_commits={one.transaction: one.time for one in events if one.transaction is not None},
        commit_groups=replica.groups_made,
        retries=sum(1 for _ in history.events_of(EventKind.RETRIED)),
        history=history,
    )


def _executes(replica: ParallelReplica, worker: int) -> bool:
    queue = replica.queues[worker]
    return bool(queue) and queue[0].stage is Stage.APPLYING and queue[0].killed_by is None


def free_steps(replica: ParallelReplica) -> Iterator[Step]:
    """Yield free steps, engine commits first."""
    for step in replica.commit_steps():
        if step.act != replica.on_group_flushed:
            yield step
    yield from replica.kill_steps()
    for worker, queue in replica.queues.items():
        if queue and not _executes(replica, worker):
            act = replica.step_of(queue[0])
            if act is not None:
                yield Step("free", act)
    yield from replica.driver_steps()


def costly_steps(replica: ParallelReplica) -> Iterator[Step]:
    """Yield one tick's row events and syncs."""
    for worker, queue in replica.queues.items():
        if _executes(replica, worker):
            act = replica.step_of(queue[0])
            if act is not None:
                yield Step("row", act)
    if replica.binlog_queue:
        yield Step("sync", replica.on_group_flushed)


def store_before(log: Iterable[Transaction]) -> RowStore:
    """Return a store with the log's initial versions."""
    store = RowStore()
    for transaction in log:
        for row in transaction.rows:
            if item_of(row) not in store.versions:
                found = [Version(INITIAL_STATE, value_of(row.before))] if row.before else []
                store.versions[item_of(row)] = found
    return store


class SmallTransactions(GroupCommitSource):
    """Transactions of one or two rows."""

    def row_sets(self, rows: dict[str, tuple[int, ...]]) -> list[tuple[str, ...]]:
        """Return single rows and neighbouring pairs."""
        names = sorted(rows)
        return [*((name,) for name in names), *pairwise(names)]


def sample_log(
    rows: Sequence[str], transactions: int, *, domains: str = "one", seed: int = 0
) -> tuple[Transaction, ...]:
    """Return a log; few rows conflict more."""
    source = SmallTransactions(rows, GroupSettings(domains=domains))
    return source.write(SeededSchedule(seed), Recorder(), transactions)
