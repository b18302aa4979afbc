"""The reference source, with one of its trackers, behind the interface of its machine."""

from __future__ import annotations

from paraply.properties.machines.trackers import ROWS, SESSIONS
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.source_subject import SOURCE_TRACKERS, TRACKERS, Phase, SourceRun
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.schedule import RecordedSchedule

MANY = 1_000
"""The machine bounds how often things happen, not the budget."""


class ReferenceSource:
    """A source that takes a step only when it is told to."""

    def __init__(self, dialect, history_size, *, flavours=True):
        options = {"sessions": SESSIONS, "rotations": 9, "history_size": history_size,
                   "flavours": flavours}  # fmt: skip
        workload = Workload(transactions=MANY, rows=ROWS, dialect=dialect, options=options)
        self.dialect, self.recorder = dialect, Recorder()
        self.settings = SOURCE_TRACKERS.options_of(workload)
        self.run = SourceRun(
            TRACKERS[dialect](history_size), RecordedSchedule([]), workload, self.settings,
            self.recorder,
        )  # fmt: skip
        self.opened = []

    def take(self, act, *arguments):
        self.recorder.next_step()
        act(*arguments)

    def begin(self, session, flavour):
        if any(one.session == session for one in self.run.running):
            return None
        self.run.schedule = RecordedSchedule([flavour, 1])
        self.take(self.run.begin, session)
        self.opened.append(self.run.running[-1])
        return len(self.opened) - 1

    def execute(self, opened, row):
        one = self.opened[opened]
        statements = self.run.statements_of(one) if one.statements_left else []
        if statements:
            self.take(statements[row % len(statements)])

    def flush(self, opened, row):
        one = self.opened[opened]
        if not one.depends_on:
            self.execute(opened, row)
        if one.depends_on:
            self.take(self.run.flush, one)
        else:
            self.run.running.remove(one)

    def flushed(self):
        return sum(one.phase is Phase.FLUSHED for one in self.run.running)

    def commit(self):
        self.take(self.run.commit, next(o for o in self.run.running if o.phase is Phase.FLUSHED))

    def rotate(self):
        if self.run.rotations_left and self.recorder.transactions:
            self.take(self.run.rotate)

    def finish(self):
        while self.flushed():
            self.commit()

    def history(self):
        header = HistoryHeader(subject="source", dialect=self.dialect, options=self.settings)
        return self.recorder.history(header).check()
