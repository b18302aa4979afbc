"""The coordinator: when the next transaction of the relay log may be given to a worker.

It reads in log order and never looks past a transaction that must wait, so a blocked one holds back
all that follow it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item

UNDEFINED = 0
"""SEQ_UNINIT: no number; also the low-water mark until the first of a group has committed."""


@dataclass(slots=True)
class Job:
    """A transaction in the group assigned queue: given to a worker, perhaps committed."""

    transaction: TransactionId
    sequence_number: int
    is_done: bool = False


class Coordinator(ABC):
    """Decides about one transaction at a time: the next in the relay log."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        """The group assigned queue, in log order; done jobs stay until the next group."""

    @abstractmethod
    def may_dispatch(self, transaction: Transaction) -> bool:
        """Return whether ``transaction`` may be given to a worker now."""

    @abstractmethod
    def on_dispatched(self, transaction: Transaction, worker: int) -> None:
        """Queue the transaction that was given to ``worker``."""

    @abstractmethod
    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return which of the idle workers may take the transaction; none: it waits."""

    def on_done(self, transaction: TransactionId) -> None:
        """Mark a transaction as committed in the engine."""
        for job in self.jobs:
            if job.transaction == transaction:
                job.is_done = True

    def on_rotation(self) -> None:
        """Go on in a new file of the source's log; all that was given out is done."""
        self.jobs.clear()

    def on_skipped(self, transaction: Transaction) -> None:
        """Pass over a transaction that was executed before; it counts as done."""
        self.on_dispatched(transaction, 0)
        self.on_done(transaction.id)

    @property
    def is_idle(self) -> bool:
        """Return whether everything that was given out is done."""
        return all(job.is_done for job in self.jobs)


class LogicalClock(Coordinator):
    """LOGICAL_CLOCK, as ``Mts_submode_logical_clock::schedule_next_event`` decides it.

    ``last_sequence_number`` is that of the transaction before, UNDEFINED after a view change or a
    rotation. A *group* begins where the numbers say nothing about what came before: at the start,
    after a rotation, at a gap, at last_committed or sequence_number 0. It waits for everybody.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last_sequence_number = UNDEFINED

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Wait for all at the beginning of a group, else for every number up to LC."""
        timestamp = self.usable(transaction.timestamp)
        if self.opens_group(timestamp):
            return self.is_idle
        return self.is_idle or self.has_committed_up_to(timestamp.last_committed)

    def usable(self, timestamp: LogicalTimestamp | None) -> LogicalTimestamp:
        """Return the timestamp, or (0, 0) where it contradicts itself or the one before."""
        if timestamp is None:
            return LogicalTimestamp.of(0, 0)
        lc, sn = timestamp.last_committed, timestamp.sequence_number
        after_first = self.last_sequence_number != UNDEFINED
        if after_first and ((lc and sn <= lc) or (sn and sn <= self.last_sequence_number)):
            return LogicalTimestamp.of(0, 0)
        return timestamp

    def opens_group(self, timestamp: LogicalTimestamp) -> bool:
        """Return whether the transaction waits for all before it, whatever its LC."""
        return (
            self.last_sequence_number == UNDEFINED
            or timestamp.sequence_number == UNDEFINED
            or timestamp.last_committed == UNDEFINED
            or self.is_gap(timestamp)
        )

    def is_gap(self, timestamp: LogicalTimestamp) -> bool:
        """Return whether numbers are missing: nobody knows who would have borne them."""
        return timestamp.sequence_number > self.last_sequence_number + 1

    def has_committed_up_to(self, last_committed: int) -> bool:
        """Return whether the low-water mark has reached LC: a prefix, not one number."""
        mark = self.low_water_mark()
        return mark != UNDEFINED and last_committed <= mark

    def low_water_mark(self) -> int:
        """Return the number of the last job of the longest prefix that is done."""
        mark = UNDEFINED
        for job in self.jobs:
            if not job.is_done:
                break
            mark = job.sequence_number
        return mark

    def on_dispatched(self, transaction: Transaction, worker: int) -> None:
        """Queue the job; one that opens a group finds the queue done and empties it."""
        timestamp = self.usable(transaction.timestamp)
        if self.opens_group(timestamp):
            self.jobs.clear()
        self.jobs.append(Job(transaction.id, timestamp.sequence_number))
        self.last_sequence_number = timestamp.sequence_number

    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return the first idle worker: nothing tells idle workers apart."""
        return idle[:1]

    def on_rotation(self) -> None:
        """Forget the numbers: those of the new file start again."""
        super().on_rotation()
        self.last_sequence_number = UNDEFINED


def schema_of(item: Item) -> int:
    """Return the schema of a row of the workload: neighbours are in different ones."""
    return ord(str(item)[0]) % 2


class Database(Coordinator):
    """DATABASE: transactions of one schema go to one worker, in order; LC and SN are ignored.

    A transaction without write set runs alone, as one over more than OVER_MAX_DBS schemas does.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bound: dict[TransactionId, tuple[frozenset[int], int]] = {}
        """Running transaction -> its schemas and its worker."""

    def may_dispatch(self, transaction: Transaction) -> bool:
        """Wait for all before and after a barrier; else the workers decide."""
        running_barrier = any(not schemas for schemas, _ in self.bound.values())
        return not self.bound or not (transaction.is_barrier or running_barrier)

    def workers_for(self, transaction: Transaction, idle: Sequence[int]) -> Sequence[int]:
        """Return the worker that has the schemas; none while two have them, or it is busy."""
        owners = {worker for schemas, worker in self.bound.values()
                  if schemas & self.schemas(transaction)}  # fmt: skip
        if not owners:
            return idle[:1]
        return [worker for worker in idle if {worker} == owners]

    def schemas(self, transaction: Transaction) -> frozenset[int]:
        """Return the schemas that the transaction changes."""
        return frozenset(map(schema_of, transaction.write_set))

    def on_dispatched(self, transaction: Transaction, worker: int) -> None:
        """Bind the schemas to the worker until the transaction is done."""
        self.jobs.append(Job(transaction.id, UNDEFINED))
        barrier = transaction.is_barrier
        self.bound[transaction.id] = (
            frozenset() if barrier else self.schemas(transaction), worker,
        )  # fmt: skip

    def on_done(self, transaction: TransactionId) -> None:
        """Free the schemas of the transaction."""
        super().on_done(transaction)
        self.bound.pop(transaction, None)
