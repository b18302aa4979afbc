"""Appliers that lose a wake-up between sleep and signal."""

from __future__ import annotations

from paraply.reference_impl.applier.coordinator import UNDEFINED
from paraply.reference_impl.applier.replica import ApplierParts
from paraply.reference_impl.applier.sleeping import SleepingReplica
from paraply.reference_impl.applier.worker import Stage, Worker
from paraply.reference_impl.mutations.applier.scheduling import applier_mutant


class SleepsWithoutLookingAgain(SleepingReplica):
    """The coordinator checks only before it publishes."""

    def on_look(self) -> None:
        """Sleep on the earlier check."""
        waiting = self.entries[self.next_entry].transaction
        assert waiting is not None
        self.sleep(waiting)

    def on_signal(self) -> None:
        """Continue; an early signal is lost."""
        if self.is_asleep:
            self.min_waited = UNDEFINED
        super().on_signal()


class SignalsBeforeDone(SleepingReplica):
    """A worker reads min_waited too early."""

    def report(self, worker: Worker) -> None:
        """Read first."""
        worker.stage = Stage.REPORTING
        self.reports[worker.number] = self.on_read_too_early

    def on_read_too_early(self, worker: Worker) -> None:
        """Read before the mark."""
        nobody_waits = self.min_waited == UNDEFINED
        self.reports[worker.number] = self.on_done_at_last if nobody_waits else self.on_mark_done

    def on_done_at_last(self, worker: Worker) -> None:
        """Mark done; use the earlier read."""
        self.coordinator.on_done(worker.job_id)
        worker.release()


class SignalsForItsOwnNumber(SleepingReplica):
    """A worker compares its own number."""

    def on_signal_if_reached(self, worker: Worker) -> None:
        """Compare two numbers."""
        timestamp = worker.job.timestamp
        if timestamp is not None and timestamp.sequence_number == self.min_waited:
            super().on_signal_if_reached(worker)
        else:
            worker.release()


def wake_up_mutant(
    name: str, fault: str, replica: type[SleepingReplica], *, workers: int = 2
) -> None:
    """Register a replica with lost wake-ups."""
    applier_mutant(
        name,
        family="wake-ups",
        source="Slave_worker::slave_worker_ends_group",
        fault=fault,
        caught_by="applier_reaches_the_end",
        parts=ApplierParts(sleeping_replica=replica),
        sleeps=True,
        workers=workers,
        sessions=1,
        rotations=0,
        collections=0,
        barriers=False,
        reads=0,
    )


wake_up_mutant(
    "coordinator_sleeps_unseen",
    "the coordinator does not look again between publishing min_waited and sleeping",
    SleepsWithoutLookingAgain,
)
wake_up_mutant(
    "worker_reads_min_waited_too_early",
    "a worker reads min_waited before it marks its job done",
    SignalsBeforeDone,
)
wake_up_mutant(
    "worker_signals_for_its_own_number",
    "a worker signals only where min_waited is its own sequence number",
    SignalsForItsOwnNumber,
    workers=3,
)
