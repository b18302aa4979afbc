"""The coordinator dispatches the relay log's transactions.

It reads in log order, so a blocked transaction delays all later ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item

UNDEFINED = 0
"""SEQ_UNINIT; also the low-water mark before a group's first commit."""


@dataclass(slots=True)
class Job:
    """A job of the group assigned queue."""

    transaction: TransactionId
    sequence_number: int
    is_done: bool = False


class Coordinator(ABC):
    """Dispatches the relay log's next transaction."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        """The group assigned queue, in log order."""

    @abstractmethod
    def may_dispatch(self, transaction: Transaction) -> bool:
        """Return whether dispatch is possible now."""

    @abstractmethod
    def on_dispatched(self, transaction: Transaction, worker: int) -> None:
        """Queue the dispatched transaction."""

    @abstractmethod
    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return the suitable idle workers."""

    def on_done(self, transaction: TransactionId) -> None:
        """Mark a transaction as committed."""
        for job in self.jobs:
            if job.transaction == transaction:
                job.is_done = True

    def on_rotation(self) -> None:
        """Empty the queue of done jobs."""
        self.jobs.clear()

    def on_skipped(self, transaction: Transaction) -> None:
        """Skip an executed transaction as done."""
        self.on_dispatched(transaction, 0)
        self.on_done(transaction.id)

    @property
    def is_idle(self) -> bool:
        """Return whether all jobs are done."""
        return all(job.is_done for job in self.jobs)


class LogicalClock(Coordinator):
    """LOGICAL_CLOCK, as in ``Mts_submode_logical_clock::schedule_next_event``.

    ``last_sequence_number`` is the previous transaction's, UNDEFINED after a view change or a
    rotation. A *group* begins at the start, a rotation, a gap, or a number 0, and waits for all
    earlier jobs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last_sequence_number = UNDEFINED

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Wait for all or LC's prefix."""
        timestamp = self.usable(transaction.timestamp)
        if self.opens_group(timestamp):
            return self.is_idle
        return self.is_idle or self.has_committed_up_to(timestamp.last_committed)

    def usable(self, timestamp: LogicalTimestamp | None) -> LogicalTimestamp:
        """Return the timestamp, or (0, 0)."""
        if timestamp is None:
            return LogicalTimestamp.of(0, 0)
        lc, sn = timestamp.last_committed, timestamp.sequence_number
        after_first = self.last_sequence_number != UNDEFINED
        if after_first and ((lc and sn <= lc) or (sn and sn <= self.last_sequence_number)):
            return LogicalTimestamp.of(0, 0)
        return timestamp

    def opens_group(self, timestamp: LogicalTimestamp) -> bool:
        """Return whether earlier jobs come first."""
        return (
            self.last_sequence_number == UNDEFINED
            or timestamp.sequence_number == UNDEFINED
            or timestamp.last_committed == UNDEFINED
            or self.is_gap(timestamp)
        )

    def is_gap(self, timestamp: LogicalTimestamp) -> bool:
        """Return whether numbers are missing."""
        return timestamp.sequence_number > self.last_sequence_number + 1

    def has_committed_up_to(self, last_committed: int) -> bool:
        """Return whether the mark has reached LC."""
        mark = self.low_water_mark()
        return mark != UNDEFINED and last_committed <= mark

    def low_water_mark(self) -> int:
        """Return the done prefix's last number."""
        mark = UNDEFINED
        for job in self.jobs:
            if not job.is_done:
                break
            mark = job.sequence_number
        return mark

    def on_dispatched(self, transaction: Transaction, worker: int) -> None:
        """Queue the job; a group's first empties it."""
        timestamp = self.usable(transaction.timestamp)
        if self.opens_group(timestamp):
            self.jobs.clear()
        self.jobs.append(Job(transaction.id, timestamp.sequence_number))
        self.last_sequence_number = timestamp.sequence_number

    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return the first idle worker."""
        return idle[:1]

    def on_rotation(self) -> None:
        """Forget the numbers, which restart."""
        super().on_rotation()
        self.last_sequence_number = UNDEFINED


def schema_of(item: Item) -> int:
    """Return a row's schema: neighbours differ."""
    return ord(str(item)[0]) % 2


class Database(Coordinator):
    """DATABASE: one worker per schema; ignores LC and SN.

    A transaction without write set, or over more than OVER_MAX_DBS schemas, runs alone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bound: dict[TransactionId, tuple[frozenset[int], int]] = {}
        """Transaction -> schemas and worker."""

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Wait for all around a barrier."""
        running_barrier = any(not schemas for schemas, _ in self.bound.values())
        return not self.bound or not (transaction.is_barrier or running_barrier)

    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return the schemas' idle worker."""
        owners = {worker for schemas, worker in self.bound.values()
                  if schemas & self.schemas(transaction)}  # fmt: skip
        if not owners:
            return idle[:1]
        return [worker for worker in idle if {worker} == owners]

    def schemas(self, transaction: Transaction) -> frozenset[int]:
        """Return the transaction's schemas."""
        return frozenset(map(schema_of, transaction.write_set))

    def on_dispatched(self, transaction: Transaction, worker: int) -> None:
        """Bind the schemas to the worker."""
        self.jobs.append(Job(transaction.id, UNDEFINED))
        barrier = transaction.is_barrier
        self.bound[transaction.id] = (
            frozenset() if barrier else self.schemas(transaction), worker,
        )  # fmt: skip

    def on_done(self, transaction: TransactionId) -> None:
        """Free the transaction's schemas."""
        super().on_done(transaction)
        self.bound.pop(transaction, None)
