"""Table maps: table, column types and metadata (8.0, 10.5).

Layout: MySQL "Table_map_event" and Optional_metadata_fields; MariaDB binlog_row_metadata.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paraply.adapters.binlog.charsets import BINARY_COLLATION, collation_of
from paraply.adapters.binlog.column_types import (
    UnsupportedColumnError,
    WireColumn,
    column_reader,
    parse_wire_column,
)
from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.optional_metadata import parse_optional_metadata
from paraply.adapters.binlog.row_images import ImageDecoder
from paraply.adapters.binlog.sql_types import length_in_characters, sql_type
from paraply.adapters.binlog.temporal import Reader
from paraply.vocabulary.schema import Column, KeyPart, SchemaSource, TableSchema, UniqueKey

COLUMNS_MAX = 4096
"""The servers' column limit."""

_DECODERS_MAX = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableMap:
    """One table definition, shared by equal ones.

    ``undecodable`` is a reason or empty; ``columns`` then ends before the unknown one.
    ``primary_key`` is None if unknown or, with ``has_names``, absent.
    """

    schema_name: str
    table_name: str
    column_count: int
    columns: tuple[WireColumn, ...]
    primary_key: tuple[KeyPart, ...] | None = None
    undecodable: str = ""
    readers: tuple[Reader, ...] = field(default=(), repr=False)
    _decoders: dict[bytes, ImageDecoder] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # Readers are functions, and follow from the columns.
        fields = (self.schema_name, self.table_name, self.column_count, self.columns)
        return _table_map, (*fields, self.primary_key, self.undecodable)

    @property
    def name(self) -> str:
        """Return ``schema.table`` as logged."""
        return f"{self.schema_name}.{self.table_name}"

    @property
    def has_names(self) -> bool:
        """Return whether binlog_row_metadata is FULL."""
        return bool(self.columns) and all(column.name for column in self.columns)

    def image_decoder(self, bitmap: bytes) -> ImageDecoder:
        """Return the cached decoder for a bitmap."""
        decoder = self._decoders.get(bitmap)
        if decoder is None:
            decoder = ImageDecoder(self.columns, self.readers, bitmap)
            if len(self._decoders) < _DECODERS_MAX:
                self._decoders[bitmap] = decoder
        return decoder

    def table_schema(self) -> TableSchema:
        """Return the table's schema.

        Unnamed columns are ``@1``, ``@2`` ... as in mysqlbinlog. ``keys_complete`` is False.
        """
        key = self.primary_key
        return TableSchema(
            name=self.name,
            columns=tuple(
                _schema_column(column, position)
                for position, column in enumerate(self.columns, start=1)
            ),
            unique_keys=() if key is None else (UniqueKey(name="PRIMARY", parts=key),),
            keys_known=key is not None,
            keys_complete=False,
            sources={SchemaSource.TABLE_MAP},
        )


def _schema_column(column: WireColumn, position: int) -> Column:
    known = collation_of(column.collation) if column.collation is not None else None
    return Column(
        name=column.name or f"@{position}",
        type_name=sql_type(column),
        collation=(
            "binary"
            if column.collation == BINARY_COLLATION
            else known.name
            if known is not None
            else ""
        ),
        nullable=column.nullable,
        unsigned=bool(column.unsigned),
        length=length_in_characters(column),
        visible=column.visible is not False,
    )


def bitmap_bytes(bits: int) -> int:
    """Return the bytes of a bitmap."""
    return (bits + 7) // 8


def parse_table_map(body: bytes, *, is_mariadb: bool) -> TableMap:
    """Decode a table map after id and flags.

    Raises ``MalformedError``; unknown types only make it ``undecodable``.
    """
    cursor = Cursor(body)
    schema_name = cursor.take(cursor.unsigned(1)).decode("utf-8", "replace")
    cursor.take(1)
    table_name = cursor.take(cursor.unsigned(1)).decode("utf-8", "replace")
    cursor.take(1)
    count = cursor.packed()
    if count > COLUMNS_MAX:
        raise MalformedError(f"{count} columns (at most {COLUMNS_MAX})")
    codes = cursor.take(count)
    metadata = Cursor(cursor.packed_bytes())
    null_bits = cursor.take(bitmap_bytes(count))
    columns: list[WireColumn] = []
    undecodable = ""
    for position, code in enumerate(codes):
        try:
            kind, size, scale = parse_wire_column(code, metadata)
        except UnsupportedColumnError as fault:
            undecodable = f"column {position + 1}: {fault}"
            break
        nullable = bool(null_bits[position >> 3] >> (position & 7) & 1)
        columns.append(WireColumn(kind=kind, size=size, scale=scale, nullable=nullable))
    primary_key: tuple[KeyPart, ...] | None = None
    if not undecodable:
        optional = parse_optional_metadata(cursor.rest(), columns, is_mariadb=is_mariadb)
        columns = optional.columns
        primary_key = optional.primary_key
    return _table_map(schema_name, table_name, count, tuple(columns), primary_key, undecodable)


def _table_map(
    schema_name: str,
    table_name: str,
    column_count: int,
    columns: tuple[WireColumn, ...],
    primary_key: tuple[KeyPart, ...] | None,
    undecodable: str,
) -> TableMap:
    readers: list[Reader] = []
    if not undecodable:
        try:
            readers = [column_reader(column) for column in columns]
        except UnsupportedColumnError as fault:
            undecodable = str(fault)
    return TableMap(
        schema_name=schema_name,
        table_name=table_name,
        column_count=column_count,
        columns=columns,
        primary_key=primary_key,
        undecodable=undecodable,
        readers=tuple(readers),
    )
