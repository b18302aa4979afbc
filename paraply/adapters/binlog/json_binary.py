"""MySQL's binary JSON as Python values and server text.

Dicts keep the stored order; MySQL-only values become ``JsonOpaque``. Format: MySQL
sql-common/json_binary.h.

Hostile offsets may revisit bytes, so a document may decode only its own length.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from json import dumps
from struct import Struct

from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.decimals import decode_decimal
from paraply.adapters.binlog.temporal import date_text, datetime_text, time_text

DEPTH_MAX = 100
"""The server's limit (JSON_DOCUMENT_MAX_DEPTH)."""

_LARGE_OBJECT = 1
_SMALL_ARRAY = 2
_LARGE_ARRAY = 3
_LITERAL = 4
_INT16 = 5
_UINT16 = 6
_INT32 = 7
_UINT32 = 8
_INT64 = 9
_UINT64 = 10
_DOUBLE = 11
_STRING = 12
_OPAQUE = 15

_LITERALS: dict[int, object] = {0: None, 1: True, 2: False}
_NUMBERS = {
    _INT16: Struct("<h"),
    _UINT16: Struct("<H"),
    _INT32: Struct("<i"),
    _UINT32: Struct("<I"),
    _INT64: Struct("<q"),
    _UINT64: Struct("<Q"),
    _DOUBLE: Struct("<d"),
}
_TYPE_TIMESTAMP = 7
_TYPE_DATE = 10
_TYPE_TIME = 11
_TYPE_DATETIME = 12
_TYPE_DECIMAL = 246


@dataclass(frozen=True, slots=True)
class JsonOpaque:
    """A non-JSON value: type code and bytes."""

    type_code: int
    data: bytes


class _Document:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.budget = len(data)

    def slice(self, start: int, count: int) -> bytes:
        end = start + count
        if end > len(self.data):
            raise MalformedError(f"JSON bytes {start} to {end} lie outside {len(self.data)}")
        self.budget -= count
        if self.budget < 0:
            raise MalformedError("JSON values overlap")
        return self.data[start:end]

    def unsigned(self, start: int, width: int) -> int:
        return int.from_bytes(self.slice(start, width), "little")

    def value(self, kind: int, start: int, depth: int) -> object:
        if kind <= _LARGE_ARRAY:
            return self.container(kind, start, depth)
        if kind == _LITERAL:
            return self.literal(self.unsigned(start, 1))
        if kind in _NUMBERS:
            layout = _NUMBERS[kind]
            number: object = layout.unpack(self.slice(start, layout.size))[0]
            return number
        if kind == _STRING:
            count, start = self.length(start)
            return self.text(start, count)
        if kind == _OPAQUE:
            type_code = self.unsigned(start, 1)
            count, start = self.length(start + 1)
            return JsonOpaque(type_code, self.slice(start, count))
        raise MalformedError(f"JSON type {kind} is unknown")

    def literal(self, code: int) -> object:
        if code not in _LITERALS:
            raise MalformedError(f"JSON literal {code} is unknown")
        return _LITERALS[code]

    def length(self, start: int) -> tuple[int, int]:
        length = 0
        for index in range(5):
            byte = self.unsigned(start + index, 1)
            length |= (byte & 0x7F) << 7 * index
            if not byte & 0x80:
                return length, start + index + 1
        raise MalformedError("a JSON length of more than 5 bytes")

    def text(self, start: int, count: int) -> str:
        # Servers store only UTF-8; show the row anyway.
        return self.slice(start, count).decode("utf-8", "replace")

    def container(self, kind: int, start: int, depth: int) -> object:
        if depth >= DEPTH_MAX:
            raise MalformedError(f"JSON is nested deeper than {DEPTH_MAX}")
        is_array = kind in (_SMALL_ARRAY, _LARGE_ARRAY)
        width = 4 if kind in (_LARGE_OBJECT, _LARGE_ARRAY) else 2
        count = self.unsigned(start, width)
        size = self.unsigned(start + width, width)
        if size > len(self.data) - start:
            raise MalformedError(f"a JSON container of {size} bytes in {len(self.data) - start}")
        entry = start + 2 * width
        keys: list[str] = []
        if not is_array:
            for _ in range(count):
                offset = self.unsigned(entry, width)
                key_bytes = self.unsigned(entry + width, 2)
                keys.append(self.text(start + offset, key_bytes))
                entry += width + 2
        values: list[object] = []
        for _ in range(count):
            child = self.unsigned(entry, 1)
            values.append(self.entry_value(child, entry + 1, width, start, depth))
            entry += 1 + width
        return values if is_array else dict(zip(keys, values, strict=True))

    def entry_value(self, kind: int, at: int, width: int, start: int, depth: int) -> object:
        if kind == _LITERAL:
            return self.literal(self.unsigned(at, width))
        if kind in (_INT16, _UINT16) or (width == 4 and kind in (_INT32, _UINT32)):
            raw = self.slice(at, width)
            number: object = _NUMBERS[kind].unpack_from(raw)[0]
            return number
        return self.value(kind, start + self.unsigned(at, width), depth + 1)


def decode_json(data: bytes) -> object:
    """Decode binary JSON; empty means null, as in the server.

    Raises ``MalformedError``.
    """
    if not data:
        return None
    document = _Document(data)
    return document.value(document.unsigned(0, 1), 1, 0)


def json_text(value: object) -> str:
    """Return a document as the server prints it: ``{"a": [1, 2.5, "x"]}``.

    Some large doubles differ (1e15 for 1000000000000000.0).
    """
    if isinstance(value, dict):
        members = (f"{dumps(key, ensure_ascii=False)}: {json_text(v)}" for key, v in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(json_text, value)) + "]"
    if isinstance(value, JsonOpaque):
        return _opaque_text(value)
    if isinstance(value, float):
        return repr(value).replace("e+", "e")
    return dumps(value, ensure_ascii=False)


def _opaque_text(value: JsonOpaque) -> str:
    data = value.data
    if value.type_code == _TYPE_DECIMAL and len(data) > 2:
        return f"{decode_decimal(data[2:], data[0], data[1])}"
    if value.type_code in (_TYPE_TIMESTAMP, _TYPE_DATE, _TYPE_TIME, _TYPE_DATETIME):
        if len(data) != 8:
            raise MalformedError(f"a JSON date or time of {len(data)} bytes (8 are needed)")
        return f'"{_moment_text(value.type_code, int.from_bytes(data, "little", signed=True))}"'
    return f'"base64:type{value.type_code}:{b64encode(data).decode("ascii")}"'


def _moment_text(type_code: int, packed: int) -> str:
    sign = "-" if packed < 0 else ""
    whole, microseconds = divmod(abs(packed), 1 << 24)
    if type_code == _TYPE_DATE:
        day = whole >> 17
        year, month = divmod(day >> 5, 13)
        return date_text(year << 9 | month << 5 | day & 31)
    text = time_text(whole) if type_code == _TYPE_TIME else datetime_text(whole)
    return f"{sign}{text}.{microseconds:06d}"
