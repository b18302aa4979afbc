"""MariaDB's zlib compression of statements, rows and columns."""

from __future__ import annotations

import zlib

from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.memory import BUDGET

_ALGORITHM_ZLIB = 0


def _inflate_exactly(data: bytes, length: int, window_bits: int) -> bytes:
    """Memory follows the data, not ``length``."""
    BUDGET.require(length)
    unpacker = zlib.decompressobj(window_bits)
    try:
        # One byte more than claimed detects a longer stream.
        inflated = unpacker.decompress(data, length + 1)
    except zlib.error as fault:
        raise MalformedError(f"zlib: {fault}") from None
    if len(inflated) != length:
        raise MalformedError(f"inflates to {len(inflated)} bytes or more, claims {length}")
    return inflated


def inflate(data: bytes) -> bytes:
    """Unpack a compressed query or rows event.

    Layout (MariaDB sql/log_event.cc, binlog_buf_uncompress): ``0x80

    algorithm << 4

    n``, the length in ``n`` (1 to 4) big-endian bytes, zlib.
    """
    cursor = Cursor(data)
    head = cursor.unsigned(1)
    algorithm = head >> 4 & 0x07
    width = head & 0x07
    if not head & 0x80 or algorithm != _ALGORITHM_ZLIB or not 1 <= width <= 4:
        raise MalformedError(f"0x{head:02x} does not start compressed data")
    length = int.from_bytes(cursor.take(width), "big")
    return _inflate_exactly(cursor.rest(), length, zlib.MAX_WBITS)


def inflate_column(data: bytes) -> bytes:
    """Unpack a MariaDB COMPRESSED column's value.

    Layout (MariaDB sql/field.cc): empty for the empty string; 0 and the plain value; or ``method <<
    4

    raw << 3

    n``, the length in ``n`` big-endian bytes, and zlib, headerless if ``raw``.
    """
    if not data:
        return b""
    cursor = Cursor(data)
    head = cursor.unsigned(1)
    if head == 0:
        return cursor.rest()
    method = head >> 4
    width = head & 0x07
    if method != 8 or not 1 <= width <= 4:
        raise MalformedError(f"0x{head:02x} does not start a compressed column")
    length = int.from_bytes(cursor.take(width), "big")
    return _inflate_exactly(
        cursor.rest(), length, -zlib.MAX_WBITS if head & 0x08 else zlib.MAX_WBITS
    )
