"""DECIMAL values: nine digits in four big-endian bytes, negatives inverted.

Source: MySQL strings/decimal.cc, bin2decimal; JSON uses them too.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.temporal import Reader

PRECISION_MAX = 65
_DIGITS_PER_GROUP = 9
_GROUP_BYTES = 4
_BYTES_OF_DIGITS = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


def _side_bytes(digits: int) -> int:
    return digits // _DIGITS_PER_GROUP * _GROUP_BYTES + _BYTES_OF_DIGITS[digits % _DIGITS_PER_GROUP]


def decimal_bytes(precision: int, scale: int) -> int:
    """Return a DECIMAL's length in bytes.

    Raises ``MalformedError`` unless 0 <= scale <= precision <= 65 and precision > 0.
    """
    if not 0 <= scale <= precision <= PRECISION_MAX or precision == 0:
        raise MalformedError(f"DECIMAL({precision},{scale}) does not exist")
    return _side_bytes(precision - scale) + _side_bytes(scale)


def decode_decimal(data: bytes, precision: int, scale: int) -> Decimal:
    """Decode exactly one DECIMAL's bytes."""
    size, whole_groups, fraction_groups = _shape(precision, scale)
    if len(data) != size:
        raise MalformedError(
            f"DECIMAL({precision},{scale}) takes {size} bytes, {len(data)} are there"
        )
    negative = not data[0] & 0x80
    bits = int.from_bytes(data, "big") ^ 1 << (8 * size - 1)
    if negative:
        bits ^= (1 << 8 * size) - 1
    raw = bits.to_bytes(size, "big")
    whole = fraction = 0
    for start, end, power in whole_groups:
        whole = whole * power + int.from_bytes(raw[start:end], "big")
    for start, end, power in fraction_groups:
        fraction = fraction * power + int.from_bytes(raw[start:end], "big")
    sign = "-" if negative else ""
    return Decimal(f"{sign}{whole}.{fraction:0{scale}d}" if scale else f"{sign}{whole}")


_Groups = tuple[tuple[int, int, int], ...]
"""First byte, end and power of ten."""


@lru_cache(maxsize=1024)
def _shape(precision: int, scale: int) -> tuple[int, _Groups, _Groups]:
    """Return the bytes, and the groups of whole digits and of the fraction."""
    sides = []
    position = 0
    for digits_of_side, short_first in ((precision - scale, True), (scale, False)):
        groups = []
        for digits in _group_sizes(digits_of_side, short_first=short_first):
            end = position + _BYTES_OF_DIGITS[digits]
            groups.append((position, end, 10**digits))
            position = end
        sides.append(tuple(groups))
    return decimal_bytes(precision, scale), sides[0], sides[1]


def _group_sizes(digits: int, *, short_first: bool) -> list[int]:
    full = [_DIGITS_PER_GROUP] * (digits // _DIGITS_PER_GROUP)
    rest = [digits % _DIGITS_PER_GROUP] if digits % _DIGITS_PER_GROUP else []
    return rest + full if short_first else full + rest


def decimal_reader(precision: int, scale: int) -> Reader:
    """Return a reader of DECIMAL(precision, scale)."""
    size = decimal_bytes(precision, scale)

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        end = position + size
        return decode_decimal(buffer[position:end], precision, scale), end

    return read
