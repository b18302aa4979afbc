"""Shortcuts for tests that read what ``BinlogWriter`` wrote."""

from __future__ import annotations

import io
from collections.abc import Sequence

from paraply.adapters.binlog.events import Event, RowsEvent
from paraply.adapters.binlog.framing import BinlogReader, RawEvent
from paraply.adapters.binlog.reading import read_events
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.rows_events import decode_rows
from paraply.adapters.binlog.source import Source, source_of_stream
from paraply.adapters.binlog.transactions import read_transactions
from paraply.vocabulary.log import LoggedTransaction, RowChange
from tests.builders.binlog_writer import BinlogWriter, optional_metadata
from tests.builders.column_specs import ColumnSpec


def source_of(data: bytes | bytearray, name: str = "bin.000001") -> Source:
    return source_of_stream(name, io.BytesIO(bytes(data)))


def raw_events_of(data: bytes | bytearray) -> list[RawEvent]:
    return list(BinlogReader(source_of(data)).raw_events())


def events_of(data: bytes | bytearray) -> list[Event]:
    return list(read_events(BinlogReader(source_of(data))))


def event_of(writer: BinlogWriter) -> Event:
    """The last event of a log."""
    return events_of(writer.data)[-1]


def changes_of(data: bytes | bytearray) -> list[RowChange]:
    return [
        change
        for event in events_of(data)
        if isinstance(event, RowsEvent)
        for change in decode_rows(event, "bin.000001")
    ]


def transactions_of(
    *files: bytes | bytearray, report: LogReport | None = None, **options: object
) -> list[LoggedTransaction]:
    sources = [source_of(data, f"bin.{number:06d}") for number, data in enumerate(files, start=1)]
    return list(read_transactions(sources, report=report, **options))


def log_with_rows(
    columns: Sequence[ColumnSpec],
    rows: Sequence[Sequence[object]],
    *,
    code: int = 30,
    metadata: bytes | None = None,
    server_version: str = "8.0.36",
    **options: object,
) -> BinlogWriter:
    """A log of one rows event, in a table that has full metadata unless told otherwise."""
    writer = BinlogWriter(server_version=server_version)
    writer.table_map(columns, metadata=optional_metadata(columns) if metadata is None else metadata)
    writer.rows(code, columns, rows, **options)
    return writer


def round_trip(column: ColumnSpec, value: object) -> object:
    """What the decoder makes of one value of one column."""
    (change,) = changes_of(log_with_rows([column.named("c")], [[value]]).data)
    assert change.after is not None
    return change.after[0]
