"""AL1 of WL#8440: last_committed and sequence_number of each remote transaction.

The numbers are those of one member: another member may give the same transaction others.
"""

from __future__ import annotations

from collections.abc import Iterable

from paraply.reference_impl.certification.dialects import Dialect, Window
from paraply.vocabulary.timestamps import VIEW_CHANGE, LogicalTimestamp


class ParallelizationIndexes:
    """The counters of one member, from the start of group replication to its stop.

    ``window`` holds parallel_applier_last_committed_global and parallel_applier_sequence_number.
    The sequence number starts at 2, since 0 is the view change's and 1 is waited for by all.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.window = Window(last_committed_global=1, sequence_number=2)
        self.has_marked_first_remote = not dialect.marks_first_remote

    @property
    def sequence_number(self) -> int:
        """Return the number that the next remote transaction gets."""
        return self.window.sequence_number

    def on_remote_with_items(self, previous: Iterable[int | None]) -> LogicalTimestamp:
        """Give a remote transaction its timestamp from the last writers of its items.

        ``previous`` holds, for each item found in certification info, the sequence number stored
        with it: None where the writer was local or the entry was imported on join.
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
        """Give a timestamp to a remote transaction that conflicts with all.

        It has no write set, or its write set does not tell all that it read: it comes after
        everything before it, and before everything after it.
        """
        # AL1, steps 1 to 3b.
        return self._assign(
            self.dialect.last_committed_of_barrier(self.window),
            self.window.sequence_number,
            last_committed_global=self.window.sequence_number,
        )

    def on_garbage_collected(self) -> None:
        """Open a new window: what was purged can no longer be found by step 3a."""
        self.window = self.dialect.window_after_collection(self.window)

    def on_view_change(self) -> LogicalTimestamp:
        """Return the view change's timestamp; an existing member keeps its counters (EX7)."""
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
