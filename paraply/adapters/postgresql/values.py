"""Decodes PostgreSQL's text form of values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation

TYPE_NAMES = {
    16: "boolean", 17: "bytea", 20: "bigint", 21: "smallint", 23: "integer", 25: "text",
    114: "json", 700: "real", 701: "double precision", 1042: "character", 1043: "character varying",
    1082: "date", 1083: "time", 1114: "timestamp", 1184: "timestamp with time zone",
    1700: "numeric", 2950: "uuid", 3802: "jsonb",
}  # fmt: skip
"""Object ids of pg_type.dat."""

_COMMON_NAMES = {
    "character varying": "varchar",
    "character": "char",
    "double precision": "double",
    "timestamp without time zone": "timestamp",
    "time without time zone": "time",
    "jsonb": "json",
}


def common_name(type_name: str) -> str:
    """Return MySQL's name for the type."""
    plain = type_name.partition("(")[0].strip()
    return _COMMON_NAMES.get(plain, plain)


def decoder(type_name: str) -> Callable[[str], object]:
    """Return a type's text decoder."""
    return _DECODERS.get(type_name.partition("(")[0].strip(), str)


def _boolean(text: str) -> int:
    return int(text in ("t", "true"))


def _number(text: str) -> object:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    return value if value.is_finite() else text


def _bytes(text: str) -> object:
    return bytes.fromhex(text[2:]) if text.startswith("\\x") else text


_DECODERS: dict[str, Callable[[str], object]] = {
    "boolean": _boolean,
    "bytea": _bytes,
    "smallint": int,
    "integer": int,
    "bigint": int,
    "real": float,
    "double precision": float,
    "numeric": _number,
}
