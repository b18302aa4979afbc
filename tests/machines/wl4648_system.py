"""The schemes of WL#4648 behind the interface of the applier's machine."""

from __future__ import annotations

from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.wl4648.subject import WL4648, Wl4648Subject
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.schedule import RecordedSchedule
from tests.machines.applier_system import ReferenceApplier

MANY = 1_000
"""The machine bounds how often things happen, not the budget."""


class ReferenceScheme(ReferenceApplier):
    """A replica of a scheme that takes a step only when it is told to."""

    def __init__(self, program, workload):
        self.recorder, self.workload = Recorder(), workload
        system = self

        class Held(Wl4648Subject):
            def replica(self, *arguments):
                system.replica = super().replica(*arguments)
                system.replica.run = lambda _: None
                return system.replica

        subject = Held()
        subject.simulate(
            RecordedSchedule(program), workload, subject.dialect_of(workload),
            subject.options_of(workload), self.recorder,
        )  # fmt: skip
        self.replica.reads_left = self.replica.crashes_left = self.replica.checkpoints_left = MANY
        self.replica.record(EventKind.STARTED)

    def take_labelled(self, *labels):
        steps = [*self.replica.progress_steps(), *self.replica.other_steps()]
        self.take(next((step.act for step in steps if step.label in labels), None))

    def history(self):
        header = HistoryHeader(
            subject="wl4648",
            dialect=self.workload.dialect,
            options=WL4648.settings_of(self.workload),
        )
        return self.recorder.history(header).check()

    def read(self):
        self.take_labelled("read", "begin to read", "read on")

    def save_position(self):
        self.take_labelled("update rli info")

    def crash(self):
        self.take_labelled("crash")
