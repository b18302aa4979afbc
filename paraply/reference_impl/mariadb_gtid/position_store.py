"""Where a replica keeps its position: a table, its own binary log, or a plain file.

The table is ``rpl_slave_state`` of the text, ``mysql.gtid_slave_pos`` as shipped: one row for each
transaction, keyed by (domain_id, sub_id); the position in a domain is its row with the highest
sub_id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from paraply.reference_impl.mariadb_gtid.event_groups import EventGroup
from paraply.vocabulary.mariadb_gtid import MariadbGtid, MariadbPosition


class PositionRow(NamedTuple):
    """One row of ``rpl_slave_state``."""

    sub_id: int
    """Rises by one for each transaction read from the source's log, in that order."""
    gtid: MariadbGtid
    engine: int = 0
    """The engine of the table it is in (gtid_pos_auto_engines)."""


class PositionStore:
    """Says what a replica remembers. This base is the table with a row for each transaction."""

    needs_row = True
    """Whether a transaction writes its position as part of itself."""

    def __init__(self, log: Sequence[EventGroup]) -> None:
        self.log = log
        """The source's log, for stores that keep a place in it."""
        self.rows: list[PositionRow] = []
        """Committed rows; those of transactions under way are with their workers."""

    def holder(self, row: PositionRow, pending: Collection[PositionRow]) -> PositionRow | None:
        """Return the uncommitted row whose lock the insert must wait for: there is none."""
        del row, pending
        return None

    def on_engine_commit(self, group: EventGroup, row: PositionRow | None) -> None:
        """Keep the row of a transaction that has just committed."""
        del group
        if row is not None:
            self.rows.append(row)

    def on_synced(self) -> None:
        """The operating system wrote its files; a table has nothing to do."""

    @property
    def may_sync(self) -> bool:
        """Return whether there is something that only the operating system has."""
        return False

    def on_crash(self) -> None:
        """Lose what was not durable: committed rows are."""

    def load(self, binlog: Sequence[EventGroup]) -> MariadbPosition:
        """Return the position as a server that starts reads it; ``binlog`` is the replica's own."""
        del binlog
        return MariadbPosition(row.gtid for row in self.newest_of(self.rows).values())

    def newest_of(self, rows: Iterable[PositionRow]) -> dict[int, PositionRow]:
        """Return the newest row of each domain."""
        newest: dict[int, PositionRow] = {}
        for row in rows:
            best = newest.get(row.gtid.domain)
            if best is None or self.is_newer(row, best):
                newest[row.gtid.domain] = row
        return newest

    def is_newer(self, row: PositionRow, other: PositionRow) -> bool:
        """Return whether a row is the later one of two in its domain: the higher sub_id."""
        return row.sub_id > other.sub_id

    @property
    def highest_sub_id(self) -> int:
        """Return the highest sub_id in the table; numbering goes on after it."""
        return max((row.sub_id for row in self.rows), default=0)

    def old_rows(self, pending: Collection[PositionRow]) -> list[PositionRow]:
        """Return the rows that may be deleted: all but the newest committed one of each domain."""
        del pending
        return self.all_but_newest(self.rows)

    def all_but_newest(self, rows: Sequence[PositionRow]) -> list[PositionRow]:
        """Return the rows that are not the newest of their domain."""
        newest = self.newest_of(rows)
        return [row for row in rows if self.is_newer(newest[row.gtid.domain], row)]

    def delete_old(self, pending: Collection[PositionRow]) -> None:
        """Delete old rows, as the background thread does in a transaction of its own."""
        old = self.old_rows(pending)
        self.rows = [row for row in self.rows if row not in old]


class SingleRowTable(PositionStore):
    """``bad_rpl_slave_state`` of the text: one row per domain, which every transaction updates."""

    def holder(self, row: PositionRow, pending: Collection[PositionRow]) -> PositionRow | None:
        """Return the row of the transaction that has updated the domain's row and not committed."""
        return next((other for other in pending if other.gtid.domain == row.gtid.domain), None)

    def on_engine_commit(self, group: EventGroup, row: PositionRow | None) -> None:
        """Put the row in the place of the domain's."""
        if row is not None:
            self.rows = [one for one in self.rows if one.gtid.domain != group.domain] + [row]


class BinlogPosition(PositionStore):
    """Method 1 of the text: the position is what the replica's own binary log ends with."""

    needs_row = False

    def load(self, binlog: Sequence[EventGroup]) -> MariadbPosition:
        """Scan the binary log: the last complete group of each domain."""
        position = MariadbPosition()
        for group in binlog:
            position = position.advance(group.gtid)
        return position


class RelayLogInfo(PositionStore):
    """The file of old: after each event group the place in the source's log, written, not synced.

    A place is one number, so it says that all before it was applied, in every domain.
    """

    needs_row = False

    def __init__(self, log: Sequence[EventGroup]) -> None:
        super().__init__(log)
        self.written = 0
        """How many groups of the log the file says are applied."""
        self.durable = 0
        """What it says after a crash."""

    def on_engine_commit(self, group: EventGroup, row: PositionRow | None) -> None:
        """Write the place after the group."""
        del row
        self.written = self.log.index(group) + 1

    def on_synced(self) -> None:
        """Make the file durable."""
        self.durable = self.written

    @property
    def may_sync(self) -> bool:
        """Return whether the file has changed since it was last synced."""
        return self.durable != self.written

    def on_crash(self) -> None:
        """Fall back to what was durable."""
        self.written = self.durable

    def load(self, binlog: Sequence[EventGroup]) -> MariadbPosition:
        """Return the GTIDs at the place in the source's log."""
        del binlog
        position = MariadbPosition()
        for group in self.log[: self.written]:
            position = position.advance(group.gtid)
        return position
