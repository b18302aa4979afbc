"""Replicas with one position fault each."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from paraply.reference_impl.mariadb_gtid.event_groups import EventGroup
from paraply.reference_impl.mariadb_gtid.position_store import (
    BinlogPosition,
    PositionRow,
    PositionStore,
    SingleRowTable,
)
from paraply.reference_impl.mariadb_gtid.positions_subject import PositionsSubject
from paraply.reference_impl.mariadb_gtid.replica import PositionReplica
from paraply.reference_impl.mariadb_gtid.workers import Stage, Worker
from paraply.reference_impl.mutants import Mutant, register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.mariadb_gtid import MariadbPosition
from paraply.vocabulary.schedule import Schedule

AHEAD, BEHIND = "position_covers_only_what_is_applied", "position_covers_all_that_is_applied"
TWICE, LOST = "no_event_is_applied_twice", "no_event_is_lost"
SUB_ID_MODULUS = 4
"""Small substitute for 2**32."""


class ForgetsRowOnRetry(PositionReplica):
    """Retries write no position (gtid_pending unset)."""

    def on_execute(self, worker: Worker) -> None:
        """Treat the row as written."""
        super().on_execute(worker)
        if worker.attempt > 1:
            worker.stage = Stage.RECORDED


class IgnoresRecordError(PositionReplica):
    """Position insert errors are ignored."""

    def on_temporary_error(self, worker: Worker) -> None:
        """Continue without the row."""
        if worker.stage is Stage.EXECUTED:
            self.budget.retries -= 1
            worker.stage = Stage.RECORDED
        else:
            super().on_temporary_error(worker)


class HighestSequence(PositionStore):
    """The highest sequence number decides."""

    def is_newer(self, row: PositionRow, other: PositionRow) -> bool:
        """Compare sequence numbers."""
        return row.gtid.sequence > other.gtid.sequence


class CleanupCountsUncommitted(PositionStore):
    """Cleanup counts uncommitted rows as newest."""

    def old_rows(self, pending: Collection[PositionRow]) -> list[PositionRow]:
        """Include uncommitted rows."""
        old = self.all_but_newest([*self.rows, *pending])
        return [row for row in self.rows if row in old]


class CleanupDeletesNewest(PositionStore):
    """Cleanup keeps each domain's oldest row."""

    def old_rows(self, pending: Collection[PositionRow]) -> list[PositionRow]:
        """Return all but the oldest."""
        del pending
        return [
            row
            for row in self.rows
            if any(o.sub_id < row.sub_id for o in self.rows if o.gtid.domain == row.gtid.domain)
        ]


class RecordsFailing(PositionReplica):
    """A restart records the failed transaction's position."""

    failed: Worker | None = None

    def on_failure(self, worker: Worker) -> None:
        """Remember the transaction."""
        super().on_failure(worker)
        self.failed = worker

    def on_stopped(self) -> None:
        """Record the position."""
        if self.failed is not None:
            self.store.on_engine_commit(self.failed.group, self.new_row(self.failed))
            self.failed = None
        super().on_stopped()


class ShowsPrepared(PositionReplica):
    """``@@gtid_slave_pos`` advances at prepare."""

    def on_prepare(self, worker: Worker) -> None:
        """Advance the position."""
        super().on_prepare(worker)
        self.position = self.position.advance(worker.group.gtid)


class ShowsBinlog(PositionReplica):
    """``@@gtid_slave_pos`` includes logged, invisible transactions."""

    def shown_position(self) -> MariadbPosition:
        """Return ``@@gtid_binlog_pos``."""
        return BinlogPosition(self.log).load(self.binlog)


class WrapsSubIds(PositionReplica):
    """sub_ids wrap."""

    def next_sub_id(self) -> int:
        """Return the wrapped sub_id."""
        return super().next_sub_id() % SUB_ID_MODULUS


class SubIdsByExecution(PositionReplica):
    """Row writes allocate sub_ids."""

    def new_row(self, worker: Worker) -> PositionRow:
        """Allocate the sub_id now."""
        return PositionRow(self.next_sub_id(), worker.group.gtid, worker.group.engine)


class RecordsAfterCommit(PositionReplica):
    """The next commit writes the row separately."""

    unrecorded: Worker | None = None

    def on_engine_commit(self) -> None:
        """Commit, then write the previous row."""
        worker = self.queue[0]
        row, worker.row = worker.row, None
        super().on_engine_commit()
        self.record_late()
        worker.row, self.unrecorded = row, worker

    def record_late(self) -> None:
        """Write the missing row."""
        if self.unrecorded is not None:
            self.store.on_engine_commit(self.unrecorded.group, self.unrecorded.row)
            self.unrecorded = None

    def on_stopped(self) -> None:
        """Write the row when clean."""
        self.record_late()
        super().on_stopped()

    def on_crash(self, schedule: Schedule) -> None:
        """Lose the row."""
        self.unrecorded = None
        super().on_crash(schedule)


class RecordsBeforeCommit(PositionReplica):
    """The position row commits before its transaction."""

    def on_record(self, worker: Worker) -> None:
        """Commit the row at once."""
        super().on_record(worker)
        self.store.on_engine_commit(worker.group, worker.row)
        worker.row = None


class RecoveryKeepsUnlogged(PositionReplica):
    """Recovery commits every prepared transaction."""

    def is_decided(self, worker: Worker) -> bool:
        """Return True."""
        del worker
        return True


class RecoveryDropsLogged(PositionReplica):
    """Recovery rolls back every prepared transaction."""

    def is_decided(self, worker: Worker) -> bool:
        """Return False."""
        del worker
        return False


class CountsPartialGroup(PositionReplica):
    """Recovery counts a cut-off group."""

    def recovered_position(self) -> MariadbPosition:
        """Include the cut-off group."""
        if self.partial_group is not None:
            self.binlog.append(self.partial_group)
        return super().recovered_position()


class ResumesAtFurthest(PositionReplica):
    """The most advanced domain sets the start."""

    def resume(self, position: MariadbPosition) -> list[EventGroup]:
        """Return groups after its last GTID."""
        places = [n for n, group in enumerate(self.log, 1) if group.gtid in tuple(position)]
        return list(self.log[max(places, default=0) :])


class ResumesAtEarliest(PositionReplica):
    """The least advanced domain sets the start."""

    def resume(self, position: MariadbPosition) -> list[EventGroup]:
        """Return groups after its first GTID."""
        places = [n for n, group in enumerate(self.log, 1) if group.gtid in tuple(position)]
        return list(self.log[min(places, default=0) :])


class StopSkipsFirst(PositionReplica):
    """STOP SLAVE drops the first open transaction."""

    def on_stop(self) -> None:
        """Drop the transaction."""
        super().on_stop()
        begun = [worker for worker in self.workers if worker.stage is Stage.BEGUN]
        if begun:
            self.roll_back(begun[0])
            self.workers.remove(begun[0])


class LoadsOneTable(PositionStore):
    """Starts read one table."""

    def load(self, binlog: Sequence[EventGroup]) -> MariadbPosition:
        """Read the default table."""
        every, self.rows = self.rows, [row for row in self.rows if not row.engine]
        position = super().load(binlog)
        self.rows = every
        return position


class CommitsAnyOrder(PositionReplica):
    """A commit group ignores missing predecessors."""

    def ready(self) -> list[Worker]:
        """Return all prepared."""
        return [worker for worker in self.workers if worker.stage is Stage.PREPARED]


def _mutant(
    name: str,
    changed: type[PositionReplica] | type[PositionStore],
    caught_by: str,
    source: str,
    fault: str,
    *,
    dialect: str = "table",
    transactions: int = 4,
    **options: OptionValue,
) -> Mutant:
    subject = (
        PositionsSubject(changed) if issubclass(changed, PositionReplica)
        else PositionsSubject(store=changed)
    )  # fmt: skip
    return register_mutant(written_mutant(
        name=name, family="GTID positions", source=source, fault=fault, caught_by=caught_by,
        subject=subject,
        workload=Workload(transactions=transactions, dialect=dialect, options=options),
    ))  # fmt: skip


_mutant("position_row_is_forgotten_on_retry", ForgetsRowOnRetry, BEHIND, "MDEV-6549",
        "a retried transaction commits its data without its position")  # fmt: skip
_mutant("position_row_failure_is_ignored", IgnoresRecordError, BEHIND, "MDEV-4485, MDEV-31038",
        "the insert into the position table fails and the transaction commits")  # fmt: skip
_mutant("position_is_highest_sequence", HighestSequence, BEHIND, "facts on MariaDB 1.8, 2",
        "after a smaller number the position stays at the greater one", rewinds=1, domains=1,
        transactions=5)  # fmt: skip
_mutant("cleanup_counts_uncommitted_rows", CleanupCountsUncommitted, BEHIND,
        "Old rows are deleted when no longer needed",
        "the last committed row is deleted, and a crash takes the uncommitted one",
        cleanups=3, domains=1)  # fmt: skip
_mutant("cleanup_deletes_the_newest_row", CleanupDeletesNewest, BEHIND,
        "Old rows are deleted when no longer needed", "the position goes back",
        cleanups=3)  # fmt: skip
_mutant("failing_event_is_recorded", RecordsFailing, AHEAD, "MDEV-4906",
        "the next start skips the transaction that failed", failures=1)  # fmt: skip
_mutant("position_moves_at_prepare", ShowsPrepared, AHEAD, "facts on MariaDB 1.8",
        "the position shown covers what nobody can see yet", reads=3)  # fmt: skip
_mutant("slave_position_shows_the_binlogs", ShowsBinlog, AHEAD, "facts on MariaDB 1.8",
        "gtid_binlog_pos, ahead of visibility, is shown as gtid_slave_pos", reads=3)  # fmt: skip
_mutant("sub_ids_wrap", WrapsSubIds, BEHIND, "facts on MariaDB 7, 28: early uint32 sub_id",
        "the highest sub_id is not the newest", transactions=5)  # fmt: skip
_mutant("sub_ids_follow_execution", SubIdsByExecution, BEHIND,
        "sub_id is increased for each transaction received",
        "of two parallel transactions the later has the lower sub_id", domains=1)  # fmt: skip
_mutant("position_row_commits_after", RecordsAfterCommit, BEHIND, "On crash-safe slave",
        "a crash between the commit and the row repeats the transaction")  # fmt: skip
_mutant("position_row_commits_before", RecordsBeforeCommit, AHEAD, "MDEV-7888, MDEV-7929",
        "a crash between the row and the commit skips the transaction")  # fmt: skip
_mutant("recovery_commits_the_unlogged", RecoveryKeepsUnlogged, BEHIND,
        "On where to store the replication state",
        "the engine has what the binary log, and so the position, has not",
        dialect="binlog", reads=0, cleanups=0, stops=0, retries=0)  # fmt: skip
_mutant("recovery_drops_the_logged", RecoveryDropsLogged, AHEAD,
        "On where to store the replication state",
        "the binary log, and so the position, has what the engine has not",
        dialect="binlog", reads=0, cleanups=0, stops=0, retries=0)  # fmt: skip
_mutant("scan_counts_partial_group", CountsPartialGroup, AHEAD, "MDEV-4725",
        "the position covers a group that is only half in the binary log",
        dialect="binlog", reads=0, cleanups=0, stops=0, retries=0)  # fmt: skip
_mutant("start_at_the_furthest_domain", ResumesAtFurthest, LOST, "MDEV-6589",
        "what other domains still had before that place is never applied",
        workers=3)  # fmt: skip
_mutant("start_skips_in_no_domain", ResumesAtEarliest, TWICE, "MDEV-6589",
        "what other domains had already applied is applied again", workers=3)  # fmt: skip
_mutant("stop_skips_the_first_begun", StopSkipsFirst, "stop_points_are_prefixes", "MDEV-31509",
        "k is dropped and k + 1 commits", domains=1, workers=3, crashes=0)  # fmt: skip
_mutant("one_position_table_is_loaded", LoadsOneTable, BEHIND, "gtid_pos_auto_engines",
        "rows in another engine's table do not count", engines=2)  # fmt: skip
_mutant("group_takes_whatever_is_prepared", CommitsAnyOrder, AHEAD,
        "we ensure that the second one is recorded as happening after the first",
        "the position passes a transaction that has not committed", domains=1)  # fmt: skip
_mutant("position_is_one_row_per_domain", SingleRowTable, "position_rows_never_wait",
        "bad_rpl_slave_state", "each transaction waits until the one before commits")  # fmt: skip


class LeavesDdlUnsynced(PositionReplica):
    """DDL is logged and not synced."""

    def on_recorded_apart(self, worker: Worker) -> None:
        """Log without a sync."""
        syncs, self.syncs_binlog = self.syncs_binlog, False
        super().on_recorded_apart(worker)
        self.syncs_binlog = syncs


_mutant("ddl_is_logged_unsynced", LeavesDdlUnsynced, "logs_are_synced_before_the_next_step",
        "MYSQL_BIN_LOG::ordered_commit: sync_binlog=1",
        "a crash may lose a DDL from the log that the tables have", dialect="table_with_ddl",
        transactions=5)  # fmt: skip
