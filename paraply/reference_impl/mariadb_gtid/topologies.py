"""Topologies: writers, links and fail-over."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from paraply.reference_impl.mariadb_gtid.binlog_files import Place
from paraply.reference_impl.mariadb_gtid.network import SLAVE_POS, Network
from paraply.reference_impl.mariadb_gtid.servers import Link, Server
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import Schedule


class Failover(Network):
    """s1 writes; s2 or s3 replaces it.

    The successor first reads missing groups: each may lead in some domain.
    """

    successor: Server | None = None

    def loss_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield the loss of s1."""
        del schedule
        if self.servers[0].is_up and self.servers[0].data:
            yield Step("s1 is lost", partial(self.lose, self.servers[0]), self.servers[0].name)

    def topology_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield the election after draining, then the promotion."""
        first, *others = self.servers
        if first.is_up or any(server.is_writable for server in others):
            return
        if self.successor is None:
            if all(link.is_drained for link in self.links):
                yield Step("elect", partial(self.on_elected, schedule))
        elif all(self.has_caught_up(link) for link in self.links):
            yield Step("promote", partial(self.on_promoted, self.successor))

    @property
    def candidates(self) -> list[Server]:
        """Return the servers that have all of s1's domains."""
        return [server for server in self.servers[1:] if not server.filters]

    def on_elected(self, schedule: Schedule) -> None:
        """Connect the successor to servers that lead in some domain."""
        self.successor = successor = schedule.choose(self.candidates, "successor")
        self.links = [
            Link(other, successor)
            for other in self.servers
            if other.is_up and other is not successor
            if not other.state.position <= successor.state.position
        ]

    def has_caught_up(self, link: Link) -> bool:
        """Return whether replication is complete or failed."""
        return bool(link.error) or link.source.state.position <= link.replica.state.position

    def on_promoted(self, successor: Server) -> None:
        """Move clients and followers."""
        self.take_over(successor)
        self.links = [
            Link(successor, other)
            for other in self.servers
            if other.is_up and other is not successor
        ]


class Ring(Network):
    """Servers follow predecessors; a lost one leaves the ring."""

    def loss_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield the loss of s1."""
        del schedule
        if self.servers[0].is_up and self.servers[0].data:
            yield Step("s1 is lost", partial(self.lose, self.servers[0]), self.servers[0].name)

    def lose(self, server: Server) -> None:
        """Close the ring."""
        super().lose(server)
        before = next(link.source for link in self.links if link.replica is server)
        after = next(link for link in self.links if link.source is server)
        self.links = [link for link in self.links if server not in (link.source, link.replica)]
        self.links.append(Link(before, after.replica))


class MultiSource(Network):
    """s4 replaces s3, which follows writers s1 and s2."""

    def loss_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield the loss of s3."""
        del schedule
        if self.servers[2].is_up and self.servers[2].data:
            yield Step("s3 is lost", partial(self.lose, self.servers[2]), self.servers[2].name)

    def lose(self, server: Server) -> None:
        """Connect s4 to s3's sources."""
        super().lose(server)
        last = self.servers[3]
        self.links = [Link(source, last) for source in self.servers[:2]]


class Diamond(Network):
    """s4 follows s2 and s3, which follow s1 (gtid_ignore_duplicates)."""


class SwitchOver(Network):
    """s1 writes, s2 follows; they switch roles."""

    is_switching = False

    def loss_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield the stop of writes."""
        del schedule
        if not self.is_switching:
            yield Step("switch over", self.on_switch)

    def on_switch(self) -> None:
        """Stop writes until the replica catches up."""
        self.budget.losses -= 1
        self.is_switching = True
        self.source.is_writable = False

    @property
    def source(self) -> Server:
        """Return the present source."""
        return self.links[0].source

    def topology_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield the role switch."""
        del schedule
        link = self.links[0]
        position = link.source.current_position
        if self.is_switching and link.is_drained and position <= link.replica.current_position:
            yield Step("change places", self.on_changed_places)

    def on_changed_places(self) -> None:
        """Follow the new source from ``gtid_current_pos``."""
        link = self.links[0]
        self.take_over(link.replica)
        self.links = [Link(link.replica, link.source, uses_current_position=True)]
        self.is_switching = False


class Restore(Network):
    """s1 writes, s3 follows; s2 is a backup at a file and offset of s1.

    s2 follows s1, or an outside applier (``mysqlbinlog | mysql``) fills it. It then replaces the
    lost s1, though s3 may be ahead.
    """

    is_restored = False

    def loss_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield restore and loss."""
        source, restored, _ = self.servers
        if not self.is_restored and source.data:
            yield Step("restore s2", lambda: self.on_restore(schedule))
        elif self.is_restored and source.is_up and restored.data:
            yield Step("s1 is lost", partial(self.lose, source), source.name)

    def on_restore(self, schedule: Schedule) -> None:
        """Restore a backup."""
        source, restored, _ = self.servers
        self.is_restored = True
        places = [
            Place(number, offset)
            for number, file in enumerate(source.binlog.files)
            for offset in range(len(file.groups) + 1)
        ]
        place = schedule.choose(places, "backup taken at")
        groups = source.binlog.groups_before(place)
        restored.data = [group.transaction for group in groups]
        restored.position = source.binlog.position_at(place)
        for group in groups:
            restored.state = restored.state.log(group.gtid)
        restored.binlog.files[0].listed = restored.state
        self.recorder.record(
            EventKind.RECOVERED, member=restored.name, gtid_set=str(restored.position),
            transactions=tuple(sorted(restored.data)), note=SLAVE_POS,
        )  # fmt: skip
        if schedule.choose([False, True], "outside applier"):
            for group in source.binlog.groups[len(groups) :]:
                # server_id, gtid_domain_id and gtid_seq_no are set.
                self.on_committed(restored, group)
            restored.position = restored.state.position
        self.links.append(Link(source, restored))

    def topology_steps(self, schedule: Schedule) -> Iterator[Step]:
        """Yield the promotion of s2."""
        del schedule
        source, restored, other = self.servers
        to_restored = [link for link in self.links if link.replica is restored]
        is_vacant = not source.is_up and not restored.is_writable
        if is_vacant and to_restored and all(link.is_drained for link in self.links):
            yield Step("s2 takes over", partial(self.on_promoted, restored, other))

    def on_promoted(self, restored: Server, other: Server) -> None:
        """Move clients and s3."""
        self.take_over(restored, note="restored")
        self.links = [Link(restored, other)]
