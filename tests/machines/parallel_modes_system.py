"""The MariaDB replica of the reference implementation behind the interface of its machine."""

from __future__ import annotations

from paraply.reference_impl.applier.replica import READER
from paraply.reference_impl.mariadb.groups import Stage
from paraply.reference_impl.mariadb.subject import ParallelModesSubject
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.schedule import RecordedSchedule

FAILURES_MAX = TIMEOUTS_MAX = STOPS_MAX = 3
"""More of them only repeat; without a bound a story could go round in a circle."""


class ReferenceReplica:
    """A replica that takes a step only when it is told to."""

    def __init__(self, program, workload):
        self.recorder = Recorder()
        self.left = {"failures": FAILURES_MAX, "timeouts": TIMEOUTS_MAX, "stops": STOPS_MAX}
        system = self

        class Held(ParallelModesSubject):
            def replica(self, *arguments):
                system.replica = super().replica(*arguments)
                system.replica.run = lambda _: system.replica.on_start()
                return system.replica

        subject = Held()
        options = subject.options_of(workload)
        subject.simulate(
            RecordedSchedule(program), workload, subject.dialect_of(workload), options,
            self.recorder,
        )  # fmt: skip
        self.options = {name: options[name] for name in ("domain_workers", "extra_locks")}

    def take(self, step):
        if step is None:
            return False
        self.recorder.next_step()
        step()
        if self.replica.is_stopping and self.replica.is_idle and not self.replica.has_failed:
            self.replica.on_stopped_and_started()
        return True

    def take_first(self, steps, label=""):
        self.take(next((step.act for step in steps if label in step.label), None))

    def deal(self):
        self.take_first(self.replica.driver_steps())

    def move(self, worker):
        queue = self.replica.queues[worker]
        self.take(self.replica.step_of(queue[0]) if queue else None)

    def kill(self):
        self.take_first(self.replica.kill_steps())

    def write_group(self):
        self.take_first(self.replica.commit_steps(), "leader")

    def engine_commit(self):
        self.take_first(self.replica.commit_steps(), "engine")

    def spend(self, what, step):
        if self.left[what]:
            self.left[what] -= self.take(step)

    def applying(self, worker):
        """Return the worker's group if it is among its rows; it begins first, if it may."""
        queue = self.replica.queues[worker]
        while queue and queue[0].stage in (Stage.QUEUED, Stage.ADMITTED):
            step = self.replica.step_of(queue[0])
            if not self.take(step):
                return None
        is_applying = queue and queue[0].stage is Stage.APPLYING and not queue[0].is_statement
        return queue[0] if is_applying else None

    def time_out(self, worker):
        group = self.applying(worker)
        if group is not None and group.is_transactional:
            self.spend("timeouts", lambda: self.replica.on_timeout(group))

    def fail(self, worker):
        group = self.applying(worker)
        if group is not None and not self.replica.is_stopping:
            self.spend("failures", lambda: self.replica.on_failure(group))

    def stop(self):
        if not self.replica.is_stopping and not self.replica.is_idle:
            self.spend("stops", self.replica.on_stop)

    def read(self):
        self.take((lambda: self.replica.read(READER)) if self.replica.executed else None)

    def finish(self):
        while steps := list(self.replica.progress_steps()):
            self.take(steps[0].act)
        self.recorder.next_step()
        self.replica.on_end()

    def history(self):
        return self.recorder.history(HistoryHeader(options=self.options)).check()


def workload_of(dialect, *, transactions=4, **options):
    return Workload(
        transactions=transactions, rows=3, dialect=dialect, options={"workers": 3, **options}
    )
