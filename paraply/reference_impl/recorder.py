"""Records a subject's run as a history for the properties."""

from __future__ import annotations

from typing import Any

from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.programs import encode_program, format_program
from paraply.vocabulary.schedule import Schedule, SeededSchedule
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import Transaction, TransactionId

FROM_OUTSIDE = "from outside"
"""Note of an error outside the log."""
LOCK_WAIT_TIMEOUT = "lock wait timeout"
STEPS_MAX = 200
"""For each transaction, five times what runs take; one beyond them repeats itself."""


class Recorder:
    """Collects transactions and events in order."""

    def __init__(self) -> None:
        self.transactions: list[Transaction] = []
        self.events: list[Event] = []
        self.now = 0
        self.is_complete = True

    def next_step(self) -> None:
        """Begin a new step of time."""
        self.now += 1

    @property
    def has_steps_left(self) -> bool:
        """Return whether the run may go on; one that may not is stuck, though it moves."""
        return self.now < STEPS_MAX * (len(self.transactions) + 1)

    def next_id(self) -> TransactionId:
        """Return the next transaction's number."""
        return TransactionId(len(self.transactions) + 1)

    def add(self, transaction: Transaction) -> TransactionId:
        """Add a transaction with :meth:`next_id`."""
        self.transactions.append(transaction)
        return transaction.id

    def record(self, kind: EventKind, **fields: Any) -> None:
        """Add an event now."""
        self.events.append(Event(kind, LogicalTime(self.now), **fields))

    def break_off(self) -> None:
        """State that the run goes no further, though it could."""
        self.is_complete = False

    def history(self, header: HistoryHeader) -> History:
        """Return everything recorded so far."""
        return History(
            header=header,
            transactions=tuple(self.transactions),
            events=tuple(self.events),
            is_complete=self.is_complete,
        )


def seed_of(schedule: Schedule) -> int | None:
    """Return a random schedule's seed."""
    return schedule.seed if isinstance(schedule, SeededSchedule) else None


def program_of(schedule: Schedule) -> str:
    """Return the choices as text."""
    return format_program(encode_program(schedule.choices))
