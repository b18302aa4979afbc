"""A worker applies a transaction's rows, then commits in turn."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId
from paraply.vocabulary.write_set import Item


class Stage(Enum):
    """Stage of a worker's transaction."""

    IDLE = "idle"
    ASSIGNED = "assigned"
    APPLYING = "applying"
    FINISHED = "finished"
    """All rows are applied."""
    REPORTING = "reporting"
    """It has committed."""
    RETRYING = "retrying"
    """Rolled back until its turn."""


@dataclass(slots=True)
class Worker:
    """One worker thread; ``number`` counts from 1."""

    number: int
    stage: Stage = Stage.IDLE
    transaction: Transaction | None = None
    attempt: int = 1
    next_row: int = 0
    waits_for_row: Item | None = None
    waits_for: TransactionId | None = None
    """The row's holder, when the wait began."""
    is_half: bool = False
    """Its log ends within the transaction."""
    is_given_up: bool = False
    """The coordinator has seen that the rest will not come."""

    def assign(self, transaction: Transaction, *, is_half: bool = False) -> None:
        """Take a transaction."""
        self.transaction, self.stage = transaction, Stage.ASSIGNED
        self.is_half, self.is_given_up = is_half, False
        self.attempt, self.next_row, self.waits_for_row = 1, 0, None

    def release(self) -> None:
        """Become idle."""
        self.transaction, self.stage, self.waits_for_row = None, Stage.IDLE, None

    def begin_again(self) -> None:
        """Restart at the first row."""
        self.attempt += 1
        self.next_row, self.waits_for_row = 0, None
        self.stage = Stage.RETRYING

    @property
    def job(self) -> Transaction:
        """Return its transaction."""
        assert self.transaction is not None
        return self.transaction

    @property
    def job_id(self) -> TransactionId:
        """Return its transaction's number."""
        return self.job.id

    @property
    def row(self) -> RowWrite | None:
        """Return the next row change."""
        rows = self.job.rows
        return rows[self.next_row] if self.next_row < len(rows) else None
