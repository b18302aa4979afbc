"""Row stores with re-entrant apply, conflict resolution and partial commits."""

from __future__ import annotations

from collections.abc import Collection

from paraply.reference_impl.applier.row_store import Applied, RowStore, item_of
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.transactions import INITIAL_STATE, RowWrite, TransactionId
from paraply.vocabulary.write_set import Item


class ReentrantStore(RowStore):
    """Applies after images up to ``reentrant_up_to``, then strictly.

    This is the last transaction begun before the crash; a huge number means
    slave_exec_mode=IDEMPOTENT.
    """

    reentrant_up_to: TransactionId = INITIAL_STATE

    def apply(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Apply a row change."""
        if transaction > self.reentrant_up_to:
            return super().apply(transaction, row)
        holder = self.lock(transaction, item_of(row))
        if holder is not None:
            return Applied(Outcome.LOCK_WAIT, holder)
        return self.overwrite(transaction, row)

    def overwrite(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Write the after image."""
        self.change(transaction, row)
        return Applied(Outcome.OK)

    def commit_part(self, transaction: TransactionId, items: Collection[Item]) -> None:
        """Commit and unlock some rows."""
        rest = []
        for change in self.pending.pop(transaction, []):
            if change.item in items:
                self.versions.setdefault(change.item, []).append(change.version)
            else:
                rest.append(change)
        if rest:
            self.pending[transaction] = rest
        for item in items:
            self.holders.pop(item, None)


class TimestampStore(ReentrantStore):
    """Discards changes older than their row.

    Source: WL#4648, C0, NDB cluster's conflict resolution. Source order gives timestamps.
    """

    reentrant_up_to = TransactionId(2**63)

    def overwrite(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Write over older rows."""
        if self.committed(item_of(row)).writer > transaction:
            return Applied(Outcome.DISCARDED)
        return super().overwrite(transaction, row)
