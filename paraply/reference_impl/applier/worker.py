"""A worker: one transaction at a time, row by row, and then its turn to commit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId
from paraply.vocabulary.write_set import Item


class Stage(Enum):
    """Where a worker stands with its transaction."""

    IDLE = "idle"
    ASSIGNED = "assigned"
    """The coordinator gave it a transaction."""
    APPLYING = "applying"
    """It has begun; some rows may be applied."""
    FINISHED = "finished"
    """All rows are applied; it waits for its turn to commit."""
    REPORTING = "reporting"
    """It has committed, and tells the coordinator so."""
    RETRYING = "retrying"
    """It was rolled back for another's sake; it begins again when its turn has come."""


@dataclass(slots=True)
class Worker:
    """One worker thread; ``number`` counts from 1."""

    number: int
    stage: Stage = Stage.IDLE
    transaction: Transaction | None = None
    attempt: int = 1
    next_row: int = 0
    waits_for_row: Item | None = None
    """The row whose lock another transaction holds, while it does."""

    def assign(self, transaction: Transaction) -> None:
        """Take a transaction."""
        self.transaction, self.stage = transaction, Stage.ASSIGNED
        self.attempt, self.next_row, self.waits_for_row = 1, 0, None

    def release(self) -> None:
        """Be idle again."""
        self.transaction, self.stage, self.waits_for_row = None, Stage.IDLE, None

    def begin_again(self) -> None:
        """Start over with the next attempt, from the first row."""
        self.attempt += 1
        self.next_row, self.waits_for_row = 0, None
        self.stage = Stage.RETRYING

    @property
    def job(self) -> Transaction:
        """Return its transaction; only a worker that is not idle has one."""
        assert self.transaction is not None
        return self.transaction

    @property
    def job_id(self) -> TransactionId:
        """Return the number of its transaction."""
        return self.job.id

    @property
    def row(self) -> RowWrite | None:
        """Return the row change to apply next; None after the last."""
        rows = self.job.rows
        return rows[self.next_row] if self.next_row < len(rows) else None
