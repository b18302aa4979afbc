"""Updates with JSON diffs in after-images (type 39, MySQL 8.0).

Diffs apply to complete before-images, else remain ``PartialJson``.
"""

from __future__ import annotations

from paraply.adapters.binlog.column_types import ColumnType, WireColumn
from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.json_binary import decode_json, json_text
from paraply.adapters.binlog.partial_json import apply_diffs, as_partial, parse_diffs
from paraply.adapters.binlog.row_images import ImageDecoder, present_columns
from paraply.adapters.binlog.table_map import TableMap, bitmap_bytes
from paraply.adapters.binlog.temporal import Reader
from paraply.vocabulary.log import ABSENT, RowImage

_PARTIAL_JSON_UPDATES = 1


def _raw_reader(column: WireColumn) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[object, int]:
        start = position + column.size
        end = start + int.from_bytes(buffer[position:start], "little")
        if end > len(buffer):
            raise MalformedError(f"a JSON value of {end - start} bytes reaches past its row")
        return buffer[start:end], end

    return read


class PartialUpdateDecoder:
    """Decodes images with value options."""

    def __init__(self, table: TableMap, before_columns: bytes, after_columns: bytes) -> None:
        self._json_columns = [
            index for index, c in enumerate(table.columns) if c.kind is ColumnType.JSON
        ]
        # JSON stays encoded until the diffs apply.
        self._readers = [
            _raw_reader(column) if column.kind is ColumnType.JSON else reader
            for column, reader in zip(table.columns, table.readers, strict=True)
        ]
        self._before = ImageDecoder(table.columns, self._readers, before_columns)
        self._after = ImageDecoder(table.columns, self._readers, after_columns)
        self._count = table.column_count

    def decode(self, data: bytes, position: int) -> tuple[RowImage, RowImage, int]:
        """Return both images and the next position."""
        before, position = self._before.decode(data, position)
        cursor = Cursor(data, position)
        options = cursor.packed()
        if options & ~_PARTIAL_JSON_UPDATES:
            raise MalformedError(f"row value options 0x{options:x} are unknown")
        partial: set[int] = set()
        if options & _PARTIAL_JSON_UPDATES:
            bits = cursor.take(bitmap_bytes(len(self._json_columns)))
            partial = {
                self._json_columns[index]
                for index in present_columns(bits, len(self._json_columns))
            }
        after, position = self._after.decode(data, cursor.position)
        return self._shown(before), self._merged(before, after, partial), position

    def _shown(self, image: RowImage) -> RowImage:
        values = list(image)
        for index in self._json_columns:
            value = values[index]
            if isinstance(value, bytes):
                values[index] = json_text(decode_json(value))
        return tuple(values)

    def _merged(self, before: RowImage, after: RowImage, partial: set[int]) -> RowImage:
        values = list(after)
        for index in self._json_columns:
            value = values[index]
            if not isinstance(value, bytes):
                continue
            if index not in partial:
                values[index] = json_text(decode_json(value))
                continue
            diffs = parse_diffs(value)
            document = before[index]
            if document is ABSENT or not isinstance(document, bytes):
                values[index] = as_partial(diffs)
            else:
                values[index] = json_text(apply_diffs(decode_json(document), diffs))
        return tuple(values)
