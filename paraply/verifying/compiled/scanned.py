"""Reads a binary log by kernels into columns of net changes.

A :class:`LogScanner` yields *steps*, which a :class:`ScannedLog` takes in order. They may come from
other processes (:mod:`paraply.verifying.compiled.parts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.column_types import WireColumn
from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.batch import Arrays, Batch, Touched
from paraply.adapters.binlog.compiled.descriptors import KeyLine, PartRule, ScanPlan
from paraply.adapters.binlog.compiled.left_rows import LeftKeys
from paraply.adapters.binlog.compiled.stream import CompiledStream
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.keys.builder import KeyBuilder, TablePlan
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.lessons import with_dump
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.transaction_stream import LogFile
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

T = TypeVar("T")
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Shape = tuple[Layout, tuple[WireColumn, ...]]
"""A table's columns, as judged and as on the wire."""

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
        self.shapes: dict[str, Shape] = {}
        self.keyless: set[str] = set()

    def _touched(self, arrays: Arrays, left: LeftKeys) -> Touched:
        none, numbers = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        return Touched(
            key_ends=numbers, keys=none, marks=np.zeros(0, np.uint8), table_ends=numbers,
            tables=numbers, roles=numbers, census=np.zeros((0, 4), np.int64),
        )  # fmt: skip

    def _plan(self, table: TableMap, read_by: TablePlan, roles: int) -> ScanPlan | None:
        del read_by, roles
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
        if self.shapes.setdefault(table.name, shape) != shape:
            raise NotCompilable(f"{table.name} changes midway")
        parts = (PartRule(layout.columns.index(name), L.RAW, 0) for name in key or ())
        if not key:
            self.keyless.add(table.name)
        return (KeyLine(table.name, "PRIMARY", L.UNIQUE, tuple(parts)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedBatch:
    """Consecutive transactions of one file, with their net changes.

    Numbers of tables and UUIDs are those of ``table_names`` and ``uuids``.
    """

    file: str
    names: Ints
    """One line per transaction; FILE is 0."""
    uuids: NDArray[np.uint8]
    times_us: Ints
    table_names: tuple[str, ...]
    rows: Ints
    """Number of row changes by table."""
    ends: Ints
    """Exclusive end of each transaction's net changes."""
    tables: Ints
    """Table of each net change; the next columns are those of ``CommitColumns``."""
    keys: Words
    before: Words
    after: Words
    rewritten: Flags
    counts: Flags

    @property
    def nbytes(self) -> int:
        """Return the size of the arrays."""
        columns = (self.names, self.tables, self.keys, self.before, self.after)
        return sum(column.nbytes for column in columns)


Step = ScannedBatch | LoggedTransaction
"""What the judge needs of a log, in order; a single transaction has no rows."""


def _scanned(batch: Batch, keyless: Set[str]) -> ScannedBatch:
    count = len(batch)
    lines = batch.arrays.transactions[:count]
    names = np.stack(
        [
            lines[:, L.T_TYPE], lines[:, L.T_SOURCE], lines[:, L.T_SERVER], lines[:, L.T_NUMBER],
            np.zeros(count, np.int64), lines[:, L.T_START],
        ],
        axis=1,
    )  # fmt: skip
    times = np.where(
        lines[:, L.T_COMMITTED_US] > 0, lines[:, L.T_COMMITTED_US],
        lines[:, L.T_TIME] * 1_000_000,
    )  # fmt: skip
    ends = batch.row_ends
    rows = len(batch.row_images)
    per_transaction = int(np.diff(ends, prepend=0).max(initial=0))
    slots = 1 << (4 * per_transaction + 2).bit_length()
    made = 2 * rows
    keys, before, after = (np.zeros((made, 2), np.uint64) for _ in range(3))
    rewritten, counts = np.zeros(made, np.bool_), np.zeros(made, np.bool_)
    row_of = np.zeros(made, np.int64)
    tables, table_names = batch.row_tables, tuple(batch.table_names)
    is_keyless = np.array([name in keyless for name in table_names], np.bool_)
    with np.errstate(over="ignore"):
        made = net_changes(
            ends, np.ascontiguousarray(batch.row_keys[:rows]), batch.row_images,
            is_keyless[tables],
            np.zeros(slots, np.int64), np.zeros(slots, np.int64),
            ends, keys, before, after, rewritten, counts, row_of,
        )  # fmt: skip
    return ScannedBatch(
        file=batch.file,
        names=names,
        uuids=batch.arrays.uuids[: int(batch.arrays.progress[L.UUIDS])].copy(),
        times_us=times.astype(np.int64),
        table_names=table_names,
        rows=np.bincount(tables, minlength=len(table_names)),
        ends=ends,
        tables=tables[row_of[:made]],
        keys=keys[:made],
        before=before[:made],
        after=after[:made],
        rewritten=rewritten[:made],
        counts=counts[:made],
    )


class LogScanner:
    """Reads files of one log, or blocks of them, into steps."""

    def __init__(self, registry: SchemaRegistry, report: LogReport, secret: bytes) -> None:
        self._registry = registry
        self._stream = RowStream(registry, report, secret)

    @property
    def shapes(self) -> dict[str, Shape]:
        """Return the columns of all tables so far."""
        return self._stream.shapes

    def steps(self, files: Iterable[LogFile]) -> Iterator[Step]:
        """Yield the steps; raises ``NotCompilable``."""
        for file in files:
            yield from map(self._step, self._stream.scan_file(file))
        yield from map(self._step, self._stream.finish())

    def _step(self, item: Batch | LoggedTransaction) -> Step:
        if isinstance(item, Batch):
            return _scanned(item, self._stream.keyless)
        if item.rows or item.undecoded_tables:
            raise NotCompilable(f"{item.start}: the scanner does not read its rows")
        for sql in item.schema_statements:
            self._registry.observe_statement(sql, item.default_schema)
        return item


class ScannedRecording(Recording):
    """A recording whose rows are columns of net changes."""

    def __init__(self) -> None:
        super().__init__()
        self._names = Spilled(np.int64, 6)
        self._singles: dict[int, Header] = {}
        self._files: list[str] = []
        self._uuids: dict[bytes, int] = {}
        self._columns = {
            "ends": Spilled(np.int64),
            "keys": Spilled(np.uint64, 2),
            "before": Spilled(np.uint64, 2),
            "after": Spilled(np.uint64, 2),
            "rewritten": Spilled(np.bool_),
            "counts": Spilled(np.bool_),
        }
        self._tables = Spilled(np.int64)
        self._table_numbers: dict[str, int] = {}
        self._changes = 0
        self.names: Ints = np.zeros((0, 6), np.int64)

    @property
    def table_names(self) -> list[str]:
        """Return table names by number."""
        return list(self._table_numbers)

    def append(self, header: Header, time_us: int, rows: Rows) -> None:
        """Add a commit without rows."""
        if rows:
            raise NotCompilable(f"{header.place}: the scanner does not read its rows")
        self.times_us.append(time_us)
        self._singles[len(self.times_us)] = header
        self._names.append(np.array([[SINGLE, header.domain, 0, 0, 0, 0]]))
        self._columns["ends"].append(np.array([self._changes]))

    def extend(self, batch: ScannedBatch) -> None:
        """Add the transactions of a batch."""
        if not self._files or self._files[-1] != batch.file:
            self._files.append(batch.file)
        kinds = batch.names[:, KIND]
        self.has_gtids = self.has_gtids and not (kinds == EventType.ANONYMOUS_GTID).any()
        names = batch.names.copy()
        names[:, FILE] = len(self._files) - 1
        has_uuid = np.flatnonzero(kinds == EventType.GTID)
        uuids = _numbered(map(bytes, batch.uuids), self._uuids)
        names[has_uuid, SOURCE] = uuids[names[has_uuid, SOURCE]]
        self._names.append(names)
        self.times_us.frombytes(batch.times_us.tobytes())
        self.transactions += len(names)
        self.changes += int(batch.rows.sum())
        self._tables.append(_numbered(batch.table_names, self._table_numbers)[batch.tables])
        self._columns["ends"].append(batch.ends + self._changes)
        self._changes += len(batch.keys)
        for name, spilled in self._columns.items():
            if name != "ends":
                spilled.append(getattr(batch, name))

    def finish(self) -> None:
        """Map the names."""
        self.names = self._names.array()
        self.bytes_read = sum(file.bytes_read for file in self.report.files)

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
        return UUID(bytes=list(self._uuids)[index])

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


def _numbered(names: Iterable[T], known: dict[T, int]) -> Ints:
    """Return the numbers of names, adding new ones."""
    return np.array([known.setdefault(name, len(known)) for name in names], np.int64)


class ScannedLog:
    """A scanned log: its recording, and the tables' columns as on the wire."""

    def __init__(self) -> None:
        self.recording = ScannedRecording()
        self.wires: dict[str, tuple[WireColumn, ...]] = {}
        self._recorder = Recorder(self.recording, SchemaRegistry(), {})
        self._rows: dict[str, int] = {}

    def read(
        self, log: LogInput, schema: str | None, secret: bytes, advance: Callable[[float], None]
    ) -> None:
        """Read the log; raises ``NotCompilable``."""
        report = self.recording.report
        scanner = LogScanner(with_dump(SchemaRegistry(), schema, ()), report, secret)
        for step in scanner.steps(log.sources):
            self.take(step)
            advance(sum(file.bytes_read for file in report.files))
        self.finish(scanner.shapes)

    def take(self, step: Step) -> None:
        """Add the next step; raises ``NotCompilable``."""
        recorder = self._recorder
        if isinstance(step, ScannedBatch):
            self.recording.extend(step)
            for name, count in zip(step.table_names, step.rows.tolist(), strict=True):
                if count:
                    self._rows[name] = self._rows.get(name, 0) + count
                    recorder.rows_since.add(name)
            return
        recorder.take(step)
        if recorder.epochs:
            raise NotCompilable(f"{step.start}: a table's rows are replaced")

    def finish(self, shapes: Mapping[str, Shape]) -> None:
        """Settle the layouts after the last step."""
        self.recording.finish()
        for name, (layout, wire) in shapes.items():
            if self._rows.get(name):
                layout.rows = self._rows[name]
                self.recording.layouts.append(layout)
                self.wires[name] = wire
