"""Position stores: a table, the binary log, or a file.

The table is ``rpl_slave_state`` of the text, ``mysql.gtid_slave_pos`` as shipped. Its key is
(domain_id, sub_id). A domain's highest sub_id is its position.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from paraply.reference_impl.mariadb_gtid.event_groups import EventGroup
from paraply.vocabulary.mariadb_gtid import MariadbGtid, MariadbPosition


class PositionRow(NamedTuple):
    """A row of ``rpl_slave_state``."""

    sub_id: int
    """Source log order."""
    gtid: MariadbGtid
    engine: int = 0
    """Number of its engine (gtid_pos_auto_engines)."""


class PositionStore:
    """The table with a row per transaction."""

    needs_row = True

    def __init__(self, log: Sequence[EventGroup]) -> None:
        self.log = log
        self.rows: list[PositionRow] = []
        """Committed rows only."""

    def holder(self, row: PositionRow, pending: Collection[PositionRow]) -> PositionRow | None:
        """Return the blocking row, None here."""
        del row, pending
        return None

    def key_of(self, row: PositionRow) -> str:
        """Return the row's key as text."""
        return f"{row.gtid.domain} {row.sub_id}"

    def on_engine_commit(self, group: EventGroup, row: PositionRow | None) -> None:
        """Store a committed transaction's row."""
        del group
        if row is not None:
            self.rows.append(row)

    def on_synced(self) -> None:
        """Sync files."""

    @property
    def may_sync(self) -> bool:
        """Return whether unsynced writes exist."""
        return False

    def on_crash(self) -> None:
        """Lose volatile data."""

    def load(self, binlog: Sequence[EventGroup]) -> MariadbPosition:
        """Return the start position; ``binlog`` is the replica's."""
        del binlog
        return MariadbPosition(row.gtid for row in self.newest_of(self.rows).values())

    def newest_of(self, rows: Iterable[PositionRow]) -> dict[int, PositionRow]:
        """Return the newest row by domain."""
        newest: dict[int, PositionRow] = {}
        for row in rows:
            best = newest.get(row.gtid.domain)
            if best is None or self.is_newer(row, best):
                newest[row.gtid.domain] = row
        return newest

    def is_newer(self, row: PositionRow, other: PositionRow) -> bool:
        """Return whether its sub_id is higher."""
        return row.sub_id > other.sub_id

    @property
    def highest_sub_id(self) -> int:
        """Return the highest sub_id, or 0."""
        return max((row.sub_id for row in self.rows), default=0)

    def old_rows(self) -> list[PositionRow]:
        """Return committed rows but each domain's newest."""
        newest = self.newest_of(self.rows)
        return [row for row in self.rows if self.is_newer(newest[row.gtid.domain], row)]

    def delete_old(self) -> None:
        """Delete old rows (background thread)."""
        old = self.old_rows()
        self.rows = [row for row in self.rows if row not in old]


class SingleRowTable(PositionStore):
    """``bad_rpl_slave_state`` of the text: a row per domain."""

    def holder(self, row: PositionRow, pending: Collection[PositionRow]) -> PositionRow | None:
        """Return the domain's uncommitted row."""
        return next((other for other in pending if other.gtid.domain == row.gtid.domain), None)

    def key_of(self, row: PositionRow) -> str:
        """Return the domain as text."""
        return str(row.gtid.domain)

    def on_engine_commit(self, group: EventGroup, row: PositionRow | None) -> None:
        """Replace the domain's row."""
        if row is not None:
            self.rows = [one for one in self.rows if one.gtid.domain != group.domain] + [row]


class BinlogPosition(PositionStore):
    """Method 1 of the text: the binary log's end."""

    needs_row = False

    def load(self, binlog: Sequence[EventGroup]) -> MariadbPosition:
        """Return each domain's last group."""
        position = MariadbPosition()
        for group in binlog:
            position = position.advance(group.gtid)
        return position


class RelayLogInfo(PositionStore):
    """A file with an unsynced source log place."""

    needs_row = False

    def __init__(self, log: Sequence[EventGroup]) -> None:
        super().__init__(log)
        self.written = 0
        """Applied groups in the file."""
        self.durable = 0

    def on_engine_commit(self, group: EventGroup, row: PositionRow | None) -> None:
        """Write the place."""
        del row
        self.written = self.log.index(group) + 1

    def on_synced(self) -> None:
        """Make the file durable."""
        self.durable = self.written

    @property
    def may_sync(self) -> bool:
        """Return whether writes are unsynced."""
        return self.durable != self.written

    def on_crash(self) -> None:
        """Return to the durable place."""
        self.written = self.durable

    def load(self, binlog: Sequence[EventGroup]) -> MariadbPosition:
        """Return the GTIDs there."""
        del binlog
        position = MariadbPosition()
        for group in self.log[: self.written]:
            position = position.advance(group.gtid)
        return position
