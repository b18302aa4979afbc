"""Reads a binary log by kernels into columns of net changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.column_types import WireColumn
from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.batch import Arrays, Batch, Touched
from paraply.adapters.binlog.compiled.descriptors import KeyLine, PartRule, ScanPlan
from paraply.adapters.binlog.compiled.stream import CompiledStream
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.properties.two_logs.compiled.columns import CommitColumns, net_changes
from paraply.verifying.compiled.spilled import Spilled
from paraply.verifying.inputs import LogInput
from paraply.verifying.recording import (
    Header,
    Layout,
    Recorder,
    Recording,
    Rows,
    identifying_key,
)
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.not_compilable import NotCompilable

Ints = NDArray[np.int64]

KIND, SOURCE, SERVER, NUMBER, FILE, OFFSET = range(6)
"""Columns of a transaction's name: event type, UUID index or domain, and the rest of the GTID."""
SINGLE = -1
"""Type of a transaction that the readable decoder read."""


class RowStream(CompiledStream):
    """Digests rows for comparison with another log: by bytes, twice, with a secret.

    A row's key is that of the readable rule. Raises ``NotCompilable`` where a table changes.
    """

    digests = 2

    def __init__(self, registry: SchemaRegistry, report: LogReport, secret: bytes) -> None:
        super().__init__(KeyBuilder(registry), report)
        self.descriptors.secret = secret
        self.layouts: dict[str, tuple[Layout, tuple[WireColumn, ...]]] = {}
        self.keyless: set[str] = set()

    def _touched(self, arrays: Arrays) -> Touched:
        none, numbers = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        return Touched(
            key_ends=numbers, keys=none, primary=np.zeros(0, np.bool_), table_ends=numbers,
            tables=numbers, census=np.zeros((0, 4), np.int64),
        )  # fmt: skip

    def _plan(self, table: TableMap) -> ScanPlan | None:
        schema = self.keys.registry.table(table.name)
        if schema is None or table.undecodable or len(schema.columns) != len(table.columns):
            return None
        key = identifying_key(schema)
        layout = Layout(
            table=table.name,
            epoch=0,
            columns=tuple(column.name.lower() for column in schema.columns),
            types=tuple(column.type_name for column in schema.columns),
            key=key,
        )
        shape = layout, tuple(table.columns)
        if self.layouts.setdefault(table.name, shape) != shape:
            raise NotCompilable(f"{table.name} changes midway")
        parts = (PartRule(layout.columns.index(name), L.RAW, 0) for name in key or ())
        if not key:
            self.keyless.add(table.name)
        return (KeyLine(table.name, "PRIMARY", L.UNIQUE, tuple(parts)),)


class ScannedRecording(Recording):
    """A recording whose rows are columns of net changes."""

    def __init__(self) -> None:
        super().__init__()
        self._names = Spilled(np.int64, 6)
        self._singles: dict[int, Header] = {}
        self._files: list[str] = []
        self._uuids: NDArray[np.uint8] = np.zeros((0, 16), np.uint8)
        self._columns = {
            "ends": Spilled(np.int64),
            "keys": Spilled(np.uint64, 2),
            "before": Spilled(np.uint64, 2),
            "after": Spilled(np.uint64, 2),
            "rewritten": Spilled(np.bool_),
            "counts": Spilled(np.bool_),
        }
        self._tables = Spilled(np.int64)
        self._changes = 0
        self.names: Ints = np.zeros((0, 6), np.int64)

    def append(self, header: Header, time_us: int, rows: Rows) -> None:
        """Add a commit without rows."""
        if rows:
            raise NotCompilable(f"{header.place}: the scanner does not read its rows")
        self.times_us.append(time_us)
        self._singles[len(self.times_us)] = header
        self._names.append(np.array([[SINGLE, header.domain, 0, 0, 0, 0]]))
        self._columns["ends"].append(np.array([self._changes]))

    def extend(self, batch: Batch, keyless: Set[str]) -> None:
        """Add the transactions of a batch."""
        count = len(batch)
        lines = batch.arrays.transactions[:count]
        if not self._files or self._files[-1] != batch.file:
            self._files.append(batch.file)
        kinds = lines[:, L.T_TYPE]
        self._names.append(
            np.stack(
                [
                    kinds, lines[:, L.T_SOURCE], lines[:, L.T_SERVER], lines[:, L.T_NUMBER],
                    np.full(count, len(self._files) - 1), lines[:, L.T_START],
                ],
                axis=1,
            )
        )  # fmt: skip
        self.has_gtids = self.has_gtids and not (kinds == EventType.ANONYMOUS_GTID).any()
        self._uuids = batch.arrays.uuids
        times = np.where(
            lines[:, L.T_COMMITTED_US] > 0, lines[:, L.T_COMMITTED_US],
            lines[:, L.T_TIME] * 1_000_000,
        )  # fmt: skip
        self.times_us.frombytes(times.astype(np.int64).tobytes())
        self.transactions += count
        self._add_changes(batch, keyless)

    def _add_changes(self, batch: Batch, keyless: Set[str]) -> None:
        ends = batch.row_ends
        rows = len(batch.row_images)
        self.changes += rows
        per_transaction = int(np.diff(ends, prepend=0).max(initial=0))
        slots = 1 << (4 * per_transaction + 2).bit_length()
        made = 2 * rows
        keys, before, after = (np.zeros((made, 2), np.uint64) for _ in range(3))
        rewritten, counts = np.zeros(made, np.bool_), np.zeros(made, np.bool_)
        row_of = np.zeros(made, np.int64)
        tables = batch.row_tables
        is_keyless = np.array([name in keyless for name in batch.table_names], np.bool_)
        with np.errstate(over="ignore"):
            made = net_changes(
                ends, np.ascontiguousarray(batch.row_keys[:rows]), batch.row_images,
                is_keyless[tables],
                np.zeros(slots, np.int64), np.zeros(slots, np.int64),
                ends, keys, before, after, rewritten, counts, row_of,
            )  # fmt: skip
        self._tables.append(tables[row_of[:made]])
        self._columns["ends"].append(ends + self._changes)
        self._changes += made
        for name, column in (
            ("keys", keys), ("before", before), ("after", after), ("rewritten", rewritten),
            ("counts", counts),
        ):  # fmt: skip
            self._columns[name].append(column[:made])

    def finish(self) -> None:
        """Map the names."""
        self.names = self._names.array()

    def columns(self, judged: NDArray[np.bool_]) -> tuple[CommitColumns, Ints]:
        """Return commits with changes of ``judged`` tables, by number, and their numbers from 1."""
        made = {name: column.array() for name, column in self._columns.items()}
        ends = made.pop("ends")
        chosen = judged[self._tables.array()] if len(judged) else np.zeros(0, np.bool_)
        if not chosen.all():
            made = {name: column[chosen] for name, column in made.items()}
            ends = np.concatenate([[0], np.cumsum(chosen)])[ends]
        with_rows = np.flatnonzero(np.diff(ends, prepend=0))
        return CommitColumns(ends=ends[with_rows], **made), with_rows + 1

    # As of other recordings

    def header(self, number: int) -> Header:
        """Return a commit without rows, by number from 1."""
        kind, source, server, sequence, file, offset = self.names[number - 1].tolist()
        if kind == SINGLE:
            return self._singles[number]
        place = f"{self._files[file]}:{offset}"
        if kind == EventType.MARIADB_GTID:
            return Header(f"{source}-{server}-{sequence}", place, source)
        if kind == EventType.GTID:
            return Header(f"{self.uuid(source)}:{sequence}", place, 0)
        return Header(place, place, 0)

    def uuid(self, index: int) -> UUID:
        """Return a server's UUID by its number in this log."""
        return UUID(bytes=bytes(self._uuids[index]))

    def headers(self) -> Iterator[Header]:
        """Yield commits without rows."""
        return map(self.header, range(1, len(self) + 1))

    def all_rows(self) -> Iterator[Rows]:
        """Refuse: rows of a finding are shown by the readable engine."""
        raise NotCompilable("rows are to be shown")

    def rows_of(self, number: int) -> Rows:
        """Refuse, as above."""
        raise NotCompilable("rows are to be shown")

    def close(self) -> None:
        """Remove the temporary files."""
        super().close()
        for spilled in (self._names, self._tables, *self._columns.values()):
            spilled.close()


class ScannedLog:
    """A scanned log: its recording, and the tables' columns as on the wire."""

    def __init__(self, log: LogInput, schema: str | None, secret: bytes) -> None:
        self.recording = ScannedRecording()
        self.wires: dict[str, tuple[WireColumn, ...]] = {}
        self.table_names: list[str] = []
        self._log = log
        self._registry = SchemaRegistry()
        if schema is not None:
            load_schema_file(self._registry, schema)
        self._stream = RowStream(self._registry, self.recording.report, secret)

    def read(self, advance: Callable[[float], None]) -> None:
        """Read the log; raises ``NotCompilable``."""
        recording, stream = self.recording, self._stream
        recorder = Recorder(recording, self._registry, {})
        rows: dict[str, int] = {}
        for item in self._items():
            if isinstance(item, Batch):
                recording.extend(item, stream.keyless)
                counts = np.bincount(item.row_tables)
                for number in np.flatnonzero(counts).tolist():
                    name = item.table_names[number]
                    rows[name] = rows.get(name, 0) + int(counts[number])
                    recorder.rows_since.add(name)
            else:
                if item.rows or item.undecoded_tables:
                    raise NotCompilable(f"{item.start}: the scanner does not read its rows")
                recorder.take(item)
                if recorder.epochs:
                    raise NotCompilable(f"{item.start}: a table's rows are replaced")
            advance(sum(file.bytes_read for file in recording.report.files))
        recording.finish()
        recording.bytes_read = sum(file.bytes_read for file in recording.report.files)
        self.table_names = list(stream.descriptors.numbers)
        for name, (layout, wire) in stream.layouts.items():
            if rows.get(name):
                layout.rows = rows[name]
                recording.layouts.append(layout)
                self.wires[name] = wire

    def _items(self) -> Iterator[Batch | LoggedTransaction]:
        for source in self._log.sources:
            yield from self._stream.scan_file(source)
        yield from self._stream.finish()
