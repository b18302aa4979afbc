"""A table map's optional metadata.

A field is a type byte, packed length and value (Table_map_event, Optional_metadata_field_type).
MINIMAL logs contain signedness, character sets and geometry types; FULL adds names, members, keys
and visibility.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paraply.adapters.binlog.charsets import text_decoder
from paraply.adapters.binlog.column_types import CHARACTER, NUMERIC, ColumnType, WireColumn
from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.vocabulary.schema import KeyPart

_SIGNEDNESS = 1
_DEFAULT_CHARSET = 2
_COLUMN_CHARSET = 3
_COLUMN_NAME = 4
_SET_MEMBERS = 5
_ENUM_MEMBERS = 6
_GEOMETRY_TYPE = 7
_SIMPLE_PRIMARY_KEY = 8
_PRIMARY_KEY_WITH_PREFIX = 9
_ENUM_AND_SET_DEFAULT_CHARSET = 10
_ENUM_AND_SET_COLUMN_CHARSET = 11
_COLUMN_VISIBILITY = 12
_VECTOR_DIMENSIONS = 13

_CHOICES = frozenset({ColumnType.ENUM, ColumnType.SET})
_WITH_CHARSET_MYSQL = CHARACTER | {ColumnType.VECTOR}
_WITH_CHARSET_MARIADB = CHARACTER | {ColumnType.GEOMETRY}
"""Seen in logs of 9.7 and 10.11."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalMetadata:
    """Enriched columns, and a logged primary key."""

    columns: list[WireColumn]
    primary_key: tuple[KeyPart, ...] | None


def parse_optional_metadata(
    data: bytes, columns: Sequence[WireColumn], *, is_mariadb: bool
) -> OptionalMetadata:
    """Decode all fields and return enriched columns.

    Raises ``MalformedError`` for misfits.
    """
    fields: dict[int, bytes] = {}
    cursor = Cursor(data)
    while cursor.remaining:
        kind = cursor.unsigned(1)
        fields[kind] = cursor.packed_bytes()
    changes: list[dict[str, object]] = [{} for _ in columns]
    numeric = [index for index, column in enumerate(columns) if column.kind in NUMERIC]
    with_charset = _WITH_CHARSET_MARIADB if is_mariadb else _WITH_CHARSET_MYSQL
    texts = [index for index, column in enumerate(columns) if column.kind in with_charset]
    choices = [index for index, column in enumerate(columns) if column.kind in _CHOICES]

    def note(name: str, positions: Sequence[int], values: Sequence[object]) -> None:
        for position, value in zip(positions, values, strict=True):
            changes[position][name] = value

    if _SIGNEDNESS in fields:
        note("unsigned", numeric, _bits(fields[_SIGNEDNESS], len(numeric)))
    for default, single, positions in (
        (_DEFAULT_CHARSET, _COLUMN_CHARSET, texts),
        (_ENUM_AND_SET_DEFAULT_CHARSET, _ENUM_AND_SET_COLUMN_CHARSET, choices),
    ):
        if default in fields:
            note("collation", positions, _default_charset(fields[default], len(positions)))
        elif single in fields:
            note("collation", positions, _packed_numbers(fields[single], len(positions)))
    if _COLUMN_NAME in fields:
        note("name", range(len(columns)), _names(fields[_COLUMN_NAME], len(columns)))
    for kind, wanted in ((_SET_MEMBERS, ColumnType.SET), (_ENUM_MEMBERS, ColumnType.ENUM)):
        if kind in fields:
            members = Cursor(fields[kind])
            for index in choices:
                if columns[index].kind is wanted:
                    decode = text_decoder(_collation(changes[index]))
                    changes[index]["members"] = _members(members, decode)
    if _GEOMETRY_TYPE in fields:
        shapes = _positions(columns, ColumnType.GEOMETRY)
        note("geometry_type", shapes, _packed_numbers(fields[_GEOMETRY_TYPE], len(shapes)))
    if _VECTOR_DIMENSIONS in fields:
        vectors = _positions(columns, ColumnType.VECTOR)
        note("dimensions", vectors, _packed_numbers(fields[_VECTOR_DIMENSIONS], len(vectors)))
    if _COLUMN_VISIBILITY in fields:
        note("visible", range(len(columns)), _bits(fields[_COLUMN_VISIBILITY], len(columns)))
    return OptionalMetadata(
        columns=[
            replace(column, **change)  # type: ignore[arg-type]
            for column, change in zip(columns, changes, strict=True)
        ],
        primary_key=_primary_key(fields, len(columns)),
    )


def _positions(columns: Sequence[WireColumn], kind: ColumnType) -> list[int]:
    return [index for index, column in enumerate(columns) if column.kind is kind]


def _collation(change: dict[str, object]) -> int | None:
    value = change.get("collation")
    return value if isinstance(value, int) else None


def _bits(data: bytes, count: int) -> list[bool]:
    if len(data) * 8 < count:
        raise MalformedError(f"{len(data)} bytes of bits for {count} columns")
    return [bool(data[index >> 3] >> (7 - (index & 7)) & 1) for index in range(count)]


def _packed_numbers(data: bytes, count: int) -> list[int]:
    cursor = Cursor(data)
    return [cursor.packed() for _ in range(count)]


def _default_charset(data: bytes, count: int) -> list[int]:
    cursor = Cursor(data)
    collations = [cursor.packed()] * count
    while cursor.remaining:
        position = cursor.packed()
        collation = cursor.packed()
        if position >= count:
            raise MalformedError(f"a character set for text column {position} of {count}")
        collations[position] = collation
    return collations


def _names(data: bytes, count: int) -> list[str]:
    cursor = Cursor(data)
    return [cursor.packed_bytes().decode("utf-8", "replace") for _ in range(count)]


def _members(cursor: Cursor, decode: Callable[[bytes], str | bytes]) -> tuple[str, ...]:
    members: list[str] = []
    for _ in range(cursor.packed()):
        raw = cursor.packed_bytes()
        text = decode(raw)
        members.append(text if isinstance(text, str) else raw.decode("utf-8", "replace"))
    return tuple(members)


def _primary_key(fields: dict[int, bytes], count: int) -> tuple[KeyPart, ...] | None:
    if _SIMPLE_PRIMARY_KEY in fields:
        cursor = Cursor(fields[_SIMPLE_PRIMARY_KEY])
        parts: list[KeyPart] = []
        while cursor.remaining:
            parts.append(KeyPart(column=cursor.packed()))
    elif _PRIMARY_KEY_WITH_PREFIX in fields:
        cursor = Cursor(fields[_PRIMARY_KEY_WITH_PREFIX])
        parts = []
        while cursor.remaining:
            column = cursor.packed()
            parts.append(KeyPart(column=column, prefix_length=cursor.packed()))
    else:
        return None
    if any(part.column >= count for part in parts):
        raise MalformedError(f"a primary key over column {max(p.column for p in parts)} of {count}")
    return tuple(parts) or None
