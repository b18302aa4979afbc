"""Plain transactions as arrays, from the scanner to the judges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.collect_kernel import collect
from paraply.adapters.binlog.compiled.descriptors import Descriptors
from paraply.adapters.binlog.compiled.left_rows import (
    LeftChanges,
    LeftKeys,
    LeftRows,
    left_keys,
)
from paraply.vocabulary.keys import TableTies
from paraply.vocabulary.log import LoggedKind, LoggedTransaction, LogPosition

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_MARIADB_GTID, _GTID, _ANONYMOUS = 162, 33, 34
_FLAG_WORDS = {
    flags: frozenset(
        word
        for bit, word in ((4, "transactional"), (8, "allow_parallel"), (16, "waited"))
        if flags & bit
    )
    for flags in range(32)
}
_SBR = (frozenset[str](), frozenset({"may_have_sbr"}))
_EVENTS_MAX = 1 << 16
"""Rows events of left tables in a batch."""


@dataclass(slots=True)
class Arrays:
    """Arrays of one scan; the next overwrites them."""

    transactions: Ints
    rows: Ints
    digests: Words
    keys: Words
    counts: Ints = field(default_factory=lambda: np.zeros(256, np.int64))
    progress: Ints = field(default_factory=lambda: np.zeros(L.PROGRESS_COLUMNS, np.int64))
    uuids: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((256, 16), np.uint8))
    left: Ints = field(default_factory=lambda: np.zeros((_EVENTS_MAX, L.LEFT_COLUMNS), np.int64))

    @classmethod
    def of(cls, transactions: int, rows: int, *, digests: int = 1) -> Arrays:
        """Return empty arrays of these sizes, with so many digests of each image and key."""
        return cls(
            transactions=np.zeros((transactions, L.TRANSACTION_COLUMNS), np.int64),
            rows=np.zeros((rows, L.ROW_COLUMNS), np.int64),
            digests=np.zeros((rows, 2 * digests), np.uint64),
            keys=np.zeros((2 * rows, 2 * digests), np.uint64),
        )

    def with_left(self, left: LeftRows) -> Arrays:
        """Return a copy of the scanned lines with the left rows in their places.

        Each left row has a line of keys, which is zero.
        """
        count, rows, keys = (
            int(self.progress[column]) for column in (L.TRANSACTIONS, L.ROWS, L.KEYS)
        )
        transactions, more = self.transactions[:count].copy(), len(left.lines)
        of_transaction = np.zeros(count, np.int64)
        of_transaction[[each.index for each in left.changes]] = [
            len(each.rows) for each in left.changes
        ]
        transactions[:, L.T_ROW_END] += np.cumsum(of_transaction)
        lines = left.lines.copy()
        lines[:, L.R_KEY_START] = keys + np.arange(more)
        places = left.rows_before
        progress = self.progress.copy()
        progress[L.ROWS], progress[L.KEYS] = rows + more, keys + more
        return Arrays(
            transactions=transactions,
            rows=np.insert(self.rows[:rows], places, lines, axis=0),
            digests=np.insert(self.digests[:rows], places, 0, axis=0),
            keys=np.concatenate([self.keys[:keys], np.zeros((more, 2), np.uint64)]),
            counts=self.counts,
            progress=progress,
            uuids=self.uuids,
            left=self.left,
        )


@dataclass(slots=True)
class Touched:
    """Tables and keys of a batch; ``*_ends`` are exclusive."""

    key_ends: Ints
    """(written, read, locked) per transaction."""
    keys: Words
    marks: NDArray[np.uint8]
    table_ends: Ints
    tables: Ints
    roles: Ints
    """Of each table, beside keys (``layout.BLURRED`` and so on); 0 for left ones."""
    census: Ints


class Toucher:
    """Finds the distinct keys and tables per transaction."""

    def __init__(self) -> None:
        self._stamp = 0
        self._seen_keys: Words = np.zeros(0, np.uint64)
        self._seen_at: Ints = np.zeros(0, np.int64)
        self._table_seen: Ints = np.zeros((0, 2), np.int64)
        self._found: Words = np.zeros(4 * L.KEYS_OF_TABLE_MAX + 1, np.uint64)
        self._marks: NDArray[np.uint8] = np.zeros(4 * L.KEYS_OF_TABLE_MAX + 1, np.uint8)

    def touched(self, arrays: Arrays, descriptors: Descriptors, left: LeftKeys) -> Touched:
        """Return the scanned transactions' keys and tables."""
        count = int(arrays.progress[L.TRANSACTIONS])
        rows = int(arrays.progress[L.ROWS])
        # A line of a foreign key gives up to four keys, a row without a key two.
        keys = 4 * int(arrays.progress[L.KEYS]) + 2 * rows + len(left.keys)
        if len(self._seen_keys) < 2 * keys:
            slots = 1 << (2 * keys).bit_length()
            self._seen_keys = np.zeros(slots, np.uint64)
            self._seen_at = np.zeros(slots, np.int64)
        tables = len(descriptors.numbers)
        if len(self._table_seen) < tables:
            self._table_seen = np.zeros((2 * tables, 2), np.int64)
        found = Touched(
            key_ends=np.zeros((count, 3), np.int64),
            keys=np.zeros(keys, np.uint64),
            marks=np.zeros(keys, np.uint8),
            table_ends=np.zeros(count, np.int64),
            tables=np.zeros(rows, np.int64),
            roles=np.zeros(rows, np.int64),
            census=np.zeros((tables, 4), np.int64),
        )
        self._stamp = collect(
            arrays.transactions, count, arrays.rows, arrays.keys, arrays.digests,
            descriptors.tables, descriptors.keys,
            left.ends, left.keys, left.kinds, left.marks,
            self._seen_keys, self._seen_at, self._table_seen, self._stamp,
            found.key_ends, found.keys, found.marks, found.table_ends, found.tables,
            found.roles, found.census, self._found, self._marks,
        )  # fmt: skip
        return found


@dataclass(slots=True)
class Batch:
    """Consecutive plain transactions of one file and clock run.

    The scanner's next step changes the arrays.
    """

    file: str
    first_ordinal: int
    clock: int
    arrays: Arrays
    descriptors: Descriptors
    touched: Touched
    first_place: int
    """Place of the file's first byte (``rereading``)."""
    left: list[LeftChanges] = field(default_factory=list)
    """Rows that the readable code is to judge; their digests are 0."""

    def __len__(self) -> int:
        return int(self.arrays.progress[L.TRANSACTIONS])

    def _column(self, column: int) -> Ints:
        return self.arrays.transactions[: len(self), column]

    @property
    def last_committed(self) -> Ints:
        """Return last_committed per transaction, -1 for absent."""
        return self._column(L.T_LAST_COMMITTED)

    @property
    def sequence_number(self) -> Ints:
        """Return sequence_number per transaction, -1 for absent."""
        return self._column(L.T_SEQUENCE_NUMBER)

    @property
    def commit_id(self) -> Ints:
        """Return commit ids, -1 for groups of one."""
        return self._column(L.T_COMMIT_ID)

    @property
    def domain(self) -> Ints:
        """Return replication domains, -1 for absent."""
        return np.where(self._column(L.T_TYPE) == _MARIADB_GTID, self._column(L.T_SOURCE), L.ABSENT)

    @property
    def places(self) -> Ints:
        """Return each transaction's place, for the rereader."""
        return self._column(L.T_START) + self.first_place

    @property
    def row_ends(self) -> Ints:
        """Return each transaction's exclusive row end."""
        return self._column(L.T_ROW_END).copy()

    def _row_column(self, column: int) -> Ints:
        return self.arrays.rows[: int(self.arrays.progress[L.ROWS]), column]

    @property
    def row_operations(self) -> Ints:
        """Return 0 insert, 1 update, 2 delete per row."""
        return self._row_column(L.R_OPERATION)

    @property
    def row_tables(self) -> Ints:
        """Return the table number per row."""
        return self.descriptors.tables[self._row_column(L.R_TABLE), L.D_NUMBER]

    @property
    def row_unchecked(self) -> Ints:
        """Return per row whether no foreign keys were checked."""
        return self._row_column(L.R_UNCHECKED)

    @property
    def row_keys_start(self) -> Ints:
        """Return each row's first line in ``row_keys``."""
        return self._row_column(L.R_KEY_START)

    @property
    def row_images(self) -> Words:
        """Return row digests (before, after), 0 for none."""
        return self.arrays.digests[: int(self.arrays.progress[L.ROWS])]

    @property
    def row_keys(self) -> Words:
        """Return key digests (before, after), 0 for NULL."""
        return self.arrays.keys[: int(self.arrays.progress[L.KEYS])]

    @property
    def table_names(self) -> list[str]:
        """Return table names by number."""
        return list(self.descriptors.numbers)

    @property
    def key_names(self) -> list[tuple[str, ...]]:
        """Return key names by table number."""
        return self.descriptors.key_names

    @property
    def ties(self) -> list[TableTies]:
        """Return what foreign keys mean for the rows of each table."""
        return self.descriptors.ties

    def gtids(self, among: Sequence[int] | None = None) -> tuple[str, str]:
        """Return the first and last GTID, of all or of chosen ones, empty if anonymous."""
        named = np.flatnonzero(self._column(L.T_TYPE) != _ANONYMOUS)
        if among is not None:
            named = named[np.isin(named, np.asarray(among, np.int64))]
        if not len(named):
            return "", ""
        first, last = map(self.gtid, named[[0, -1]].tolist())
        return first, last

    def gtid(self, index: int) -> str:
        """Return a transaction's GTID, empty if anonymous."""
        line = self.arrays.transactions[index].tolist()
        source, number = line[L.T_SOURCE], line[L.T_NUMBER]
        if line[L.T_TYPE] == _ANONYMOUS:
            return ""
        if line[L.T_TYPE] == _MARIADB_GTID:
            return f"{source}-{line[L.T_SERVER]}-{number}"
        return f"{UUID(bytes=bytes(self.arrays.uuids[source]))}:{number}"

    @property
    def origins(self) -> Ints:
        """Return what numbers each GTID (three columns), and its number."""
        kind, source = self._column(L.T_TYPE), self._column(L.T_SOURCE)
        server = np.where(kind == _MARIADB_GTID, self._column(L.T_SERVER), 0)
        return np.stack([kind, source, server, self._column(L.T_NUMBER)], axis=1)

    @property
    def clocks(self) -> Ints:
        """Return (server id, event time, commit time) per transaction."""
        return self.arrays.transactions[: len(self)][:, [L.T_SERVER, L.T_TIME, L.T_COMMITTED_US]]

    def with_gtids(self, gtids: Collection[str]) -> list[int]:
        """Return in order the transactions that have one of these GTIDs."""
        numbers, found = self._column(L.T_NUMBER), set[int]()
        for gtid in gtids:
            number = int(gtid.replace("-", ":").rpartition(":")[2])
            if number < 1 << 63:
                same = np.flatnonzero(numbers == number).tolist()
                found.update(index for index in same if self.gtid(index) == gtid)
        return sorted(found)

    def part(self, first: int, end: int, toucher: Toucher) -> Batch:
        """Return the transactions from ``first`` to before ``end`` as a batch."""
        if (first, end) == (0, len(self)):
            return self
        arrays, ends = self.arrays, self.row_ends
        first_row, row_end = int(ends[first - 1]) if first else 0, int(ends[end - 1])
        transactions, progress = arrays.transactions[first:end].copy(), arrays.progress.copy()
        transactions[:, L.T_ROW_END] -= first_row
        progress[[L.TRANSACTIONS, L.ROWS]] = end - first, row_end - first_row
        part = replace(
            arrays,
            transactions=transactions,
            rows=arrays.rows[first_row:row_end],
            digests=arrays.digests[first_row:row_end],
            progress=progress,
        )
        left = [
            replace(each, index=each.index - first, rows=tuple(at - first_row for at in each.rows))
            for each in self.left
            if first <= each.index < end
        ]
        touched = toucher.touched(part, self.descriptors, left_keys(left, end - first))
        return replace(
            self, first_ordinal=self.first_ordinal + first, arrays=part, touched=touched, left=left
        )

    def headers(self, chosen: Sequence[int] | None = None) -> Iterator[LoggedTransaction]:
        """Yield the transactions, or the chosen ones, without rows and keys."""
        kept = self.kept(np.asarray(range(len(self)) if chosen is None else chosen, np.int64))
        return map(kept.header, range(len(kept)))

    def kept(self, chosen: Ints) -> KeptLines:
        """Return what names the chosen transactions after the batch is gone."""
        changed = np.diff(self._column(L.T_ROW_END), prepend=0) > 0
        return KeptLines(
            file=self.file,
            clock=self.clock,
            sources=[
                str(UUID(bytes=bytes(self.arrays.uuids[index])))
                for index in range(int(self.arrays.progress[L.UUIDS]))
            ],
            ordinals=self.first_ordinal + chosen,
            lines=self.arrays.transactions[chosen],
            changed=changed[chosen],
        )


@dataclass(slots=True)
class KeptLines:
    """Headers of transactions of a batch."""

    file: str
    clock: int
    sources: list[str]
    ordinals: Ints
    lines: Ints
    changed: NDArray[np.bool_]
    """Whether each has rows."""

    def __len__(self) -> int:
        return len(self.ordinals)

    def header(self, at: int) -> LoggedTransaction:
        """Return one without rows and keys."""
        (
            start, end, kind, number, source, server, flags, commit_id, last_committed,
            sequence_number, committed_us, time, _, _,
        ) = self.lines[at].tolist()  # fmt: skip
        txn = LoggedTransaction(
            ordinal=int(self.ordinals[at]),
            kind=LoggedKind.ROWS if self.changed[at] else LoggedKind.EMPTY,
            start=LogPosition(file=self.file, offset=start),
            end_offset=end,
            server_id=server,
            clock=self.clock,
            event_time_s=time,
        )
        if kind == _MARIADB_GTID:
            txn.gtid = f"{source}-{server}-{number}"
            txn.domain = source
            txn.flags = _FLAG_WORDS[flags & 31]
            txn.commit_id = None if commit_id < 0 else commit_id
        else:
            if kind == _GTID:
                txn.gtid = f"{self.sources[source]}:{number}"
            txn.flags = _SBR[flags & 1]
            txn.last_committed = last_committed
            txn.sequence_number = sequence_number
            txn.committed_at_us = None if committed_us < 0 else committed_us
        return txn
