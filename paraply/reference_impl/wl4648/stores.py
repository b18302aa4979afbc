"""Row stores that WL#4648 needs: re-entrant apply, conflict resolution, commits of parts."""

from __future__ import annotations

from collections.abc import Collection

from paraply.reference_impl.applier.row_store import Applied, RowStore, item_of
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.transactions import INITIAL_STATE, RowWrite, TransactionId
from paraply.vocabulary.write_set import Item


class ReentrantStore(RowStore):
    """Applies by after image whatever was perhaps applied before a crash, and all else strictly.

    ``reentrant_up_to`` is the last transaction that any worker may have begun before the crash; a
    very great number makes every apply idempotent (slave_exec_mode=IDEMPOTENT).
    """

    reentrant_up_to: TransactionId = INITIAL_STATE

    def apply(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Apply one row change; past the re-entrant part of the log, as the base does."""
        if transaction > self.reentrant_up_to:
            return super().apply(transaction, row)
        holder = self.lock(transaction, item_of(row))
        if holder is not None:
            return Applied(Outcome.LOCK_WAIT, holder)
        return self.overwrite(transaction, row)

    def overwrite(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Leave the after image; nothing can be missing or in the way."""
        self.change(transaction, row)
        return Applied(Outcome.OK)

    def commit_part(self, transaction: TransactionId, items: Collection[Item]) -> None:
        """Make the changes of some rows final and visible, and free these rows."""
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
    """Keeps the newer row: a change older than the row it meets is discarded.

    Source: WL#4648, C0, the example of the NDB cluster's conflict resolution. The timestamp of a
    change is its transaction's place in the source's order.
    """

    reentrant_up_to = TransactionId(2**63)

    def overwrite(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Leave the after image, unless the row is newer."""
        if self.is_newer(self.committed(item_of(row)).writer, transaction):
            return Applied(Outcome.DISCARDED)
        return super().overwrite(transaction, row)

    def is_newer(self, present: TransactionId, change: TransactionId) -> bool:
        """Return whether the row's present writer comes after the change's; a repeat does not."""
        return present > change
