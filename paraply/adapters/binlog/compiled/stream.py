"""Log reading by the scanner, else by the readable decoder.

Both consume one source. The scanner starts only between transactions. Counts and callbacks are
equal for both.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.batch import Arrays, Batch, Touched, Toucher
from paraply.adapters.binlog.compiled.chunk_source import BUFFER_BYTES_MAX, CHUNK_BYTES, ChunkSource
from paraply.adapters.binlog.compiled.descriptors import (
    Descriptors,
    ScanPlan,
    is_steppable,
    roles_of_rows,
    scan_plan,
    shapes,
)
from paraply.adapters.binlog.compiled.expanding import Run, expand
from paraply.adapters.binlog.compiled.framing_rows import KeepingDecoder
from paraply.adapters.binlog.compiled.hashing import crc32_tables
from paraply.adapters.binlog.compiled.left_rows import (
    LeftEvent,
    LeftKeys,
    LeftRows,
    left_keys,
    left_rows,
)
from paraply.adapters.binlog.compiled.left_tables import (
    REASONS,
    RESTARTS_MAX,
    LeftTables,
    may_be_left,
)
from paraply.adapters.binlog.compiled.rereading import Rereader
from paraply.adapters.binlog.compiled.scan_kernel import new_scratch, scan, table_map_digest
from paraply.adapters.binlog.event_types import EventType, event_name
from paraply.adapters.binlog.format_description import (
    CHECKSUM_BYTES,
    HEADER_BYTES,
    Checksum,
    FormatDescription,
)
from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.keys.builder import KeyBuilder, TablePlan, plan_of
from paraply.adapters.binlog.keys.foreign import tied_tables
from paraply.adapters.binlog.reading import read_events
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.rows_events import table_id_bytes
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.transaction_stream import LogFile, TransactionStream
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.not_compilable import NotCompilable

TRANSACTIONS_MAX = 8192
ROWS_MIN, ROWS_MAX = 1 << 16, 1 << 18
"""Initial rows of a batch, and of the largest scanned transaction."""
EARLY_TRANSACTIONS = 10_000
"""Until then a pass begins again at once, without looking for further odd tables."""


class CompiledStream(TransactionStream):
    """Yields batches of plain transactions, and single others."""

    digests = 1
    """Of each image and key."""

    def __init__(
        self,
        keys: KeyBuilder,
        report: LogReport,
        *,
        transactions_max: int = TRANSACTIONS_MAX,
        chunk_bytes: int = CHUNK_BYTES,
        bytes_max: int = BUFFER_BYTES_MAX,
        left: LeftTables | None = None,
    ) -> None:
        super().__init__(report=report, on_table_map=self._on_table_map, on_rows=None)
        self.decoder: KeepingDecoder = KeepingDecoder(bytes_max)
        self.keys = keys
        self.descriptors = Descriptors()
        self.left = left
        """Tables whose rows the readable code judges; None: their transactions come single."""
        self.is_survey = False
        """Whether a judged table is to be left: from there on only further ones are looked for."""
        self.rereader = Rereader(keys, left)
        self._assumed: dict[int, list[str]] = {}
        """What keys assume, by the slots of tables without rows so far."""
        self._left_events: list[LeftEvent] = []
        self._digested: set[str] = set()
        self._toucher = Toucher()
        self._run: Run | None = None
        self._chunk_bytes = chunk_bytes
        self._bytes_max = bytes_max
        self._arrays = Arrays.of(transactions_max, ROWS_MIN, digests=self.digests)
        self._crc = crc32_tables()
        self._words = np.zeros((2, 6), np.uint8)
        self._words[0, :5] = list(b"BEGIN")
        self._words[1] = list(b"COMMIT")
        self._scratch = new_scratch()
        self._version = -1
        self._shapes: dict[tuple[object, ...], object] = {}

    def _on_table_map(self, table: TableMap) -> None:
        self.keys.registry.observe_table_map(table.table_schema())

    def open_file(self, file: LogFile) -> ChunkSource:
        """Return the file's bytes for the scanner."""
        source = super().open_file(file)
        return ChunkSource(source, chunk_bytes=self._chunk_bytes, bytes_max=self._bytes_max)

    def scan_file(self, file: LogFile) -> Iterator[Batch | LoggedTransaction]:
        """Yield what ends in this file."""
        source = self.begin_file(file)
        if source is None:
            return
        assert isinstance(source, ChunkSource)
        self.rereader.add_file(self.file.file)
        self._run = None
        with self.noting_faults(source) as reader:
            events = read_events(reader, self.decoder)
            while True:
                if self.open is None and reader.format_description is not None:
                    yield from self._scan(source, reader)
                event = next(events, None)
                if event is None:
                    break
                for ended in self.take(event, source, reader):
                    yield ended
                    # A BEGIN in an open transaction ends it: its rows are not those of the next.
                    self.decoder.forget()
                if self.open is None:
                    self.decoder.forget()
        self._run = None
        yield from self.finish_file()

    # Single transactions

    def digested(self, txn: LoggedTransaction) -> Batch | None:
        """Return the rows and keys of the decoded transaction that was yielded last.

        None without any, or if kernels cannot read them.
        """
        if not txn.complete or txn.undecoded_tables or txn.start.file != self.file.file:
            return None
        framed = self.decoder.framed(txn.domain) if txn.rows or txn.xa_keys else None
        if framed is None or table_id_bytes(framed.description) != 6:
            return None
        data, description = framed
        arrays = self._arrays
        if self._version != self.keys.registry.version:
            self._forget_tables(txn.start.offset)
        while not arrays.progress[L.TRANSACTIONS]:
            status = self._run_kernel(data, 0, len(data), 0, 0, description)
            if status == L.NEED_TABLE:
                # The decoder announced it, before a statement that may have redefined it.
                self._meet_table(*self._table_at(data, 0, description), announces=False)
            elif status != L.BATCH_FULL or not self._grow():
                break
            arrays = self._arrays
        count = int(arrays.progress[L.TRANSACTIONS])
        found = None
        if count and not self.is_survey:
            arrays.transactions[0, [L.T_START, L.T_END]] = txn.start.offset, txn.end_offset
            left = self._read_left(txn.ordinal)
            arrays = arrays.with_left(left)
            found = self._batch(arrays, txn.ordinal, txn.clock, left, txn.xa_keys)
        self._forget_scanned()
        if txn.schema_statements:
            self._version = -1  # Its table maps came before them: later ones say more.
        return found

    # The scanned part

    def _scan(self, source: ChunkSource, reader: BinlogReader) -> Iterator[Batch]:
        description = reader.format_description
        assert description is not None
        checked = description.checksum is Checksum.CRC32
        if description.header_length != HEADER_BYTES or table_id_bytes(description) != 6:
            return
        self.rereader.note_format(source.offset, description)
        while True:
            if self._version != self.keys.registry.version:
                yield from self._flush()
                self._forget_tables(source.offset)
            if self._run is not None and self._run.seek(source.offset):
                status = self._scan_run(source, self._run, description)
                if status == L.NEED_MORE:
                    continue
            else:
                self._run = None
                status = self._scan_buffer(source, description)
                if status == L.ODD:
                    rest = source.data[source.begin : source.end]
                    self._run = expand(rest, source.offset, checked=checked)
                    if self._run:
                        continue
                    status = L.ODD if self._run is None else L.NEED_MORE
            if status == L.NEED_MORE and not source.at_end:
                if self._is_large():
                    yield from self._flush()
                filled = False
                try:
                    filled = source.fill()
                finally:
                    if not filled:
                        yield from self._flush()
                if filled:
                    continue
                return
            if status == L.NEED_TABLE:
                data = source.data if self._run is None else self._run.data
                trailer = CHECKSUM_BYTES if checked and self._run is None else 0
                digest, table = self._table_at(data, trailer, description)
                # What was scanned does not depend on a table without rows in it.
                if self._left_events or table is None or self.descriptors.has(table.name):
                    yield from self._flush()
                self._meet_table(digest, table)
                continue
            if status == L.BATCH_FULL:
                if self._arrays.progress[L.TRANSACTIONS]:
                    yield from self._flush()
                    continue
                if self._grow():
                    continue
            yield from self._flush()
            return

    def _scan_buffer(self, source: ChunkSource, description: FormatDescription) -> int:
        trailer = CHECKSUM_BYTES if description.checksum is Checksum.CRC32 else 0
        base = source.offset - source.begin
        status = self._run_kernel(source.data, source.begin, source.end, base, trailer, description)
        source.skip_to(int(self._arrays.progress[L.POSITION]))
        self.file.bytes_read = source.offset
        return status

    def _scan_run(self, source: ChunkSource, run: Run, description: FormatDescription) -> int:
        """Scan unpacked transactions, and give them their places in the file."""
        arrays = self._arrays
        before = int(arrays.progress[L.TRANSACTIONS])
        status = self._run_kernel(run.data, run.position, len(run.data), 0, 0, description)
        scanned = arrays.transactions[before : int(arrays.progress[L.TRANSACTIONS])]
        bounds = scanned[:, [L.T_START, L.T_END]]
        at = np.searchsorted(run.ends, bounds)
        if (run.ends[at] != bounds).any():
            raise NotCompilable(f"transactions do not end with their payloads at {run.place}")
        scanned[:, [L.T_START, L.T_END]] = run.places[at]
        if len(at):
            arrays.counts += run.hidden(at[0, 0], at[-1, 1])
        run.position = int(arrays.progress[L.POSITION])
        if status == L.NEED_MORE and run.position < len(run.data):
            status = L.ODD
        source.skip_to(source.begin + run.place - source.offset)
        self.file.bytes_read = source.offset
        return status

    def _run_kernel(
        self, data: NDArray[np.uint8], begin: int, end: int, base: int, trailer: int,
        description: FormatDescription,
    ) -> int:  # fmt: skip
        arrays, known = self._arrays, self.descriptors
        progress = arrays.progress
        progress[L.POSITION] = begin
        while True:
            with np.errstate(over="ignore"):
                scan(
                    data, end, base, trailer, description.post_header_length(EventType.QUERY, 13),
                    description.is_mariadb,
                    self._crc, self._words, known.hashes, known.slots, known.tables,
                    known.columns, known.keys, known.seeds, known.parts, known.texts.arrays,
                    arrays.uuids, self._scratch, progress, arrays.transactions, arrays.rows,
                    arrays.digests, arrays.keys, arrays.counts, arrays.left,
                )  # fmt: skip
            self._copy_left(data, description)
            if progress[L.STATUS] == L.NEED_WEIGHTS:
                known.texts.load(int(progress[L.DETAIL]))
                continue
            if progress[L.STATUS] != L.ODD_ROWS:
                return int(progress[L.STATUS])
            if not self._leave_odd():
                return L.ODD

    def _copy_left(self, data: NDArray[np.uint8], description: FormatDescription) -> None:
        arrays, events = self._arrays, self._left_events
        lines = arrays.left[len(events) : int(arrays.progress[L.LEFT_EVENTS])]
        for txn, row, at, length, slot in lines.tolist():
            table = self.descriptors.maps[slot]
            assert table is not None
            event = data[at : at + length].tobytes()
            events.append(LeftEvent(txn, row, slot, table, event, description))

    def _flush(self) -> Iterator[Batch]:
        arrays = self._arrays
        progress = arrays.progress
        count = int(progress[L.TRANSACTIONS])
        if count and self.is_survey:
            self.ordinal += count
        elif count:
            for code in np.flatnonzero(arrays.counts).tolist():
                self.file.events[event_name(code)] += int(arrays.counts[code])
            first = self.ordinal + 1
            self._assume(arrays)
            left = self._read_left(first)
            if left.changes:
                arrays = arrays.with_left(left)
            self.file.transactions += count
            self.file.rows += int(arrays.progress[L.ROWS])
            self.ordinal += count
            yield self._batch(arrays, first, self._clock_run(count), left)
        self._forget_scanned()

    def _batch(
        self, arrays: Arrays, first: int, clock: int, left: LeftRows,
        named: tuple[ConflictKey, ...] = (),
    ) -> Batch:  # fmt: skip
        keys = left_keys(left.changes, int(arrays.progress[L.TRANSACTIONS]), named)
        return Batch(
            file=self.file.file,
            first_ordinal=first,
            clock=clock,
            arrays=arrays,
            descriptors=self.descriptors,
            touched=self._touched(arrays, keys),
            first_place=self.rereader.place_of(0),
            left=left.changes,
        )

    def _is_large(self) -> bool:
        """Return whether a larger batch would only take more memory, as left rows do most."""
        count, rows = self._arrays.progress[[L.TRANSACTIONS, L.ROWS]].tolist()
        share = 4 if self._left_events else 1
        return share * count >= len(self._arrays.transactions) or 2 * share * rows >= ROWS_MIN

    def _assume(self, arrays: Arrays) -> None:
        """Note what the keys of scanned rows assume."""
        slots = arrays.rows[: int(arrays.progress[L.ROWS]), L.R_TABLE] if self._assumed else ()
        for slot in [each for each in self._assumed if each in slots]:
            for text in self._assumed.pop(slot):
                self.keys.registry.assume(text)

    def _forget_scanned(self) -> None:
        self._arrays.counts[:] = 0
        self._arrays.progress[[L.TRANSACTIONS, L.ROWS, L.KEYS, L.LEFT_EVENTS]] = 0
        self._left_events.clear()

    def _touched(self, arrays: Arrays, left: LeftKeys) -> Touched:
        return self._toucher.touched(arrays, self.descriptors, left)

    def _clock_run(self, count: int) -> int:
        first, last = self._arrays.transactions[0], self._arrays.transactions[count - 1]
        if first[L.T_SEQUENCE_NUMBER] < 0:
            return self.clock.of_unnumbered()
        run = self.clock.of(int(first[L.T_LAST_COMMITTED]), int(first[L.T_SEQUENCE_NUMBER]))
        if count > 1:
            self.clock.of(int(last[L.T_LAST_COMMITTED]), int(last[L.T_SEQUENCE_NUMBER]))
        return run

    def _grow(self) -> bool:
        rows = len(self._arrays.rows)
        if rows >= ROWS_MAX:
            return False
        grown = Arrays.of(len(self._arrays.transactions), 2 * rows, digests=self.digests)
        grown.progress[:] = self._arrays.progress
        grown.uuids[:] = self._arrays.uuids
        self._arrays = grown
        return True

    # Left tables

    def _read_left(self, first_ordinal: int) -> LeftRows:
        if not self._left_events:
            return LeftRows()
        lines = self._arrays.transactions
        domains = np.where(
            lines[:, L.T_TYPE] == EventType.MARIADB_GTID, lines[:, L.T_SOURCE], L.ABSENT
        )
        found = left_rows(
            self._left_events, file=self.file.file, first_ordinal=first_ordinal,
            domains=domains.tolist(), keys=self.keys,
        )  # fmt: skip
        assert self.left is not None
        self.rereader.note_left(self.keys.plans_of(self.left.reasons))
        return found

    def require_judged(self) -> None:
        """Raise ``NotCompilable`` if the log is to be read again, or by another engine."""
        if self.is_survey:
            assert self.left is not None
            self.left.begin_again()

    def _is_left(self, table: TableMap, plan: ScanPlan | None) -> bool:
        if self.left is None or table.undecodable:
            return False
        tied = tied_tables(self.keys.registry, table.name)
        if tied & self.left.reasons.keys():
            self._leave(table.name, tied, "")
        elif plan is None or not is_steppable(table):
            if not may_be_left(self.keys.registry, table):
                return False
            reason = self.left.why_unplanned(self.keys.registry, table)
            self._leave(table.name, tied, reason)
        else:
            self._digested.add(table.name.lower())
            return False
        return True

    def _leave_odd(self) -> bool:
        """Leave the table of an odd row; return False if only whole transactions can be left."""
        slot, reason = self._arrays.progress[[L.DETAIL, L.REASON]].tolist()
        table, known = self.descriptors.maps[slot], self.keys.registry
        assert table is not None
        with known.assuming_nothing():
            if self.left is None or not may_be_left(known, table):
                return False
            shown = self._scratch.places if reason == L.PARTIAL else None
            is_new = shown is not None and self.left.compare_in_part(known, table, shown)
        if is_new:
            self.descriptors.leave({table.name.lower()})
            self._read_again()
        else:
            self._leave(table.name, tied_tables(known, table.name), REASONS[reason])
            self.descriptors.leave(self.left.reasons)
        return True

    def _leave(self, name: str, tied: set[str], reason: str) -> None:
        assert self.left is not None
        if self.left.add(tied, name, reason) & self._digested:
            self._read_again()

    def _read_again(self) -> None:
        assert self.left is not None
        if self.left.restarts >= RESTARTS_MAX:
            raise NotCompilable(f"ever more other rows: {self.left.described()}")
        self.is_survey = True
        if self.ordinal < EARLY_TRANSACTIONS and self.left.restarts < RESTARTS_MAX // 2:
            self.left.begin_again()

    # Tables

    def _forget_tables(self, offset: int) -> None:
        self.rereader.note_change(offset)
        self._assumed = {}
        self.descriptors.forget_maps()
        self._version = self.keys.registry.version

    def _table_at(
        self, data: NDArray[np.uint8], trailer: int, description: FormatDescription
    ) -> tuple[int, TableMap | None]:
        """Return the digest of the new table map, and its table; None if it is malformed."""
        at = int(self._arrays.progress[L.DETAIL])
        length = int.from_bytes(data[at + 9 : at + 13].tobytes(), "little")
        start, end = at + HEADER_BYTES, at + length - trailer
        table = self.decoder.scanned_table(data[start:end].tobytes(), description)
        if table is not None and description.is_mariadb:
            self.keys.registry.note_mariadb()
        return int(table_map_digest(data, start, end)), table

    def _meet_table(self, digest: int, table: TableMap | None, *, announces: bool = True) -> None:
        if table is None:
            self.descriptors.add_malformed(digest)
            return
        if announces:
            self.announce(table)
        # A table map affects only its own table's keys.
        self._version = self.keys.registry.version
        with self.keys.registry.assuming_nothing() as assumed:
            read_by = plan_of(self.keys.registry, table.name)
            roles = roles_of_rows(self.keys.registry, table.name, read_by)
            # Rows of others may then meet any row of this one.
            roles |= L.MET if self.left is not None and self.left.compared else 0
            plan = self._plan(table, read_by, roles)
            is_left = self._is_left(table, plan)
        # The readable code notes what keys of left rows assume.
        if assumed and plan is not None and not is_left:
            self._assumed[len(self.descriptors.maps)] = assumed
        self.rereader.note_plan(digest, plan)
        compared = None if self.left is None else self.left.compared.get(table.name.lower())
        self.descriptors.add(digest, table, plan, is_left=is_left, roles=roles, compared=compared)

    def _plan(self, table: TableMap, read_by: TablePlan, roles: int) -> ScanPlan | None:
        known = self.keys.registry
        plan = None if table.undecodable else scan_plan(known, table, read_by)
        if plan is not None and self.left is not None:
            plan = self.left.plan_by_images(known, table, plan, read_by)
        if plan is None:
            return None
        for name, shape in shapes(table, plan, roles):
            if self._shapes.setdefault((table.name, *name), shape) != shape:
                # Digests from before and after do not compare.
                if self.left is not None:
                    return None
                raise NotCompilable(f"the keys of {table.name} change midway")
        return plan
