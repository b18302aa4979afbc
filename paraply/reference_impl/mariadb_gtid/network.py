"""Servers that write, replicate, crash and are lost, one atomic step at a time.

Topologies say who writes, who follows whom, and what happens when a source is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from paraply.reference_impl.mariadb_gtid.binlog_files import Logged, Refused
from paraply.reference_impl.mariadb_gtid.event_groups import SET_BY_SESSION
from paraply.reference_impl.mariadb_gtid.servers import Link, Server
from paraply.reference_impl.mariadb_gtid.workers import Step
from paraply.reference_impl.recorder import Recorder
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.mariadb_gtid import MariadbGtid
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import Transaction

ROUNDS_MAX = 3
"""A transaction that one server has committed this often goes round for ever; the run ends."""
RELAY_MAX = 2
"""Two groups in a relay log are enough to apply them in the other order."""
SLAVE_POS, CURRENT_POS, BINLOG_POS = "gtid_slave_pos", "gtid_current_pos", "gtid_binlog_pos"
REFUSED, OUT_OF_ORDER = "1236", "1950"
"""Error numbers, at the beginning of a note."""


@dataclass(slots=True, kw_only=True)
class NetworkBudget:
    """How often things may happen beside writing and replicating."""

    crashes: int
    rotations: int
    holes: int
    """How often a session sets gtid_seq_no to leave a number out."""
    losses: int
    """How often a source is lost for good, or replaced in good order."""


@dataclass(eq=False)
class Network:
    """All servers and links. A topology is a subclass; a mutant replaces methods of its parts."""

    recorder: Recorder
    budget: NetworkBudget
    to_write: int
    schemas: int
    """Schemas that transactions write, each independent of the others."""
    has_schema_domains: bool = True
    """Whether the domain is a hash of the schema; else all is written in the server's domain."""
    applies_out_of_order: bool = False
    """Whether a replica applies transactions of different schemas in any order."""
    goes_back: bool = False
    """Whether sessions may set a number below the last (gtid_seq_no without strict mode)."""
    servers: list[Server] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    is_circling: bool = False
    """Whether a transaction goes round in a ring that its server has left."""

    # The run.

    def run(self, schedule: Schedule) -> None:
        """Let things happen until nothing can, and state every position."""
        for server in self.servers:
            self.recorder.record(EventKind.STARTED, member=server.name)
        while not self.is_circling and (progress := list(self.progress_steps(schedule))):
            step = schedule.choose([*progress, *self.other_steps(schedule)], "step")
            self.recorder.next_step()
            step.act()
        self.recorder.next_step()
        for server in self.servers:
            if server.is_up:
                self.state_positions(server)

    def state_positions(self, server: Server) -> None:
        """Say where a server stands: its position variables, its data, and whom it follows."""
        for note, position in (
            (BINLOG_POS, server.state.position), (CURRENT_POS, server.current_position)
        ):  # fmt: skip
            self.recorder.record(
                EventKind.POSITION_SAVED, member=server.name, gtid_set=str(position), note=note
            )
        sources = [link.source.name for link in self.links if self.is_following(link, server)]
        self.recorder.record(
            EventKind.STOPPED, member=server.name, gtid_set=self.stated_position(server),
            note=SLAVE_POS,
            transactions=tuple(sorted(set(server.data))), members=tuple(sources),
        )  # fmt: skip

    def stated_position(self, server: Server) -> str:
        """Return what ``@@gtid_slave_pos`` shows."""
        return str(server.position)

    def is_following(self, link: Link, replica: Server) -> bool:
        """Return whether a link brings a replica what its source has."""
        is_connected = link.source.is_up and link.cursor is not None
        return link.replica is replica and is_connected and not self.is_circling

    def progress_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield writing, replicating, and what the topology has to finish."""
        for server in self.servers:
            if self.to_write and server.is_writable and server.is_up:
                yield Step(f"{server.name} writes", partial(self.on_write, server, schedule))
        for link in self.links:
            if link.replica.is_up and not link.error:
                yield from self.link_steps(link)
        yield from self.topology_steps(schedule)

    def topology_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield what must be done to go on: nothing as long as no server is lost."""
        del schedule
        yield from ()

    def other_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield crashes, rotations, and the loss of a source."""
        for server in self.servers:
            if not server.is_up:
                continue
            if self.budget.crashes:
                yield Step(f"{server.name} crashes", partial(self.on_crash, server, schedule))
            if self.budget.rotations and server.binlog.files[-1].groups:
                yield Step(f"{server.name} rotates", partial(self.on_rotate, server))
        if self.budget.losses:
            yield from self.loss_steps(schedule)

    def loss_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield how a source may go away."""
        del schedule
        yield from ()

    # Writing.

    def on_write(self, server: Server, schedule: Schedule) -> None:
        """A client commits a transaction at a source."""
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
        """Return the next GTID, or one that the session has set: past a hole, or back in one."""
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
        """Return the domain of a transaction: the server's, and a hash of the schema in it."""
        return server.domain + (schema if self.has_schema_domains else 0)

    def schema_of(self, group: Logged) -> str:
        """Return the schema that a transaction writes."""
        (item,) = self.recorder.transactions[group.transaction - 1].write_set
        return str(item).partition(".")[0]

    def on_committed(self, server: Server, group: Logged) -> None:
        """Log a transaction and commit it, in one step: it is crash safe."""
        note = server.warning(group.gtid)
        server.log(group)
        self.record(EventKind.FLUSHED, server, group, note=note)
        server.data.append(group.transaction)
        self.is_circling = server.data.count(group.transaction) >= ROUNDS_MAX
        self.record(EventKind.ENGINE_COMMITTED, server, group)

    # Replicating.

    def link_steps(self, link: Link) -> Iterator[Step]:
        """Yield what a link may do next."""
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
        elif len(link.relay) < RELAY_MAX and self.has_more(link):
            yield Step(f"{label}: receives", partial(self.on_receive, link))

    def has_more(self, link: Link) -> bool:
        """Return whether the source has something that was not read for this link."""
        return link.cursor is not None and link.cursor.place < link.source.binlog.end

    def on_connect(self, link: Link) -> None:
        """Ask the source to start at the replica's position."""
        source = link.source
        start = source.binlog.find_start(link.asked, source.state, source.position)
        if isinstance(start, Refused):
            self.on_refused(link, start.reason)
            return
        link.cursor = start
        self.record_start(link)

    def on_refused(self, link: Link, reason: str) -> None:
        """The source refuses (error 1236); it is asked again when its log has grown."""
        position = link.asked
        link.disconnect()
        link.refused_at = len(link.source.binlog.groups)
        self.recorder.record(
            EventKind.STARTED, member=link.replica.name, members=(link.source.name,),
            gtid_set=str(position), note=f"{REFUSED}: {reason}",
        )  # fmt: skip

    def record_start(self, link: Link) -> None:
        """Say from which position a replica follows whom."""
        self.recorder.record(
            EventKind.STARTED, member=link.replica.name, members=(link.source.name,),
            gtid_set=str(link.asked),
        )  # fmt: skip

    def on_receive(self, link: Link) -> None:
        """Read on in the source's log, past what the replica has."""
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
        """Return the places in the relay log that may be applied next.

        The first of each domain, or of each schema where order within a domain is not kept.
        """
        key = self.schema_of if self.applies_out_of_order else _domain
        first: dict[object, int] = {}
        for place, group in enumerate(link.relay):
            first.setdefault(key(group), place)
        return list(first.values())

    def may_begin(self, link: Link, group: Logged) -> bool:
        """Return whether no other link is applying in the domain (gtid_ignore_duplicates)."""
        owner = link.replica.owners.get(group.gtid.domain)
        return owner in (None, link) or not link.replica.ignores_duplicates

    def on_begun(self, link: Link, place: int) -> None:
        """Take a group from the relay log; pass over what is not to be applied."""
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
        """Move the position past a group without applying it."""
        server.advance(group.gtid)
        self.record(EventKind.SKIPPED, server, group, note=why)

    def on_applied(self, link: Link) -> None:
        """Log and commit what was applied, unless strict mode refuses it."""
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
        """A server crashes and comes back; relay logs are thrown away, positions are kept.

        A source may be in the middle of a write: half a group stands at the end of its log.
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
        self.recorder.record(EventKind.RELAY_ROTATED, member=server.name)

    def lose(self, server: Server) -> None:
        """A server is gone for good."""
        self.budget.losses -= 1
        server.is_up = server.is_writable = False
        self.recorder.record(EventKind.CRASHED, member=server.name, note="lost for good")

    def record(self, kind: EventKind, server: Server, group: Logged, **fields: Any) -> None:
        """Record an event of a group at a server."""
        self.recorder.record(
            kind, member=server.name, transaction=group.transaction, gtid=str(group.gtid), **fields
        )


def _domain(group: Logged) -> object:
    return group.gtid.domain
