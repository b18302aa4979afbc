"""Reads a log once, for several passes.

Memory: 24 bytes per commit (time and two offsets).
"""

from __future__ import annotations

import marshal
import pickle
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.postgresql.capture import read_stream
from paraply.properties.logs.statement_tables import get_statement_tables
from paraply.verifying.inputs import InputKind, LogInput
from paraply.vocabulary.log import (
    ABSENT,
    UNKNOWN,
    LoggedKind,
    LoggedTransaction,
    RowChange,
    RowImage,
)
from paraply.vocabulary.schema import TableSchema

ROW_BYTES_MAX = 1 << 30
"""Tables of larger transactions count as unreadable."""
SAMPLED_ROWS = 64
_PER_NEWS = 256

StoredRow = tuple[int, RowImage | None, RowImage | None]
"""Layout number, images before and after."""
Rows = tuple[StoredRow, ...]


class Header(NamedTuple):
    """A transaction without rows."""

    name: str
    """GTID, or file and offset."""
    place: str
    domain: int
    is_initial_copy: bool = False
    """The name is then that of a replication origin and its position."""
    session: int | None = None
    hides_rows: bool = False
    """Whether it may have changed rows that the log does not show."""
    defines: tuple[str, ...] = ()
    """Tables and schemas that its statements define, in lower case; ``*`` if one is cut."""


@dataclass(slots=True, kw_only=True)
class Layout:
    """A table's columns over a stretch.

    ``epoch`` counts replacements of rows that are not logged (TRUNCATE, DROP, RENAME). ``key`` is
    empty without a key, None if unknown.
    """

    table: str
    epoch: int
    columns: tuple[str, ...]
    types: tuple[str, ...]
    key: tuple[str, ...] | None
    absent: set[int] = field(default_factory=set)
    """Columns missing from some image."""
    samples: dict[int, str] = field(default_factory=dict)
    """Python types of first values."""
    rows: int = 0


class Recording:
    """A recorded log."""

    def __init__(self) -> None:
        self.layouts: list[Layout] = []
        self.report = LogReport()
        self.transactions = 0
        self.changes = 0
        self.has_gtids = True
        self.undecoded: set[str] = set()
        """Tables with undecodable rows."""
        self.notes: dict[str, str] = {}
        """Reasons for missing rows, with their first place."""
        self.hides_rows = False
        """Whether a transaction does."""
        self.epochs: dict[str, list[int]] = {}
        """By table, the transactions that replace rows without logging them."""
        self.bytes_read = 0
        self.times_us = array("q")
        """Microseconds since 1970; some logs have whole seconds."""
        self._headers = tempfile.TemporaryFile(prefix="paraply-verify-")  # noqa: SIM115
        self._rows = tempfile.TemporaryFile(prefix="paraply-verify-")  # noqa: SIM115
        self._offsets = array("Q"), array("Q")

    def append(self, header: Header, time_us: int, rows: Rows) -> None:
        """Add a commit."""
        self.times_us.append(time_us)
        for offsets, file in zip(self._offsets, (self._headers, self._rows), strict=True):
            offsets.append(file.tell())
        marshal.dump(tuple(header), self._headers)
        pickle.dump(rows, self._rows, protocol=pickle.HIGHEST_PROTOCOL)

    def __len__(self) -> int:
        return len(self.times_us)

    def headers(self) -> Iterator[Header]:
        """Yield commits without rows."""
        for offset in self._offsets[0]:
            self._headers.seek(offset)
            yield Header(*marshal.load(self._headers))

    def all_rows(self) -> Iterator[Rows]:
        """Yield each commit's rows."""
        for offset in self._offsets[1]:
            self._rows.seek(offset)
            yield pickle.load(self._rows)

    def header(self, number: int) -> Header:
        """Return a commit without rows, by number from 1."""
        self._headers.seek(self._offsets[0][number - 1])
        return Header(*marshal.load(self._headers))

    def rows_of(self, number: int) -> Rows:
        """Return a commit's rows, by number from 1."""
        self._rows.seek(self._offsets[1][number - 1])
        rows: Rows = pickle.load(self._rows)
        return rows

    def close(self) -> None:
        """Remove the temporary files."""
        self._headers.close()
        self._rows.close()


def record(
    log: LogInput,
    schema: str | None,
    advance: Callable[[float], None] = lambda _: None,
    *,
    is_target: bool = False,
) -> Recording:
    """Record a log; ``advance`` gets bytes read.

    ``Recording.report`` lists unreadable parts. Raises ``ParaplyError`` for an unusable schema.
    """
    recording = Recording()
    registry = SchemaRegistry()
    if schema is not None:
        load_schema_file(registry, schema)
    maps: dict[str, TableSchema] = {}
    recorder = Recorder(recording, registry, maps)
    for txn in _transactions(log, recording, registry, maps, is_target=is_target):
        recorder.take(txn)
        if txn.ordinal % _PER_NEWS == 0:
            advance(sum(file.bytes_read for file in recording.report.files))
    recording.bytes_read = sum(file.bytes_read for file in recording.report.files)
    return recording


def _transactions(
    log: LogInput,
    recording: Recording,
    registry: SchemaRegistry,
    maps: dict[str, TableSchema],
    *,
    is_target: bool,
) -> Iterable[LoggedTransaction]:
    if log.kind is InputKind.POSTGRESQL:
        return read_stream(
            log.sources,
            report=recording.report,
            on_table=registry.observe_table_map,
            by_origin=is_target,
        )
    if log.kind is InputKind.TEXT:
        return read_text_transactions(log.sources, report=recording.report)

    def on_table_map(table: TableMap) -> None:
        maps[table.name] = table.table_schema()
        registry.observe_table_map(maps[table.name])

    return read_transactions(
        log.sources,
        report=recording.report,
        on_table_map=on_table_map,
        row_bytes_max=ROW_BYTES_MAX,
    )


class Recorder:
    """Takes transactions into a recording."""

    def __init__(
        self, recording: Recording, registry: SchemaRegistry, maps: dict[str, TableSchema]
    ) -> None:
        self._maps = maps
        """Last table maps, for tables that statements made unknown."""
        self._recording = recording
        self._registry = registry
        self._version = registry.version
        self._current: dict[tuple[str, int], int] = {}
        self.epochs = recording.epochs
        self.rows_since: set[str] = set()
        self._prepared: dict[str, tuple[Rows, bool]] = {}
        """Rows, and whether there are hidden ones."""

    def take(self, txn: LoggedTransaction) -> None:
        """Add the next transaction."""
        recording = self._recording
        recording.transactions += 1
        recording.undecoded |= txn.undecoded_tables
        place = str(txn.start)
        hides_rows = self._note_what_has_no_rows(txn, place)
        recording.hides_rows |= hides_rows
        for sql in txn.schema_statements:
            self._take_ddl(sql, txn.default_schema)
        if not txn.complete:
            return  # Without its end in the log it may never have been committed.
        rows = tuple(self._stored(change) for change in txn.lasting_rows)
        recording.changes += len(rows)
        if "prepared_xa" in txn.flags:
            self._prepared[txn.xa_id] = rows, hides_rows
            rows, hides_rows = (), False
        elif "completed_xa" in txn.flags:
            prepared, hid_rows = self._prepared.pop(txn.xa_id, ((), False))
            if not _rolls_back(txn):
                rows, hides_rows = prepared + rows, hides_rows or hid_rows
        recording.has_gtids = recording.has_gtids and bool(txn.gtid)
        recording.append(
            Header(
                name=txn.gtid or place,
                place=place,
                domain=txn.domain or 0,
                is_initial_copy="initial_copy" in txn.flags,
                session=txn.session,
                hides_rows=hides_rows,
                defines=defined_names(txn),
            ),
            txn.committed_at_us or txn.event_time_s * 1_000_000,
            rows,
        )

    def _note_what_has_no_rows(self, txn: LoggedTransaction, place: str) -> bool:
        """Return whether it may have changed rows without them."""
        notes = self._recording.notes
        is_incident = txn.kind is LoggedKind.INCIDENT
        is_statement = txn.kind is LoggedKind.STATEMENT or (
            not txn.rows
            and any(
                get_statement_tables(sql, txn.default_schema).fills for sql in txn.schema_statements
            )
        )
        if is_incident:
            notes.setdefault("the server lost events (INCIDENT)", place)
        elif is_statement:
            notes.setdefault("changes are logged as statements, without their rows", place)
        if not txn.complete:
            notes.setdefault("a transaction without an end is not judged", place)
        return is_incident or is_statement

    def _take_ddl(self, sql: str, default_schema: str) -> None:
        self._registry.observe_statement(sql, default_schema)
        named = get_statement_tables(sql, default_schema)
        dropped = named.schemas if named.verb == "DROP" else ()
        for name in list(self.rows_since):
            folded = name.lower()
            if folded in named.replaced or folded.partition(".")[0] in dropped:
                self.rows_since.remove(name)
                self.epochs.setdefault(name, []).append(len(self._recording) + 1)
                self._current.clear()

    def _stored(self, change: RowChange) -> StoredRow:
        image = change.after if change.after is not None else change.before
        assert image is not None
        if self._registry.version != self._version:
            self._version = self._registry.version
            self._current.clear()
        at = self._current.get((change.table, len(image)))
        if at is None:
            at = self._layout(change.table, len(image))
            self._current[change.table, len(image)] = at
            self.rows_since.add(change.table)
        layout = self._recording.layouts[at]
        layout.rows += 1
        for row in (change.before, change.after):
            if row is not None:
                if ABSENT in row or UNKNOWN in row:
                    layout.absent |= {i for i, v in enumerate(row) if v is ABSENT or v is UNKNOWN}
                if layout.rows <= SAMPLED_ROWS:
                    for index, value in enumerate(row):
                        if value is not None:
                            layout.samples.setdefault(index, type(value).__name__)
        return (at, change.before, change.after)

    def _layout(self, table: str, width: int) -> int:
        schema = self._registry.table(table)
        if schema is None or len(schema.columns) != width:
            schema = self._maps.get(table)
        if schema is None or len(schema.columns) != width:
            columns = tuple(f"@{at}" for at in range(1, width + 1))
            types: tuple[str, ...] = ("",) * width
            key = None
        else:
            columns = tuple(column.name.lower() for column in schema.columns)
            types = tuple(column.type_name for column in schema.columns)
            key = identifying_key(schema)
        epoch = len(self.epochs.get(table, ()))
        layouts = self._recording.layouts
        for at, known in enumerate(layouts):
            if (known.table, known.epoch, known.columns, known.types, known.key) == (
                table,
                epoch,
                columns,
                types,
                key,
            ):
                return at
        layouts.append(Layout(table=table, epoch=epoch, columns=columns, types=types, key=key))
        return len(layouts) - 1


def identifying_key(schema: TableSchema) -> tuple[str, ...] | None:
    """Return PRIMARY, else a UNIQUE key without NULL.

    Empty without one, None if unknown.
    """
    for unique in schema.unique_keys:
        columns = [schema.columns[part.column] for part in unique.parts]
        is_whole = not any(part.prefix_length for part in unique.parts)
        if is_whole and (unique.name == "PRIMARY" or not any(c.nullable for c in columns)):
            return tuple(column.name.lower() for column in columns)
    return () if schema.keys_known and schema.keys_complete else None


def names_defining(tables: Iterable[str]) -> frozenset[str]:
    """Return the names in ``Header.defines`` of a statement that may define one of the tables."""
    folded = {table.lower() for table in tables}
    return frozenset({"*", *folded, *(table.partition(".")[0] for table in folded)})


def defined_names(txn: LoggedTransaction) -> tuple[str, ...]:
    """Return the names of ``Header.defines``."""
    found: set[str] = set()
    for sql in txn.schema_statements:
        named = get_statement_tables(sql, txn.default_schema)
        if not named.keeps_rows:
            found |= (named.tables - named.only_read) | named.schemas
            found |= {"*"} if named.cut else set()
    return tuple(sorted(found))


def _rolls_back(txn: LoggedTransaction) -> bool:
    return any(sql.lstrip().upper().startswith("XA ROLLBACK") for sql in txn.statements)
