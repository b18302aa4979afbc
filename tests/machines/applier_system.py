"""The reference applier behind the interface of its machine."""

from __future__ import annotations

from paraply.reference_impl.applier.replica import AUDITOR, READER
from paraply.reference_impl.applier.subject import APPLIER
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.schedule import RecordedSchedule


class ReferenceApplier:
    """A replica that takes a step only when it is told to."""

    def __init__(self, program, workload):
        self.recorder = Recorder()
        self.replica = APPLIER.replica(
            RecordedSchedule(program),
            workload,
            APPLIER.dialect_of(workload),
            APPLIER.options_of(workload),
            self.recorder,
        )
        self.replica.record(EventKind.STARTED)

    def take(self, step):
        if step is not None and not self.replica.has_failed:
            self.recorder.next_step()
            step()

    def coordinate(self):
        steps = list(self.replica.coordinator_steps())
        self.take(steps[0].act if steps else None)

    def move(self, worker):
        busy = {one.number: one for one in self.replica.busy_workers}
        self.take(self.replica.step_of(busy[worker]) if worker in busy else None)

    def read(self):
        self.take((lambda: self.replica.read(READER)) if self.replica.executed else None)

    def save_position(self):
        self.take(self.replica.on_checkpoint if self.replica.executed else None)

    def crash(self):
        has_begun = self.replica.executed or self.replica.busy_workers
        self.take(self.replica.on_crash if has_begun else None)

    def finish(self):
        while not self.replica.has_failed:
            steps = list(self.replica.progress_steps())
            if not steps:
                break
            self.take(steps[0].act)
        self.recorder.next_step()
        if self.replica.has_finished:
            self.replica.read(AUDITOR)
            self.replica.record(EventKind.STOPPED)

    def history(self):
        return self.recorder.history(HistoryHeader()).check()


def workload_of(dialect, *, transactions=4, **options):
    return Workload(
        transactions=transactions, rows=3, dialect=dialect, options={"workers": 3, **options}
    )
