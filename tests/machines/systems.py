"""The reference implementation behind the interfaces of the machines."""

from __future__ import annotations

from paraply.reference_impl.certification.certifier import Certifier
from paraply.reference_impl.certification.dialects import dialect_named
from paraply.reference_impl.certification.run import HERE, CertifierRun
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Status
from paraply.reference_impl.group.settings import Settings
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.transactions import TransactionKind


class ReferenceCertifier:
    """One certifier, fed by hand."""

    def __init__(self, dialect):
        self.run = CertifierRun(Certifier(dialect_named(dialect)))

    def deliver_remote(self, items, lag):
        newest = len(self.run.certified)
        # A snapshot has all that is stable: whoever sent it had executed that.
        self.run.deliver(items, snapshot=max(newest - lag, self.run.stable))

    def deliver_local(self, items):
        self.run.deliver(items, origin=HERE)

    def create_table_as_select(self, table):
        self.run.deliver([table], kind=TransactionKind.CTAS)

    def collect(self, kept):
        self.run.collect(max(len(self.run.certified) - kept, self.run.stable))

    def change_view(self):
        self.run.change_view()

    def history(self):
        return self.run.recorder.history(HistoryHeader()).check()


class ReferenceGroup:
    """A group in which everything waits until it is told to go on."""

    def __init__(self, dialect, *, present=("r1", "r2")):
        self.recorder = Recorder()
        self.group = Group(("r1", "r2", "r3"), dialect_named(dialect), Settings(), self.recorder)
        self.group.boot(present)

    def member(self, name):
        self.recorder.next_step()
        return self.group.members[name]

    def submit(self, name, items):
        member = self.member(name)
        if member.may_write() and not member.locks(items):
            self.group.submit(member, items)

    def deliver(self, name, count):
        member = self.member(name)
        for _ in range(count):
            is_certifying = member.status in (Status.ONLINE, Status.CATCHING_UP)
            if is_certifying and member.next_message < len(self.group.total_order):
                self.group.deliver_next(member)

    def apply(self, name, count):
        member = self.member(name)
        for _ in range(count):
            for entry in member.applicable()[:1]:
                if member.status is not Status.OFFLINE:
                    member.apply(entry)

    def broadcast(self, name):
        member = self.member(name)
        if member.status is not Status.OFFLINE:
            self.group.broadcast_executed_set(member)

    def crash(self, name):
        member = self.member(name)
        others = [self.group.members[one] for one in self.group.view_members if one != name]
        if member.status is not Status.OFFLINE and any(
            other.status is Status.ONLINE for other in others
        ):
            self.group.crash(member)

    def join(self, name):
        member = self.member(name)
        if member.status is Status.OFFLINE:
            self.group.join(member)
        while member.status is Status.RECOVERING and self.group.may_step_recovery(member):
            self.group.step_recovery(member)
        if (
            member.status is Status.CATCHING_UP
            and member.view is not None
            and not member.relay_log
            and not member.has_announced_online
        ):
            member.has_announced_online = True
            self.group.declare_online(member)

    def settle(self):
        for _ in range(len(self.group.members)):
            for name in self.group.view_members:
                self.deliver(name, len(self.group.total_order))
                self.apply(name, len(self.group.total_order))
                if self.group.members[name].status is not Status.ONLINE:
                    self.join(name)

    def history(self):
        return self.recorder.history(HistoryHeader()).check()
