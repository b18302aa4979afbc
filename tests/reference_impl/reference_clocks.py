"""Reference appliers on a clock, over a log of small transactions: when each commit ended."""

from __future__ import annotations

from dataclasses import replace

from paraply.reference_impl.applier.clock import ticks_of
from paraply.reference_impl.applier.commit_order import CommitOrderQueue, NoCommitOrder
from paraply.reference_impl.applier.recovery import GtidRecovery
from paraply.reference_impl.applier.replica import Budget, Replica
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.applier.source_log import Entry, Part, RelayLog, SourceSettings
from paraply.reference_impl.certification.dialects import DIALECTS
from paraply.reference_impl.comparison.runs import NEVER
from paraply.reference_impl.comparison.tasks import task_log
from paraply.reference_impl.mariadb.clock import store_before
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.clock import SmallTransactions
from paraply.reference_impl.wl4648.subject import WL4648
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import SeededSchedule

COUNT = 40


def relay_log(rows, seed, *, conflicts=True, count=COUNT):
    """Return a relay log of transactions of one or two rows, and the recorder that lists them."""
    settings = SourceSettings(
        barriers=False, rotations=0, collections=0, view_changes=0, sessions=1
    )  # fmt: skip
    source = SmallTransactions(Workload(rows=rows).row_names, DIALECTS["wl8440"], settings)
    source.deletes, source.conflicts = False, conflicts
    recorder = Recorder()
    return source.execute(SeededSchedule(seed), recorder, count), recorder


def commit_ends(recorder):
    """Return by transaction, from 0, when its last engine commit ended; NEVER for none."""
    ends = {e.transaction: e.time for e in recorder.events if e.kind is EventKind.ENGINE_COMMITTED}
    return [0, *(ends.get(number, NEVER) for number in range(1, len(recorder.transactions) + 1))]


def scheme_ends(dialect, rows, seed, workers, **options):
    """Apply a log by a scheme of WL#4648; return its transactions and their commit ends."""
    log, recorder = relay_log(rows, seed)
    workload = Workload(
        transactions=COUNT, rows=rows, dialect=dialect,
        options={"workers": workers, "exec_mode": "idempotent", **options},
    )  # fmt: skip
    replica = WL4648.replica(log, workload, dialect, WL4648.options_of(workload), recorder)
    ticks_of(replica)
    return recorder.transactions, commit_ends(recorder)


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
    ticks_of(replica, shares_syncs=is_ordered)
    return commit_ends(recorder)


def in_tables(log, table_of):
    """Return the transactions with each row in the table that ``table_of`` says for its key."""
    return [
        replace(one, rows=tuple(replace(row, table=table_of(item_of(row))) for row in one.rows))
        for one in log
    ]


def tasks_of_rows(log):
    """Return the tasks of a log in which each row is a table of its own, as P2 here has it."""
    return task_log(in_tables(log, str))
