"""Table descriptors for the scanner.

A *supported* table has known keys, no foreign keys, and key parts that compare by bytes or by one
weight per ASCII character. The decoder reads other tables' transactions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.charsets import text_decoder
from paraply.adapters.binlog.column_types import BLOBS, CHARACTER, ColumnType, WireColumn
from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.decimals import decimal_bytes
from paraply.adapters.binlog.keys.collation_weights import UnmeasuredCharacter, WeightTable
from paraply.adapters.binlog.keys.collations import fold_of, text_of
from paraply.adapters.binlog.keys.values import INTEGER_BITS, is_padded_to_length
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.temporal import fraction_bytes
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
    ColumnType.YEAR: "year", ColumnType.ENUM: "enum", ColumnType.SET: "set",
}  # fmt: skip
_BYTE_TYPES = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
_TEXT_TYPES = frozenset({"char", "varchar", "tinytext", "text", "mediumtext", "longtext"})
_ASCII = bytes(range(128))


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


@dataclass(frozen=True, slots=True)
class PartRule:
    """A key part's comparison; ``collation`` selects weights."""

    column: int
    rule: int
    length_max: int
    collation: str = ""


def _reads_ascii(column: Column, wire: WireColumn) -> bool:
    if text_of(column.charset)(_ASCII) != _ASCII.decode("ascii"):
        return False
    found = text_decoder(wire.collation)(_ASCII)
    return found in (_ASCII, _ASCII.decode("ascii"))


def part_rule(part: KeyPart, column: Column, wire: WireColumn) -> PartRule | None:
    """Return a key part's comparison, if supported."""
    name = column.type_name.partition(" ")[0]
    if name in INTEGER_BITS:
        fits = _INTEGERS.get(wire.kind) == name
        return PartRule(part.column, L.RAW, 0) if fits and not part.prefix_length else None
    if wire.kind in _SAME_BYTES:
        fits = _SAME_BYTES[wire.kind] == name and not part.prefix_length
        return PartRule(part.column, L.RAW, 0) if fits else None
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
        is_fixed = name in ("binary", "char")
        return PartRule(part.column, L.RAW_FIXED if is_fixed else L.RAW, part.prefix_length)
    if name in _TEXT_TYPES and _reads_ascii(column, wire):
        fold = fold_of(column.collation)
        if not fold.certain or ascii_weights(column.collation) is None:
            return None
        if name == "char" and is_padded_to_length(column.collation):
            return None
        rule = L.TEXT | (L.TEXT_CHAR if name == "char" else 0)
        rule |= L.TEXT_PADDED if fold.pads else 0
        return PartRule(part.column, rule, part.prefix_length, column.collation)
    return None


def ascii_weights(collation: str) -> NDArray[np.uint32] | None:
    """Return comparison weights per ASCII character.

    0 means no weight; element 128 repeats the space's. None for contractions, expansions, and
    weights on some levels only.
    """
    fold = fold_of(collation)
    weights = np.zeros(129, np.uint32)
    if fold.table is None:
        weights[:128] = np.arange(1, 129)
    else:
        found = _weights_by_table(fold.table)
        if found is None:
            return None
        weights[:128] = found
    weights[128] = weights[ord(" ")]
    return weights


def _weights_by_table(table: WeightTable) -> list[int] | None:
    if any(pair.isascii() for pair in table.contractions):
        return None
    try:
        entries = [table[chr(code)] for code in range(128)]
    except UnmeasuredCharacter:
        return None
    weighing = [entry for entry in entries if any(entry)]
    lengths = {tuple(map(len, entry)) for entry in weighing}
    if len(lengths) != 1 or 0 in next(iter(lengths)) or not any(table[" "]):
        return None
    numbers = {entry: number for number, entry in enumerate(dict.fromkeys(weighing), start=1)}
    return [numbers.get(entry, 0) for entry in entries]


KeyPlan = tuple[tuple[str, tuple[PartRule, ...]], ...]
"""Key names and parts, PRIMARY first."""


def key_plan(schema: TableSchema, table: TableMap) -> KeyPlan | None:
    """Return a table's key plan, if supported."""
    if not schema.keys_known or not schema.keys_complete or schema.foreign_keys:
        return None
    if not 0 < len(schema.unique_keys) <= L.KEYS_OF_TABLE_MAX:
        return None
    if len(schema.columns) != len(table.columns):
        return None
    plan = []
    for key in schema.unique_keys:
        if not key.parts:
            return None  # The one row of a sequence, which each change replaces.
        parts = [
            part_rule(part, schema.columns[part.column], table.columns[part.column])
            for part in key.parts
        ]
        known = tuple(part for part in parts if part is not None)
        if len(known) != len(parts):
            return None
        plan.append((key.name, known))
    return tuple(plan)


def _seed(table: str, index: str, secret: bytes) -> int:
    name = f"{table}\0{index}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=8, key=secret).digest(), "little")


@dataclass(slots=True)
class Descriptors:
    """Descriptor arrays, with table numbers by name."""

    tables: NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((64, L.TABLE_COLUMNS), np.int64)
    )
    columns: NDArray[np.int64] = field(default_factory=lambda: np.zeros((1024, 2), np.int64))
    keys: NDArray[np.int64] = field(default_factory=lambda: np.zeros((128, 3), np.int64))
    seeds: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(128, np.uint64))
    parts: NDArray[np.int64] = field(default_factory=lambda: np.zeros((256, 4), np.int64))
    weights: NDArray[np.uint32] = field(default_factory=lambda: np.zeros((1, 129), np.uint32))
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(1024, np.uint64))
    slots: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1024, np.int64))
    numbers: dict[str, int] = field(default_factory=dict)
    key_names: list[tuple[str, ...]] = field(default_factory=list)
    """By table number, in digest order."""
    secret: bytes = b""
    """Of the digests."""
    _weight_rows: dict[str, int] = field(default_factory=dict)
    _used: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    _known: int = 0

    def number_of(self, name: str) -> int:
        """Return a table's number, adding new names."""
        number = self.numbers.setdefault(name, len(self.numbers))
        if number == len(self.key_names):
            self.key_names.append(())
        return number

    def forget_maps(self) -> None:
        """Drop table maps after a schema change."""
        self.hashes[:] = 0
        self._known = 0
        self._used = [0, 0, 0, 0]

    def add(self, digest: int, table: TableMap, plan: KeyPlan | None) -> None:
        """Add a table map by its body's digest."""
        slot, first_column, first_key, first_part = self._used
        steps = [column_step(column) for column in table.columns]
        supported = plan is not None and not table.undecodable and None not in steps
        number = self.number_of(table.name)
        keys = plan if supported and plan is not None else ()
        parts = [part for _, key_parts in keys for part in key_parts]
        self.tables = _with_room(self.tables, slot + 1)
        self.columns = _with_room(self.columns, first_column + len(steps))
        self.keys = _with_room(self.keys, first_key + len(keys))
        self.seeds = _with_room(self.seeds, first_key + len(keys))
        self.parts = _with_room(self.parts, first_part + len(parts))
        self.tables[slot] = (
            supported, first_column, first_column + len(steps), first_key, first_key + len(keys),
            number, bool(keys) and keys[0][0] == "PRIMARY",
        )  # fmt: skip
        if supported:
            self.key_names[number] = tuple(name for name, _ in keys)
            for at, step in enumerate(steps, start=first_column):
                self.columns[at] = step
        at_part = first_part
        for at, (name, key_parts) in enumerate(keys, start=first_key):
            self.keys[at] = (0, at_part, at_part + len(key_parts))
            self.seeds[at] = _seed(table.name, name, self.secret)
            for part in key_parts:
                row = self._weight_row(part.collation)
                self.parts[at_part] = (part.column, part.rule, part.length_max, row)
                at_part += 1
        self._used = [slot + 1, first_column + len(steps), first_key + len(keys), at_part]
        self._enter(digest, slot)

    def add_malformed(self, digest: int) -> None:
        """Mark a table map's digest as malformed."""
        slot = self._used[0]
        self.tables = _with_room(self.tables, slot + 1)
        self.tables[slot] = 0
        self.tables[slot, L.D_SUPPORTED] = L.MALFORMED
        self._used[0] = slot + 1
        self._enter(digest, slot)

    def _weight_row(self, collation: str) -> int:
        if not collation:
            return 0
        row = self._weight_rows.get(collation)
        if row is None:
            weights = ascii_weights(collation)
            assert weights is not None, collation
            row = self._weight_rows[collation] = len(self._weight_rows) + 1
            self.weights = _with_room(self.weights, row + 1)
            self.weights[row] = weights
        return row

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


def _with_room(array: NDArray[np.generic], size: int) -> NDArray[np.generic]:
    if size <= len(array):
        return array
    longer = np.zeros((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
