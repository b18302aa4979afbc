"""AL1 of WL#8440: last_committed and sequence_number of remote transactions.

The numbers are valid on one member only.
"""

from __future__ import annotations

from collections.abc import Iterable

from paraply.reference_impl.certification.dialects import Dialect, Window
from paraply.vocabulary.timestamps import VIEW_CHANGE, LogicalTimestamp


class ParallelizationIndexes:
    """One member's counters until STOP GROUP_REPLICATION.

    Sequence numbers start at 2: the view change has 0, and all wait for 1.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.window = Window(last_committed_global=1, sequence_number=2)
        self.has_marked_first_remote = not dialect.marks_first_remote

    @property
    def sequence_number(self) -> int:
        """Return the next remote transaction's number."""
        return self.window.sequence_number

    def on_remote_with_items(self, previous: Iterable[int | None]) -> LogicalTimestamp:
        """Return a timestamp by the items' last writers.

        ``previous`` has None for local or imported entries.
        """
        # AL1, step 1.
        last_committed = self.window.last_committed_global
        # AL1, step 2.
        sequence_number = self.window.sequence_number
        # AL1, step 3a.
        for stored in previous:
            if stored is not None and stored > last_committed:
                last_committed = stored
        return self._assign(
            last_committed,
            sequence_number,
            last_committed_global=self.window.last_committed_global,
        )

    def on_remote_barrier(self) -> LogicalTimestamp:
        """Return a barrier's timestamp."""
        # AL1, steps 1 to 3b.
        return self._assign(
            self.dialect.last_committed_of_barrier(self.window),
            self.window.sequence_number,
            last_committed_global=self.window.sequence_number,
        )

    def on_garbage_collected(self) -> None:
        """Open a new window after a purge."""
        self.window = self.dialect.window_after_collection(self.window)

    def on_view_change(self) -> LogicalTimestamp:
        """Return (0, 0); counters continue (EX7)."""
        return VIEW_CHANGE

    def _assign(
        self, last_committed: int, sequence_number: int, *, last_committed_global: int
    ) -> LogicalTimestamp:
        # AL1, step 5.
        self.window = Window(
            last_committed_global=last_committed_global, sequence_number=sequence_number + 1
        )
        if not self.has_marked_first_remote:
            self.has_marked_first_remote = True
            return VIEW_CHANGE
        return LogicalTimestamp.as_recorded(last_committed, sequence_number)
