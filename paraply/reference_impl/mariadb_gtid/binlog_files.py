"""Binary log files and the start place of replicas.

Source: the text, "On extensions to mysqlbinlog" and "On CHANGE MASTER TO syntax"; facts on MariaDB,
section 2, start position lookup.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from paraply.vocabulary.mariadb_gtid import MariadbBinlogState, MariadbGtid, MariadbPosition
from paraply.vocabulary.transactions import TransactionId


class Logged(NamedTuple):
    """A logged event group."""

    transaction: TransactionId
    gtid: MariadbGtid


class Place(NamedTuple):
    """File index from 0, and groups before the place."""

    file: int
    offset: int


@dataclass(slots=True)
class BinlogFile:
    """GTID_LIST state and groups."""

    listed: MariadbBinlogState
    groups: list[Logged] = field(default_factory=list)


@dataclass(slots=True)
class Cursor:
    """Read place and last skipped GTID by domain."""

    place: Place
    skipping: dict[int, MariadbGtid]
    unknown: set[int] = field(default_factory=set)
    """Unknown domains, checked again later."""


class Refused(NamedTuple):
    """Error 1236."""

    reason: str


@dataclass(eq=False)
class Binlog:
    """Files, oldest first."""

    files: list[BinlogFile] = field(default_factory=lambda: [BinlogFile(MariadbBinlogState())])
    first: int = 0
    """Index of the oldest file that is not purged."""

    @property
    def groups(self) -> list[Logged]:
        """Return all groups ever logged, oldest first."""
        return [group for file in self.files for group in file.groups]

    @property
    def end(self) -> Place:
        """Return the log's end."""
        return Place(len(self.files) - 1, len(self.files[-1].groups))

    def append(self, group: Logged) -> None:
        """Append to the newest file."""
        self.files[-1].groups.append(group)

    def rotate(self, state: MariadbBinlogState) -> None:
        """Begin a file with the state as GTID list.

        The list omits counters, so a restart after a rewind continues from the smaller number
        (measured on 10.11.19).
        """
        self.files.append(BinlogFile(MariadbBinlogState(state)))

    def scan(self) -> MariadbBinlogState:
        """Rebuild the state from the newest file."""
        state = self.files[-1].listed
        for group in self.files[-1].groups:
            state = state.log(group.gtid)
        return state

    # Where a replica starts.

    def find_start(
        self, asked: MariadbPosition, state: MariadbBinlogState, own: MariadbPosition
    ) -> Cursor | Refused:
        """Return the start place or a refusal; ``own`` is ``gtid_slave_pos``."""
        for gtid in asked:
            if not self.accepts(gtid, state, own):
                return Refused(f"{gtid} is not in the binary log")
        for number in range(len(self.files) - 1, self.first - 1, -1):
            listed = self.files[number].listed
            if self.may_start_in(listed, asked):
                skipping = self.to_skip(listed, asked, own)
                unknown = {gtid.domain for gtid in asked if not self.is_known(gtid.domain, state)}
                return Cursor(Place(number, 0), skipping, unknown)
        return Refused("what follows the position is purged")

    def accepts(self, gtid: MariadbGtid, state: MariadbBinlogState, own: MariadbPosition) -> bool:
        """Return whether the server accepts a GTID.

        It accepts logged GTIDs, its last applied GTID, and unknown domains.
        """
        is_own = gtid.domain in own and own[gtid.domain] == gtid
        return state.has_logged(gtid) or is_own or not self.is_known(gtid.domain, state)

    def is_known(self, domain: int, state: MariadbBinlogState) -> bool:
        """Return whether the domain is logged."""
        return any(entry.domain == domain for entry in state)

    def is_still_accepted(self, group: Logged, cursor: Cursor, state: MariadbBinlogState) -> bool:
        """Check the request at an unknown domain's first group."""
        if group.gtid.domain not in cursor.unknown:
            return True
        cursor.unknown.discard(group.gtid.domain)
        asked = cursor.skipping.get(group.gtid.domain)
        return asked is None or state.has_logged(asked)

    def may_start_in(self, listed: MariadbBinlogState, asked: MariadbPosition) -> bool:
        """Return whether all missing groups follow."""
        for entry in listed:
            if entry.domain not in asked:
                return False
            gtid = asked[entry.domain]
            is_before = gtid.server == entry.server and gtid.sequence <= entry.sequence
            if is_before and not self.is_last_listed(listed, gtid):
                return False
        return True

    def is_last_listed(self, listed: MariadbBinlogState, gtid: MariadbGtid) -> bool:
        """Return whether the GTID ends its listed domain."""
        position = listed.position
        return gtid.domain in position and position[gtid.domain] == gtid

    def to_skip(
        self, listed: MariadbBinlogState, asked: MariadbPosition, own: MariadbPosition
    ) -> dict[int, MariadbGtid]:
        """Return the last GTID to skip by domain.

        Listed last GTIDs and GTIDs never logged here need no skipping.
        """
        logged = {group.gtid for group in self.groups}
        return {
            gtid.domain: gtid
            for gtid in asked
            if not self.is_last_listed(listed, gtid) and (gtid in logged or gtid not in tuple(own))
        }

    def read(self, cursor: Cursor) -> Logged | None:
        """Return the next group, or None."""
        while cursor.place.offset >= len(self.files[cursor.place.file].groups):
            if cursor.place.file + 1 >= len(self.files):
                return None
            cursor.place = Place(cursor.place.file + 1, 0)
        group = self.files[cursor.place.file].groups[cursor.place.offset]
        cursor.place = Place(cursor.place.file, cursor.place.offset + 1)
        return group

    def is_skipped(self, group: Logged, cursor: Cursor) -> bool:
        """Return whether the replica already has the group.

        The requested GTID, or a greater one of its server (a hole), ends skipping.
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
        """Convert file and offset."""
        position = self.files[place.file].listed.position
        for group in self.files[place.file].groups[: place.offset]:
            position = position.advance(group.gtid)
        return position

    def groups_before(self, place: Place) -> list[Logged]:
        """Return all earlier groups."""
        earlier = [group for file in self.files[: place.file] for group in file.groups]
        return earlier + self.files[place.file].groups[: place.offset]
