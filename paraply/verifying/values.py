"""Normalises and casts values for comparison."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from paraply.vocabulary.input_documents import parse_json

Cast = Callable[[object], object]
_EXACT_ALREADY = frozenset({str, bytes, int, type(None)})


def plain(value: object) -> object:
    """Return the exact form; case and space count.

    Decimals lose trailing zeros; whole numbers become integers; floats stay.
    """
    if type(value) in _EXACT_ALREADY or isinstance(value, str | bytes):
        return value
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float):
        if value != value:
            return ("float", "nan")
        return int(value) if value.is_integer() else value
    if isinstance(value, Decimal):
        if value.is_finite() and value == value.to_integral_value():
            return int(value)
        return ("decimal", format(value.normalize(), "f"))
    return str(value)


def _text(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if value is None or isinstance(value, str) else str(value)


def _float(value: object) -> object:
    """Round to single precision."""
    if not isinstance(value, int | float | Decimal | str):
        return value
    try:
        single: float = struct.unpack("<f", struct.pack("<f", float(value)))[0]
    except (ValueError, OverflowError):
        return value
    return single


def _number(value: object) -> object:
    try:
        return Decimal(value) if isinstance(value, str) else value
    except InvalidOperation:
        return value


def _seconds(value: object) -> object:
    return value.partition(".")[0] if isinstance(value, str) else value


def _date(value: object) -> object:
    return value[:10] if isinstance(value, str) else value


def _trim(value: object) -> object:
    text = _text(value)
    return text.rstrip() if isinstance(text, str) else text


def _lower(value: object) -> object:
    text = _text(value)
    return text.lower() if isinstance(text, str) else text


def _json(value: object) -> object:
    text = _text(value)
    if not isinstance(text, str):
        return text
    try:
        return json.dumps(parse_json(text), sort_keys=True, ensure_ascii=False)
    except ValueError:
        return text


CASTS: dict[str, Cast] = {
    "text": _text,
    "float": _float,
    "number": _number,
    "seconds": _seconds,
    "date": _date,
    "trim": _trim,
    "lower": _lower,
    "json": _json,
}
"""Casts for both sides."""

_EXACT = frozenset({"tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year", "bit",
                    "bool", "boolean", "decimal", "numeric", "serial"})  # fmt: skip
_TEXT = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "character",
                   "bpchar", "uuid", "name", "inet6", "inet4"})  # fmt: skip
_BYTES = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob",
                    "bytea"})  # fmt: skip


def kind_of_type(type_name: str) -> str:
    """Return the group of comparable types; empty if unknown."""
    word = type_name.lower().partition("(")[0].split()[:1]
    name = word[0] if word else ""
    if name in _EXACT:
        return "number"
    if name in _TEXT or name in _BYTES:
        return "text"
    return {"real": "float", "float4": "float", "float8": "double"}.get(name, name)


def incomparable(source_type: str, target_type: str, source_value: str, target_value: str) -> str:
    """Return why columns are not comparable, or an empty text.

    Types are tables', values Python's of first rows.
    """
    kinds = kind_of_type(source_type), kind_of_type(target_type)
    if all(kinds) and kinds[0] != kinds[1]:
        return f"{source_type} and {target_type} do not compare directly"
    values = {source_value, target_value} - {""}
    if values in ({"str", "bytes"}, {"str", "int"}, {"str", "Decimal"}, {"str", "float"}):
        return f"values are read as {source_value} and as {target_value}"
    return ""
