"""MySQL 5.6 state: a gap-free executed GTID set.

s1 writes; s2 and r1 follow with auto-position, and r1 filters a schema. s2 replaces the lost s1.
Source: the text, "On holes"; facts on gtid_executed and gtid_purged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, Gtid, GtidSet, GtidSource
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import Transaction, TransactionId

OPEN_MAX = 2
"""One may fail after another's number."""
FILTERED_SCHEMA = "db1"
REFUSED, ELECTED = "1236", "elected"
FILTERED = "filtered"
UNCONNECTED = "not connected"
"""Note of a replica that stops without a source."""


class Executed(NamedTuple):
    """A logged transaction, empty if filtered."""

    transaction: TransactionId
    gtid: Gtid
    schema: str


class Open(NamedTuple):
    """An open client transaction."""

    schema: str
    early: Executed | None
    """The numbered transaction (``allocates_early``)."""


@dataclass(eq=False)
class GtidServer:
    """A server with ``gtid_executed``."""

    name: str
    source: GtidSource
    filters: bool = False
    is_up: bool = True
    executed: GtidSet = EMPTY_GTID_SET
    purged: GtidSet = EMPTY_GTID_SET
    """``gtid_purged``."""
    log: list[Executed] = field(default_factory=list)
    passed: set[TransactionId] = field(default_factory=set)
    """Executed or filtered."""
    data: list[TransactionId] = field(default_factory=list)
    last_number: int = 0
    follows: GtidServer | None = None
    is_connected: bool = False
    is_refused: bool = False
    seen: int = 0
    """Checked length of the source's log."""


@dataclass(slots=True, kw_only=True)
class GapBudget:
    """Bounds on events of a run."""

    failures: int
    restarts: int
    purges: int
    losses: int


@dataclass(eq=False)
class GapFreeServers:
    """Three servers."""

    recorder: Recorder
    budget: GapBudget
    to_write: int
    allocates_early: bool = False
    """Allocate numbers at begin."""
    logs_empty: bool = True
    has_filter: bool = True

    def __post_init__(self) -> None:
        uuids = (f"{letter * 8}-0000-0000-0000-000000000000" for letter in "ab9")
        names = ("s1", "s2", "r1")
        self.servers = [
            GtidServer(n, GtidSource(u)) for n, u in zip(names, uuids, strict=True)
        ]  # fmt: skip
        self.source, self.second, self.replica = self.servers
        self.replica.filters = self.has_filter
        self.second.follows = self.replica.follows = self.source
        self.open: list[Open] = []

    # The run.

    def run(self, schedule: Schedule) -> None:
        """Run and record executed sets, unless it does not end."""
        for server in self.servers:
            self.recorder.record(EventKind.STARTED, member=server.name)
        while progress := list(self.progress_steps(schedule)):
            if not self.recorder.has_steps_left:
                return
            step = schedule.choose([*progress, *self.other_steps()], "step")
            self.recorder.next_step()
            step.act()
        self.recorder.next_step()
        self.on_end()

    def on_end(self) -> None:
        """Make the purges that are left, and stop."""
        for server in self.servers[:2] if self.budget.purges else ():
            if server.is_up:
                self.on_purge(server)
        for server in self.servers:
            if server.is_up:
                follows = server.follows if server.is_connected else None
                is_alone = server.follows is not None and follows is None
                self.recorder.record(
                    EventKind.STOPPED, member=server.name, gtid_set=str(server.executed),
                    transactions=tuple(sorted(set(server.data))),
                    members=(follows.name,) if follows else (),
                    note=UNCONNECTED if is_alone else "",
                )  # fmt: skip

    def progress_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield client and replica steps."""
        if self.to_write and len(self.open) < OPEN_MAX:
            yield Step("begin", lambda: self.on_begin(schedule))
        for one in self.open:
            yield Step("commit", partial(self.on_commit, one))
        for server in self.servers:
            if server.is_up and server.follows is not None:
                act = self.replica_step(server)
                if act is not None:
                    yield Step(server.name, act)

    def other_steps(self) -> Iterator[Step]:
        """Yield failures, restarts, purges and losses."""
        if self.budget.failures:
            for one in self.open:
                yield Step("fail", partial(self.on_failure, one))
        if self.budget.restarts and self.replica.is_connected:
            yield Step("restart", self.on_restart)
        for server in self.servers[:2]:
            if self.budget.purges and server.is_up and self.purgeable(server):
                yield Step(f"{server.name} purges", partial(self.on_purge, server))
        if self.budget.losses and self.second.is_connected and not self.open:
            yield Step("s1 is lost", self.on_lost)

    # The source.

    def on_begin(self, schedule: Schedule) -> None:
        """Begin a transaction in some schema."""
        self.to_write -= 1
        schema = schedule.choose(("db0", FILTERED_SCHEMA), "schema")
        self.open.append(Open(schema, self.numbered(schema) if self.allocates_early else None))

    def numbered(self, schema: str) -> Executed:
        """Return the transaction with the next number.

        Servers fill holes (smallest free number, measured on 9.7). Here lost numbers stay lost, as
        in the text.
        """
        self.source.last_number += 1
        gtid = Gtid(self.source.source, self.source.last_number)
        number = self.recorder.next_id()
        self.recorder.add(Transaction(
            id=number, gtid=str(gtid), origin=self.source.name,
            write_set=frozenset({f"{schema}.row{number}"}),
        ))  # fmt: skip
        return Executed(number, gtid, schema)

    def on_commit(self, one: Open) -> None:
        """Number, log and commit under the lock."""
        self.open.remove(one)
        self.on_committed(self.source, one.early or self.numbered(one.schema))

    def on_failure(self, one: Open) -> None:
        """Fail a transaction; lose its number."""
        self.budget.failures -= 1
        self.open.remove(one)
        if one.early is not None:
            self.record(EventKind.ROLLED_BACK, self.source, one.early)

    def on_committed(self, server: GtidServer, one: Executed) -> None:
        """Log and commit."""
        self.on_logged(server, one)
        server.data.append(one.transaction)
        self.record(EventKind.ENGINE_COMMITTED, server, one)

    def on_logged(self, server: GtidServer, one: Executed) -> None:
        """Log and mark as executed."""
        server.log.append(one)
        server.executed = server.executed.add(one.gtid)
        server.passed.add(one.transaction)
        self.record(EventKind.FLUSHED, server, one)

    # A replica.

    def replica_step(self, server: GtidServer) -> Callable[[], None] | None:
        """Return a replica's next step, or None."""
        source = server.follows
        assert source is not None
        if not server.is_connected:
            return None if server.is_refused else (lambda: self.on_connect(server, source))
        if server.seen < len(source.log):
            return lambda: self.on_received(server, source)
        return None

    def on_connect(self, server: GtidServer, source: GtidServer) -> None:
        """Request all transactions not executed."""
        needed = source.executed - server.executed
        server.is_refused = not needed.isdisjoint(source.purged)
        server.is_connected = not server.is_refused
        server.seen = 0
        note = f"{REFUSED}: purged" if server.is_refused else ""
        self.recorder.record(
            EventKind.STARTED, member=server.name, members=(source.name,),
            gtid_set=str(server.executed), note=note,
        )  # fmt: skip

    def on_received(self, server: GtidServer, source: GtidServer) -> None:
        """Read a transaction; apply unless executed. A filtered one is logged empty."""
        one = source.log[server.seen]
        server.seen += 1
        if one.gtid in server.executed:
            return
        self.record(EventKind.DELIVERED, server, one)
        if not (server.filters and one.schema == FILTERED_SCHEMA):
            self.on_committed(server, one)
            return
        self.record(EventKind.SKIPPED, server, one, note=FILTERED)
        server.passed.add(one.transaction)
        if self.logs_empty:
            self.on_logged(server, one)

    # Reads, faults and administration.

    def on_restart(self) -> None:
        """Reconnect the replica."""
        self.budget.restarts -= 1
        self.replica.is_connected = False

    def purgeable(self, server: GtidServer) -> int:
        """Return the length all replicas passed."""
        others = [other for other in self.servers if other.is_up]
        count = 0
        for one in server.log:
            if not all(one.transaction in other.passed for other in others):
                break
            count += 1
        return count

    def on_purge(self, server: GtidServer) -> None:
        """Purge to the slowest replica."""
        self.budget.purges -= 1
        count = self.purgeable(server)
        for one in server.log[:count]:
            server.purged = server.purged.add(one.gtid)
        del server.log[:count]
        for other in self.servers:
            if other.follows is server:
                other.seen = max(0, other.seen - count)
        self.recorder.record(
            EventKind.RELAY_ROTATED, member=server.name, gtid_set=str(server.purged), note="purge"
        )

    def on_lost(self) -> None:
        """Replace s1 by s2."""
        self.budget.losses -= 1
        self.recorder.record(EventKind.CRASHED, member=self.source.name, note="lost for good")
        self.source.is_up = False
        self.source = self.second
        self.second.follows, self.second.is_connected = None, False
        self.replica.follows, self.replica.is_connected = self.second, False
        self.replica.is_refused = False
        self.recorder.record(
            EventKind.STARTED, member=self.second.name, gtid_set=str(self.second.executed),
            note=ELECTED,
        )  # fmt: skip

    def record(self, kind: EventKind, server: GtidServer, one: Executed, **fields: Any) -> None:
        """Record a transaction event."""
        self.recorder.record(
            kind, member=server.name, transaction=one.transaction, gtid=str(one.gtid), **fields
        )
