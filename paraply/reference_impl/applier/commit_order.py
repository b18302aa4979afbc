"""The commit-order queue: whose turn it is to commit in the engine.

Source: ``Commit_order_manager``: a worker registers when the coordinator gives it a transaction,
and only the head of the queue may commit.
"""

from __future__ import annotations

from paraply.vocabulary.transactions import TransactionId


class CommitOrderQueue:
    """Tickets in the order of dispatch; ``next_ticket`` is the one that may commit."""

    def __init__(self) -> None:
        self.tickets: dict[TransactionId, int] = {}
        self.given = 0
        self.next_ticket = 1

    def register(self, transaction: TransactionId) -> None:
        """Queue a transaction behind all that were registered before."""
        self.given += 1
        self.tickets[transaction] = self.given

    def is_turn_of(self, transaction: TransactionId) -> bool:
        """Return whether everything registered before the transaction has committed."""
        return self.tickets.get(transaction) == self.next_ticket

    def on_engine_commit(self, transaction: TransactionId) -> None:
        """Let the next in the queue go."""
        del self.tickets[transaction]
        self.next_ticket += 1

    def is_before(self, one: TransactionId, other: TransactionId) -> bool:
        """Return whether ``one`` must commit before ``other``."""
        return self.tickets[one] < self.tickets[other]


class NoCommitOrder(CommitOrderQueue):
    """replica_preserve_commit_order=OFF: it is everybody's turn."""

    def is_turn_of(self, transaction: TransactionId) -> bool:
        """Return True: nobody waits."""
        return True
