"""Which run of the source's logical clock a transaction belongs to.

Sequence numbers start anew with each file of the source, so numbers of two files do not compare.
"""

from __future__ import annotations


class ClockRuns:
    """Counts the runs of the logical clock, from 0; a run that saw no transaction is not one."""

    def __init__(self) -> None:
        self._run = 0
        self._used = False
        self._restarts = False
        self._sequence_number_last = 0
        self._marker_seen = False
        self._source_file = ""

    def on_new_file(self) -> None:
        """Note that a file of the source begins: the next transaction starts a new run."""
        self._restarts = True

    def on_source_file(self, name: str) -> None:
        """Note which file of the source follows; the same one again (a reconnection) changes
        nothing."""
        if self._source_file and name != self._source_file:
            self._restarts = True
        self._source_file = name

    def of_unnumbered(self) -> int:
        """Return the run of a transaction without a sequence number."""
        if self._restarts and self._used:
            self._run += 1
            self._sequence_number_last = 0
            self._marker_seen = False
        self._restarts = False
        self._used = True
        return self._run

    def of(self, last_committed: int | None, sequence_number: int | None) -> int:
        """Return the run of a transaction with these numbers, None where the log has none.

        In a relay log of group replication no file tells the restart: there a (0, 0) marker stands
        before it, so numbers that fall back after a marker start a new run. Numbers that fall back
        without one do not: the file was put together from several, which is for lint to say.
        """
        run = self.of_unnumbered()
        if sequence_number is None:
            return run
        if sequence_number == 0 and not last_committed:
            self._marker_seen = True
            return run
        if self._marker_seen and sequence_number <= self._sequence_number_last:
            self._run += 1
            run = self._run
        self._marker_seen = False
        self._sequence_number_last = sequence_number
        return run
