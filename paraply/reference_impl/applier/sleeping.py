"""A coordinator that sleeps for the low-water mark, and workers that wake it.

Steps end where threads can switch. The coordinator publishes ``min_waited``, takes the lock, and
sleeps if the mark is too low. A worker marks its job done, then reads ``min_waited``. If set, it
locks, reads again, and signals if the mark suffices.

Source: ``Mts_submode_logical_clock::wait_for_last_committed_trx``,
``Slave_worker::slave_worker_ends_group``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from paraply.reference_impl.applier.coordinator import UNDEFINED, LogicalClock
from paraply.reference_impl.applier.replica import Replica
from paraply.reference_impl.applier.source_log import Part
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.transactions import Transaction

COORDINATOR = 0


class SleepingReplica(Replica):
    """A replica whose coordinator sleeps for last_committed."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.min_waited = UNDEFINED
        """Awaited last_committed, or UNDEFINED."""
        self.is_asleep = False
        self.reports: dict[int, Callable[[Worker], None]] = {}

    # Coordinator.

    def coordinator_steps(self) -> Iterator[Step]:
        """Yield its step, unless asleep."""
        if self.is_asleep:
            return
        waiting = self.must_wait_for_mark()
        if self.min_waited != UNDEFINED:
            yield Step("look at the low-water mark", self.on_look)
        elif waiting is not None:
            yield Step("publish what it waits for", lambda: self.on_publish(waiting))
        else:
            yield from super().coordinator_steps()

    def must_wait_for_mark(self) -> Transaction | None:
        """Return a transaction that only awaits the mark."""
        coordinator = self.coordinator
        if self.next_entry == len(self.entries) or not isinstance(coordinator, LogicalClock):
            return None
        entry = self.entries[self.next_entry]
        if entry.transaction is None or entry.part is Part.TAIL:
            return None
        if self.recovery.is_skipped(self, entry.transaction):
            return None
        opens_group = coordinator.opens_group(coordinator.usable(entry.transaction.timestamp))
        if opens_group or coordinator.may_dispatch(entry.transaction):
            return None
        return entry.transaction

    def on_publish(self, transaction: Transaction) -> None:
        """Publish the number before the check."""
        assert transaction.timestamp is not None
        self.min_waited = transaction.timestamp.last_committed

    def on_look(self) -> None:
        """Under the lock: continue, or sleep."""
        waiting = self.must_wait_for_mark()
        if waiting is None:
            self.min_waited = UNDEFINED
        else:
            self.is_asleep = True
            self.recorder.record(EventKind.SLEPT, worker=COORDINATOR, transaction=waiting.id)

    # Workers.

    def report(self, worker: Worker) -> None:
        """Report in separate steps."""
        worker.stage = Stage.REPORTING
        self.reports[worker.number] = self.on_mark_done

    def step_of(self, worker: Worker) -> Callable[[], None] | None:
        """Return a worker's next step."""
        if worker.stage is Stage.REPORTING:
            return lambda: self.reports[worker.number](worker)
        return super().step_of(worker)

    def on_mark_done(self, worker: Worker) -> None:
        """Mark the job done."""
        self.coordinator.on_done(worker.job_id)
        self.reports[worker.number] = self.on_read_min_waited

    def on_read_min_waited(self, worker: Worker) -> None:
        """Read ``min_waited`` without the lock."""
        if self.min_waited == UNDEFINED:
            worker.release()
        else:
            self.reports[worker.number] = self.on_signal_if_reached

    def on_signal_if_reached(self, worker: Worker) -> None:
        """Under the lock: wake the coordinator if reached; it looks again."""
        coordinator = self.coordinator
        assert isinstance(coordinator, LogicalClock)
        if self.is_asleep and UNDEFINED != self.min_waited <= coordinator.low_water_mark():
            self.is_asleep = False
            self.recorder.record(EventKind.WOKEN, worker=COORDINATOR)
        worker.release()

    # Errors and crashes.

    def on_error(self, worker: Worker) -> None:
        """Keep committed transactions only."""
        for other in self.busy_workers:
            if other.stage is Stage.REPORTING:
                other.release()
        super().on_error(worker)

    def on_crash(self) -> None:
        """Forget all waits."""
        self.min_waited, self.is_asleep = UNDEFINED, False
        super().on_crash()
