"""Clock runs; sequence numbers restart in each source file."""

from __future__ import annotations


class ClockRuns:
    """Counts clock runs with transactions, from 0."""

    def __init__(self) -> None:
        self._run = 0
        self._used = False
        self._restarts = False
        self._sequence_number_last = 0
        self._marker_seen = False
        self._source_file = ""

    def on_new_file(self) -> None:
        """Start a run with the next transaction."""
        self._restarts = True

    def on_source_file(self, name: str) -> None:
        """Note the source file; a repeated name (reconnection) changes nothing."""
        if self._source_file and name != self._source_file:
            self._restarts = True
        self._source_file = name

    def of_unnumbered(self) -> int:
        """Return an unnumbered transaction's run."""
        if self._restarts and self._used:
            self._run += 1
            self._sequence_number_last = 0
            self._marker_seen = False
        self._restarts = False
        self._used = True
        return self._run

    def of(self, last_committed: int | None, sequence_number: int | None) -> int:
        """Return a numbered transaction's run.

        Group-replication relay logs mark restarts only by (0, 0); a GTID event may leave both out,
        and mysqlbinlog prints zeros then. Falling numbers start a run only after it; lint reports
        others.
        """
        run = self.of_unnumbered()
        number = sequence_number or 0
        if not number and not last_committed:
            self._marker_seen = True
            return run
        if self._marker_seen and number <= self._sequence_number_last:
            self._run += 1
            run = self._run
        self._marker_seen = False
        self._sequence_number_last = number
        return run
