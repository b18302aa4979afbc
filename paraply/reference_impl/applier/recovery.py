"""After a crash: where to begin reading the relay log, and what to pass over.

WL#8440, challenges: positions of several sources cannot be followed, so the applier seeks the
beginning of a relay log and lets GTID auto-skip pass over what was executed. Which file that is
matters: it must be one that holds the first transaction not executed, or an older one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paraply.vocabulary.transactions import Transaction, TransactionId

if TYPE_CHECKING:
    from paraply.reference_impl.applier.replica import Replica


class Recovery:
    """By positions: the checkpoint is a low-water mark, worker bitmaps tell what lies past it.

    Source: ``mts_recovery_groups``. Both are written in the transactions they speak of, so they
    are as durable as those.
    """

    def __init__(self) -> None:
        self.checkpoint = 0
        """Index of the first entry after what the checkpoint covers."""

    def on_checkpoint(self, replica: Replica) -> list[TransactionId]:
        """Save the position before the first transaction not executed; return what is before."""
        saved = []
        for index, entry in enumerate(replica.entries):
            if entry.transaction is not None:
                if entry.transaction.id not in replica.executed:
                    break
                saved.append(entry.transaction.id)
            self.checkpoint = index + 1
        return saved

    def first_entry(self, replica: Replica) -> int:
        """Return the index of the relay log entry to begin with."""
        del replica
        return self.checkpoint

    def is_skipped(self, replica: Replica, transaction: Transaction) -> bool:
        """Return whether a worker's bitmap says that the transaction was executed."""
        return transaction.id in replica.executed


class GtidRecovery(Recovery):
    """By GTIDs: begin with a relay log file, and pass over whatever was executed."""

    def first_entry(self, replica: Replica) -> int:
        """Return where the file of the first transaction not executed begins."""
        number = self.first_file(replica)
        return sum(len(entries) for entries in replica.log.files[:number])

    def first_file(self, replica: Replica) -> int:
        """Return the number of the relay log file to begin with."""
        return replica.log.file_of_first_missing(replica.executed)
