"""Dates and times as server text, since Python lacks zero dates.

TIMESTAMP is UTC. Formats: MySQL Internals "Date and Time Data Type Representation"; version 2
(5.6.4, MariaDB 10.1) is big-endian with an offset.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache

from paraply.adapters.binlog.cursor import MalformedError

Reader = Callable[[bytes, int], tuple[object, int]]
"""Reads a value; returns it with the next position.

The caller detects cut rows by the final position.
"""

FRACTION_DIGITS_MAX = 6
ZERO_TIMESTAMP = "0000-00-00 00:00:00"
_EPOCH = date(1970, 1, 1)


def fraction_bytes(digits: int) -> int:
    """Return a fraction's bytes.

    Raises ``MalformedError`` above six digits.
    """
    if digits > FRACTION_DIGITS_MAX:
        raise MalformedError(f"{digits} digits of a second (at most {FRACTION_DIGITS_MAX})")
    return (digits + 1) // 2


def _fraction_text(raw: int, digits: int) -> str:
    """An odd digit count is stored with a zero appended."""
    if not digits:
        return ""
    stored_digits = digits + (digits & 1)
    return "." + f"{raw:0{stored_digits}d}"[:digits]


@lru_cache(maxsize=4096)
def _day_text(days: int) -> str:
    return (_EPOCH + timedelta(days=days)).isoformat()


def timestamp_text(seconds: int) -> str:
    """Return 32-bit seconds since 1970 as UTC text."""
    if seconds == 0:
        return ZERO_TIMESTAMP
    days, rest = divmod(seconds, 86_400)
    minutes, second = divmod(rest, 60)
    return f"{_day_text(days)} {minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"


def date_text(packed: int) -> str:
    """Return a DATE's text (5-bit day, 4-bit month, year)."""
    return f"{packed >> 9:04d}-{packed >> 5 & 15:02d}-{packed & 31:02d}"


def datetime_text(packed: int) -> str:
    """Return a version 2 DATETIME's integer part."""
    clock = packed & 0x1FFFF
    day = packed >> 17
    year, month = divmod(day >> 5, 13)
    return (
        f"{year:04d}-{month:02d}-{day & 31:02d} "
        f"{clock >> 12:02d}:{clock >> 6 & 63:02d}:{clock & 63:02d}"
    )


def time_text(packed: int) -> str:
    """Return a non-negative version 2 TIME, without fraction."""
    return f"{packed >> 12 & 1023:02d}:{packed >> 6 & 63:02d}:{packed & 63:02d}"


def read_date(buffer: bytes, position: int) -> tuple[object, int]:
    """Read a 3-byte DATE."""
    end = position + 3
    return date_text(int.from_bytes(buffer[position:end], "little")), end


def read_time_v1(buffer: bytes, position: int) -> tuple[object, int]:
    """Read a pre-5.6.4 TIME: decimal hhmmss, 3 bytes."""
    end = position + 3
    digits = int.from_bytes(buffer[position:end], "little", signed=True)
    hours, rest = divmod(abs(digits), 10_000)
    minutes, seconds = divmod(rest, 100)
    return f"{'-' if digits < 0 else ''}{hours:02d}:{minutes:02d}:{seconds:02d}", end


def read_datetime_v1(buffer: bytes, position: int) -> tuple[object, int]:
    """Read a pre-5.6.4 DATETIME: decimal YYYYMMDDhhmmss, 8 bytes."""
    end = position + 8
    day, clock = divmod(int.from_bytes(buffer[position:end], "little"), 1_000_000)
    return (
        f"{day // 10_000:04d}-{day // 100 % 100:02d}-{day % 100:02d} "
        f"{clock // 10_000:02d}:{clock // 100 % 100:02d}:{clock % 100:02d}"
    ), end


def read_timestamp_v1(buffer: bytes, position: int) -> tuple[object, int]:
    """Read a pre-5.6.4 TIMESTAMP: 4 bytes of seconds."""
    end = position + 4
    return timestamp_text(int.from_bytes(buffer[position:end], "little")), end


def read_year(buffer: bytes, position: int) -> tuple[object, int]:
    """Read a YEAR: 0 or years since 1900."""
    year = buffer[position]
    return (1900 + year if year else 0), position + 1


def timestamp_reader(digits: int) -> Reader:
    """Return a reader of version 2 TIMESTAMP(digits)."""
    width = 4 + fraction_bytes(digits)

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        end = position + width
        middle = position + 4
        text = timestamp_text(int.from_bytes(buffer[position:middle], "big"))
        if not digits:
            return text, end
        return text + _fraction_text(int.from_bytes(buffer[middle:end], "big"), digits), end

    return read


def datetime_reader(digits: int) -> Reader:
    """Return a reader of version 2 DATETIME(digits)."""
    width = 5 + fraction_bytes(digits)

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        end = position + width
        middle = position + 5
        # The offset marks a sign that a DATETIME never has; a row without it is left readable.
        text = datetime_text(int.from_bytes(buffer[position:middle], "big") & 0x7FFFFFFFFF)
        if not digits:
            return text, end
        return text + _fraction_text(int.from_bytes(buffer[middle:end], "big"), digits), end

    return read


def time_reader(digits: int) -> Reader:
    """Return a version 2 TIME reader; negatives borrow from the fraction."""
    small = fraction_bytes(digits)
    width = 3 + small
    bits = 8 * small
    offset = 0x800000 << bits
    mask = (1 << bits) - 1

    def read(buffer: bytes, position: int) -> tuple[object, int]:
        end = position + width
        value = int.from_bytes(buffer[position:end], "big") - offset
        sign = "-" if value < 0 else ""
        value = abs(value)
        return sign + time_text(value >> bits) + _fraction_text(value & mask, digits), end

    return read
