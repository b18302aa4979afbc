"""The source's dependency trackers: COMMIT_ORDER, WRITESET and WRITESET_SESSION.

They stamp local transactions at binlog flush. Source: WL#7165, sql/rpl_trx_tracking.cc.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.write_set import WriteSet


@dataclass(slots=True, kw_only=True)
class TrackedTransaction:
    """A tracker's data on one source transaction.

    Attributes:
        is_create_select: CREATE TABLE ... SELECT or other transactional DDL.
        is_blocking: ANALYZE, REPAIR, OPTIMIZE, CREATE/ALTER/DROP DATABASE and partition
            administration, which release locks before the commit.
        has_missing_keys: it changed a table without PRIMARY or UNIQUE key, or a NULL key.
        has_related_foreign_keys: it changed a table that foreign keys reference.
        logs_rows: whether its session had binlog_format ROW.
        commit_parent: greatest number committed at its last prepare.
    """

    session: int = 0
    items: WriteSet = frozenset()
    is_empty: bool = False
    is_create_select: bool = False
    is_blocking: bool = False
    has_missing_keys: bool = False
    has_related_foreign_keys: bool = False
    logs_rows: bool = True
    commit_parent: int = 0
    number: int = 0
    """Number over all binary logs."""


class CommitOrderTracker:
    """COMMIT_ORDER: transactions may overlap if their lock intervals do.

    The interval (commit_parent, number) lasts from the last prepare to the engine commit.
    """

    def __init__(self) -> None:
        self.transaction_counter = 0
        self.max_committed = 0
        self.offset = 0
        self.last_blocking = 0

    def on_statement_prepared(self, transaction: TrackedTransaction) -> None:
        """Restart the lock interval."""
        transaction.commit_parent = self.max_committed

    def on_flushed(self, transaction: TrackedTransaction) -> LogicalTimestamp:
        """Return the transaction's timestamp."""
        self.transaction_counter += 1
        transaction.number = self.transaction_counter
        last_committed = self.compute_last_committed(transaction)
        return LogicalTimestamp.as_recorded(last_committed, transaction.number - self.offset)

    def compute_last_committed(self, transaction: TrackedTransaction) -> int:
        """Return the previous lock interval's end in the current log, or 0."""
        if transaction.commit_parent <= self.offset:
            parent = 0
        else:
            parent = max(transaction.commit_parent, self.last_blocking) - self.offset
        if transaction.is_blocking:
            self.last_blocking = transaction.number
        return parent

    def on_engine_commit(self, transaction: TrackedTransaction) -> None:
        """End the lock interval."""
        self.max_committed = max(self.max_committed, transaction.number)

    def on_rotation(self) -> None:
        """Count from 1 again."""
        self.offset = self.transaction_counter


@dataclass(slots=True)
class WritesetHistory:
    """Item -> last writer; ``start`` represents forgotten ones."""

    start: int = 0
    writers: dict[object, int] = field(default_factory=dict)

    def forget(self, start: int) -> None:
        """Drop every writer."""
        self.start = start
        self.writers.clear()


class WritesetTracker(CommitOrderTracker):
    """WRITESET: transactions may overlap without common items.

    ``history_size_max`` is binlog_transaction_dependency_history_size, in items.
    """

    def __init__(self, history_size_max: int = 25_000) -> None:
        super().__init__()
        self.history_size_max = history_size_max
        self.history = WritesetHistory()

    def compute_last_committed(self, transaction: TrackedTransaction) -> int:
        """Lower the parent to the last writer."""
        parent = super().compute_last_committed(transaction)
        number = transaction.number - self.offset
        if not self.is_usable(transaction):
            self.history.forget(number)
            return parent
        # The server counts items of the history twice, too.
        has_room = len(self.history.writers) + len(transaction.items) <= self.history_size_max
        last_writer = self.history.start
        for item in transaction.items:
            previous = self.history.writers.get(item)
            if previous is not None:
                last_writer = max(last_writer, previous)
            if previous is not None or has_room:
                self.history.writers[item] = number
        if not has_room:
            self.history.forget(number)
        if transaction.has_missing_keys:
            return parent
        return min(last_writer, parent)

    def is_usable(self, transaction: TrackedTransaction) -> bool:
        """Return whether the items are complete."""
        return (
            bool(transaction.items or transaction.has_missing_keys or transaction.is_empty)
            and not transaction.is_create_select
            and transaction.logs_rows
            # A cascade changes child rows outside the write set.
            and not transaction.has_related_foreign_keys
        )

    def on_rotation(self) -> None:
        """Restart and forget invalid old numbers."""
        super().on_rotation()
        self.history.forget(1)


class WritesetSessionTracker(WritesetTracker):
    """WRITESET_SESSION: WRITESET with sessions in order."""

    def __init__(self, history_size_max: int = 25_000) -> None:
        super().__init__(history_size_max)
        self.last_of_session: dict[int, int] = {}

    def compute_last_committed(self, transaction: TrackedTransaction) -> int:
        """Raise the parent to the session's last."""
        parent = super().compute_last_committed(transaction)
        number = transaction.number - self.offset
        previous = self.last_of_session.get(transaction.session, 0)
        self.last_of_session[transaction.session] = number
        return max(parent, previous)

    def on_rotation(self) -> None:
        """Forget every session too."""
        super().on_rotation()
        self.last_of_session.clear()
