"""Column types of table maps, and their value readers.

Sources: MySQL "Table_map_event" (binlog event documentation), sql/log_event.cc
log_event_print_value; MariaDB sql/field.cc (compressed columns).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

from paraply.adapters.binlog.charsets import BINARY_COLLATION, text_decoder
from paraply.adapters.binlog.compressed import inflate_column
from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.decimals import decimal_bytes, decimal_reader
from paraply.adapters.binlog.json_binary import decode_json, json_text
from paraply.adapters.binlog.temporal import (
    Reader,
    datetime_reader,
    fraction_bytes,
    read_date,
    read_datetime_v1,
    read_time_v1,
    read_timestamp_v1,
    read_year,
    time_reader,
    timestamp_reader,
)


class ColumnType(IntEnum):
    """Type codes (enum_field_types; 140 and 141 are MariaDB's)."""

    DECIMAL = 0
    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    NULL = 6
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    TIME = 11
    DATETIME = 12
    YEAR = 13
    NEWDATE = 14
    VARCHAR = 15
    BIT = 16
    TIMESTAMP2 = 17
    DATETIME2 = 18
    TIME2 = 19
    BLOB_COMPRESSED = 140
    VARCHAR_COMPRESSED = 141
    VECTOR = 242
    JSON = 245
    NEWDECIMAL = 246
    ENUM = 247
    SET = 248
    TINY_BLOB = 249
    MEDIUM_BLOB = 250
    LONG_BLOB = 251
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


_NO_METADATA = frozenset(
    {
        ColumnType.DECIMAL, ColumnType.TINY, ColumnType.SHORT, ColumnType.LONG, ColumnType.NULL,
        ColumnType.TIMESTAMP, ColumnType.LONGLONG, ColumnType.INT24, ColumnType.DATE,
        ColumnType.TIME, ColumnType.DATETIME, ColumnType.YEAR, ColumnType.NEWDATE,
    }
)  # fmt: skip
BLOBS = frozenset(
    {
        ColumnType.TINY_BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB, ColumnType.BLOB,
        ColumnType.BLOB_COMPRESSED, ColumnType.GEOMETRY, ColumnType.JSON, ColumnType.VECTOR,
    }
)  # fmt: skip
_FRACTIONAL = frozenset({ColumnType.TIMESTAMP2, ColumnType.DATETIME2, ColumnType.TIME2})
_VARIABLE = frozenset({ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.VARCHAR_COMPRESSED})

NUMERIC = frozenset(
    {
        ColumnType.TINY, ColumnType.SHORT, ColumnType.INT24, ColumnType.LONG, ColumnType.LONGLONG,
        ColumnType.FLOAT, ColumnType.DOUBLE, ColumnType.NEWDECIMAL, ColumnType.YEAR,
    }
)  # fmt: skip
"""Types with a signedness bit."""
CHARACTER = frozenset(
    {
        ColumnType.STRING, ColumnType.VAR_STRING, ColumnType.VARCHAR, ColumnType.BLOB,
        ColumnType.TINY_BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB,
        ColumnType.BLOB_COMPRESSED, ColumnType.VARCHAR_COMPRESSED,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class WireColumn:
    """One column of a table map.

    ``size`` is a CHAR's, BINARY's or VARCHAR's maximum bytes, a BIT's bits, or an ENUM's or SET's
    bytes. BLOB, JSON, GEOMETRY and VECTOR have length bytes, DECIMAL has precision. ``scale`` is a
    DECIMAL's or a temporal's digits. Other fields are optional metadata.
    """

    kind: ColumnType
    size: int = 0
    scale: int = 0
    nullable: bool = True
    unsigned: bool | None = None
    collation: int | None = None
    name: str = ""
    members: tuple[str, ...] = ()
    """Values of an ENUM or SET, in definition order."""
    geometry_type: int | None = None
    dimensions: int | None = None
    visible: bool | None = None


class UnsupportedColumnError(Exception):
    """An unknown type, which hides later columns too."""


def parse_wire_column(code: int, metadata: Cursor) -> tuple[ColumnType, int, int]:
    """Return the type, size and scale from metadata.

    Raises ``UnsupportedColumnError`` for an unknown code, ``MalformedError`` for bad metadata.
    """
    try:
        kind = ColumnType(code)
    except ValueError:
        raise UnsupportedColumnError(f"column type {code} is unknown") from None
    if kind in _NO_METADATA:
        return kind, 0, 0
    if kind in BLOBS or kind in (ColumnType.FLOAT, ColumnType.DOUBLE):
        size = metadata.unsigned(1)
        if kind in BLOBS and not 1 <= size <= 4:
            raise MalformedError(f"a {kind.name} with a length of {size} bytes")
        return kind, size, 0
    if kind in _FRACTIONAL:
        digits = metadata.unsigned(1)
        fraction_bytes(digits)
        return kind, 0, digits
    if kind in _VARIABLE:
        return kind, metadata.unsigned(2), 0
    first = metadata.unsigned(1)
    second = metadata.unsigned(1)
    if kind is ColumnType.NEWDECIMAL:
        decimal_bytes(first, second)
        return kind, first, second
    if kind is ColumnType.BIT:
        bits = second * 8 + first
        if not 0 <= bits <= 64:
            raise MalformedError(f"a BIT of {bits} bits")
        return kind, bits, 0
    return _parse_string(kind, first, second)


def _parse_string(kind: ColumnType, first: int, second: int) -> tuple[ColumnType, int, int]:
    """The first byte is the real type; two inverted bits are bits 8 and 9 of the length."""
    if kind is ColumnType.STRING:
        if first & 0x30 != 0x30:
            second |= ((first & 0x30) ^ 0x30) << 4
            first |= 0x30
        if first not in (ColumnType.STRING, ColumnType.ENUM, ColumnType.SET, ColumnType.VAR_STRING):
            # Old servers leave the real type 0 for a plain CHAR.
            first = ColumnType.STRING
        kind = ColumnType(first)
    if kind is ColumnType.ENUM and second not in (1, 2):
        raise MalformedError(f"an ENUM of {second} bytes")
    if kind is ColumnType.SET and not 1 <= second <= 8:
        raise MalformedError(f"a SET of {second} bytes")
    return kind, second, 0


_STRUCT_CODES = {
    ColumnType.TINY: "b",
    ColumnType.SHORT: "h",
    ColumnType.LONG: "i",
    ColumnType.LONGLONG: "q",
}


def struct_code(column: WireColumn) -> str:
    """Return a plain column's ``struct`` code, or empty.

    Integers without signedness are signed.
    """
    if column.kind is ColumnType.FLOAT:
        return "f" if column.size == 4 else ""
    if column.kind is ColumnType.DOUBLE:
        return "d" if column.size == 8 else ""
    code = _STRUCT_CODES.get(column.kind, "")
    return code.upper() if column.unsigned else code


def column_reader(column: WireColumn) -> Reader:
    """Return the reader of a column's values.

    Raises ``UnsupportedColumnError`` for pre-5.0 DECIMAL and odd float sizes.
    """
    kind = column.kind
    simple = _SIMPLE_READERS.get(kind)
    if simple is not None:
        return simple
    code = struct_code(column)
    if code:
        return _struct_reader(Struct("<" + code))
    if kind is ColumnType.INT24:
        return _integer_reader(3, signed=not column.unsigned)
    if kind in _FRACTIONAL:
        return _FRACTION_READERS[kind](column.scale)
    if kind is ColumnType.NEWDECIMAL:
        return decimal_reader(column.size, column.scale)
    if kind is ColumnType.BIT:
        return _bit_reader((column.size + 7) // 8)
    if kind is ColumnType.ENUM:
        return _enum_reader(column.size, column.members)
    if kind is ColumnType.SET:
        return _set_reader(column.size, column.members)
    if kind is ColumnType.JSON:
        return _counted_reader(column.size, _json_value)
    if kind in (ColumnType.GEOMETRY, ColumnType.VECTOR):
        return _counted_reader(column.size, bytes)
    if kind in CHARACTER:
        return _character_reader(column)
    raise UnsupportedColumnError(f"values of type {kind.name} have no known layout")


_SIMPLE_READERS: dict[ColumnType, Reader] = {
    ColumnType.YEAR: read_year,
    ColumnType.DATE: read_date,
    ColumnType.NEWDATE: read_date,
    ColumnType.TIME: read_time_v1,
    ColumnType.DATETIME: read_datetime_v1,
    ColumnType.TIMESTAMP: read_timestamp_v1,
    ColumnType.NULL: lambda _buffer, position: (None, position),
}
_FRACTION_READERS: dict[ColumnType, Callable[[int], Reader]] = {
    ColumnType.TIMESTAMP2: timestamp_reader,
    ColumnType.DATETIME2: datetime_reader,
    ColumnType.TIME2: time_reader,
}


def _json_value(data: bytes) -> str:
    return json_text(decode_json(data))


def _struct_reader(layout: Struct) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[object, int]:
        return layout.unpack_from(buffer, position)[0], position + layout.size

    return read


def _integer_reader(width: int, *, signed: bool) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[object, int]:
        end = position + width
        return int.from_bytes(buffer[position:end], "little", signed=signed), end

    return read


def _bit_reader(width: int) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[object, int]:
        end = position + width
        return int.from_bytes(buffer[position:end], "big"), end

    return read


def _enum_reader(width: int, members: tuple[str, ...]) -> Reader:
    """ENUM number 0 is the error value ''."""

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        end = position + width
        number = int.from_bytes(buffer[position:end], "little")
        if not members:
            return number, end
        if number > len(members):
            raise MalformedError(f"ENUM number {number} of {len(members)}")
        return members[number - 1] if number else "", end

    return read


def _set_reader(width: int, members: tuple[str, ...]) -> Reader:
    def read(buffer: bytes, position: int) -> tuple[object, int]:
        end = position + width
        bits = int.from_bytes(buffer[position:end], "little")
        if not members:
            return bits, end
        if bits >> len(members):
            raise MalformedError(f"SET bits 0x{bits:x} of {len(members)} members")
        return ",".join(name for index, name in enumerate(members) if bits >> index & 1), end

    return read


def _counted_reader(length_bytes: int, convert: Callable[[bytes], object]) -> Reader:
    """Check the slice, because ``convert`` may accept a partial value."""
    if length_bytes == 1:

        def read_short(buffer: bytes, position: int) -> tuple[object, int]:
            start = position + 1
            end = start + buffer[position]
            if end > len(buffer):
                raise MalformedError(f"a value of {end - start} bytes reaches past its row")
            return convert(buffer[start:end]), end

        return read_short

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        start = position + length_bytes
        end = start + int.from_bytes(buffer[position:start], "little")
        if end > len(buffer):
            raise MalformedError(f"a value of {end - start} bytes reaches past its row")
        return convert(buffer[start:end]), end

    return read


def _character_reader(column: WireColumn) -> Reader:
    convert: Callable[[bytes], object] = text_decoder(column.collation)
    if column.kind in (ColumnType.BLOB_COMPRESSED, ColumnType.VARCHAR_COMPRESSED):
        decode = convert

        def convert(data: bytes) -> object:
            return decode(inflate_column(data))

    if column.kind in BLOBS:
        return _counted_reader(column.size, convert)
    if column.kind is ColumnType.STRING and column.collation == BINARY_COLLATION:
        # The server cuts trailing zero bytes off a BINARY(n).
        size = column.size

        def convert(data: bytes) -> object:
            return data.ljust(size, b"\0")

    return _counted_reader(1 if column.size < 256 else 2, convert)
