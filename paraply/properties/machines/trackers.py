"""A machine for a source's dependency tracker: sessions execute, flush and commit.

Rows stay locked until the engine commit. Judges after every step, so Hypothesis prints the steps up
to the violation.
"""

from __future__ import annotations

from typing import Any, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    consumes,
    initialize,
    multiple,
    precondition,
    rule,
)

from paraply.properties.machines.judging import JudgedMachine
from paraply.vocabulary.history import History

SESSIONS = 3
"""Two overlap; the third is ordered after one of them."""
ROWS = 3
FLAVOURS_MAX = 5
"""The most kinds of statements; larger choices wrap."""
HISTORY_SIZES = (1, 2, 25_000)
"""Two full ones, and the default."""

rows = st.integers(0, ROWS - 1)


class SourceUnderTest(Protocol):
    """A source that ignores impossible actions."""

    def begin(self, session: int, flavour: int) -> int | None:
        """Begin a transaction and return its number; None if the session has one."""

    def execute(self, opened: int, row: int) -> None:
        """Execute and prepare a statement."""

    def flush(self, opened: int, row: int) -> None:
        """Log a transaction, after a first statement if it has none; roll back if it waits."""

    def commit(self) -> None:
        """Commit the oldest flushed transaction."""

    def rotate(self) -> None:
        """Begin a new binary log."""

    def flushed(self) -> int:
        """Return how many transactions are flushed and uncommitted."""

    def finish(self) -> None:
        """Commit all."""

    def history(self) -> History:
        """Return the history so far."""


class TrackerMachine(JudgedMachine[SourceUnderTest]):
    """Subclasses define ``make`` and ``judged``."""

    opened: Bundle[int] = Bundle("opened")

    def make(self, history_size: int) -> SourceUnderTest:
        """Return a source whose tracker remembers so many items."""
        raise NotImplementedError

    @initialize(history_size=st.sampled_from(HISTORY_SIZES))
    def source_starts(self, history_size: int) -> None:
        """Start the source."""
        self.under_test = self.make(history_size)

    @rule(target=opened, session=st.integers(1, SESSIONS), flavour=st.integers(0, FLAVOURS_MAX))
    def transaction_begins(self, session: int, flavour: int) -> Any:
        """Begin."""
        number = self.tested.begin(session, flavour)
        return multiple() if number is None else number

    @rule(opened=opened, row=rows)
    def statement_is_prepared(self, opened: int, row: int) -> None:
        """Lock and change a row."""
        self.tested.execute(opened, row)

    @rule(opened=consumes(opened), row=rows)
    def transaction_is_flushed(self, opened: int, row: int) -> None:
        """Write to the binary log, with a timestamp."""
        self.tested.flush(opened, row)

    @precondition(lambda self: self.tested.flushed())
    @rule()
    def transaction_commits(self) -> None:
        """Commit in the engine, and unlock."""
        self.tested.commit()

    @precondition(lambda self: not self.tested.flushed())
    @rule()
    def binary_log_is_rotated(self) -> None:
        """Rotate."""
        self.tested.rotate()
