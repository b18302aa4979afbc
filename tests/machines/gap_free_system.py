"""The reference's gap-free servers behind the interface of their machine."""

from __future__ import annotations

from paraply.reference_impl.mariadb_gtid.gap_free import OPEN_MAX, GapBudget, GapFreeServers
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.schedule import RecordedSchedule

MANY = 1_000
"""The machine bounds how often things happen, not the budget."""


class ReferenceServers:
    """Servers that do something only when they are told to."""

    def __init__(self, dialect):
        self.recorder = Recorder()
        self.servers = GapFreeServers(
            self.recorder, GapBudget(failures=MANY, restarts=MANY, purges=MANY, losses=1), MANY,
            allocates_early=dialect == "allocates_early", logs_empty=dialect != "filters_drop",
        )  # fmt: skip
        for server in self.servers.servers:
            self.recorder.record(EventKind.STARTED, member=server.name)
        self.opened = []

    def take(self, act, *arguments):
        self.recorder.next_step()
        act(*arguments)

    def server(self, name):
        return next(one for one in self.servers.servers if one.name == name)

    def begin(self, schema):
        if len(self.servers.open) >= OPEN_MAX:
            return None
        self.take(self.servers.on_begin, RecordedSchedule([schema]))
        self.opened.append(self.servers.open[-1])
        return len(self.opened) - 1

    def commit(self, opened):
        self.take(self.servers.on_commit, self.opened[opened])

    def fail(self, opened):
        self.take(self.servers.on_failure, self.opened[opened])

    def replicate(self, server):
        one = self.server(server)
        act = self.servers.replica_step(one) if one.is_up and one.follows else None
        if act is not None:
            self.take(act)

    def restart(self):
        if self.servers.replica.is_connected:
            self.take(self.servers.on_restart)

    def purge(self, server):
        one = self.server(server)
        if one.is_up and self.servers.purgeable(one):
            self.take(self.servers.on_purge, one)

    def has_first(self):
        return self.server("s1").is_up

    def lose_first(self):
        if self.servers.second.is_connected and not self.servers.open:
            self.take(self.servers.on_lost)

    def finish(self):
        self.servers.to_write = 0
        self.servers.budget = GapBudget(failures=0, restarts=0, purges=0, losses=0)
        self.servers.recorder = _WithoutStarts(self.recorder)
        self.servers.run(RecordedSchedule([]))

    def history(self):
        return self.recorder.history(HistoryHeader()).check()


class _WithoutStarts:
    """A recorder for the rest of a run whose servers have started already."""

    def __init__(self, recorder):
        self.recorder = recorder

    def record(self, kind, **fields):
        if kind is not EventKind.STARTED or "members" in fields:
            self.recorder.record(kind, **fields)

    def __getattr__(self, name):
        return getattr(self.recorder, name)
