"""Decoded rows in the canonical text of the recorded final rows (see the fixtures' README)."""

from __future__ import annotations

import ipaddress
import struct
import uuid
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from paraply.adapters.binlog.charsets import codec_of
from paraply.adapters.binlog.column_types import WireColumn
from paraply.vocabulary.log import RowImage


def canonical_row(
    image: RowImage, table: Mapping[str, Sequence[Any]], wire: Sequence[WireColumn]
) -> tuple[str | None, ...]:
    """Return a full row image as the truth spells it; ``table`` is the truth's own entry."""
    return tuple(
        canonical(value, kind, charset, column)
        for value, kind, charset, column in zip(
            image, table["types"], table["charsets"], wire, strict=True
        )
    )


def canonical(value: object, kind: str, charset: str | None, column: WireColumn) -> str | None:
    """Return one decoded value as the truth spells it.

    ``charset`` is that of the schema: minimal metadata leaves text as bytes.
    """
    if value is None:
        return None
    name = kind.split("(")[0].split(" ")[0]
    match name:
        case "uuid":
            return str(uuid.UUID(bytes=value))
        case "inet6":
            return _inet6(value)
        case "inet4":
            return str(ipaddress.IPv4Address(value))
        case "year":
            return f"{value:04}"
        case "float":
            return repr(struct.unpack("<f", struct.pack("<f", value))[0])
        case "double":
            return repr(float(value))
        case "decimal":
            assert isinstance(value, Decimal)
            return f"{value if value else abs(value):.{column.scale}f}"
        case "enum" if isinstance(value, int):
            return _members(kind)[value - 1]
        case "set" if isinstance(value, int):
            return ",".join(member for bit, member in enumerate(_members(kind)) if value >> bit & 1)
    if isinstance(value, bytes):
        return value.decode(codec_of(charset)) if charset else value.hex()
    return str(value)


def _members(kind: str) -> list[str]:
    return kind[kind.index("'") + 1 : kind.rindex("'")].split("','")


def _inet6(value: bytes) -> str:
    address = ipaddress.IPv6Address(value)
    return f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else str(address)
