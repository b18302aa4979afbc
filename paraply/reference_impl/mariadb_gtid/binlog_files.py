"""A server's binary log: files that begin with a GTID list, and where in them a replica starts.

Source: the text, "On extensions to mysqlbinlog" and "On CHANGE MASTER TO syntax"; facts on
MariaDB, section 2, start position lookup.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from paraply.vocabulary.mariadb_gtid import MariadbBinlogState, MariadbGtid, MariadbPosition
from paraply.vocabulary.transactions import TransactionId


class Logged(NamedTuple):
    """One event group in a binary log."""

    transaction: TransactionId
    gtid: MariadbGtid


class Place(NamedTuple):
    """A place between groups: file, from 0, and how many groups of it come before."""

    file: int
    offset: int


@dataclass(slots=True)
class BinlogFile:
    """One file: the state at its head (GTID_LIST), and its groups."""

    listed: MariadbBinlogState
    groups: list[Logged] = field(default_factory=list)


@dataclass(slots=True)
class Cursor:
    """Where a source reads for one replica, and up to which GTID it skips in each domain."""

    place: Place
    skipping: dict[int, MariadbGtid]
    unknown: set[int] = field(default_factory=set)
    """Domains of which the source had nothing when asked; looked at again at their first group."""


class Refused(NamedTuple):
    """Error 1236: replication cannot start at the position asked for."""

    reason: str


@dataclass(eq=False)
class Binlog:
    """The files, oldest first. Methods are the rules that a mutant replaces."""

    files: list[BinlogFile] = field(default_factory=lambda: [BinlogFile(MariadbBinlogState())])

    @property
    def groups(self) -> list[Logged]:
        """Return all groups, oldest first."""
        return [group for file in self.files for group in file.groups]

    @property
    def end(self) -> Place:
        """Return the place after the last group."""
        return Place(len(self.files) - 1, len(self.files[-1].groups))

    def append(self, group: Logged) -> None:
        """Write a group to the newest file."""
        self.files[-1].groups.append(group)

    def rotate(self, state: MariadbBinlogState) -> None:
        """Begin a new file; its GTID list is the binlog state.

        The list does not hold the counters: after a number went back, a restart counts on from
        the smaller one (measured on 10.11.19).
        """
        self.files.append(BinlogFile(MariadbBinlogState(state)))

    def scan(self) -> MariadbBinlogState:
        """Return the state that crash recovery rebuilds from the newest file."""
        state = self.files[-1].listed
        for group in self.files[-1].groups:
            state = state.log(group.gtid)
        return state

    # Where a replica starts.

    def find_start(
        self, asked: MariadbPosition, state: MariadbBinlogState, own: MariadbPosition
    ) -> Cursor | Refused:
        """Return where a replica that asks for a position starts.

        Args:
            state: the server's binlog state.
            own: its ``gtid_slave_pos``: what it applied, whether or not it logged that.
        """
        for gtid in asked:
            if not self.accepts(gtid, state, own):
                return Refused(f"{gtid} is not in the binary log")
        for number in range(len(self.files) - 1, -1, -1):
            listed = self.files[number].listed
            if self.may_start_in(listed, asked):
                skipping = self.to_skip(listed, asked, own)
                unknown = {gtid.domain for gtid in asked if not self.is_known(gtid.domain, state)}
                return Cursor(Place(number, 0), skipping, unknown)
        return Refused(f"what follows {asked or 'the empty position'} is purged")

    def accepts(self, gtid: MariadbGtid, state: MariadbBinlogState, own: MariadbPosition) -> bool:
        """Return whether a replica may ask for a GTID.

        It was logged; or this server applied it last and did not log it; or the domain is not
        known here (yet).
        """
        is_own = gtid.domain in own and own[gtid.domain] == gtid
        return state.has_logged(gtid) or is_own or not self.is_known(gtid.domain, state)

    def is_known(self, domain: int, state: MariadbBinlogState) -> bool:
        """Return whether anything was ever logged in a domain."""
        return any(entry.domain == domain for entry in state)

    def is_still_accepted(self, group: Logged, cursor: Cursor, state: MariadbBinlogState) -> bool:
        """Return whether a replica may go on at the first group of a domain once unknown."""
        if group.gtid.domain not in cursor.unknown:
            return True
        cursor.unknown.discard(group.gtid.domain)
        asked = cursor.skipping.get(group.gtid.domain)
        return asked is None or state.has_logged(asked)

    def may_start_in(self, listed: MariadbBinlogState, asked: MariadbPosition) -> bool:
        """Return whether a file that begins with this list has all that the replica lacks."""
        for entry in listed:
            if entry.domain not in asked:
                return False
            gtid = asked[entry.domain]
            is_before = gtid.server == entry.server and gtid.sequence <= entry.sequence
            if is_before and not self.is_last_listed(listed, gtid):
                return False
        return True

    def is_last_listed(self, listed: MariadbBinlogState, gtid: MariadbGtid) -> bool:
        """Return whether a GTID is exactly the most recent of its domain in a list."""
        position = listed.position
        return gtid.domain in position and position[gtid.domain] == gtid

    def to_skip(
        self, listed: MariadbBinlogState, asked: MariadbPosition, own: MariadbPosition
    ) -> dict[int, MariadbGtid]:
        """Return the domains in which groups are skipped, up to and including a GTID.

        Nothing is skipped for the last one before the file, nor for what was never logged here.
        """
        logged = {group.gtid for group in self.groups}
        return {
            gtid.domain: gtid
            for gtid in asked
            if not self.is_last_listed(listed, gtid) and (gtid in logged or gtid not in tuple(own))
        }

    def read(self, cursor: Cursor) -> Logged | None:
        """Return the next group and step past it; None at the end."""
        while cursor.place.offset >= len(self.files[cursor.place.file].groups):
            if cursor.place.file + 1 >= len(self.files):
                return None
            cursor.place = Place(cursor.place.file + 1, 0)
        group = self.files[cursor.place.file].groups[cursor.place.offset]
        cursor.place = Place(cursor.place.file, cursor.place.offset + 1)
        return group

    def is_skipped(self, group: Logged, cursor: Cursor) -> bool:
        """Return whether the group is one that the replica has; the last of them ends it.

        A greater number of the same server ends it too: the GTID asked for lies in a hole.
        """
        asked = cursor.skipping.get(group.gtid.domain)
        if asked is None:
            return False
        is_past = group.gtid.server == asked.server and group.gtid.sequence > asked.sequence
        if is_past or group.gtid == asked:
            del cursor.skipping[group.gtid.domain]
        return not is_past

    # Conversion from file and offset.

    def position_at(self, place: Place) -> MariadbPosition:
        """Return the GTID position that a file and offset stand for."""
        position = self.files[place.file].listed.position
        for group in self.files[place.file].groups[: place.offset]:
            position = position.advance(group.gtid)
        return position

    def groups_before(self, place: Place) -> list[Logged]:
        """Return the groups before a place, of all files."""
        earlier = [group for file in self.files[: place.file] for group in file.groups]
        return earlier + self.files[place.file].groups[: place.offset]
