"""Mutants of the source's dependency trackers."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Callable

from paraply.reference_impl.certification.trackers import (
    CommitOrderTracker,
    TrackedTransaction,
    WritesetSessionTracker,
    WritesetTracker,
)
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.source_subject import TRACKERS, SourceSubject
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.write_set import WriteSet

FAMILY = "source trackers"


def mutate(
    name: str,
    source: str,
    fault: str,
    dialect: str,
    tracker: Callable[[int], CommitOrderTracker],
    *,
    caught_by: str = "conflicting_transactions_are_ordered",
    survives_because: str = "",
    **options: OptionValue,
) -> None:
    """Register a tracker mutant."""
    register_mutant(
        written_mutant(
            name=name,
            family=FAMILY,
            source=source,
            fault=fault,
            caught_by=caught_by,
            survives_because=survives_because,
            subject=SourceSubject({**TRACKERS, dialect: tracker}),
            workload=Workload(transactions=6, rows=2, dialect=dialect, options=options),
        )
    )


class FirstStatementCounts(CommitOrderTracker):
    """Lock intervals begin at the first statement."""

    def on_statement_prepared(self, transaction: TrackedTransaction) -> None:
        if not transaction.commit_parent:
            super().on_statement_prepared(transaction)
            # -1 is a taken 0, the first transaction's parent.
            transaction.commit_parent = transaction.commit_parent or -1


mutate(
    "commit_parent_of_the_first_statement",
    "WL#7165; store_commit_parent in binlog_prepare",
    "The commit parent is taken before the last statement has its locks.",
    "commit_order",
    lambda _: FirstStatementCounts(),
    flavours=False,
)


class LateCommit(CommitOrderTracker):
    """Lock intervals end after unlocking."""

    def __init__(self) -> None:
        super().__init__()
        self.pending = 0

    def on_engine_commit(self, transaction: TrackedTransaction) -> None:
        self.max_committed = max(self.max_committed, self.pending)
        self.pending = transaction.number


mutate(
    "max_committed_after_the_locks_are_released",
    "WL#7165; update_max_committed before engine commit",
    "Who gets the lock of a committed transaction may not yet see its number.",
    "commit_order",
    lambda _: LateCommit(),
    flavours=False,
)


class NoBlockingTransaction(CommitOrderTracker):
    """REPAIR TABLE does not block."""

    def compute_commit_order_parent(self, transaction: TrackedTransaction) -> int:
        transaction.is_blocking = False
        return super().compute_commit_order_parent(transaction)


mutate(
    "repair_table_is_no_barrier",
    "test binlog_unsafe_commit_parent: m_last_blocking_transaction",
    "A transaction that found the locks of REPAIR TABLE free may overlap with it.",
    "commit_order",
    lambda _: NoBlockingTransaction(),
)


class ForgetsWithoutStart(WritesetTracker):
    """Clearing the history leaves its start."""

    def exchange_writers(self, items: WriteSet, number: int, has_room: bool) -> int:
        last_writer = super().exchange_writers(items, number, True)
        if not has_room:
            self.history.writers = dict.fromkeys(items, number)
        return last_writer

    def compute_last_committed(self, transaction: TrackedTransaction) -> int:
        start = self.history.start
        last_committed = super().compute_last_committed(transaction)
        if self.is_usable(transaction):
            self.history.start = start
        return last_committed


mutate(
    "full_history_leaves_no_trace",
    "rpl_trx_tracking.cc: m_writeset_history_start",
    "Clearing a full history does not raise its start.",
    "writeset",
    ForgetsWithoutStart,
    history_size=1,
    flavours=False,
)


class MissingKeysIgnored(WritesetTracker):
    """Tables without keys never conflict."""

    def compute_last_committed(self, transaction: TrackedTransaction) -> int:
        transaction.is_empty = transaction.is_empty or transaction.has_missing_keys
        transaction.has_missing_keys = False
        return super().compute_last_committed(transaction)


mutate(
    "missing_keys_are_ignored",
    "rpl_trx_tracking.cc: get_has_missing_keys",
    "Two changes of a table without key may overlap.",
    "writeset",
    MissingKeysIgnored,
)


class CascadesIgnored(WritesetTracker):
    """Foreign key parents count as ordinary tables."""

    def is_usable(self, transaction: TrackedTransaction) -> bool:
        transaction.has_related_foreign_keys = False
        return super().is_usable(transaction)


mutate(
    "cascades_are_ignored",
    "rpl_trx_tracking.cc: get_has_related_foreign_keys",
    "A change that cascades may overlap with a change of the child row.",
    "writeset",
    CascadesIgnored,
)


class StatementsHaveWriteSets(WritesetTracker):
    """Tracking ignores binlog_format."""

    def is_usable(self, transaction: TrackedTransaction) -> bool:
        transaction.logs_rows = True
        return super().is_usable(transaction)


mutate(
    "statement_format_is_not_checked",
    "bug 106875: WRITESET with binlog_format MIXED",
    "A change logged as a statement, of which no item is known, may overlap with all.",
    "writeset",
    StatementsHaveWriteSets,
)


class CreateSelectUsable(WritesetTracker):
    """Write sets order CREATE TABLE ... SELECT."""

    def is_usable(self, transaction: TrackedTransaction) -> bool:
        transaction.is_create_select = False
        return super().is_usable(transaction)


mutate(
    "create_select_is_usable",
    "rpl_trx_tracking.cc: CREATE TABLE ... SELECT; bug 93728 and its like",
    "CREATE TABLE ... SELECT may overlap with a change of the rows it reads.",
    "writeset",
    CreateSelectUsable,
)


class HistorySurvivesRotation(WritesetTracker):
    """The history survives a numbering restart."""

    def on_rotation(self) -> None:
        CommitOrderTracker.on_rotation(self)


mutate(
    "history_survives_rotation",
    "rpl_trx_tracking.cc: rotate",
    "Numbers of the old binary log are taken for numbers of the new one.",
    "writeset",
    HistorySurvivesRotation,
    caught_by="",
    survives_because=(
        "a number from the old log is too large or too small; if too large, the commit-order "
        "parent bounds it, and if too small, the rotation has ordered the two already"
    ),
    flavours=False,
)


class SessionsForgotten(WritesetSessionTracker):
    """Trackers ignore the session's last transaction."""

    def compute_last_committed(self, transaction: TrackedTransaction) -> int:
        last_committed = super().compute_last_committed(transaction)
        self.last_of_session.clear()
        return last_committed


mutate(
    "sessions_are_forgotten",
    "MySQL manual, WRITESET_SESSION",
    "Two transactions of one session may overlap.",
    "writeset_session",
    SessionsForgotten,
    caught_by="timestamps_keep_session_order",
    flavours=False,
)


class LastWriterOverwrites(WritesetTracker):
    """The last checked item's writer counts."""

    def exchange_writers(self, items: WriteSet, number: int, has_room: bool) -> int:
        super_writers = [self.history.writers.get(item) for item in sorted(items, key=str)]
        super().exchange_writers(items, number, has_room)
        known = [writer for writer in super_writers if writer is not None]
        return known[-1] if known else self.history.start


mutate(
    "any_writer_of_the_items_counts",
    "rpl_trx_tracking.cc: hst->second > last_parent",
    "A transaction waits for the writer of its last item, not for the newest writer.",
    "writeset",
    LastWriterOverwrites,
    flavours=False,
)


class NothingIsUsable(WritesetTracker):
    """No write set counts as complete."""

    def is_usable(self, transaction: TrackedTransaction) -> bool:
        return False


mutate(
    "no_write_set_is_usable",
    "Writeset_trx_dependency_tracker::get_dependency: can_use_writesets",
    "WRITESET schedules as COMMIT_ORDER does; only speed is lost.",
    "writeset",
    NothingIsUsable,
    caught_by="complete_write_sets_wait_for_their_writers",
)


class ForgetsEarly(WritesetTracker):
    """A history that is half full is full."""

    def exchange_writers(self, items: WriteSet, number: int, has_room: bool) -> int:
        found = super().exchange_writers(items, number, has_room)
        if len(self.history.writers) > 1:
            self.history.forget(number)
        return found


mutate(
    "write_sets_are_forgotten_early",
    "binlog_transaction_dependency_history_size",
    "Two remembered items fill a history of 25,000; only speed is lost.",
    "writeset",
    ForgetsEarly,
    caught_by="complete_write_sets_wait_for_their_writers",
)
