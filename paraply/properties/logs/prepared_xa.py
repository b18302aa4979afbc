"""Prepared XA transactions without end.

Their rows stay locked and count from XA COMMIT.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from paraply.vocabulary.log import LoggedTransaction

PREPARED_MAX = 10_000
BYTES_MAX = 64 << 20
"""Estimated bytes of kept row images."""
_COLUMN_BYTES = 64


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared transaction; ``digested`` are its rows for kernels."""

    transaction: LoggedTransaction
    size: int
    digested: Any = field(default=None, repr=False)


class PreparedXa:
    """Keeps prepared transactions, forgetting the oldest."""

    def __init__(self, transactions_max: int = PREPARED_MAX, bytes_max: int = BYTES_MAX) -> None:
        self.forgotten = False
        """Whether an unmatched end may be a forgotten transaction's."""
        self._transactions_max = transactions_max
        self._bytes_max = bytes_max
        self._bytes = 0
        self._waiting: dict[str, Prepared] = {}
        self._missed: dict[str, None] = {}
        """Unmatched ends, bounded."""

    def prepare(self, txn: LoggedTransaction, digested: Any = None) -> None:
        """Keep a prepared transaction."""
        self._take(txn.xa_id)
        size = _estimate_bytes(txn)
        self._waiting[txn.xa_id] = Prepared(txn, size, digested)
        self._bytes += size
        while len(self._waiting) > self._transactions_max or self._bytes > self._bytes_max:
            self.end(next(iter(self._waiting)))
            self.forgotten = True

    def end(self, xa_id: str) -> Prepared | None:
        """Remove and return the transaction ``xa_id``."""
        found = self._take(xa_id)
        if found is None and len(self._missed) < self._transactions_max:
            self._missed[xa_id] = None
        return found

    def _take(self, xa_id: str) -> Prepared | None:
        found = self._waiting.pop(xa_id, None)
        self._bytes -= found.size if found is not None else 0
        return found

    def begin(self) -> None:
        """Start to note unmatched ends."""
        self._missed.clear()

    def move(self, by: int) -> None:
        """Add ``by`` to the ordinals."""
        self._waiting = {
            xa_id: replace(
                each, transaction=replace(each.transaction, ordinal=each.transaction.ordinal + by)
            )
            for xa_id, each in self._waiting.items()
        }

    def go_on(self, later: PreparedXa, transactions: int) -> None:
        """Merge a later part of ``transactions`` transactions."""
        for xa_id in later._missed:
            self.end(xa_id)
        self.move(-transactions)
        for each in later._waiting.values():
            self.prepare(each.transaction, each.digested)
        self.forgotten |= later.forgotten

    def described(self) -> str:
        """Return a text that identifies the state."""
        return repr((self.forgotten, list(self._waiting.items())))


def _estimate_bytes(txn: LoggedTransaction) -> int:
    return sum(
        _COLUMN_BYTES + (len(value) if isinstance(value, bytes | str) else 0)
        for row in txn.rows
        for image in (row.before, row.after)
        for value in image or ()
    )
