"""Row values from mysqlbinlog -v.

Quoted text becomes bytes of unknown character set. With -vv temporals match the binary decoder.
"""

from __future__ import annotations

import re
from decimal import Decimal

from paraply.adapters.binlog.temporal import timestamp_text
from paraply.vocabulary.log import ABSENT, UNKNOWN

_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPE_OF_MARIADB = re.compile(rb"\\(x[01][0-9a-fA-F])")
_NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"b": b"\b", b"Z": b"\x1a"}
_BITS = re.compile(rb"b'([01]*)'")
_INTEGER = re.compile(rb"(-?\d{1,66})(?: \(\d{1,66}\))?(?= |$)")
_NUMBER = re.compile(rb"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][-+]?\d{1,3})?(?= |$)")
"""A DOUBLE may be written with all its digits."""
_COMMENT = re.compile(rb" */\* ([A-Z0-9/ ]+)(?:\(.*)?meta=.*\*/$")


class UnreadableValue(ValueError):  # noqa: N818 - it is an answer, not a fault
    """An unprinted or foreign value."""


def parse_value(text: bytes, *, is_mariadb: bool = False) -> object:
    """Return the value after ``@n=``.

    MariaDB's program writes quotes and backslashes as they are (``my_b_write_quoted``), so a value
    with a backslash before ``x0a`` reads as one with a line's end.

    Numbers are ``int`` or ``Decimal``, quoted text ``bytes``. Partial JSON is UNKNOWN, or ABSENT if
    unchanged. Raises ``UnreadableValue``.
    """
    found: re.Match[bytes] | None
    if text.startswith(b"'"):
        return _quoted(text, _ESCAPE_OF_MARIADB if is_mariadb else _ESCAPE)
    if text.startswith(b"NULL"):
        return None
    if found := _INTEGER.match(text):
        return _typed_number(int(found[1]), _type_after(text, found.end()))
    if found := _NUMBER.match(text):
        return _typed_number(Decimal(found[0].decode()), _type_after(text, found.end()))
    if found := _BITS.match(text):
        return int(found[1] or b"0", 2)
    if text.startswith(b"JSON_"):
        return UNKNOWN
    if text.startswith(b"@"):
        return ABSENT
    if text.startswith(b"["):
        return text.rstrip()
    raise UnreadableValue(text[:40].decode("utf-8", "replace"))


def _quoted(text: bytes, escape: re.Pattern[bytes]) -> object:
    """Return a text value: all up to the last quote, but for the comment of -vv."""
    end = text.rfind(b" /* ") if text.endswith(b"*/") else -1
    type_name = _type_after(text, end) if end >= 0 else b""
    inner = (text[:end] if type_name else text).rstrip()
    if len(inner) == 1 or not inner.endswith(b"'"):
        raise UnreadableValue("a quote that does not close")
    return _typed_text(escape.sub(_unescape_one, inner[1:-1]), type_name)


def _unescape_one(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    if len(escape) == 3:
        return bytes((int(escape[1:], 16),))
    return _NAMED.get(escape, escape)


def _type_after(text: bytes, end: int) -> bytes:
    found = _COMMENT.match(text, end)
    return found[1].strip() if found else b""


def _typed_text(value: bytes, type_name: bytes) -> object:
    if type_name == b"DATE":
        return value.decode("ascii", "replace").replace(":", "-")
    if type_name in (b"TIME", b"DATETIME", b"JSON"):
        return value.decode("utf-8", "replace")
    return value


def _typed_number(value: int | Decimal, type_name: bytes) -> object:
    if type_name == b"TIMESTAMP":
        seconds = int(value)
        if not 0 <= seconds < 1 << 40:
            raise UnreadableValue(f"{seconds} is no time")
        digits = str(value).partition(".")[2]
        return timestamp_text(seconds) + (f".{digits}" if digits else "")
    if type_name in (b"FLOAT", b"DOUBLE"):
        return float(value)
    if type_name == b"DECIMAL":
        return Decimal(value)
    return value
