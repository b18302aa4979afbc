"""The commit watermark, where a restart resumes in re-entrant mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paraply.reference_impl.applier.recovery import Recovery
from paraply.vocabulary.transactions import Transaction, TransactionId

if TYPE_CHECKING:
    from paraply.reference_impl.applier.replica import Replica


class CommitWatermark(Recovery):
    """The longest committed prefix, where restarts resume."""

    def is_skipped(self, replica: Replica, transaction: Transaction) -> bool:
        """Return False: later commits are unknown."""
        del replica, transaction
        return False

    def is_due(self, replica: Replica) -> bool:
        """Return whether |W| commits are unsaved."""
        return len(replica.executed) - self.checkpoint >= len(replica.workers)

    def covered(self, replica: Replica) -> list[TransactionId]:
        """Return the saved prefix."""
        entries = replica.entries[: self.checkpoint]
        return [entry.transaction.id for entry in entries if entry.transaction is not None]


class WatermarkAsWritten(CommitWatermark):
    """The pseudo-code's ``commit.counter = J.went_through - |W| + 1``.

    It counts popped jobs, of which |W| may be open. It is one too high in order, and wrong with a
    slow job.
    """

    first = 0
    """Jobs before R's last start."""

    def counter(self, replica: Replica) -> int:
        """Return the pseudo-code's counter."""
        return self.first + len(replica.coordinator.jobs) - len(replica.workers) + 1

    def is_due(self, replica: Replica) -> bool:
        """Return whether the counter grew."""
        return self.counter(replica) > self.checkpoint

    def on_checkpoint(self, replica: Replica) -> list[TransactionId]:
        """Save the counter."""
        self.checkpoint = self.counter(replica)
        return self.covered(replica)

    def first_entry(self, replica: Replica) -> int:
        """Resume at the watermark."""
        self.first = self.checkpoint
        return super().first_entry(replica)
