"""Columns for logs that tests write: type code, metadata and an encoder per column type.

Written from the format's documentation, not from the decoder: an error here and there would have
to be the same one to go unseen (and the live tier compares the decoder with servers).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

BINARY = 63
LATIN1 = 8
UTF8MB4 = 45


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """One column: what the table map says, and how a value becomes bytes."""

    code: int
    encode: Callable[[object], bytes]
    metadata: bytes = b""
    nullable: bool = True
    unsigned: bool | None = None
    collation: int | None = None
    name: str = ""
    members: tuple[str, ...] = ()
    visible: bool = True

    def named(self, name: str, **changes: object) -> ColumnSpec:
        return replace(self, name=name, **changes)


def integer(width: int, *, unsigned: bool = False) -> ColumnSpec:
    codes = {1: 1, 2: 2, 3: 9, 4: 3, 8: 8}
    return ColumnSpec(
        code=codes[width],
        unsigned=unsigned,
        encode=lambda value: value.to_bytes(width, "little", signed=not unsigned),
    )


def real(width: int) -> ColumnSpec:
    layout = {4: "<f", 8: "<d"}[width]
    return ColumnSpec(
        code={4: 4, 8: 5}[width],
        metadata=bytes([width]),
        unsigned=False,
        encode=lambda value: struct.pack(layout, value),
    )


def year() -> ColumnSpec:
    return ColumnSpec(
        code=13, unsigned=True, encode=lambda value: bytes([value - 1900 if value else 0])
    )


def decimal(precision: int, scale: int) -> ColumnSpec:
    return ColumnSpec(
        code=246,
        metadata=bytes([precision, scale]),
        unsigned=False,
        encode=lambda value: encode_decimal(value, precision, scale),
    )


def encode_decimal(value: Decimal, precision: int, scale: int) -> bytes:
    """Nine digits in four bytes, incomplete groups outermost, top bit flipped, minus inverted."""
    sizes = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]
    _, figures, exponent = value.as_tuple()
    number = int("".join(map(str, figures))) * 10 ** (exponent + scale)
    digits = f"{number:0{precision}d}"
    whole, fraction = digits[: precision - scale], digits[precision - scale :]
    first = len(whole) % 9
    groups = [whole[:first]] if first else []
    groups += [whole[index : index + 9] for index in range(first, len(whole), 9)]
    groups += [fraction[index : index + 9] for index in range(0, len(fraction), 9)]
    data = bytearray(b"".join(int(group).to_bytes(sizes[len(group)], "big") for group in groups))
    data[0] ^= 0x80
    return bytes(byte ^ 0xFF for byte in data) if value < 0 else bytes(data)


def bit(bits: int) -> ColumnSpec:
    return ColumnSpec(
        code=16,
        metadata=bytes([bits % 8, bits // 8]),
        encode=lambda value: value.to_bytes((bits + 7) // 8, "big"),
    )


def _counted(prefix: int, charset: str | None) -> Callable[[object], bytes]:
    def encode(value: object) -> bytes:
        data = value if isinstance(value, bytes) else str(value).encode(charset or "utf-8")
        return len(data).to_bytes(prefix, "little") + data

    return encode


def varchar(bytes_max: int, collation: int | None = UTF8MB4, charset: str = "utf-8") -> ColumnSpec:
    return ColumnSpec(
        code=15,
        metadata=struct.pack("<H", bytes_max),
        collation=collation,
        encode=_counted(1 if bytes_max < 256 else 2, charset),
    )


def char(bytes_max: int, collation: int | None = UTF8MB4, charset: str = "utf-8") -> ColumnSpec:
    first = 0xFE ^ (bytes_max >> 8 & 0x3) << 4
    return ColumnSpec(
        code=254,
        metadata=bytes([first, bytes_max & 0xFF]),
        collation=collation,
        encode=_counted(1 if bytes_max < 256 else 2, charset),
    )


def binary(size: int) -> ColumnSpec:
    encode = _counted(1 if size < 256 else 2, None)
    return replace(char(size, BINARY), encode=lambda value: encode(value.rstrip(b"\0")))


def blob(length_bytes: int = 2, collation: int | None = BINARY) -> ColumnSpec:
    return ColumnSpec(
        code=252,
        metadata=bytes([length_bytes]),
        collation=collation,
        encode=_counted(length_bytes, None),
    )


def enum(*members: str) -> ColumnSpec:
    width = 1 if len(members) < 256 else 2
    return ColumnSpec(
        code=254,
        metadata=bytes([247, width]),
        collation=UTF8MB4,
        members=members,
        encode=lambda value: (members.index(value) + 1 if value else 0).to_bytes(width, "little"),
    )


def set_of(*members: str) -> ColumnSpec:
    width = next(size for size in (1, 2, 3, 4, 8) if len(members) <= 8 * size)

    def encode(value: str) -> bytes:
        bits = sum(1 << members.index(name) for name in value.split(",") if value)
        return bits.to_bytes(width, "little")

    return ColumnSpec(
        code=254,
        metadata=bytes([248, width]),
        collation=UTF8MB4,
        members=members,
        encode=encode,
    )


def _scaled_fraction(text: str, digits: int) -> bytes:
    if not digits:
        return b""
    stored = digits + digits % 2
    return int(text.ljust(stored, "0")).to_bytes(stored // 2, "big")


def datetime2(digits: int = 0) -> ColumnSpec:
    def encode(text: str) -> bytes:
        moment, _, fraction = text.partition(".")
        day, _, clock = moment.partition(" ")
        years, months, days = map(int, day.split("-"))
        hours, minutes, seconds = map(int, clock.split(":"))
        packed = ((years * 13 + months) << 5 | days) << 17 | hours << 12 | minutes << 6 | seconds
        return (packed + 0x8000000000).to_bytes(5, "big") + _scaled_fraction(fraction, digits)

    return ColumnSpec(code=18, metadata=bytes([digits]), encode=encode)


def time2(digits: int = 0) -> ColumnSpec:
    size = (digits + 1) // 2

    def encode(text: str) -> bytes:
        negative = text.startswith("-")
        clock, _, fraction = text.lstrip("-").partition(".")
        hours, minutes, seconds = map(int, clock.split(":"))
        packed = hours << 12 | minutes << 6 | seconds
        small = int.from_bytes(_scaled_fraction(fraction, digits), "big")
        value = (packed << 8 * size) + small
        return ((0x800000 << 8 * size) + (-value if negative else value)).to_bytes(3 + size, "big")

    return ColumnSpec(code=19, metadata=bytes([digits]), encode=encode)


def timestamp2(digits: int = 0) -> ColumnSpec:
    """Values are (seconds since 1970, fraction digits as text)."""

    def encode(value: tuple[int, str]) -> bytes:
        return value[0].to_bytes(4, "big") + _scaled_fraction(value[1], digits)

    return ColumnSpec(code=17, metadata=bytes([digits]), encode=encode)


def date() -> ColumnSpec:
    def encode(text: str) -> bytes:
        years, months, days = map(int, text.split("-"))
        return (years << 9 | months << 5 | days).to_bytes(3, "little")

    return ColumnSpec(code=10, encode=encode)


def old_temporal(code: int, width: int) -> ColumnSpec:
    """TIME, DATETIME and TIMESTAMP of before 5.6.4; values are their numbers."""
    return ColumnSpec(
        code=code, encode=lambda value: value.to_bytes(width, "little", signed=code == 11)
    )


def json_column() -> ColumnSpec:
    """Values are binary documents already (``json_writer.encode_json``)."""
    return ColumnSpec(code=245, metadata=b"\x04", encode=_counted(4, None))


def geometry() -> ColumnSpec:
    return ColumnSpec(code=255, metadata=b"\x04", encode=_counted(4, None))


def vector() -> ColumnSpec:
    return ColumnSpec(code=242, metadata=b"\x04", collation=BINARY, encode=_counted(4, None))
