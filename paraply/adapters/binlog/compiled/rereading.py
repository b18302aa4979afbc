"""Rereading of single transactions from a scanned log."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.batch import Arrays
from paraply.adapters.binlog.compiled.collect_kernel import (
    LOCKED,
    READ,
    WRITTEN,
    derived,
    row_keys,
)
from paraply.adapters.binlog.compiled.collect_kernel import whole_row as whole_row_digest
from paraply.adapters.binlog.compiled.descriptors import Descriptors, KeyLine, ScanPlan, scan_plan
from paraply.adapters.binlog.compiled.framing_rows import Framed, KeepingDecoder
from paraply.adapters.binlog.compiled.hashing import crc32_tables
from paraply.adapters.binlog.compiled.left_rows import key_digest, keyed, only_left, touched_keys
from paraply.adapters.binlog.compiled.left_tables import LeftTables
from paraply.adapters.binlog.compiled.scan_kernel import new_scratch, scan, table_map_digest
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.format_description import (
    CHECKSUM_BYTES,
    HEADER_BYTES,
    FormatDescription,
)
from paraply.adapters.binlog.framing import HEADER, EventHeader, RawEvent
from paraply.adapters.binlog.keys.builder import KeyBuilder, TablePlan, plan_of
from paraply.adapters.binlog.keys.foreign import MOVED, NEW, of_kind
from paraply.adapters.binlog.keys.parts import BuiltKey, whole_row
from paraply.adapters.binlog.report import FileReport, LogReport
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap, parse_table_map
from paraply.adapters.binlog.transaction_stream import TransactionStream
from paraply.adapters.remote_files import open_range
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LoggedTransaction, RowChange, RowImage
from paraply.vocabulary.not_compilable import NotCompilable

OFFSET_BITS = 44
"""A place is file number and offset (up to 16 TiB)."""
CHANGES_MAX = 1_000
"""What is older is read with later definitions, and refused if it does not fit them."""
_BUFFER_BYTES = 1 << 16
"""Few transactions are longer, and buckets charge by the byte."""


@dataclass(slots=True)
class _Definitions:
    """What is true of tables until a change."""

    until: int = 0
    """The place of the change."""
    plans: dict[int, ScanPlan | None] = field(default_factory=dict)
    """By the digest of a table map."""
    left: dict[str, TablePlan] = field(default_factory=dict)
    """Of left tables, by name."""


class _PastKeys(KeyBuilder):
    """Builds keys as they were."""

    def __init__(self, registry: SchemaRegistry, plans: dict[str, TablePlan]) -> None:
        super().__init__(registry)
        self._past = plans

    def _plan(self, table: str) -> TablePlan:
        return self._past.get(table) or super()._plan(table)


class Rereader:
    """Rereads transactions by place; one file is open."""

    def __init__(self, keys: KeyBuilder, left: LeftTables | None = None) -> None:
        self._keys = keys
        self._left = left or LeftTables()
        self._formats: list[tuple[str, list[tuple[int, FormatDescription]]]] = []
        self._today = _Definitions()
        self._before = deque[_Definitions](maxlen=CHANGES_MAX)
        self._crc = crc32_tables()
        self._words = np.zeros((2, 6), np.uint8)
        self._words[0, :5] = list(b"BEGIN")
        self._words[1] = list(b"COMMIT")
        self._last: tuple[int, LoggedTransaction, Framed] | None = None

    def add_file(self, file: str) -> None:
        """Start a new current file."""
        self._formats.append((file, []))

    def note_format(self, offset: int, description: FormatDescription) -> None:
        """Note the event format from ``offset`` on."""
        formats = self._formats[-1][1]
        if not formats or formats[-1][1] is not description:
            formats.append((offset, description))

    def __getstate__(self) -> dict[str, Any]:
        # Plans are functions.
        nothing = {"_today": _Definitions(), "_before": deque[_Definitions](maxlen=CHANGES_MAX)}
        return {**self.__dict__, **nothing}

    def note_plan(self, digest: int, plan: ScanPlan | None) -> None:
        """Note how kernels read rows of a table map."""
        self._today.plans[digest] = plan

    def note_left(self, plans: dict[str, TablePlan]) -> None:
        """Note how the keys of left tables are built."""
        self._today.left |= plans

    def note_change(self, offset: int) -> None:
        """Note that tables change at ``offset``."""
        if self._today.plans:
            self._today.until = self.place_of(offset)
            self._before.append(self._today)
            self._today = _Definitions()

    def _then(self, place: int) -> _Definitions:
        """Return what was true of tables at a place."""
        return next((each for each in self._before if place < each.until), self._today)

    def place_of(self, offset: int) -> int:
        """Return an offset's place in the current file."""
        return (len(self._formats) - 1) << OFFSET_BITS | offset

    def reread(self, ordinal: int, at: int) -> LoggedTransaction:
        """Return the transaction at place ``at``, without keys."""
        txn, _ = self._read_once(at)
        txn.ordinal = ordinal
        return txn

    def _read_once(self, at: int) -> tuple[LoggedTransaction, Framed]:
        if self._last is None or self._last[0] != at:
            self._last = at, *self._read(at)
        return self._last[1:]

    def _read(self, place: int) -> tuple[LoggedTransaction, Framed]:
        file, offset, description = self._find(place)
        stream = TransactionStream(report=LogReport(), on_table_map=None, on_rows=None)
        stream.file = FileReport(file=file)
        decoder = KeepingDecoder()
        trailer = CHECKSUM_BYTES if description.checksum else 0
        with open_range(file, offset, buffer_bytes=_BUFFER_BYTES) as log:
            while True:
                head = log.read(HEADER_BYTES)
                if len(head) < HEADER_BYTES:
                    raise NotCompilable(f"{file} changed since the scan")
                time_s, code, server_id, length, end, flags = HEADER.unpack(head)
                header = EventHeader(
                    time_s, code, server_id, length, end, flags, offset, offset + length
                )
                body = log.read(header.length - HEADER_BYTES)
                offset += header.length
                raw = RawEvent(header, body[: len(body) - trailer])
                for event in decoder.decode(raw, description):
                    for txn in stream.on_event(event):
                        framed = decoder.framed(txn.domain)
                        assert framed is not None
                        return txn, framed

    def keys_with(self, ordinal: int, at: int, digests: frozenset[int]) -> dict[int, ConflictKey]:
        """Return, by digest, the transaction's first such key, in the key builder's order."""
        txn = self.reread(ordinal, at)
        arrays, known, plans = self._rescan(at)
        builder = _PastKeys(self._keys.registry, self._then(at).left)
        found = self._left_keys_with(txn, digests, builder)
        by_kind: list[dict[int, ConflictKey]] = [{} for _ in (WRITTEN, READ, LOCKED)]
        names = self._left.reasons
        read = [change for change in txn.rows if change.table.lower() not in names]
        for row, change in enumerate(read):
            slot = int(arrays.rows[row, L.R_TABLE])
            for kind in (WRITTEN, READ, LOCKED):
                of_row = _candidates(arrays, known, row, kind, plans[slot] or (), change)
                sought = [each for each in of_row if each[0] in digests]
                # Few rows have a key that is sought, and only their keys are built.
                emitted = _emitted(arrays, known, row, kind) if sought else ()
                for digest, made, line, image in sought:
                    if digest in emitted and digest not in by_kind[kind]:
                        key = _key_of(line, image)
                        by_kind[kind][digest] = of_kind(made, key) if made else key
            for side, image in enumerate((change.before, change.whole_after)):
                with np.errstate(over="ignore"):
                    seed = known.tables[slot, L.D_SEED]
                    named = int(whole_row_digest(arrays.digests[row, side], seed))
                key = None if image is None else whole_row(change.table, image)
                if named in digests and key is not None:
                    found.setdefault(named, key)
        # A key is shown as what writes it does, else as what reads or locks it.
        for of_one in by_kind:
            found = of_one | found
        if found.keys() != digests:
            raise NotCompilable(f"{txn.start}: keys changed since the scan")
        return found

    def _left_keys_with(
        self, txn: LoggedTransaction, digests: frozenset[int], builder: KeyBuilder
    ) -> dict[int, ConflictKey]:
        rows = only_left(txn, self._left.reasons)
        keys = [key for key, *_ in touched_keys(keyed(rows, builder))] if rows.rows else []
        keys += txn.xa_keys
        return {digest: key for key in keys if (digest := key_digest(key)) in digests}

    def _find(self, place: int) -> tuple[str, int, FormatDescription]:
        offset = place & ((1 << OFFSET_BITS) - 1)
        file, formats = self._formats[place >> OFFSET_BITS]
        description = next(found for first, found in reversed(formats) if first <= offset)
        return file, offset, description

    def _rescan(self, place: int) -> tuple[Arrays, Descriptors, list[ScanPlan | None]]:
        txn, (data, description) = self._read_once(place)
        file = txn.start.file
        arrays = Arrays.of(1, max(1, len(txn.rows)))
        arrays.keys = np.zeros((max(1, len(txn.rows)) * L.KEYS_OF_TABLE_MAX, 2), np.uint64)
        known, plans = Descriptors(), list[ScanPlan | None]()
        then = self._then(place)
        scratch = new_scratch()
        tables = self._tables_of(data, description)
        while True:
            with np.errstate(over="ignore"):
                scan(
                    data, len(data), 0, 0,
                    description.post_header_length(EventType.QUERY, 13), description.is_mariadb,
                    self._crc, self._words, known.hashes, known.slots, known.tables,
                    known.columns, known.keys, known.seeds, known.parts, known.texts.arrays,
                    arrays.uuids, scratch, arrays.progress, arrays.transactions, arrays.rows,
                    arrays.digests, arrays.keys, arrays.counts, arrays.left,
                )  # fmt: skip
            status = int(arrays.progress[L.STATUS])
            if arrays.progress[L.TRANSACTIONS]:
                return arrays, known, plans
            if status == L.NEED_WEIGHTS:
                known.texts.load(int(arrays.progress[L.DETAIL]))
                continue
            if status != L.NEED_TABLE:
                raise NotCompilable(f"{file} changed since the scan")
            digest, table = tables.pop(int(arrays.progress[L.DETAIL]), (0, None))
            if table is None:
                raise NotCompilable(f"{file} changed since the scan")
            is_left = table.name.lower() in self._left.reasons
            plan = then.plans.get(digest)
            if plan is None:
                registry = self._keys.registry
                plan = scan_plan(registry, table, plan_of(registry, table.name))
            plans.append(None if is_left else plan)
            compared = self._left.compared.get(table.name.lower())
            known.add(digest, table, plans[-1], is_left=is_left, compared=compared)

    def _tables_of(
        self, data: NDArray[np.uint8], description: FormatDescription
    ) -> dict[int, tuple[int, TableMap]]:
        found = {}
        at = 0
        while at + HEADER_BYTES <= len(data):
            length = int.from_bytes(data[at + 9 : at + 13].tobytes(), "little")
            if data[at + 4] == EventType.TABLE_MAP:
                start, end = at + HEADER_BYTES, at + length
                with np.errstate(over="ignore"):
                    digest = int(table_map_digest(data, start, end))
                body = data[start + 8 : end].tobytes()
                found[at] = digest, parse_table_map(body, is_mariadb=description.is_mariadb)
            at += length
        return found


_row_keys = getattr(row_keys, "py_func", row_keys)
"""The uncompiled kernel, which numba is told not to compile where it lacks this attribute."""
_ROLES = {WRITTEN: (L.UNIQUE, L.PARENT), READ: (L.CHILD,), LOCKED: (L.LOCKED,)}


def _emitted(arrays: Arrays, known: Descriptors, row: int, kind: int) -> set[int]:
    """Return the digests of a row's keys of a kind, by the uncompiled kernel."""
    operation, slot, unchecked, start = arrays.rows[row].tolist()
    table = known.tables[slot]
    count = int(table[L.D_KEY_END] - table[L.D_KEY_START])
    found, marks = np.zeros(4 * count + 1, np.uint64), np.zeros(4 * count + 1, np.uint8)
    with np.errstate(over="ignore"):
        number, _, _ = _row_keys(
            operation, unchecked, arrays.keys, start, count, known.keys, table,
            arrays.digests[row], kind, found, marks,
        )  # fmt: skip
    return set(found[:number].tolist())


def _candidates(
    arrays: Arrays, known: Descriptors, row: int, kind: int, plan: ScanPlan, change: RowChange
) -> Iterator[tuple[int, str, KeyLine, RowImage]]:
    """Yield what keys of a kind a row may have, in the key builder's order, as what builds them.

    The second is the kind of a key that is made from another, or empty.
    """
    start, slot = int(arrays.rows[row, L.R_KEY_START]), int(arrays.rows[row, L.R_TABLE])
    count = int(known.tables[slot, L.D_KEY_END] - known.tables[slot, L.D_KEY_START])
    for index, line in enumerate(plan[:count]):
        for side, image in enumerate((change.before, change.whole_after)):
            digest = int(arrays.keys[start + index, side])
            if image is None or digest <= L.LOST or line.role not in _ROLES[kind]:
                continue
            yield digest, "", line, image
            if line.role == L.CHILD and side == 0:
                continue  # Only a child's new value appears, or follows its parent.
            for made, word in ((NEW, L.NEW_ROW), (MOVED, L.MOVED_ROW)):
                with np.errstate(over="ignore"):
                    other = int(derived(np.uint64(digest), word))
                yield other, made, line, image


def _key_of(line: KeyLine, image: RowImage) -> ConflictKey:
    built = None if line.built_by is None else line.built_by.build(image)
    if not isinstance(built, BuiltKey):
        raise NotCompilable(f"keys of {line.table} changed since the scan")
    return built.key
