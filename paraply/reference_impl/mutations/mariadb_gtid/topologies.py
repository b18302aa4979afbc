"""Servers and networks with one GTID fault each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from paraply.reference_impl.mariadb_gtid.binlog_files import Binlog, Cursor, Logged, Place
from paraply.reference_impl.mariadb_gtid.network import Network
from paraply.reference_impl.mariadb_gtid.servers import Link, Server
from paraply.reference_impl.mariadb_gtid.topologies import (
    Diamond,
    Failover,
    Restore,
    Ring,
    SwitchOver,
)
from paraply.reference_impl.mariadb_gtid.topology_subject import SHAPES, Parts, TopologySubject
from paraply.reference_impl.mutants import Mutant, register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.mariadb_gtid import MariadbBinlogState, MariadbGtid, MariadbPosition

TWICE, LOST = "no_event_is_applied_twice", "no_event_is_lost"
ONE, RISE = "gtids_name_one_transaction", "sequences_rise_within_a_domain"
NUMBER_MODULUS = 4
"""Small substitute for 2**32."""


class StartsAtTheGtid(Binlog):
    """The source sends the requested GTID too."""

    def is_skipped(self, group: Logged, cursor: Cursor) -> bool:
        """Send the GTID."""
        is_the_one = cursor.skipping.get(group.gtid.domain) == group.gtid
        return super().is_skipped(group, cursor) and not is_the_one


class StartsOneLate(Binlog):
    """The source skips one GTID more."""

    def to_skip(
        self, listed: MariadbBinlogState, asked: MariadbPosition, own: MariadbPosition
    ) -> dict[int, MariadbGtid]:
        """Skip one more."""
        skipping = super().to_skip(listed, asked, own)
        for domain, gtid in skipping.items():
            gtids = [group.gtid for group in self.groups if group.gtid.domain == domain]
            if gtid in gtids[:-1]:
                skipping[domain] = gtids[gtids.index(gtid) + 1]
        return skipping


class AcceptsUnknown(Binlog):
    """The source accepts any GTID."""

    def accepts(self, gtid: MariadbGtid, state: MariadbBinlogState, own: MariadbPosition) -> bool:
        """Return True."""
        del gtid, state, own
        return True


class RefusesLast(Binlog):
    """The source rejects the last GTID."""

    def accepts(self, gtid: MariadbGtid, state: MariadbBinlogState, own: MariadbPosition) -> bool:
        """Require a later GTID."""
        after = MariadbGtid(gtid.domain, gtid.server, gtid.sequence + 1)
        return super().accepts(after, state, own)


class ForgetsToAskAgain(Binlog):
    """Unknown domains are never checked again."""

    def is_still_accepted(self, group: Logged, cursor: Cursor, state: MariadbBinlogState) -> bool:
        """Return True."""
        del group, cursor, state
        return True


class ChoosesFileByOneDomain(Binlog):
    """The list's first domain selects the file."""

    def may_start_in(self, listed: MariadbBinlogState, asked: MariadbPosition) -> bool:
        """Check the first domain."""
        return super().may_start_in(MariadbBinlogState(tuple(listed)[:1]), asked)


class MissesEndOfList(Binlog):
    """The source searches for a listed GTID."""

    def to_skip(
        self, listed: MariadbBinlogState, asked: MariadbPosition, own: MariadbPosition
    ) -> dict[int, MariadbGtid]:
        """Skip to every requested GTID."""
        del listed, own
        return {gtid.domain: gtid for gtid in asked}


class SkipsTogether(Binlog):
    """Skipping lasts until all domains have passed."""

    def is_skipped(self, group: Logged, cursor: Cursor) -> bool:
        """Skip while any domain skips."""
        return super().is_skipped(group, cursor) or bool(cursor.skipping)


class OffsetPlusOne(Binlog):
    """Conversion is one group late."""

    def position_at(self, place: Place) -> MariadbPosition:
        """Convert the next place."""
        return super().position_at(place._replace(offset=place.offset + 1))


class OffsetWithoutList(Binlog):
    """Conversion ignores the GTID list."""

    def position_at(self, place: Place) -> MariadbPosition:
        """Read groups only."""
        position = MariadbPosition()
        for group in self.files[place.file].groups[: place.offset]:
            position = position.advance(group.gtid)
        return position


class LosesState(Server):
    """A crash empties the binlog state."""

    def restart(self, half_written: MariadbGtid | None) -> None:
        """Empty the state."""
        super().restart(half_written)
        self.state = MariadbBinlogState()


class CountsHalfWritten(Server):
    """The state includes a cut-off group."""

    def restart(self, half_written: MariadbGtid | None) -> None:
        """Log the group."""
        super().restart(half_written)
        if half_written is not None:
            self.state = self.state.log(half_written)


class CountsOwnOnly(Server):
    """Numbering ignores other servers."""

    def next_gtid(self, domain: int) -> MariadbGtid:
        """Count local GTIDs."""
        own = [g.sequence for g in self.state if (g.domain, g.server) == (domain, self.number)]
        return MariadbGtid(domain, self.number, max(own, default=0) + 1)


class NumbersWrap(Server):
    """Sequence numbers wrap."""

    def next_gtid(self, domain: int) -> MariadbGtid:
        """Return the wrapped number."""
        gtid = super().next_gtid(domain)
        return MariadbGtid(domain, gtid.server, gtid.sequence % NUMBER_MODULUS)


class AppliesDuplicates(Server):
    """gtid_ignore_duplicates detects no duplicate."""

    def is_duplicate(self, gtid: MariadbGtid) -> bool:
        """Return False."""
        del gtid
        return False


class ComparesWithinServer(Server):
    """Strict mode compares within one server."""

    def refuses(self, gtid: MariadbGtid) -> bool:
        """Compare server numbers."""
        return self.is_strict and self.state.has_logged(gtid)


class AllowsEqual(Server):
    """Strict mode accepts an equal number."""

    def refuses(self, gtid: MariadbGtid) -> bool:
        """Accept equality."""
        return super().refuses(MariadbGtid(gtid.domain, gtid.server, gtid.sequence + 1))


class RefusesHoles(Server):
    """Strict mode rejects holes."""

    def refuses(self, gtid: MariadbGtid) -> bool:
        """Reject holes."""
        return self.is_strict and gtid.sequence != self.state.next_sequence(gtid.domain)


class TakesOwnForForeign(Server):
    """Servers apply their own groups (replicate_same_server_id)."""

    def is_own(self, gtid: MariadbGtid) -> bool:
        """Return False."""
        del gtid
        return False


class DoesNotWarn(Server):
    """Smaller numbers cause no warning."""

    def warning(self, gtid: MariadbGtid) -> str:
        """Return ""."""
        del gtid
        return ""


class OwnersLeaveEarly(Diamond):
    """A link releases its domain before commit."""

    def may_begin(self, link: Link, group: Logged) -> bool:
        """Return True."""
        del link, group
        return True


class NewGtidsOutside(Restore):
    """The outside applier sets no variables."""

    def on_outside(self, server: Server, group: Logged) -> None:
        """Commit with a local GTID."""
        super().on_outside(server, Logged(group.transaction, server.next_gtid(group.gtid.domain)))


class OwnServerIdOutside(Restore):
    """The outside applier omits server_id."""

    def on_outside(self, server: Server, group: Logged) -> None:
        """Commit with the local id."""
        gtid = MariadbGtid(group.gtid.domain, server.number, group.gtid.sequence)
        super().on_outside(server, Logged(group.transaction, gtid))


class StatesEveryServer(Ring):
    """Positions list GTIDs per server."""

    def stated_position(self, server: Server) -> str:
        """Return the binlog state."""
        return str(server.state)


class DeletesActiveDomain(Failover):
    """DELETE_DOMAIN_ID removes an active domain."""

    def on_rotate(self, server: Server) -> None:
        """Drop the first domain."""
        kept = [gtid for gtid in server.state if gtid.domain]
        server.state = MariadbBinlogState(kept)
        super().on_rotate(server)


class ElectedAsItIs(Failover):
    """The successor skips the catch-up."""

    def on_elected(self, successor: Server) -> None:
        """Connect to no survivor."""
        self.successor = successor
        self.links = []


class LostButUp(Failover):
    """A lost server goes on."""

    def lose(self, server: Server) -> None:
        """Stop its clients only."""
        super().lose(server)
        server.is_up = True


class RenumbersReplicated(Failover):
    """Replicas log new GTIDs."""

    def on_applied(self, link: Link) -> None:
        """Replace the GTID."""
        assert link.applying is not None
        own = link.replica.next_gtid(link.applying.gtid.domain)
        link.applying = Logged(link.applying.transaction, own)
        super().on_applied(link)


class AppliesAnyOrder(Failover):
    """Replicas ignore domain order."""

    def next_in_relay(self, link: Link) -> list[int]:
        """Return every index."""
        return list(range(len(link.relay)))


def _mutant(
    name: str,
    changed: type[Binlog] | type[Server] | type[Network],
    caught_by: str,
    source: str,
    fault: str,
    *,
    topology: str = "failover",
    dialect: str = "strict",
    transactions: int = 4,
    **options: Any,
) -> Mutant:
    if issubclass(changed, Binlog):
        parts = Parts(binlog=changed)
    elif issubclass(changed, Server):
        parts = Parts(server=changed)
    else:
        parts = Parts(shapes=SHAPES | {topology: replace(SHAPES[topology], network=changed)})
    named: dict[str, OptionValue] = {"topology": topology, **options}
    return register_mutant(written_mutant(
        name=name, family="GTID topologies", source=source, fault=fault, caught_by=caught_by,
        subject=TopologySubject(parts),
        workload=Workload(transactions=transactions, dialect=dialect, options=named),
    ))  # fmt: skip


_mutant("start_includes_the_gtid_asked_for", StartsAtTheGtid, TWICE, "MDEV-4473",
        "what the replica applied last is sent again", dialect="silent")  # fmt: skip
_mutant("start_is_one_group_late", StartsOneLate, LOST, "MDEV-4473",
        "the group after the position is never sent")  # fmt: skip
_mutant("unknown_start_is_accepted", AcceptsUnknown, "unknown_positions_are_refused", "MDEV-4820",
        "a replica that is ahead, or has diverged, is let in", topology="restore",
        transactions=5)  # fmt: skip
_mutant("last_gtid_is_taken_for_unknown", RefusesLast, "known_positions_are_accepted",
        "facts on MariaDB 2: state >= N", "a replica that has all is refused")  # fmt: skip
_mutant("unknown_domain_is_not_asked_again", ForgetsToAskAgain, LOST,
        "facts on MariaDB 2: re-check when D appears",
        "a replica ahead of its source waits for ever for its GTID, and skips all",
        topology="restore", transactions=5)  # fmt: skip
_mutant("file_is_chosen_by_one_domain", ChoosesFileByOneDomain, LOST,
        "facts on MariaDB 2: file choice", "groups of another domain lie in an older file",
        rotations=2)  # fmt: skip
_mutant("end_of_the_gtid_list_is_missed", MissesEndOfList, LOST,
        "facts on MariaDB 2: last of its domain in the list",
        "the GTID is waited for in a file that begins after it", rotations=2)  # fmt: skip
_mutant("start_skips_all_domains_together", SkipsTogether, LOST,
        "one global transaction ID per domain_id", "a domain that is ready loses groups while "
        "another is still skipped")  # fmt: skip
_mutant("offset_converts_one_group_late", OffsetPlusOne, LOST,
        "automatically convert this into the corresponding master_gtid_pos",
        "the group at the offset is never sent", topology="restore")  # fmt: skip
_mutant("offset_conversion_forgets_the_list", OffsetWithoutList, TWICE,
        "automatically convert this into the corresponding master_gtid_pos",
        "domains that the file has no group of begin anew", topology="restore",
        dialect="silent", rotations=2)  # fmt: skip
_mutant("binlog_state_is_lost_in_a_crash", LosesState, ONE, "MDEV-4982, MDEV-6391",
        "numbers are given a second time")  # fmt: skip
_mutant("half_written_group_counts", CountsHalfWritten, "binlog_positions_are_logged",
        "MDEV-4725", "the state names a group that nobody can read", losses=0)  # fmt: skip
_mutant("counter_ignores_replicated_numbers", CountsOwnOnly,
        "next_number_is_greatest_seen_plus_one",
        "will be set to one more than the received sequence number",
        "a promoted replica begins with small numbers")  # fmt: skip
_mutant("sequence_numbers_wrap", NumbersWrap, "next_number_is_greatest_seen_plus_one", "MDEV-8496",
        "a number is smaller than the one before", transactions=8)  # fmt: skip
_mutant("duplicates_are_not_ignored", AppliesDuplicates, TWICE, "MDEV-5804",
        "a GTID that comes over two connections is applied twice", topology="diamond",
        dialect="silent")  # fmt: skip
_mutant("domain_owner_leaves_before_the_commit", OwnersLeaveEarly, TWICE, "MDEV-8354, MDEV-33475",
        "the other connection applies what has not committed yet", topology="diamond",
        dialect="silent", crashes=0, rotations=0, schemas=1)  # fmt: skip
_mutant("strict_mode_compares_within_a_server", ComparesWithinServer, RISE, "gtid_strict_mode",
        "two writers of one domain go unnoticed", topology="multi_source",
        dialect="shared_strict")  # fmt: skip
_mutant("strict_mode_allows_equal_numbers", AllowsEqual, RISE, "gtid_strict_mode",
        "two servers give one number in one domain", topology="multi_source",
        dialect="shared_strict")  # fmt: skip
_mutant("strict_mode_refuses_holes", RefusesHoles, "only_smaller_numbers_are_refused",
        "On holes in the global transaction ID sequences", "a hole stops replication")  # fmt: skip
_mutant("own_transactions_come_back", TakesOwnForForeign, TWICE, "replicate_same_server_id",
        "a ring brings each transaction back to its server", topology="ring",
        dialect="silent")  # fmt: skip
_mutant("smaller_number_without_a_warning", DoesNotWarn, "smaller_numbers_are_noticed",
        "It also allows to give a warning", "two writers of one domain go unnoticed",
        topology="multi_source", dialect="shared_warning")  # fmt: skip
_mutant("outside_applier_gives_new_gtids", NewGtidsOutside, ONE, "On session variable server_id",
        "a restored server cannot take its source's place", topology="restore")  # fmt: skip
_mutant("outside_applier_keeps_its_server_id", OwnServerIdOutside, ONE,
        "On session variable server_id", "the same, with numbers that look right",
        topology="restore")  # fmt: skip
_mutant("position_names_every_server", StatesEveryServer, "state_has_one_entry_per_domain",
        "master_gtid_pos has just one global transaction ID per domain_id",
        "the position grows with each server that ever wrote", topology="ring",
        dialect="shared_strict")  # fmt: skip
_mutant("active_domain_is_deleted", DeletesActiveDomain, ONE, "MDEV-31140",
        "the domain's numbers begin anew", rotations=2)  # fmt: skip
_mutant("lost_server_goes_on", LostButUp, "crashed_servers_are_silent",
        "failover: the old source is gone", "a server that is lost still applies what it has read",
        dialect="silent")  # fmt: skip
_mutant("successor_does_not_catch_up", ElectedAsItIs, "elected_source_has_what_survivors_have",
        "facts on MariaDB 1.6: positions per domain",
        "a survivor is ahead in some domain and can follow nobody")  # fmt: skip
_mutant("replica_gives_new_gtids", RenumbersReplicated, ONE, "facts on MariaDB 2",
        "no other server knows the GTIDs of a replica's log", losses=0)  # fmt: skip
_mutant("relay_log_is_applied_in_any_order", AppliesAnyOrder, "logs_agree_within_a_domain",
        "never within a single domain", "a domain has two orders", dialect="silent")  # fmt: skip


class AsksForItsOwn(SwitchOver):
    """The former source starts from ``gtid_slave_pos``."""

    def on_changed_places(self) -> None:
        """Follow the new source."""
        super().on_changed_places()
        (link,) = self.links
        self.links = [Link(link.source, link.replica)]


_mutant("former_source_asks_for_its_own", AsksForItsOwn,
        "switched_sources_ask_from_their_logs_end", "CHANGE MASTER TO master_use_gtid=current_pos",
        "the new source sends all that the former one wrote", topology="switch_over",
        transactions=5)  # fmt: skip
