"""The reference's channel into a group behind the interface of its machine."""

from __future__ import annotations

from paraply.reference_impl.certification import retries
from paraply.reference_impl.certification.certifier import Certifier
from paraply.reference_impl.certification.dialects import dialect_named
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import HistoryHeader


class ReferenceChannel:
    """A channel that does something only when it is told to."""

    def __init__(self, dialect):
        self.recorder = Recorder()
        certifier = Certifier(dialect_named(dialect), detects_conflicts=False)
        self.channel = retries._Channel(certifier, self.recorder, Workload())
        self.recorder.record(EventKind.STARTED, member=retries.PRIMARY)

    def take(self, act):
        self.recorder.next_step()
        act()

    def send(self):
        self.take(self.channel.send)

    def waiting(self):
        return len(self.channel.certified)

    def executed(self):
        return len(self.channel.executed)

    def execute(self):
        self.take(self.channel.execute)

    def roll_back(self):
        self.take(self.channel.roll_back)

    def reuse(self):
        self.take(self.channel.reuse)

    def history(self):
        return self.recorder.history(HistoryHeader()).check()
