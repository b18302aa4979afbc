"""Finds plain transactions in blocks of sent events, without decoding their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.column_types import ColumnType, WireColumn
from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.descriptors import column_step
from paraply.adapters.binlog.compiled.hashing import crc32_tables
from paraply.adapters.binlog.compiled.scan_kernel import table_map_digest
from paraply.adapters.binlog.compiled.sent import layout as S
from paraply.adapters.binlog.compiled.sent.scan_kernel import is_same_content, scan_sent
from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.format_description import (
    CHECKSUM_BYTES,
    HEADER_BYTES,
    Checksum,
    FormatDescription,
)
from paraply.adapters.binlog.rows_events import table_id_bytes
from paraply.adapters.binlog.table_map import TableMap, parse_table_map

TRANSACTIONS_MAX = 1024
"""Of one call of the kernel."""
MAPS_MAX = 4096
BODIES_BYTES_MAX = 4 << 20
"""Table maps beyond them are met anew."""
_TABLE_ID_BYTES = 6
_FIXED_BYTES = _TABLE_ID_BYTES + 2
_LIMIT_BYTES_MAX = 7
_TABLE_SETS_MAX = 4096
_ANONYMOUS = ""

_Ints = NDArray[np.int64]


class Outline(NamedTuple):
    """A plain transaction, whose events are ``start`` to ``end`` of the block."""

    gtid: str
    domain: int | None
    last_committed: int | None
    sequence_number: int | None
    start: int
    end: int
    offset: int
    """End position in the log; 0 if no event has one."""
    rows: int
    tables: frozenset[str]
    """Tables with rows."""


def _step(column: WireColumn) -> tuple[int, int, int] | None:
    """Return how to step over a column, if no value of it can be malformed or unlike itself."""
    if column.kind is ColumnType.JSON:
        return None
    step = column_step(column)
    if step is None:
        return None
    operation, width = step
    if column.kind in (ColumnType.FLOAT, ColumnType.DOUBLE):
        return S.FLOATING, width, 0
    if column.kind in (ColumnType.ENUM, ColumnType.SET) and column.members:
        members = len(column.members)
        limit = members if column.kind is ColumnType.ENUM else (1 << members) - 1
        if limit < 1 << (8 * width) - 1:
            return (S.LIMITED, width, limit) if width <= _LIMIT_BYTES_MAX else None
    return (S.PREFIXED if operation == L.PREFIXED else S.FIXED), width, 0


def scanner_of(description: FormatDescription, row_bytes_max: int) -> SentScanner | None:
    """Return a scanner of a log with this format, if it is one of the last twenty years."""
    if description.header_length != HEADER_BYTES:
        return None
    if table_id_bytes(description) != _TABLE_ID_BYTES:
        return None
    return SentScanner(description, row_bytes_max)


class SentScanner:
    """Scans blocks of whole events, each from where a transaction may begin.

    A transaction with more than ``row_bytes_max`` bytes and 16 per row is not plain.
    """

    def __init__(self, description: FormatDescription, row_bytes_max: int) -> None:
        self.is_mariadb = description.is_mariadb
        self.trailer = CHECKSUM_BYTES if description.checksum is Checksum.CRC32 else 0
        self.needs_more = False
        """Whether the last scan stopped inside of a transaction or at the end of the block."""
        self.position = 0
        """Where it stopped."""
        self._post_header = description.post_header_length(EventType.QUERY, 13)
        self._row_bytes_max = row_bytes_max
        self._crc = crc32_tables()
        self._words = np.zeros((2, 6), np.uint8)
        self._words[0, :5] = list(b"BEGIN")
        self._words[1] = list(b"COMMIT")
        self._uuids = np.zeros((256, 16), np.uint8)
        self._sources: list[str] = []
        self._progress: _Ints = np.zeros(L.PROGRESS_COLUMNS, np.int64)
        self._transactions: _Ints = np.zeros((TRANSACTIONS_MAX, S.TRANSACTION_COLUMNS), np.int64)
        self._touched: _Ints = np.zeros(8 * TRANSACTIONS_MAX, np.int64)
        self._forget()

    def _forget(self) -> None:
        self._names: list[str] = []
        self._table_sets: dict[tuple[int, ...], frozenset[str]] = {}
        self._hashes = np.zeros(2 * MAPS_MAX, np.uint64)
        self._slots: _Ints = np.zeros(2 * MAPS_MAX, np.int64)
        self._maps: _Ints = np.zeros((MAPS_MAX, S.MAP_COLUMNS), np.int64)
        self._bodies = np.zeros(1 << 12, np.uint8)
        self._columns: _Ints = np.zeros((256, S.COLUMN_COLUMNS), np.int64)
        self._bodies_used = self._columns_used = 0

    def scan(self, block: bytes, begin: int) -> Iterator[Outline]:
        """Yield the plain transactions from ``begin`` on, up to one that is not, or not whole."""
        data = np.frombuffer(block, np.uint8)
        self.position = begin
        progress = self._progress
        forgot_at = -1
        while True:
            with np.errstate(over="ignore"):
                scan_sent(
                    data, self.position, self.trailer, self._post_header, self.is_mariadb,
                    self._row_bytes_max, self._crc, self._words, self._hashes, self._slots,
                    self._maps, self._bodies, self._columns, self._uuids, progress,
                    self._transactions, self._touched,
                )  # fmt: skip
            status = int(progress[L.STATUS])
            found = int(progress[L.TRANSACTIONS])
            self.position = int(progress[L.POSITION])
            self.needs_more = status == L.NEED_MORE
            if found:
                yield from self._outlines(found)
            if status == L.NEED_TABLE:
                if self._is_full():
                    if forgot_at == self.position:
                        return  # One transaction has more tables than fit.
                    forgot_at = self.position
                    self._forget()
                self._meet_table(block, int(progress[L.DETAIL]))
            elif status != L.BATCH_FULL:
                return

    def _outlines(self, count: int) -> list[Outline]:
        lines = self._transactions[:count].tolist()
        touched = self._touched[: lines[-1][S.T_TOUCHED_END]].tolist()
        for index in range(len(self._sources), int(self._progress[L.UUIDS])):
            self._sources.append(str(UUID(bytes=bytes(self._uuids[index]))))
        outlines, first = [], 0
        for line in lines:
            start, end, rows, last, offset = line[: S.T_HEAD]
            _, _, kind, number, source, server, _, _, committed, sequence = line[S.T_HEAD :][:10]
            tables = self._tables_of(tuple(touched[first:last]))
            first = last
            if kind == EventType.MARIADB_GTID:
                gtid, domain = f"{source}-{server}-{number}", source
                committed = sequence = None
            else:
                gtid = f"{self._sources[source]}:{number}" if kind == EventType.GTID else _ANONYMOUS
                domain = None
            outlines.append(
                Outline(gtid, domain, committed, sequence, start, end, offset, rows, tables)
            )
        return outlines

    def _tables_of(self, slots: tuple[int, ...]) -> frozenset[str]:
        found = self._table_sets.get(slots)
        if found is None:
            if len(self._table_sets) >= _TABLE_SETS_MAX:
                self._table_sets.clear()
            found = frozenset(self._names[slot] for slot in slots)
            self._table_sets[slots] = found
        return found

    def _is_full(self) -> bool:
        return len(self._names) >= MAPS_MAX or self._bodies_used > BODIES_BYTES_MAX

    def _meet_table(self, block: bytes, at: int) -> None:
        length = int.from_bytes(block[at + 9 : at + 13], "little")
        body = block[at + HEADER_BYTES + _FIXED_BYTES : at + length - self.trailer]
        table: TableMap | None
        try:
            table = parse_table_map(body, is_mariadb=self.is_mariadb)
        except MalformedError:
            table = None  # The readable decoder raises it again.
        steps = [] if table is None else [_step(column) for column in table.columns]
        is_plain = table is not None and not table.undecodable and None not in steps
        slot = len(self._names)
        self._names.append("" if table is None else table.name)
        columns, bodies = self._columns_used, self._bodies_used
        self._columns = _with_room(self._columns, columns + len(steps))
        self._bodies = _with_room(self._bodies, bodies + len(body))
        if is_plain:
            for index, step in enumerate(steps, start=columns):
                self._columns[index] = step
        self._bodies[bodies : bodies + len(body)] = np.frombuffer(body, np.uint8)
        self._columns_used, self._bodies_used = columns + len(steps), bodies + len(body)
        self._maps[slot] = (
            is_plain, columns, columns + len(steps), bodies, bodies + len(body),
        )  # fmt: skip
        with np.errstate(over="ignore"):
            digest = int(table_map_digest(np.frombuffer(body, np.uint8), 0, len(body)))
        at = digest & (len(self._hashes) - 1)
        while self._hashes[at]:
            at = (at + 1) & (len(self._hashes) - 1)
        self._hashes[at], self._slots[at] = digest, slot


def _with_room(array: NDArray[np.generic], size: int) -> NDArray[np.generic]:
    if size <= len(array):
        return array
    longer = np.zeros((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def has_same_content(mine: bytes, theirs: bytes, my_trailer: int, their_trailer: int) -> bool:
    """Return whether two plain transactions have equal table maps and rows."""
    left, right = np.frombuffer(mine, np.uint8), np.frombuffer(theirs, np.uint8)
    return bool(is_same_content(left, right, my_trailer, their_trailer))
