"""After a crash: the first relay log entry, and the transactions to skip.

WL#8440, challenges: several sources' positions are unavailable, so the applier rereads a relay log
file with GTID auto-skip. The file must not be newer than the first missing transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paraply.reference_impl.applier.source_log import Part
from paraply.vocabulary.transactions import Transaction, TransactionId

if TYPE_CHECKING:
    from paraply.reference_impl.applier.replica import Replica


class Recovery:
    """Recovery by a low-water mark and worker bitmaps.

    Source: ``mts_recovery_groups``. The transactions write both, so both are as durable.
    """

    def __init__(self) -> None:
        self.checkpoint = 0
        """First entry past the checkpoint."""

    def on_checkpoint(self, replica: Replica) -> list[TransactionId]:
        """Save and return the executed prefix."""
        saved = []
        for index, entry in enumerate(replica.entries):
            if entry.transaction is not None and entry.part is not Part.HALF:
                if entry.transaction.id not in replica.executed:
                    break
                saved.append(entry.transaction.id)
            self.checkpoint = index + 1
        return list(dict.fromkeys(saved))

    def first_entry(self, replica: Replica) -> int:
        """Return the first entry to read."""
        del replica
        return self.checkpoint

    def is_skipped(self, replica: Replica, transaction: Transaction) -> bool:
        """Return whether a bitmap includes it."""
        return transaction.id in replica.executed


class GtidRecovery(Recovery):
    """Recovery by GTIDs, from a file's beginning."""

    def first_entry(self, replica: Replica) -> int:
        """Return the first entry of the first missing transaction's file."""
        number = replica.log.file_of_first_missing(replica.executed)
        return sum(len(entries) for entries in replica.log.files[:number])
