"""Histories as Parquet, for large ones and for Spark.

A folder has ``histories.parquet``, ``transactions.parquet`` and ``events.parquet``, joined by
``history``, from 0. Columns are the JSON form's fields, with defaults. Items are ``format_item``
text; row images, options and schema are JSON text. docs/history-format.md describes every field.

Both directions stream: memory holds one history and one batch of rows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, TracebackType, UnionType
from typing import Any, NewType, Union, get_args, get_origin

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paraply.adapters.remote_files import arrow_source
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Event
from paraply.vocabulary.history import History, HistoryHeader
from paraply.vocabulary.history_jsonl import MALFORMED_HISTORY
from paraply.vocabulary.log import RowImage
from paraply.vocabulary.records import (
    MalformedRecordError,
    decode_record,
    encode_record,
    record_fields,
)
from paraply.vocabulary.schema import TableSchema
from paraply.vocabulary.transactions import Transaction
from paraply.vocabulary.whole_files import sync, sync_folder
from paraply.vocabulary.write_set import Item, format_item, parse_item

BATCH_ROWS = 65_536
HISTORY_ROWS_MAX = 1 << 21
"""Transactions or events of one history: memory holds it, with a kilobyte each."""

_UNREADABLE = (OSError, ValueError, pa.ArrowException)
"""Arrow's errors; invalid UTF-8 raises ``ValueError``."""

HISTORIES, TRANSACTIONS, EVENTS = "histories", "transactions", "events"


@dataclass(frozen=True, slots=True)
class Column:
    """Converts a field's JSON form to a column."""

    type: pa.DataType
    store: Callable[[Any], Any] = lambda value: value
    load: Callable[[Any], Any] = lambda value: value


_JSON_TEXT = Column(
    pa.string(), lambda value: json.dumps(value, allow_nan=False), lambda text: json.loads(text)
)
_SCALARS = {int: pa.int64(), str: pa.string(), bool: pa.bool_()}


@cache
def column_of(hint: Any) -> Column:
    """Return a field type's column."""
    if isinstance(hint, NewType):
        return column_of(hint.__supertype__)
    if hint in _SCALARS:
        return Column(_SCALARS[hint])
    if hint == Item:
        return Column(pa.string(), format_item, parse_item)
    if hint == RowImage or hint is TableSchema or get_origin(hint) is Mapping:
        return _JSON_TEXT
    arguments = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        (one,) = (each for each in arguments if each is not NoneType)
        return _unless_none(column_of(one))
    if arguments:
        inner = column_of(arguments[0])
        return Column(
            pa.list_(inner.type),
            lambda values: [inner.store(value) for value in values],
            lambda values: [inner.load(value) for value in values],
        )
    if issubclass(hint, Enum):
        return Column(pa.string())
    return _struct_column(hint)


def _unless_none(column: Column) -> Column:
    return Column(
        column.type,
        lambda value: None if value is None else column.store(value),
        lambda value: None if value is None else column.load(value),
    )


def _struct_column(cls: Any) -> Column:
    columns = {entry.name: column_of(entry.hint) for entry in record_fields(cls)}

    def store(fields: dict[str, Any]) -> dict[str, Any]:
        return {name: columns[name].store(value) for name, value in fields.items()}

    def load(fields: dict[str, Any]) -> dict[str, Any]:
        # A field missing from a nested record returns as null.
        return {n: columns[n].load(value) for n, value in fields.items() if value is not None}

    return Column(pa.struct([(name, column.type) for name, column in columns.items()]), store, load)


@dataclass(frozen=True, slots=True)
class Table:
    """A file: its record and extra columns."""

    name: str
    record: Any
    extra: tuple[tuple[str, pa.DataType], ...] = ()

    @property
    def columns(self) -> dict[str, Column]:
        """Return the record's columns."""
        return {entry.name: column_of(entry.hint) for entry in record_fields(self.record)}

    @property
    def schema(self) -> pa.Schema:
        """Return the schema: history, extra columns, record fields."""
        fields = [(name, column.type) for name, column in self.columns.items()]
        return pa.schema([("history", pa.int64()), *self.extra, *fields])


TABLES = (
    Table(
        HISTORIES,
        HistoryHeader,
        (
            ("is_complete", pa.bool_()),
            ("transaction_count", pa.int64()),
            ("event_count", pa.int64()),
        ),
    ),
    Table(TRANSACTIONS, Transaction),
    Table(EVENTS, Event),
)


class HistoryParquetWriter:
    """Writes histories; files appear on a normal close, none after an exception."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._count = 0
        self._tables = {table.name: _TableWriter(folder, table) for table in TABLES}

    def write(self, history: History) -> None:
        """Add one history."""
        number = self._count
        self._count += 1
        counts = {
            "is_complete": history.is_complete,
            "transaction_count": len(history.transactions),
            "event_count": len(history.events),
        }
        self._tables[HISTORIES].add({"history": number, **counts}, history.header)
        for transaction in history.transactions:
            self._tables[TRANSACTIONS].add({"history": number}, transaction)
        for event in history.events:
            self._tables[EVENTS].add({"history": number}, event)

    def __enter__(self) -> HistoryParquetWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Histories come last: a folder with them is complete.
        for table in reversed(self._tables.values()):
            table.close(keep=fault is None)


class _TableWriter:
    def __init__(self, folder: Path, table: Table) -> None:
        self._path = folder / f"{table.name}.parquet"
        self._unfinished = folder / f".{table.name}.{os.getpid()}.tmp"
        self._columns = table.columns
        self._schema = table.schema
        self._rows: list[dict[str, Any]] = []
        self._file = pq.ParquetWriter(
            self._unfinished, self._schema, compression="zstd", write_page_checksum=True
        )

    def add(self, row: dict[str, Any], record: Any) -> None:
        for name, value in encode_record(record, with_defaults=True).items():
            row[name] = self._columns[name].store(value)
        self._rows.append(row)
        if len(self._rows) >= BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._file.write_batch(pa.RecordBatch.from_pylist(self._rows, self._schema))
            self._rows = []

    def close(self, *, keep: bool) -> None:
        try:
            if keep:
                self._flush()
        finally:
            self._file.close()
        if keep:
            sync(self._unfinished)
            self._unfinished.replace(self._path)
            sync_folder(self._path.parent)
        else:
            self._unfinished.unlink()


def write_parquet(folder: Path, histories: Iterable[History]) -> None:
    """Write histories into a folder, replacing its own."""
    with HistoryParquetWriter(folder) as writer:
        for history in histories:
            writer.write(history)


def read_parquet(folder: Path | str) -> Iterator[History]:
    """Yield the histories of a folder.

    Raises:
        ParaplyError: P505 for a missing, damaged or unsuitable file, P504 for inconsistent parts.
    """
    with ExitStack() as stack:
        readers = {table.name: _TableReader(folder, table, stack) for table in TABLES}
        transactions, events = readers[HISTORIES].declared_rows()
        readers[TRANSACTIONS].expect_rows(transactions)
        readers[EVENTS].expect_rows(events)
        for reader in readers.values():
            reader.start()
        for number, extra, header in readers[HISTORIES].records():
            history = History(
                header=header,
                transactions=readers[TRANSACTIONS].take(number, extra["transaction_count"]),
                events=readers[EVENTS].take(number, extra["event_count"]),
                is_complete=extra["is_complete"],
            )
            yield history.check(where=f"{folder}, history {number}")


class _TableReader:
    def __init__(self, folder: Path | str, table: Table, stack: ExitStack) -> None:
        self._path = f"{folder}/{table.name}.parquet"
        self._table = table
        self._columns = table.columns
        try:
            self._file = stack.enter_context(
                pq.ParquetFile(arrow_source(self._path), page_checksum_verification=True)
            )
        except _UNREADABLE as fault:
            raise self._malformed(f"it cannot be opened ({fault})") from None
        if not self._file.schema_arrow.equals(table.schema):
            raise self._malformed("it has other columns than docs/history-format.md describes")
        self._rows: Iterator[dict[str, Any]] = iter(())
        self._ahead: dict[str, Any] | None = None
        # Arrow ends the process when it is asked for the damaged metadata of a column.
        self._row_count = self._file.metadata.num_rows

    def declared_rows(self) -> list[int]:
        """Return how many transactions and events all histories declare."""
        names = ["transaction_count", "event_count"]
        declared = [0, 0]
        try:
            for batch in self._file.iter_batches(batch_size=BATCH_ROWS, columns=names):
                for place, name in enumerate(names):
                    counts = batch.column(name)
                    least, most = pc.min_max(counts).as_py().values()
                    if counts.null_count or (counts and least < 0):
                        raise self._malformed(f"a history has no {name}")
                    if counts and most > HISTORY_ROWS_MAX:
                        raise self._malformed(
                            f"a history has a {name} of {most:,}, above {HISTORY_ROWS_MAX:,}"
                        )
                    declared[place] += pc.sum(counts).as_py() or 0
        except _UNREADABLE as fault:
            raise self._malformed(f"it cannot be read ({fault})") from None
        return declared

    def expect_rows(self, count: int) -> None:
        """Refuse a file with other rows before they are read: a few bytes may hold millions."""
        if self._row_count != count:
            raise self._malformed(
                f"it has {self._row_count:,} rows, and the histories declare {count:,}"
            )

    def start(self) -> None:
        self._rows = self._read_rows()
        self._ahead = next(self._rows, None)

    def records(self) -> Iterator[tuple[int, dict[str, Any], Any]]:
        before = -1
        while self._ahead is not None:
            if self._ahead["history"] is None or self._ahead["history"] <= before:
                raise self._malformed(f"row of history {self._ahead['history']} is out of place")
            before = self._ahead["history"]
            yield self._next()

    def take(self, number: int, count: int) -> tuple[Any, ...]:
        taken: list[Any] = []
        while self._ahead is not None and self._ahead["history"] == number and len(taken) < count:
            taken.append(self._next()[2])
        if len(taken) != count:
            raise self._malformed(f"history {number} has {len(taken)} rows here, and says {count}")
        return tuple(taken)

    def _next(self) -> tuple[int, dict[str, Any], Any]:
        row = self._ahead
        assert row is not None
        number = row.pop("history")
        extra = {name: row.pop(name) for name, _ in self._table.extra}
        try:
            fields = {name: self._columns[name].load(value) for name, value in row.items()}
            record = decode_record(self._table.record, fields)
        except (MalformedRecordError, ValueError, TypeError, RecursionError) as fault:
            raise self._malformed(f"a row of history {number}: {fault}") from None
        self._ahead = next(self._rows, None)
        return number, extra, record

    def _read_rows(self) -> Iterator[dict[str, Any]]:
        try:
            for batch in self._file.iter_batches(batch_size=BATCH_ROWS):
                yield from batch.to_pylist()
        except _UNREADABLE as fault:
            raise self._malformed(f"it cannot be read ({fault})") from None

    def _malformed(self, reason: str) -> ParaplyError:
        return ParaplyError(MALFORMED_HISTORY, where=self._path, reason=reason)
