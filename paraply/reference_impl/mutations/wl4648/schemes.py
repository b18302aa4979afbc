"""Schemes of WL#4648 with one fault each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paraply.reference_impl.applier.commit_order import CommitOrderQueue
from paraply.reference_impl.applier.replica import Replica
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.applier.worker import Worker
from paraply.reference_impl.mutants import Mutant, register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.wl4648.coordinator import (
    BlindCoordinator,
    BreakingCoordinator,
    GraphCoordinator,
)
from paraply.reference_impl.wl4648.parts import RowsReplica, SerializableRowsReplica, TableReplica
from paraply.reference_impl.wl4648.recovery import CommitWatermark, WatermarkAsWritten
from paraply.reference_impl.wl4648.replica import JobReplica
from paraply.reference_impl.wl4648.stores import TimestampStore
from paraply.reference_impl.wl4648.subject import SCHEMES, Wl4648Subject
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.transactions import INITIAL_STATE, RowWrite, Transaction, TransactionId
from paraply.vocabulary.write_set import Item


def scheme_mutant(
    name: str,
    *,
    fault: str,
    caught_by: str,
    dialect: str,
    parts: dict[str, Any],
    source: str = "WL#4648",
    transactions: int = 4,
    rows: int = 3,
    **options: OptionValue,
) -> Mutant:
    """Register a scheme with faulty parts."""
    return register_mutant(written_mutant(
        name=name, family="schemes of WL#4648", source=source, fault=fault, caught_by=caught_by,
        subject=Wl4648Subject(replace(SCHEMES[dialect], **parts)),
        workload=Workload(
            transactions=transactions, rows=rows, dialect=dialect, options=options
        ),
    ))  # fmt: skip


class QueueNotAsked(CommitOrderQueue):
    """Workers commit without a turn."""

    def is_turn_of(self, transaction: TransactionId) -> bool:
        """Return True."""
        return True


class HighestCommitted(CommitWatermark):
    """The watermark ignores gaps."""

    def on_checkpoint(self, replica: Replica) -> list[TransactionId]:
        """Save the highest."""
        self.checkpoint = max(replica.executed)
        return self.covered(replica)


class CountsBeforeTheCrash(JobReplica):
    """The watermark counts jobs that run again."""

    def executed_at_restart(self) -> list[TransactionId]:
        """Return all executed."""
        return self.executed

    def on_crash(self) -> None:
        """Resume there and save rli info."""
        super().on_crash()
        self.checkpoints_left += 1
        self.on_checkpoint()


class StrictAtRestart(JobReplica):
    """A restart repeats jobs without re-entrant mode."""

    def on_crash(self) -> None:
        """Disable overwriting."""
        super().on_crash()
        self.store.reentrant_up_to = INITIAL_STATE


class PopsTheTail(BlindCoordinator):
    """Workers take the newest job."""

    def pop(self) -> Transaction:
        """Pop the tail."""
        return self.job_list.pop()


class LooksUnderWayOnly(BreakingCoordinator):
    """Conflict detection ignores unpopped jobs."""

    def has_conflict(self, transaction: Transaction) -> bool:
        """Ignore the job list."""
        under_way = {job.transaction for job in self.jobs if not job.is_done}
        return any(
            earlier.conflicts_with(transaction) for earlier in self.read if earlier.id in under_way
        )


class WaitsForTheLast(BreakingCoordinator):
    """Break tags wait for one job."""

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Check the last popped job."""
        is_tagged = transaction.id in self.break_tags
        return not is_tagged or self.is_done(TransactionId(transaction.id - 1))


class TagsFirstRows(BreakingCoordinator):
    """Conflict detection compares first rows only."""

    def has_conflict(self, transaction: Transaction) -> bool:
        """Compare the first rows."""
        return any(
            item_of(earlier.rows[0]) == item_of(transaction.rows[0])
            and not self.is_done(earlier.id)
            for earlier in self.read
        )


class KeepsTheFirstWriter(GraphCoordinator):
    """Graph edges lead to the first writer."""

    def append(self, transaction: Transaction) -> None:
        """Retain first writers."""
        before = dict(self.last_writer)
        super().append(transaction)
        self.last_writer |= before


class OneEdgePerJob(GraphCoordinator):
    """Only a job's first row event waits."""

    def append(self, transaction: Transaction) -> None:
        """Drop other rows' edges."""
        super().append(transaction)
        for row in transaction.rows[1:]:
            self.predecessors.pop((transaction.id, item_of(row)), None)


class ArrivalWins(TimestampStore):
    """The last arrival counts as newest."""

    def is_newer(self, present: TransactionId, change: TransactionId) -> bool:
        """Return False."""
        return False


class DeletedRowHasNoTimestamp(TimestampStore):
    """Deleted rows lose their timestamps."""

    def is_newer(self, present: TransactionId, change: TransactionId) -> bool:
        """Compare, except with deleters."""
        return super().is_newer(present, change) and present not in self.deleters

    @property
    def deleters(self) -> set[TransactionId]:
        """Return rows' last deleters."""
        return {version.writer for _, version in self.newest() if version.value is None}


class TableChangesWorker(TableReplica):
    """A table's worker changes between transactions."""

    def worker_of(self, item: Item) -> int:
        """Add the transaction number."""
        place = self.tables.index(item) + self.next_entry
        return self.workers[place % len(self.workers)].number


class CommitsUnprepared(SerializableRowsReplica):
    """Parts commit without the other parts."""

    @property
    def is_prepared(self) -> bool:
        """Return True."""
        return True


class NextBeforeCommit(RowsReplica):
    """One part's commit starts the next transaction."""

    @property
    def may_distribute(self) -> bool:
        """Return whether one part remains."""
        return all(left < 2 for left in self.parts_left.values())

    @property
    def is_prepared(self) -> bool:
        """Return True."""
        return True


class PartForgotten(RowsReplica):
    """The coordinator drops a transaction's last row."""

    def take_entry(self) -> Transaction:
        """Drop the last row."""
        transaction = super().take_entry()
        kept: tuple[RowWrite, ...] = transaction.rows[:-1] or transaction.rows
        return replace(transaction, rows=kept)


scheme_mutant(
    "watermark_counts_popped_jobs", source="WL#4648, coordinator: went_through - |W| + 1",
    fault="the commit watermark counts jobs that are still under way",
    caught_by="saved_positions_are_executed", dialect="c3_c1",
    parts={"watermark": WatermarkAsWritten}, checkpoints=2,
)  # fmt: skip
scheme_mutant(
    "popped_jobs_are_lost_at_restart", source="WL#4648, coordinator: went_through - |W| + 1",
    fault="a restart begins past a job that had not committed",
    caught_by="restart_reaches_the_sources_state", dialect="c3_c1",
    parts={"watermark": WatermarkAsWritten}, checkpoints=2, crashes=1,
)  # fmt: skip
scheme_mutant(
    "watermark_is_highest_committed", fault="the commit watermark jumps over a job under way",
    caught_by="saved_positions_are_executed", dialect="c3",
    parts={"watermark": HighestCommitted}, checkpoints=2, transactions=5,
)  # fmt: skip
scheme_mutant(
    "watermark_counts_before_the_crash", source="WL#4648, re-entrant mode",
    fault="after a restart the watermark covers jobs that are to be executed again",
    caught_by="restart_reaches_the_sources_state", dialect="c3_c1",
    parts={"replica": CountsBeforeTheCrash}, crashes=6, reads=0, rows=1, transactions=3,
    workers=1, sessions=1,
)  # fmt: skip
scheme_mutant(
    "restart_is_strict", source="WL#4648, re-entrant mode; slave_exec_mode",
    fault="jobs that had committed past the watermark fail when they are executed again",
    caught_by="restart_reaches_the_sources_state", dialect="c3_c1",
    parts={"replica": StrictAtRestart}, crashes=1,
)  # fmt: skip
scheme_mutant(
    "workers_pop_the_tail", fault="the newest job of the list is taken first",
    caught_by="engine_commits_follow_the_log", dialect="c3_c1",
    parts={"coordinator": PopsTheTail},
)  # fmt: skip
scheme_mutant(
    "break_looks_under_way_only", source="WL#4648, extension towards P1+C2",
    fault="a job that conflicts with one still in the list bears no break tag",
    caught_by="rows_apply_as_logged", dialect="c2_c1",
    parts={"coordinator": LooksUnderWayOnly},
)  # fmt: skip
scheme_mutant(
    "break_waits_for_the_last_job", source="WL#4648, extension towards P1+C2",
    fault="popping goes on when the job right before the tag has committed",
    caught_by="rows_apply_as_logged", dialect="c2",
    parts={"coordinator": WaitsForTheLast}, workers=3,
)  # fmt: skip
scheme_mutant(
    "conflict_is_of_first_rows", source="WL#4648, extension towards P1+C2",
    fault="jobs that share a row other than their first run at once",
    caught_by="rows_apply_as_logged", dialect="c2_c1",
    parts={"coordinator": TagsFirstRows},
)  # fmt: skip
scheme_mutant(
    "graph_keeps_the_first_writer", source="WL#4648, extension towards P1+C3",
    fault="a row event waits for the first writer of its row, not for the last",
    caught_by="rows_apply_as_logged", dialect="c3_c1",
    parts={"coordinator": KeepsTheFirstWriter}, workers=3,
)  # fmt: skip
scheme_mutant(
    "graph_has_one_edge_per_job", source="WL#4648, extension towards P1+C3",
    fault="row events after a job's first wait for nobody",
    caught_by="rows_apply_as_logged", dialect="c3_c1",
    parts={"coordinator": OneEdgePerJob},
)  # fmt: skip
scheme_mutant(
    "commits_are_not_ordered", source="WL#4648, extension towards P1+C1",
    fault="a job need not be the immediate successor of the commit counter",
    caught_by="replica_states_existed_on_the_source", dialect="c3_c1",
    parts={"commit_order": QueueNotAsked},
)  # fmt: skip
scheme_mutant(
    "last_arrival_wins", source="WL#4648, C0, Henrik's example",
    fault="conflict resolution keeps what arrives last", dialect="c0_timestamp",
    caught_by="gap_free_states_are_the_sources", parts={"store": ArrivalWins},
)  # fmt: skip
scheme_mutant(
    "deleted_row_has_no_timestamp", source="NDB conflict resolution: deletes need a tombstone",
    fault="an older change brings a deleted row back", dialect="c0_timestamp",
    caught_by="gap_free_states_are_the_sources", parts={"store": DeletedRowHasNoTimestamp},
)  # fmt: skip
scheme_mutant(
    "table_changes_its_worker", source="WL#4648, P2",
    fault="two workers have changes of one table at once",
    caught_by="rows_apply_as_logged", dialect="p2", parts={"replica": TableChangesWorker},
)  # fmt: skip
scheme_mutant(
    "part_commits_unprepared", source="WL#4648, P3: Coordinator effectively conducts 2PC",
    fault="a sub-transaction commits before the others hold their row locks",
    caught_by="readers_see_prefixes", dialect="p3_serializable",
    parts={"replica": CommitsUnprepared}, reads=3,
)  # fmt: skip
scheme_mutant(
    "next_transaction_overtakes_parts", source="WL#4648, P3",
    fault="a transaction begins while a part of the one before has not committed",
    caught_by="engine_commits_follow_the_log", dialect="p3",
    parts={"replica": NextBeforeCommit},
)  # fmt: skip
scheme_mutant(
    "last_row_is_not_handed_out", source="WL#4648, P3: locates all separate rows",
    fault="the last row of a rows event reaches no worker",
    caught_by="replica_ends_in_the_sources_state", dialect="p3",
    parts={"replica": PartForgotten},
)  # fmt: skip


class PopsForABusyWorker(JobReplica):
    """A pop that finds no idle worker takes a busy one."""

    def on_begin(self, worker: Worker) -> None:
        """Begin on the first worker, as recorded."""
        number, worker.number = worker.number, self.workers[0].number
        super().on_begin(worker)
        worker.number = number


class SavesNothingNew(CommitWatermark):
    """A checkpoint saves the start."""

    def on_checkpoint(self, replica: Replica) -> list[TransactionId]:
        """Save nothing."""
        del replica
        return []


class DiscardsEqual(TimestampStore):
    """Equal timestamps count as newer."""

    def is_newer(self, present: TransactionId, change: TransactionId) -> bool:
        """Compare with >=."""
        return present >= change


class CommitsPartsAtOnce(RowsReplica):
    """Parts do not wait for each other."""

    @property
    def is_prepared(self) -> bool:
        """Return True."""
        return True


scheme_mutant(
    "busy_worker_gets_a_second_job", source="WL#4648, P1: idle workers pop jobs",
    fault="a job is begun by a worker that has not ended its job",
    caught_by="workers_apply_one_job_at_a_time", dialect="c3",
    parts={"replica": PopsForABusyWorker},
)  # fmt: skip
scheme_mutant(
    "checkpoint_saves_nothing_new", source="WL#4648, internal requirements: rli info",
    fault="the saved position never moves, so a restart repeats the whole log",
    caught_by="saved_positions_keep_up", dialect="c3", parts={"watermark": SavesNothingNew},
    transactions=6, checkpoints=2,
)  # fmt: skip
scheme_mutant(
    "equal_timestamp_is_discarded", source="WL#4648, C0: NDB cluster's conflict resolution",
    fault="after a restart, a transaction's own row is taken for a later one's",
    caught_by="only_older_changes_are_discarded", dialect="c0_timestamp",
    parts={"store": DiscardsEqual}, crashes=1,
)  # fmt: skip
scheme_mutant(
    "parts_commit_at_once", source="WL#4648, P3: two-phase commit",
    fault="a worker commits its rows while others still change rows of the transaction",
    caught_by="parts_are_shown_when_all_rows_are_changed", dialect="p3",
    parts={"replica": CommitsPartsAtOnce},
)  # fmt: skip
