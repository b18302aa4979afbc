"""The commit watermark: from where a restart executes the relay log again, in re-entrant mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paraply.reference_impl.applier.recovery import Recovery
from paraply.vocabulary.transactions import Transaction, TransactionId

if TYPE_CHECKING:
    from paraply.reference_impl.applier.replica import Replica


class CommitWatermark(Recovery):
    """The longest prefix of the log that has committed; what lies past it is executed again."""

    def is_skipped(self, replica: Replica, transaction: Transaction) -> bool:
        """Return False: nothing tells which jobs past the watermark had committed."""
        del replica, transaction
        return False

    def is_due(self, replica: Replica) -> bool:
        """Return whether |W| groups have committed since the watermark was saved."""
        return len(replica.executed) - self.checkpoint >= len(replica.workers)

    def covered(self, replica: Replica) -> list[TransactionId]:
        """Return what the saved watermark covers."""
        entries = replica.entries[: self.checkpoint]
        return [entry.transaction.id for entry in entries if entry.transaction is not None]


class WatermarkAsWritten(CommitWatermark):
    """The pseudo-code's ``commit.counter = J.went_through - |W| + 1``.

    It counts jobs that were popped. Up to |W| of these are under way, so that the formula is one
    too high even where jobs end in order, and knows nothing of a slow one where they do not.
    """

    first = 0
    """Jobs that went through before R started for the last time."""

    def counter(self, replica: Replica) -> int:
        """Return the commit counter of the pseudo-code."""
        return self.first + len(replica.coordinator.jobs) - len(replica.workers) + 1

    def is_due(self, replica: Replica) -> bool:
        """Return whether the counter has grown."""
        return self.counter(replica) > self.checkpoint

    def on_checkpoint(self, replica: Replica) -> list[TransactionId]:
        """Save the counter."""
        self.checkpoint = self.counter(replica)
        return self.covered(replica)

    def first_entry(self, replica: Replica) -> int:
        """Count on from the watermark."""
        self.first = self.checkpoint
        return super().first_entry(replica)
