"""Servers that write, replicate and crash in atomic steps.

Topologies define writers, links and fail-over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from paraply.reference_impl.mariadb_gtid.binlog_files import Logged, Refused
from paraply.reference_impl.mariadb_gtid.event_groups import SET_BY_SESSION
from paraply.reference_impl.mariadb_gtid.servers import Link, Server
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.mariadb_gtid import MariadbGtid
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import Transaction

ROUNDS_MAX = 3
"""Commits at a server before a circling run ends."""
SLAVE_POS, CURRENT_POS, BINLOG_POS = "gtid_slave_pos", "gtid_current_pos", "gtid_binlog_pos"
REFUSED, OUT_OF_ORDER, ELECTED = "1236", "1950", "elected"
"""Prefixes of notes."""


@dataclass(slots=True, kw_only=True)
class NetworkBudget:
    """Bounds on faults and rotations."""

    crashes: int
    rotations: int
    holes: int
    """Sequence numbers left out."""
    losses: int
    purges: int


@dataclass(eq=False)
class Network:
    """Servers and links; subclasses define topologies."""

    recorder: Recorder
    budget: NetworkBudget
    to_write: int
    schemas: int
    has_schema_domains: bool = True
    """Domains include a schema hash."""
    applies_out_of_order: bool = False
    """Replicas reorder schemas."""
    goes_back: bool = False
    """Sessions may set smaller numbers."""
    servers: list[Server] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    is_circling: bool = False
    """A transaction's server left the ring."""

    # The run.

    def run(self, schedule: Schedule) -> None:
        """Run and record all positions, unless it does not end."""
        for server in self.servers:
            self.recorder.record(EventKind.STARTED, member=server.name)
        while not self.is_circling and (progress := list(self.progress_steps(schedule))):
            if not self.recorder.has_steps_left:
                return
            step = schedule.choose([*progress, *self.other_steps(schedule)], "step")
            self.recorder.next_step()
            step.act()
        self.recorder.next_step()
        for server in self.servers:
            if server.is_up:
                self.state_positions(server)

    def state_positions(self, server: Server) -> None:
        """Record positions, data and sources."""
        for note, position in (
            (BINLOG_POS, server.state.position), (CURRENT_POS, server.current_position)
        ):  # fmt: skip
            self.recorder.record(
                EventKind.POSITION_SAVED, member=server.name, gtid_set=str(position), note=note
            )
        sources = [link.source.name for link in self.links if self.is_following(link, server)]
        self.recorder.record(
            EventKind.STOPPED, member=server.name, gtid_set=str(server.position), note=SLAVE_POS,
            transactions=tuple(sorted(set(server.data))), members=tuple(sources),
        )  # fmt: skip

    def is_following(self, link: Link, replica: Server) -> bool:
        """Return whether the link delivers."""
        is_connected = link.source.is_up and link.cursor is not None
        return link.replica is replica and is_connected and not self.is_circling

    def progress_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield progress steps."""
        for server in self.servers:
            if self.to_write and server.is_writable and server.is_up:
                yield Step(f"{server.name} writes", partial(self.on_write, server, schedule))
        for link in self.links:
            if link.replica.is_up and not link.error:
                yield from self.link_steps(link)
        yield from self.topology_steps(schedule)

    def topology_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield fail-over steps."""
        del schedule
        yield from ()

    def other_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield crashes, rotations, purges and losses."""
        for server in self.servers:
            if not server.is_up:
                continue
            if self.budget.crashes:
                yield Step(
                    f"{server.name} crashes", partial(self.on_crash, server, schedule), server.name
                )
            if self.budget.rotations and server.binlog.files[-1].groups:
                yield Step(f"{server.name} rotates", partial(self.on_rotate, server))
            if self.budget.purges and self.purgeable(server):
                yield Step(f"{server.name} purges", partial(self.on_purge, server, schedule))
        if self.budget.losses:
            yield from self.loss_steps(schedule)

    def loss_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield losses of a source."""
        del schedule
        yield from ()

    # Writing.

    def on_write(self, server: Server, schedule: Schedule) -> None:
        """Commit a client transaction."""
        self.to_write -= 1
        schema = schedule.choose(range(self.schemas), "schema")
        gtid = server.next_gtid(self.domain_of(server, schema))
        chosen = self.choose_gtid(gtid, schedule)
        flags = frozenset({SET_BY_SESSION} if chosen != gtid else ())
        gtid = chosen
        number = self.recorder.next_id()
        self.recorder.add(Transaction(
            id=number, gtid=str(gtid), domain=gtid.domain, origin=server.name, flags=flags,
            write_set=frozenset({f"db{schema}.row{number}"}),
        ))  # fmt: skip
        self.on_committed(server, Logged(number, gtid))

    def choose_gtid(self, gtid: MariadbGtid, schedule: Schedule) -> MariadbGtid:
        """Return the next GTID, or one that makes or fills a hole."""
        options = [gtid]
        if self.budget.holes:
            options.append(MariadbGtid(gtid.domain, gtid.server, gtid.sequence + 1))
        if self.goes_back:
            used = {one.gtid for one in self.recorder.transactions}
            lower = (MariadbGtid(gtid.domain, gtid.server, n) for n in range(1, gtid.sequence))
            options += [one for one in lower if str(one) not in used][-1:]
        chosen = schedule.choose(options, "sequence number")
        self.budget.holes -= chosen.sequence > gtid.sequence
        return chosen

    def domain_of(self, server: Server, schema: int) -> int:
        """Return the server's domain plus schema hash."""
        return server.domain + (schema if self.has_schema_domains else 0)

    def schema_of(self, group: Logged) -> str:
        """Return the transaction's schema."""
        (item,) = self.recorder.transactions[group.transaction - 1].write_set
        return str(item).partition(".")[0]

    def on_committed(self, server: Server, group: Logged) -> None:
        """Log and commit in one step."""
        note = server.warning(group.gtid)
        server.log(group)
        self.record(EventKind.FLUSHED, server, group, note=note)
        server.data.append(group.transaction)
        self.is_circling = server.data.count(group.transaction) >= ROUNDS_MAX
        self.record(EventKind.ENGINE_COMMITTED, server, group)

    # Replicating.

    def link_steps(self, link: Link) -> Iterator[Step]:
        """Yield a link's next steps."""
        label = f"{link.replica.name} from {link.source.name}"
        if link.applying is not None:
            yield Step(f"{label}: commits", partial(self.on_applied, link))
        else:
            for place in self.next_in_relay(link):
                if self.may_begin(link, link.relay[place]):
                    yield Step(f"{label}: begins {place}", partial(self.on_begun, link, place))
        if not link.source.is_up:
            return
        if link.cursor is None:
            if link.refused_at != len(link.source.binlog.groups):
                yield Step(f"{label}: connects", partial(self.on_connect, link))
        elif link.cursor.place < link.source.binlog.end:
            yield Step(f"{label}: receives", partial(self.on_receive, link))

    def on_connect(self, link: Link) -> None:
        """Request the replica's position."""
        source = link.source
        start = source.binlog.find_start(link.asked, source.state, source.position)
        if isinstance(start, Refused):
            self.on_refused(link, start.reason)
            return
        link.cursor = start
        self.record_start(link)

    def on_refused(self, link: Link, reason: str) -> None:
        """Record error 1236; retry when the log grows."""
        position = link.asked
        link.disconnect()
        link.refused_at = len(link.source.binlog.groups)
        self.recorder.record(
            EventKind.STARTED, member=link.replica.name, members=(link.source.name,),
            gtid_set=str(position), note=f"{REFUSED}: {reason}",
        )  # fmt: skip

    def record_start(self, link: Link) -> None:
        """Record position and source."""
        self.recorder.record(
            EventKind.STARTED, member=link.replica.name, members=(link.source.name,),
            gtid_set=str(link.asked),
        )  # fmt: skip

    def on_receive(self, link: Link) -> None:
        """Read the next missing group."""
        assert link.cursor is not None
        source = link.source
        group = source.binlog.read(link.cursor)
        if group is None:
            return
        if not source.binlog.is_still_accepted(group, link.cursor, source.state):
            self.on_refused(link, f"{group.gtid} is the first of a domain that was asked for")
        elif not source.binlog.is_skipped(group, link.cursor):
            link.relay.append(group)
            self.record(EventKind.DELIVERED, link.replica, group)

    def next_in_relay(self, link: Link) -> list[int]:
        """Return the applicable relay log indexes.

        They are the first of each domain, or of each schema.
        """
        key = self.schema_of if self.applies_out_of_order else _domain
        first: dict[object, int] = {}
        for place, group in enumerate(link.relay):
            first.setdefault(key(group), place)
        return list(first.values())

    def may_begin(self, link: Link, group: Logged) -> bool:
        """Return whether no other link applies the domain (gtid_ignore_duplicates)."""
        owner = link.replica.owners.get(group.gtid.domain)
        return owner in (None, link) or not link.replica.ignores_duplicates

    def on_begun(self, link: Link, place: int) -> None:
        """Begin or pass over a relayed group."""
        group = link.relay.pop(place)
        server = link.replica
        if server.is_own(group.gtid):
            self.pass_over(server, group, "own")
        elif group.gtid.domain in server.filters:
            self.pass_over(server, group, "filtered")
        elif server.is_duplicate(group.gtid):
            self.record(EventKind.SKIPPED, server, group, note="duplicate")
        else:
            link.applying = group
            server.owners[group.gtid.domain] = link
            self.record(EventKind.BEGUN, server, group)

    def pass_over(self, server: Server, group: Logged, why: str) -> None:
        """Advance the position without applying."""
        server.advance(group.gtid)
        self.record(EventKind.SKIPPED, server, group, note=why)

    def on_applied(self, link: Link) -> None:
        """Log and commit, unless strict mode rejects it."""
        group, server = link.applying, link.replica
        assert group is not None
        link.applying = None
        server.owners.pop(group.gtid.domain, None)
        if server.refuses(group.gtid):
            link.error = f"{OUT_OF_ORDER}: {group.gtid} is not above the last of its domain"
            link.disconnect()
            self.record(EventKind.FAILED, server, group, note=link.error)
            return
        self.on_committed(server, group)
        server.advance(group.gtid)

    # Crashes and rotations.

    def on_crash(self, server: Server, schedule: Schedule) -> None:
        """Crash and restart without relay logs.

        Half a group may end a source's log.
        """
        self.budget.crashes -= 1
        self.recorder.record(EventKind.CRASHED, member=server.name)
        half: MariadbGtid | None = None
        if server.is_writable and schedule.choose([False, True], "in the middle of a write"):
            half = server.next_gtid(self.domain_of(server, 0))
        server.restart(half)
        for link in self.links:
            if link.replica is server and not link.error:
                link.disconnect()
        self.recorder.record(
            EventKind.RECOVERED, member=server.name, gtid_set=str(server.position),
            transactions=tuple(sorted(set(server.data))), note=SLAVE_POS,
        )  # fmt: skip

    def on_rotate(self, server: Server) -> None:
        """FLUSH BINARY LOGS."""
        self.budget.rotations -= 1
        server.binlog.rotate(server.state)
        self.recorder.record(
            EventKind.RELAY_ROTATED, member=server.name,
            gtid_set=str(server.binlog.files[-1].listed),
        )  # fmt: skip

    def purgeable(self, server: Server) -> range:
        """Return the files that may become the first: none before it is in use."""
        log = server.binlog
        read = (link.cursor.place.file for link in self.links
                if link.source is server and link.cursor is not None)  # fmt: skip
        return range(log.first + 1, min(read, default=log.end.file) + 1)

    def on_purge(self, server: Server, schedule: Schedule) -> None:
        """PURGE BINARY LOGS TO a file."""
        self.budget.purges -= 1
        server.binlog.first = schedule.choose(self.purgeable(server), "first file kept")
        self.recorder.record(
            EventKind.RELAY_ROTATED, member=server.name, note="purge",
            gtid_set=str(server.binlog.files[server.binlog.first].listed),
        )  # fmt: skip

    def lose(self, server: Server) -> None:
        """Remove a server for good."""
        self.budget.losses -= 1
        server.is_up = server.is_writable = False
        self.recorder.record(EventKind.CRASHED, member=server.name, note="lost for good")

    def take_over(self, server: Server, note: str = ELECTED) -> None:
        """Let a server take writes."""
        server.is_writable = True
        self.recorder.record(
            EventKind.STARTED, member=server.name, gtid_set=str(server.position), note=note
        )

    def record(self, kind: EventKind, server: Server, group: Logged, **fields: Any) -> None:
        """Record a group event."""
        self.recorder.record(
            kind, member=server.name, transaction=group.transaction, gtid=str(group.gtid), **fields
        )


def _domain(group: Logged) -> object:
    return group.gtid.domain
