"""One key of one table, built from row images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum

from paraply.adapters.binlog.keys.values import INCOMPARABLE, Folder, folder_of
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import ABSENT, UNKNOWN, WHOLE_ROW, RowImage, image_digest
from paraply.vocabulary.schema import Column, KeyPart

_SHOWN_CHARACTERS_MAX = 64
_PLAIN = frozenset({int, str, bytes, Decimal})
"""Types whose equal values are the same: the decimals of a column have one scale."""
_REMEMBERED_MAX = 512
"""Values per key. The images of one change, and what asks for their keys, share most of them."""


class NoKey(Enum):
    """Why a row image gives no key."""

    NULL = "a part is NULL, and NULLs do not collide"
    ABSENT = "the image does not record a part, or not its value"
    INCOMPARABLE = "a part cannot be compared"


@dataclass(frozen=True, slots=True)
class BuiltKey:
    """A row's key and its certainty."""

    key: ConflictKey
    certain: bool


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """The columns of one key, and their comparison."""

    table: str
    index: str
    columns: tuple[int, ...]
    folders: tuple[Folder, ...]
    certain: bool = True
    is_computed: bool = False
    """Has a generated column that an update of MariaDB may leave out."""
    is_implied: bool = False
    """Contains another key, so that rows with an equal value share that one, too."""
    changes: tuple[str, ...] = ()
    """The aspects of releasing and of taking a value, both known or not."""
    _remembered: dict[tuple[object, ...], BuiltKey | NoKey] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def build(self, image: RowImage, *, by_bytes: bool = False) -> BuiltKey | NoKey:
        """Return the key, or why none exists; NULL prevails.

        With ``by_bytes``, a part whose comparison is not exact keeps its value as logged.
        """
        raw: list[object] = []
        missing = False
        for column in self.columns:
            value = image[column] if column < len(image) else ABSENT
            if value is None:
                return NoKey.NULL
            missing = missing or value is ABSENT or value is UNKNOWN
            raw.append(value)
        if missing:
            return NoKey.ABSENT
        values = tuple(raw)
        if by_bytes or not _PLAIN.issuperset(map(type, values)):
            return self._folded(values, by_bytes=by_bytes)
        found = self._remembered.get(values)
        if found is None:
            if len(self._remembered) >= _REMEMBERED_MAX:
                self._remembered.clear()
            found = self._remembered[values] = self._folded(values)
        return found

    def _folded(self, raw: tuple[object, ...], *, by_bytes: bool = False) -> BuiltKey | NoKey:
        certain = self.certain
        values: list[object] = []
        for value, fold in zip(raw, self.folders, strict=True):
            comparable, exact = fold(value)
            if by_bytes and not exact:
                comparable = bytes(value) if isinstance(value, bytearray) else value
            if comparable is INCOMPARABLE:
                return NoKey.INCOMPARABLE
            certain = certain and exact
            values.append(comparable)
        shown = ", ".join(map(show, raw))
        key = ConflictKey(table=self.table, index=self.index, values=tuple(values), shown=shown)
        return BuiltKey(key, certain)

    def is_set_by(self, image: RowImage) -> bool:
        """Return whether the image records any part."""
        return any(column < len(image) and image[column] is not ABSENT for column in self.columns)


def key_plan(
    table: str, index: str, columns: Sequence[Column], parts: Iterable[KeyPart]
) -> KeyPlan:
    """Return a key's plan over ``columns``."""
    chosen = tuple(parts)
    return KeyPlan(
        table,
        index,
        tuple(part.column for part in chosen),
        tuple(folder_of(columns[part.column], part.prefix_length) for part in chosen),
    )


def whole_row(table: str, image: RowImage) -> ConflictKey | None:
    """Return a row's key by all columns, None if one is unknown.

    Equal rows give equal keys: ``record_compare`` of the servers compares bytes.
    """
    digest = image_digest(image)
    if digest is None:
        return None
    shown = ", ".join(map(show, image))
    return ConflictKey(table=table, index=WHOLE_ROW, values=(digest,), shown=shown)


def show(value: object) -> str:
    """Return a value in SQL notation, cut if long.

    >>> show("it's"), show(b"\\x00\\xff"), show(7)
    ("'it''s'", '0x00FF', '7')
    """
    if isinstance(value, bytes | bytearray):
        text = bytes(value)
        if text.isascii() and text.decode("ascii").isprintable():
            return show(text.decode("ascii"))
        cut = text[: _SHOWN_CHARACTERS_MAX // 2]
        return f"0x{cut.hex().upper()}{'…' if len(cut) < len(text) else ''}"
    if isinstance(value, str):
        cut_text = value[:_SHOWN_CHARACTERS_MAX]
        mark = "…" if len(cut_text) < len(value) else ""
        return "'" + cut_text.replace("'", "''") + mark + "'"
    return str(value)
