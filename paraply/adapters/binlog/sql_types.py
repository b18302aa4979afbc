"""SQL types from wire columns."""

from __future__ import annotations

from paraply.adapters.binlog.charsets import BINARY_COLLATION, collation_of
from paraply.adapters.binlog.column_types import BLOBS, CHARACTER, ColumnType, WireColumn


def sql_type(column: WireColumn) -> str:
    """Return the lower-case SQL type."""
    kind = column.kind
    is_binary = column.collation == BINARY_COLLATION
    if kind in CHARACTER:
        names = _BINARY_NAMES if is_binary else _TEXT_NAMES
        if kind in BLOBS:
            return f"{_BLOB_PREFIXES[column.size]}{'blob' if is_binary else 'text'}"
        return names[kind]
    name = _SQL_NAMES[kind]
    return f"{name} unsigned" if column.unsigned and kind is not ColumnType.YEAR else name


_BLOB_PREFIXES = {1: "tiny", 2: "", 3: "medium", 4: "long"}
_TEXT_NAMES = {
    ColumnType.STRING: "char",
    ColumnType.VAR_STRING: "varchar",
    ColumnType.VARCHAR: "varchar",
    ColumnType.VARCHAR_COMPRESSED: "varchar",
}
_BINARY_NAMES = {
    ColumnType.STRING: "binary",
    ColumnType.VAR_STRING: "varbinary",
    ColumnType.VARCHAR: "varbinary",
    ColumnType.VARCHAR_COMPRESSED: "varbinary",
}
_SQL_NAMES = {
    ColumnType.DECIMAL: "decimal",
    ColumnType.TINY: "tinyint",
    ColumnType.SHORT: "smallint",
    ColumnType.LONG: "int",
    ColumnType.FLOAT: "float",
    ColumnType.DOUBLE: "double",
    ColumnType.NULL: "null",
    ColumnType.TIMESTAMP: "timestamp",
    ColumnType.LONGLONG: "bigint",
    ColumnType.INT24: "mediumint",
    ColumnType.DATE: "date",
    ColumnType.TIME: "time",
    ColumnType.DATETIME: "datetime",
    ColumnType.YEAR: "year",
    ColumnType.NEWDATE: "date",
    ColumnType.BIT: "bit",
    ColumnType.TIMESTAMP2: "timestamp",
    ColumnType.DATETIME2: "datetime",
    ColumnType.TIME2: "time",
    ColumnType.VECTOR: "vector",
    ColumnType.JSON: "json",
    ColumnType.NEWDECIMAL: "decimal",
    ColumnType.ENUM: "enum",
    ColumnType.SET: "set",
    ColumnType.GEOMETRY: "geometry",
}


def length_in_characters(column: WireColumn) -> int:
    """Return the length of text (characters) or binary (bytes), else 0."""
    if column.kind in BLOBS or column.kind not in CHARACTER:
        return 0
    collation = collation_of(column.collation) if column.collation is not None else None
    return column.size // (collation.character_bytes_max if collation else 1)
