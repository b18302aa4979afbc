"""Comparable column values: equal if and only if equal in a key.

Numbers and temporals compare by value (1.0 is 1.00, -0.0 is 0.0, 12:00:00.500 is 12:00:00.5), text
by collation.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from enum import Enum

from paraply.adapters.binlog.keys.collations import COARSE_FOLD, Fold, fold_of, is_exact, text_of
from paraply.vocabulary.schema import Column


class _Incomparable(Enum):
    INCOMPARABLE = "INCOMPARABLE"


INCOMPARABLE = _Incomparable.INCOMPARABLE
"""A value of an unknown character set or character."""

Comparable = tuple[object, bool]
"""A comparable value, and its exactness."""
Folder = Callable[[object], Comparable]

INTEGER_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
_TEXT = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "json"})
_BYTES = frozenset(
    {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector"}
    | {"uuid", "inet4", "inet6"}
)
_FIXED_BYTES = frozenset({"binary", "uuid", "inet4", "inet6"})
_TEMPORAL = frozenset({"date", "time", "datetime", "timestamp"})


def folder_of(column: Column, prefix_length: int = 0) -> Folder:
    """Return the comparison of a column or prefix.

    Text may be bytes of an unknown character set. Incomparable values give (``INCOMPARABLE``,
    False); None is invalid.
    """
    kind = column.type_name.partition(" ")[0]
    if kind in INTEGER_BITS:
        return _integer_folder(INTEGER_BITS[kind], unsigned=column.unsigned)
    if kind == "decimal":
        return _fold_decimal
    if kind in ("float", "double"):
        return _fold_float
    if kind in _TEMPORAL:
        return _fold_temporal
    if kind in ("year", "bit", "enum", "set"):
        return lambda value: (value, True)
    if kind in _BYTES or (kind in _TEXT and column.collation == "binary"):
        is_fixed = kind in _FIXED_BYTES or kind == "char"
        return _bytes_folder(prefix_length, is_fixed=is_fixed)
    if kind in _TEXT:
        return _text_folder(column, prefix_length, is_padded=kind == "char")
    return _fold_incomparable


def _fold_incomparable(value: object) -> Comparable:
    return INCOMPARABLE, False


def _integer_folder(bits: int, *, unsigned: bool) -> Folder:
    span = 1 << bits

    def fold(value: object) -> Comparable:
        if not isinstance(value, int):
            return INCOMPARABLE, False
        # Logs without signedness give an unsigned column's large values as negative ones.
        return (value + span if unsigned and value < 0 else value), True

    return fold


def _fold_decimal(value: object) -> Comparable:
    if isinstance(value, Decimal | int):
        return value, True
    try:
        return Decimal(str(value)), True
    except InvalidOperation:
        return INCOMPARABLE, False


def _fold_float(value: object) -> Comparable:
    if isinstance(value, float | int):
        return float(value) + 0.0, True
    if isinstance(value, Decimal):
        # A text dump prints so many digits of a FLOAT that two of them may look alike.
        return float(value) + 0.0, False
    return INCOMPARABLE, False


def _fold_temporal(value: object) -> Comparable:
    if isinstance(value, bytes):
        value = value.decode("ascii", "replace")
    if isinstance(value, str) and "." in value:
        return value.rstrip("0").rstrip("."), True
    return value, True


def _bytes_folder(prefix_length: int, *, is_fixed: bool) -> Folder:
    def fold(value: object) -> Comparable:
        if isinstance(value, str):
            return INCOMPARABLE, False
        if not isinstance(value, bytes | bytearray):
            return INCOMPARABLE, False
        data = bytes(value)
        if prefix_length:
            data = data[:prefix_length]
        # Logs cut the zero bytes that fill a BINARY(n), some readers put them back.
        return (data.rstrip(b"\0") if is_fixed else data), True

    return fold


def is_padded_to_length(collation: str) -> bool:
    """Return whether CHAR(n) compares with filling spaces.

    True for MariaDB's NO PAD (10.11); MySQL cuts them.
    """
    return "nopad" in collation


def _text_folder(column: Column, prefix_length: int, *, is_padded: bool) -> Folder:
    decode = text_of(column.charset)
    collation = column.collation
    fold_text: Fold = fold_of(collation)
    to_length = is_padded and is_padded_to_length(collation)
    is_length_known = not to_length or column.length > 0
    if not is_length_known:
        fold_text = COARSE_FOLD

    def fold(value: object) -> Comparable:
        text = decode(bytes(value)) if isinstance(value, bytes | bytearray) else value
        if not isinstance(text, str):
            return INCOMPARABLE, False
        if to_length:
            text = text.ljust(column.length)
        if prefix_length:
            text = text[:prefix_length]
        if is_padded and not to_length:
            # CHAR(n) is padded to n whatever the collation says, and logs cut the padding.
            text = text.rstrip(" ")
        folded = fold_text(text)
        if folded is None:
            return INCOMPARABLE, False
        return folded, is_exact(collation, text) and is_length_known

    return fold
