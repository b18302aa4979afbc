"""Says whether a decoded value is what the server printed for it."""

from __future__ import annotations

import json
import math
import re
import struct
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from paraply.adapters.binlog.charsets import collation_of
from paraply.adapters.binlog.column_types import ColumnType, WireColumn
from paraply.adapters.binlog.compressed import inflate_column
from paraply.adapters.binlog.partial_json import PartialJson
from tests.builders.text_twins import unquoted

_INTEGER = re.compile(rb"(-?\d+)(?: \((\d+)\))?")


def is_printed_as(value: object, printed: bytes, column: WireColumn) -> bool:
    """Return whether the program's text ``printed`` shows ``value`` of ``column``."""
    if value is None or printed == b"NULL":
        return value is None and printed == b"NULL"
    if isinstance(value, PartialJson):
        return all(diff.path.encode() in printed for diff in value.diffs)
    if column.kind is ColumnType.JSON and printed.startswith((b"JSON_", b"@")):
        # The program prints the difference; we apply it to the before-image, which the test of
        # the final rows judges.
        return isinstance(json.loads(str(value)), dict | list)
    if printed.startswith(b"b'"):
        number = int(printed[2:-1], 2)
        if column.kind is ColumnType.SET:  # Printed byte by byte, the lowest first.
            width = len(printed[2:-1]) // 8
            number = int.from_bytes(number.to_bytes(width, "big"), "little")
        if column.kind is ColumnType.SET and column.members:
            return value == ",".join(
                name for bit, name in enumerate(column.members) if number >> bit & 1
            )
        return value == number
    match column.kind:
        case ColumnType.FLOAT | ColumnType.DOUBLE:
            tolerance = 1e-5 if column.kind is ColumnType.FLOAT else 1e-15
            return math.isclose(float(value), float(printed), rel_tol=tolerance)
        case ColumnType.DECIMAL | ColumnType.NEWDECIMAL:
            return value == Decimal(printed.decode())
        case ColumnType.TIMESTAMP | ColumnType.TIMESTAMP2:
            return value == _moment(printed.decode())
        case ColumnType.DATE | ColumnType.NEWDATE:
            return value == printed.decode().strip("'").replace(":", "-")
        case ColumnType.DATETIME | ColumnType.DATETIME2 | ColumnType.TIME | ColumnType.TIME2:
            return value == printed.decode().strip("'")
        case ColumnType.YEAR:  # The programs add 1900 to the stored byte, which is 0 for 0000.
            return value == (0 if printed == b"1900" else int(printed))
        case ColumnType.ENUM:
            number = int(printed)
            return value == (column.members[number - 1] if column.members else number)
        case ColumnType.JSON:
            return any(_same_json(str(value), text.decode()) for text in unquoted(printed))
    if column.kind is ColumnType.VECTOR:
        numbers = [float(number) for number in printed[1:-1].split(b",")]
        assert isinstance(value, bytes)
        stored = struct.unpack(f"<{len(value) // 4}f", value)
        return all(
            math.isclose(ours, theirs, rel_tol=1e-5)
            for ours, theirs in zip(stored, numbers, strict=True)
        )
    if found := _INTEGER.fullmatch(printed):
        return value in [int(text) for text in found.groups() if text]
    if column.kind in (ColumnType.BLOB_COMPRESSED, ColumnType.VARCHAR_COMPRESSED):
        # Printed as stored: compressed, with its header.
        return _as_bytes(value, column) in [inflate_column(text) for text in unquoted(printed)]
    return _as_bytes(value, column) in unquoted(printed)


def _as_bytes(value: object, column: WireColumn) -> bytes:
    if isinstance(value, bytes):
        # The server cuts trailing zero bytes off a BINARY(n); the program prints what is logged.
        return value.rstrip(b"\0") if column.kind is ColumnType.STRING else value
    known = collation_of(column.collation) if column.collation is not None else None
    assert isinstance(value, str), value
    return value.encode(known.codec if known and known.codec else "utf-8")


def _moment(printed: str) -> str:
    seconds, _, fraction = printed.partition(".")
    if int(seconds) == 0 and not fraction.strip("0"):
        text = "0000-00-00 00:00:00"
    else:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(seconds))
        text = moment.strftime("%Y-%m-%d %H:%M:%S")
    return f"{text}.{fraction}" if fraction else text


def _same_json(ours: str, theirs: str) -> bool:
    if ours == theirs:
        return True
    if ours.startswith('"') and json.loads(ours) == theirs:  # A lone string stands unquoted.
        return True
    try:
        return bool(json.loads(ours) == json.loads(theirs))
    except ValueError:
        return False
