"""The queue of engine commits.

Source: ``Commit_order_manager``: dispatch registers a worker; only the head may commit.
"""

from __future__ import annotations

from paraply.vocabulary.transactions import TransactionId


class CommitOrderQueue:
    """Tickets in dispatch order; ``next_ticket`` may commit."""

    def __init__(self) -> None:
        self.tickets: dict[TransactionId, int] = {}
        self.given = 0
        self.next_ticket = 1

    def register(self, transaction: TransactionId) -> None:
        """Queue a transaction last."""
        self.given += 1
        self.tickets[transaction] = self.given

    def is_turn_of(self, transaction: TransactionId) -> bool:
        """Return whether the transaction is first."""
        return self.tickets.get(transaction) == self.next_ticket

    def on_engine_commit(self, transaction: TransactionId) -> None:
        """Release the next transaction."""
        del self.tickets[transaction]
        self.next_ticket += 1

    def is_before(self, one: TransactionId, other: TransactionId) -> bool:
        """Return whether ``one`` must commit first."""
        return self.tickets[one] < self.tickets[other]


class NoCommitOrder(CommitOrderQueue):
    """replica_preserve_commit_order=OFF: no waits."""

    def is_turn_of(self, transaction: TransactionId) -> bool:
        """Return True."""
        return True
