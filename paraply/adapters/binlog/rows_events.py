"""Rows events: v0 (20-22), v1 (23-25), v2 (30-32), partial update (39), MariaDB compressed
(166-171).

Layout: MySQL "Rows_event".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from paraply.adapters.binlog.compressed import inflate
from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.events import RowsEvent
from paraply.adapters.binlog.format_description import FormatDescription
from paraply.adapters.binlog.framing import RawEvent
from paraply.adapters.binlog.partial_rows import PartialUpdateDecoder
from paraply.adapters.binlog.table_map import TableMap, bitmap_bytes
from paraply.vocabulary.log import LogPosition, Operation, RowChange, RowImage

_ENDS_STATEMENT = 0x1
_NO_FOREIGN_KEY_CHECKS = 0x2
_PairDecoder = Callable[[bytes, int], tuple[RowImage, RowImage, int]]


class _Shape(NamedTuple):
    operation: Operation
    has_extra_data: bool
    compressed: bool


def _shape(operation: Operation, *, extra: bool = False, compressed: bool = False) -> _Shape:
    return _Shape(operation, extra, compressed)


ROWS_SHAPES: Mapping[int, _Shape] = {
    EventType.WRITE_ROWS_V0: _shape(Operation.INSERT),
    EventType.UPDATE_ROWS_V0: _shape(Operation.UPDATE),
    EventType.DELETE_ROWS_V0: _shape(Operation.DELETE),
    EventType.WRITE_ROWS_V1: _shape(Operation.INSERT),
    EventType.UPDATE_ROWS_V1: _shape(Operation.UPDATE),
    EventType.DELETE_ROWS_V1: _shape(Operation.DELETE),
    EventType.WRITE_ROWS: _shape(Operation.INSERT, extra=True),
    EventType.UPDATE_ROWS: _shape(Operation.UPDATE, extra=True),
    EventType.DELETE_ROWS: _shape(Operation.DELETE, extra=True),
    EventType.PARTIAL_UPDATE_ROWS: _shape(Operation.UPDATE, extra=True),
    EventType.WRITE_ROWS_COMPRESSED_V1: _shape(Operation.INSERT, compressed=True),
    EventType.UPDATE_ROWS_COMPRESSED_V1: _shape(Operation.UPDATE, compressed=True),
    EventType.DELETE_ROWS_COMPRESSED_V1: _shape(Operation.DELETE, compressed=True),
    EventType.WRITE_ROWS_COMPRESSED: _shape(Operation.INSERT, extra=True, compressed=True),
    EventType.UPDATE_ROWS_COMPRESSED: _shape(Operation.UPDATE, extra=True, compressed=True),
    EventType.DELETE_ROWS_COMPRESSED: _shape(Operation.DELETE, extra=True, compressed=True),
}


def table_id_bytes(description: FormatDescription) -> int:
    """Return 6, or 4 before 5.1.4."""
    return 4 if description.post_header_length(EventType.TABLE_MAP, 8) == 6 else 6


def rows_head_bytes(code: int, body: bytes) -> int:
    """Return the bytes before the rows of a rows event with table ids of six bytes.

    Raises ``MalformedError``.
    """
    shape = ROWS_SHAPES[code]
    cursor = Cursor(body)
    cursor.take(8)
    if shape.has_extra_data:
        cursor.take(cursor.unsigned(2) - 2)
    bitmap = bitmap_bytes(cursor.packed())
    cursor.take(2 * bitmap if shape.operation is Operation.UPDATE else bitmap)
    return cursor.position


def parse_rows(
    raw: RawEvent, description: FormatDescription, tables: Mapping[int, TableMap]
) -> RowsEvent:
    """Decode a rows event except its rows.

    Raises ``MalformedError`` for a wrong column count.
    """
    shape = ROWS_SHAPES[raw.header.type_code]
    cursor = Cursor(raw.body)
    table_id = cursor.unsigned(table_id_bytes(description))
    flags = cursor.unsigned(2)
    if shape.has_extra_data:
        extra_bytes = cursor.unsigned(2)
        if extra_bytes < 2:
            raise MalformedError(f"extra data of {extra_bytes} bytes (it counts its own 2)")
        cursor.take(extra_bytes - 2)
    column_count = cursor.packed()
    table = tables.get(table_id)
    if table is not None and table.column_count != column_count:
        raise MalformedError(
            f"{column_count} columns, the table map of {table.name} has {table.column_count}"
        )
    before_columns = after_columns = cursor.take(bitmap_bytes(column_count))
    if shape.operation is Operation.UPDATE:
        after_columns = cursor.take(bitmap_bytes(column_count))
    row_data = cursor.rest()
    if shape.compressed and row_data:
        row_data = inflate(row_data)
    return RowsEvent(
        header=raw.header,
        table_id=table_id,
        table=table,
        operation=shape.operation,
        before_columns=before_columns,
        after_columns=after_columns,
        row_data=row_data,
        ends_statement=bool(flags & _ENDS_STATEMENT),
        unchecked=bool(flags & _NO_FOREIGN_KEY_CHECKS),
        partial_json=raw.header.type_code == EventType.PARTIAL_UPDATE_ROWS,
    )


def decode_rows(event: RowsEvent, file: str) -> Iterator[RowChange]:
    """Yield an event's rows, with ``file`` in their position.

    Yields nothing for a dummy event or ``undecodable`` table. Raises ``MalformedError``.
    """
    table = event.table
    if table is None or table.undecodable:
        return
    data = event.row_data
    end = len(data)
    name = table.name
    operation = event.operation
    where = LogPosition(file=file, offset=event.header.offset)
    decode_before = table.image_decoder(event.before_columns).decode
    position = 0
    if operation is Operation.UPDATE:
        pair = _pair_decoder(event, table)
        while position < end:
            start = position
            before, after, position = pair(data, position)
            _require_progress(start, position)
            yield RowChange(
                table=name,
                operation=operation,
                before=before,
                after=after,
                position=where,
                unchecked=event.unchecked,
            )
        return
    is_insert = operation is Operation.INSERT
    while position < end:
        start = position
        image, position = decode_before(data, position)
        _require_progress(start, position)
        yield RowChange(
            table=name,
            operation=operation,
            before=None if is_insert else image,
            after=image if is_insert else None,
            position=where,
            unchecked=event.unchecked,
        )


def _require_progress(start: int, position: int) -> None:
    if position == start:
        raise MalformedError("a row of no bytes")


def _pair_decoder(event: RowsEvent, table: TableMap) -> _PairDecoder:
    if event.partial_json:
        return PartialUpdateDecoder(table, event.before_columns, event.after_columns).decode
    decode_before = table.image_decoder(event.before_columns).decode
    decode_after = table.image_decoder(event.after_columns).decode

    def decode(data: bytes, position: int) -> tuple[RowImage, RowImage, int]:
        before, position = decode_before(data, position)
        after, position = decode_after(data, position)
        return before, after, position

    return decode
