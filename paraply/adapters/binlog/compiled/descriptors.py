"""Table descriptors for the scanner.

A *supported* table has certain foreign keys, and key parts that compare by bytes or by
weights of characters. The decoder reads other tables' transactions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.charsets import text_decoder
from paraply.adapters.binlog.column_types import BLOBS, CHARACTER, ColumnType, WireColumn
from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.text_weights import (
    TextWeights,
    decoding_of,
    has_weights,
    is_decoded,
    text_weights,
)
from paraply.adapters.binlog.decimals import decimal_bytes
from paraply.adapters.binlog.keys.builder import TablePlan
from paraply.adapters.binlog.keys.collations import fold_of
from paraply.adapters.binlog.keys.foreign import PRIMARY, ChildTie, ParentTie, has_cascades
from paraply.adapters.binlog.keys.parts import KeyPlan
from paraply.adapters.binlog.keys.values import INTEGER_BITS, is_padded_to_length
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.temporal import fraction_bytes
from paraply.vocabulary.keys import NamedBeside, TableTies
from paraply.vocabulary.log import RELEASED, WHOLE_ROW, aspect
from paraply.vocabulary.schema import Column, KeyPart, TableSchema

_FIXED_BYTES = {
    ColumnType.TINY: 1, ColumnType.SHORT: 2, ColumnType.INT24: 3, ColumnType.LONG: 4,
    ColumnType.LONGLONG: 8, ColumnType.NULL: 0, ColumnType.TIMESTAMP: 4, ColumnType.DATE: 3,
    ColumnType.TIME: 3, ColumnType.DATETIME: 8, ColumnType.YEAR: 1, ColumnType.NEWDATE: 3,
}  # fmt: skip
_BEFORE_FRACTION = {ColumnType.TIMESTAMP2: 4, ColumnType.DATETIME2: 5, ColumnType.TIME2: 3}
_INTEGERS = {
    ColumnType.TINY: "tinyint", ColumnType.SHORT: "smallint", ColumnType.INT24: "mediumint",
    ColumnType.LONG: "int", ColumnType.LONGLONG: "bigint",
}  # fmt: skip
_SAME_BYTES = {
    ColumnType.DATE: "date", ColumnType.DATETIME2: "datetime", ColumnType.TIMESTAMP2: "timestamp",
    ColumnType.TIME2: "time", ColumnType.YEAR: "year", ColumnType.ENUM: "enum",
    ColumnType.SET: "set", ColumnType.BIT: "bit", ColumnType.NEWDECIMAL: "decimal",
}  # fmt: skip
_NUMBERS = {ColumnType.FLOAT: "float", ColumnType.DOUBLE: "double"}
_FIXED_BYTE_TYPES = frozenset({"binary", "char", "uuid", "inet4", "inet6"})
_BYTE_TYPES = frozenset(
    {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "uuid", "inet4", "inet6"}
)
_TEXT_TYPES = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext"})


def column_step(column: WireColumn) -> tuple[int, int] | None:
    """Return a column's skip (operation, width), if supported."""
    kind = column.kind
    if kind in _FIXED_BYTES:
        return L.FIXED, _FIXED_BYTES[kind]
    if kind in (ColumnType.FLOAT, ColumnType.DOUBLE):
        return (L.FIXED, column.size) if column.size in (4, 8) else None
    if kind in _BEFORE_FRACTION:
        return L.FIXED, _BEFORE_FRACTION[kind] + fraction_bytes(column.scale)
    if kind is ColumnType.NEWDECIMAL:
        return L.FIXED, decimal_bytes(column.size, column.scale)
    if kind is ColumnType.BIT:
        return L.FIXED, (column.size + 7) // 8
    if kind in (ColumnType.ENUM, ColumnType.SET):
        return L.FIXED, column.size
    if kind in (ColumnType.VARCHAR, ColumnType.VAR_STRING, ColumnType.STRING):
        return L.PREFIXED, 1 if column.size < 256 else 2
    if kind in BLOBS and kind is not ColumnType.BLOB_COMPRESSED:
        return L.PREFIXED, column.size
    return None


def is_steppable(table: TableMap) -> bool:
    """Return whether the scanner finds the columns of a table's rows."""
    return not table.undecodable and None not in map(column_step, table.columns)


@dataclass(frozen=True, slots=True)
class PartRule:
    """A key part's comparison; ``collation`` and ``decoding`` select weights."""

    column: int
    rule: int
    length_max: int
    collation: str = ""
    decoding: str = ""
    filled: int = 0
    """Characters of a CHAR that compares with its spaces."""
    is_null_if_omitted: bool = False
    """Whether an insert that omits the column leaves NULL there."""


def part_rule(part: KeyPart, column: Column, wire: WireColumn) -> PartRule | None:
    """Return a key part's comparison, if supported."""
    name = column.type_name.partition(" ")[0]
    if name in INTEGER_BITS:
        fits = _INTEGERS.get(wire.kind) == name
        return PartRule(part.column, L.RAW, 0) if fits and not part.prefix_length else None
    if wire.kind in _SAME_BYTES:
        fits = _SAME_BYTES[wire.kind] == name and not part.prefix_length
        return PartRule(part.column, L.RAW, 0) if fits else None
    if wire.kind in _NUMBERS:
        fits = _NUMBERS[wire.kind] == name and not part.prefix_length
        return PartRule(part.column, L.NUMBER, 0) if fits else None
    plain = wire.kind in CHARACTER and wire.kind not in (
        ColumnType.BLOB_COMPRESSED,
        ColumnType.VARCHAR_COMPRESSED,
    )
    if not plain:
        return None
    if name in _BYTE_TYPES or (name in _TEXT_TYPES and column.collation == "binary"):
        # Bytes that the log's decoder reads as text do not compare as bytes.
        if not isinstance(text_decoder(wire.collation)(b"\xff"), bytes):
            return None
        is_fixed = name in _FIXED_BYTE_TYPES
        return PartRule(part.column, L.RAW_FIXED if is_fixed else L.RAW, part.prefix_length)
    if name in _TEXT_TYPES and has_weights(column.collation):
        decoding = decoding_of(column, wire)
        if decoding is None:
            return None
        rule, filled = L.TEXT, 0
        if name == "char" and is_padded_to_length(column.collation):
            if not column.length:
                return None
            filled = min(column.length, part.prefix_length or column.length)
        elif name == "char":
            rule |= L.TEXT_CHAR
        rule |= L.TEXT_PADDED if fold_of(column.collation).pads else 0
        rule |= L.TEXT_DECODED if is_decoded(decoding) else 0
        return PartRule(part.column, rule, part.prefix_length, column.collation, decoding, filled)
    return None


class Named(NamedTuple):
    """Tables and aspects that a row names beside keys."""

    met: frozenset[str] = frozenset()
    reached: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KeyLine:
    """One key of a row: its name in a table, its role and parts."""

    table: str
    name: str
    role: int
    parts: tuple[PartRule, ...]
    built_by: KeyPlan | None = None
    """What the readable reader builds it by."""
    flags: int = 0
    names: tuple[Named, ...] = ()
    """What its change names (``layout.K_MARK`` and those after it)."""


ScanPlan = tuple[KeyLine, ...]
"""Unique keys first, PRIMARY before others."""


def scan_plan(registry: SchemaRegistry, table: TableMap, plan: TablePlan) -> ScanPlan | None:
    """Return the keys of a table's rows, if supported; ``plan`` is what rows are read by."""
    schema = registry.table(table.name)
    if schema is None:
        return None
    if len(schema.columns) != len(table.columns):
        return None
    if any(column.kind is ColumnType.JSON for column in table.columns) and not plan.has_primary:
        return None  # Rows are named by all columns, and equal documents may differ in bytes.
    lines: list[KeyLine] = []
    cascades = has_cascades(registry, table.name)
    if plan.taken and not plan.complete:
        return None
    try:
        for unique, built_by in zip(schema.unique_keys, plan.keys, strict=True):
            if not unique.parts:
                return None  # The one row of a sequence, which each change replaces.
            rules = _rules(unique.parts, schema.columns, table, _all_types)
            names = (Named(frozenset({plan.taken})),) if plan.taken else ()
            lines.append(KeyLine(schema.name, unique.name, L.UNIQUE, rules, built_by, names=names))
        lines += _tied_lines(registry, schema, plan, table, cascades=cascades)
    except _UnsupportedError:
        return None
    marks = {named for line in lines for named in line.names}
    if len(lines) > L.KEYS_OF_TABLE_MAX or len(marks) > len(L.MARKS):
        return None
    return tuple(lines)


def roles_of_rows(registry: SchemaRegistry, table: str, plan: TablePlan) -> int:
    """Return how each row of a table may touch others than its keys name."""
    return (
        (0 if plan.complete else L.BLURRED)
        | (0 if plan.foreign_keys_known else L.BLURS_ALL)
        | (L.MET if has_cascades(registry, table) else 0)
    )


def shapes(
    table: TableMap, plan: ScanPlan, roles: int
) -> Iterator[tuple[tuple[object, ...], object]]:
    """Yield by name what must not change while digests are compared; ``roles`` are its rows'."""
    for line in plan:
        if line.role != L.CHECKED:
            wires = [table.columns[part.column] for part in line.parts]
            parts = (replace(part, column=0, is_null_if_omitted=False) for part in line.parts)
            sizes = ((wire.kind, wire.size, wire.scale) for wire in wires)
            yield (line.table, line.name, line.role), tuple(zip(parts, sizes, strict=True))
    # Kernels name no earlier changes of a table whose keys are unknown from here on.
    yield ("blurred",), roles & L.BLURRED
    if not any(line.role == L.UNIQUE for line in plan):
        # Equal rows of other types differ in bytes. Those with more columns are never equal.
        columns = tuple(
            replace(column, name="", nullable=True, visible=None) for column in table.columns
        )
        yield (WHOLE_ROW, len(columns)), columns


class _UnsupportedError(Exception):
    """A key that the scanner cannot read."""


def _all_types(column: Column) -> bool:
    return True


def _tied_types(column: Column) -> bool:
    """Whether a child's bytes compare with its parent's: a DECIMAL, say, may be narrower."""
    name = column.type_name.partition(" ")[0]
    return name in INTEGER_BITS or name in _TEXT_TYPES or name in _BYTE_TYPES


def _rules(
    parts: Iterable[KeyPart], columns: Sequence[Column], table: TableMap,
    supports: Callable[[Column], bool], places: Sequence[int] = (),
) -> tuple[PartRule, ...]:  # fmt: skip
    """Return the parts' comparison; ``places`` are other columns of ``table`` with the values."""
    rules = []
    for at, part in enumerate(parts):
        place = places[at] if places else part.column
        rule = part_rule(part, columns[part.column], table.columns[place])
        if rule is None or not supports(columns[part.column]):
            raise _UnsupportedError
        rules.append(replace(rule, column=place))
    return tuple(rules)


def _tied_lines(
    registry: SchemaRegistry, schema: TableSchema, plan: TablePlan, table: TableMap, *,
    cascades: bool,
) -> Iterator[KeyLine]:  # fmt: skip
    """Yield the keys of ties; ``cascades``: some changes of the tied tables are not logged."""
    for key, tie in zip(schema.foreign_keys, plan.as_child, strict=True):
        parent = registry.table(key.parent)
        positions = parent.columns_referenced_by(key) if parent is not None else None
        if parent is None or positions is None or not _is_certain_child(tie):
            raise _UnsupportedError
        assert tie.existence is not None
        flags = (
            L.BELOW * tie.may_be_changed_below
            | L.KEEPS_DELETES * tie.keeps_deletes
            | L.ALWAYS_KEEPS * tie.always_keeps
            | L.FOLLOWS * tie.may_follow
            | L.SURELY_CHECKED * tie.is_surely_checked_again
        )
        names = (Named(frozenset({tie.null_aspect})),) if tie.loses_value else ()
        parts = [KeyPart(column=position) for position in positions]
        rules = _rules(parts, parent.columns, table, _tied_types, tie.columns)
        yield KeyLine(parent.name, tie.existence.index, L.CHILD, rules, tie.existence, flags, names)
        if tie.primary is not None:
            by_column = {rule.column: rule for rule in rules}
            ordered = tuple(by_column[column] for column in tie.primary.columns)
            yield KeyLine(parent.name, PRIMARY, L.LOCKED, ordered, tie.primary)
        if tie.index_columns:
            yield _checked_line(schema.name, tie.existence, tie.index_columns)
    for parent_tie in plan.as_parent:
        if not _is_certain_parent(parent_tie):
            raise _UnsupportedError
        names, released = (), aspect(table.name, RELEASED)
        if cascades:
            below = parent_tie.of_delete, parent_tie.of_update
            names = tuple(Named(each.aspects | {released}, each.reached) for each in below)
        flags = L.FOLLOWED * parent_tie.is_followed
        existence = parent_tie.existence
        parts = [KeyPart(column=column) for column in existence.columns]
        rules = _rules(parts, schema.columns, table, _tied_types)
        yield KeyLine(schema.name, existence.index, L.PARENT, rules, existence, flags, names)
        if any(rule.rule & L.TEXT for rule in rules):
            yield _checked_line(schema.name, existence, existence.columns)


def _checked_line(table: str, key: KeyPlan, columns: Iterable[int]) -> KeyLine:
    rules = tuple(PartRule(column, L.NULL_COUNTS, 0) for column in columns)
    return KeyLine(table, f"CHECKED {key.index}", L.CHECKED, rules, key)


def has_certain_ties(plan: TablePlan) -> bool:
    """Return whether each foreign key is certain."""
    return all(map(_is_certain_child, plan.as_child)) and all(
        map(_is_certain_parent, plan.as_parent)
    )


def _is_certain_child(tie: ChildTie) -> bool:
    return tie.existence is not None and tie.existence.certain


def _is_certain_parent(tie: ParentTie) -> bool:
    return tie.is_unique and tie.existence.certain


def _seed(table: str, index: str, secret: bytes) -> int:
    name = f"{table}\0{index}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=8, key=secret).digest(), "little")


@dataclass(slots=True)
class Descriptors:
    """Descriptor arrays, with table numbers by name."""

    tables: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((64, L.TABLE_COLUMNS), np.int64)
    )
    columns: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((1024, L.COLUMN_COLUMNS), np.int64)
    )
    keys: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((128, L.KEY_COLUMNS), np.int64)
    )
    seeds: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(128, np.uint64))
    parts: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((256, L.PART_COLUMNS), np.int64)
    )
    texts: TextWeights = field(default_factory=text_weights)
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(1024, np.uint64))
    slots: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1024, np.int64))
    numbers: dict[str, int] = field(default_factory=dict)
    key_names: list[tuple[str, ...]] = field(default_factory=list)
    """By table number, in digest order."""
    ties: list[TableTies] = field(default_factory=list)
    """By table number."""
    secret: bytes = b""
    """Of the digests."""
    maps: list[TableMap | None] = field(default_factory=list)
    """By slot; None where it is malformed."""
    _used: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    _known: int = 0

    def number_of(self, name: str) -> int:
        """Return a table's number, adding new names."""
        number = self.numbers.setdefault(name, len(self.numbers))
        if number == len(self.key_names):
            self.key_names.append(())
            self.ties.append(TableTies())
        return number

    def has(self, name: str) -> bool:
        """Return whether a map of this table is known."""
        return any(table is not None and table.name == name for table in self.maps)

    def forget_maps(self) -> None:
        """Drop table maps after a schema change."""
        self.hashes[:] = 0
        self._known = 0
        self._used = [0, 0, 0, 0]
        self.maps.clear()

    def leave(self, names: Container[str]) -> None:
        """Leave the rows of tables, by lower-case name, to the readable code."""
        for slot, table in enumerate(self.maps):
            if table is not None and table.name.lower() in names:
                self.tables[slot, L.D_SUPPORTED] = L.LEFT

    def add(
        self, digest: int, table: TableMap, plan: ScanPlan | None, *, is_left: bool = False,
        roles: int = 0, compared: Iterable[int] | None = None,
    ) -> None:  # fmt: skip
        """Add a table map by its body's digest.

        ``roles`` are those of each row, ``compared`` the columns that images before a change show.
        """
        slot, first_column, first_key, first_part = self._used
        self.maps.append(table)
        steps = [column_step(column) or (L.FIXED, 0) for column in table.columns]
        supported = not is_left and plan is not None and is_steppable(table)
        number = self.number_of(table.name)
        keys = plan if supported and plan is not None else ()
        unique = tuple(key.name for key in keys if key.role == L.UNIQUE)
        parts = [part for key in keys for part in key.parts]
        ties, marks = _ties_of(keys)
        self.tables = _with_room(self.tables, slot + 1)
        self.columns = _with_room(self.columns, first_column + len(steps))
        self.keys = _with_room(self.keys, first_key + len(keys))
        self.seeds = _with_room(self.seeds, first_key + len(keys))
        self.parts = _with_room(self.parts, first_part + len(parts))
        self.tables[slot] = (
            L.LEFT if is_left else supported, first_column, first_column + len(steps), first_key,
            first_key + len(keys), number, unique[:1] == (PRIMARY,), len(unique) < len(keys),
            bool(unique), 0 if is_left else roles,
            np.uint64(_seed(table.name, WHOLE_ROW, self.secret)).astype(np.int64),
            compared is not None,
        )  # fmt: skip
        if supported:
            self.key_names[number] = unique
            self.ties[number] = ties
            for at, step in enumerate(steps):
                self.columns[first_column + at] = (*step, compared is None and L.COMPARED)
            for part in parts if compared is not None else ():
                need = L.NULL_IF_OMITTED if part.is_null_if_omitted else L.NEEDED
                self.columns[first_column + part.column, L.C_NEED] = need
            for column in compared or ():
                self.columns[first_column + column, L.C_NEED] = L.COMPARED
        at_part = first_part
        for at, key in enumerate(keys, start=first_key):
            named = [*(marks[each] for each in key.names), 0, 0, 0][:3]
            self.keys[at] = (key.role, at_part, at_part + len(key.parts), key.flags, *named)
            self.seeds[at] = _seed(key.table, key.name, self.secret)
            for part in key.parts:
                has_text = part.rule & L.TEXT
                line = self.texts.line_of(part.collation, part.decoding) if has_text else 0
                self.parts[at_part] = (part.column, part.rule, part.length_max, line, part.filled)
                at_part += 1
        self._used = [slot + 1, first_column + len(steps), first_key + len(keys), at_part]
        self._enter(digest, slot)

    def add_malformed(self, digest: int) -> None:
        """Mark a table map's digest as malformed."""
        slot = self._used[0]
        self.maps.append(None)
        self.tables = _with_room(self.tables, slot + 1)
        self.tables[slot] = 0
        self.tables[slot, L.D_SUPPORTED] = L.MALFORMED
        self._used[0] = slot + 1
        self._enter(digest, slot)

    def _enter(self, digest: int, slot: int) -> None:
        if 2 * (self._known + 1) > len(self.hashes):
            old = [
                (int(known), int(self.slots[at])) for at, known in enumerate(self.hashes) if known
            ]
            self.hashes = np.zeros(2 * len(self.hashes), np.uint64)
            self.slots = np.zeros(2 * len(self.slots), np.int64)
            self._known = 0
            for known, known_slot in old:
                self._enter(known, known_slot)
        mask = len(self.hashes) - 1
        at = digest & mask
        while self.hashes[at]:
            at = (at + 1) & mask
        self.hashes[at], self.slots[at] = digest, slot
        self._known += 1


def _ties_of(keys: Sequence[KeyLine]) -> tuple[TableTies, dict[Named, int]]:
    """Return what foreign keys mean for rows with these keys, and the mark of what they name."""
    marks: dict[Named, int] = {}
    for key in keys:
        for named in key.names:
            marks.setdefault(named, 1 << L.MARKS[len(marks)])
    return (
        TableTies(
            {
                tuple(part.column for part in key.parts): _places_of_value(keys, place)
                for place, key in enumerate(keys)
                if key.role == L.PARENT
            },
            tuple(NamedBeside(mark, *named) for named, mark in marks.items()),
        ),
        marks,
    )


def _places_of_value(keys: Sequence[KeyLine], place: int) -> tuple[int, ...]:
    """Return the places of a parent's value, and of its bytes if equal ones may differ."""
    is_checked = place + 1 < len(keys) and keys[place + 1].role == L.CHECKED
    return (place, place + 1) if is_checked else (place,)


def _with_room(array: NDArray[np.generic], size: int) -> NDArray[np.generic]:
    if size <= len(array):
        return array
    longer = np.zeros((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
