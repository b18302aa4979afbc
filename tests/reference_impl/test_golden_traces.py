"""The servers' own test of these timestamps, replayed on three members.

gr_parallel_applier_indexes.result, recorded about 8.3 (a collection burns a number, the first
remote transaction bears (0, 0)); and what the same stream gives from 8.4 on.
"""

from __future__ import annotations

import pytest

from paraply.reference_impl.certification.dialects import dialect_named
from paraply.reference_impl.certification.gtids import Gtid
from paraply.reference_impl.group.group import Group
from paraply.reference_impl.group.member import Status
from paraply.reference_impl.group.settings import Settings
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.transactions import TransactionKind


class ScriptedGroup:
    """A group in which everything is delivered and applied at once."""

    def __init__(self, dialect, names, present):
        self.recorder = Recorder()
        self.group = Group(names, dialect_named(dialect), Settings(), self.recorder)
        self.group.boot(present)

    def settle(self):
        """Let every member deliver, recover and apply until nothing is left to do."""
        busy = True
        while busy:
            busy = False
            for member in self.group.members.values():
                if member.status is Status.RECOVERING and self.group.may_step_recovery(member):
                    self.group.step_recovery(member)
                    busy = True
                is_certifying = member.status in (Status.ONLINE, Status.CATCHING_UP)
                if is_certifying and member.next_message < len(self.group.total_order):
                    self.group.deliver_next(member)
                    busy = True
                for entry in member.applicable():
                    member.apply(entry)
                    busy = True

    def write(self, origin, *items, kind=TransactionKind.ROWS, specified=None):
        self.recorder.next_step()
        self.group.submit(self.group.members[origin], items, kind=kind, specified=specified)
        self.settle()

    def join(self, name):
        self.group.join(self.group.members[name])
        self.settle()
        self.group.declare_online(self.group.members[name])
        self.settle()

    def collect(self):
        for name in self.group.view_members:
            self.group.broadcast_executed_set(self.group.members[name])
        self.settle()

    def timestamps(self, member):
        history = self.recorder.history(HistoryHeader()).check()
        return [
            (event.timestamp.last_committed, event.timestamp.sequence_number)
            for event in history.events_of(EventKind.CERTIFIED, member=member)
            if event.timestamp is not None
        ]


def run_golden_stream(dialect):
    """server2 and server3 are there, server1 joins; then the writes of the servers' test."""
    group = ScriptedGroup(dialect, ("s1", "s2", "s3"), ("s2", "s3"))
    group.join("s1")
    group.write("s3", "r4")
    group.write("s2", "r4", "r5")
    group.write("s1", "r6")
    group.write("s3", "r6", "r7")
    group.collect()
    group.write("s1", "r8")
    group.write("s2", "r9")
    return group


@pytest.mark.parametrize(
    ("dialect", "server1", "server2"),
    [
        (
            "mysql_8_3",
            [(0, 0), (2, 3), (1, 4), (5, 6)],
            [(0, 0), (2, 4), (4, 5), (6, 7)],
        ),
        (
            "mysql_8_4",
            [(0, 0), (2, 3), (1, 4), (4, 5)],
            [(0, 0), (1, 3), (3, 4), (4, 5)],
        ),
    ],
)
def test_golden_stream_gives_the_recorded_timestamps(dialect, server1, server2):
    group = run_golden_stream(dialect)
    assert group.timestamps("s1") == server1
    assert group.timestamps("s2") == server2


def test_golden_stream_of_the_fourth_member():
    # DDL; INSERT r1 with a GTID of its own; INSERT r3; UPDATE r1 to r2.
    group = ScriptedGroup("mysql_8_3", ("s1", "s4"), ("s1", "s4"))
    group.write("s1", kind=TransactionKind.DDL)
    group.write("s1", "r1", specified=Gtid("group", 7))
    group.write("s1", "r3")
    group.write("s1", "r1", "r2")
    assert group.timestamps("s4") == [(0, 0), (2, 3), (2, 4), (3, 5)]


def test_members_hold_different_timestamps_for_one_gtid():
    # UPDATE r6 to r7 is (1, 4) on server1, where r6 was local, and (4, 5) on server2.
    group = run_golden_stream("mysql_8_3")
    assert (1, 4) in group.timestamps("s1")
    assert (4, 5) in group.timestamps("s2")


def test_golden_stream_in_the_era_of_logged_view_changes():
    # 8.0: the joiner's own view change stands in its relay log, and nothing else bears (0, 0).
    group = run_golden_stream("mysql_8_0")
    assert group.timestamps("s1") == [(0, 0), (1, 2), (2, 3), (1, 4), (5, 6)]
    assert group.timestamps("s2") == [(0, 0), (2, 3), (2, 4), (4, 5), (6, 7)]
