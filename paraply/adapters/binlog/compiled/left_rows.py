"""Rows of left tables: decoded and keyed by the readable code, and put between those of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.collect_kernel import LOCKED, READ, WRITTEN
from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.format_description import HEADER_BYTES, FormatDescription
from paraply.adapters.binlog.framing import HEADER, EventHeader, RawEvent
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.keys.foreign import PRIMARY
from paraply.adapters.binlog.rows_events import decode_rows, parse_rows
from paraply.adapters.binlog.table_map import TableMap
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import (
    LoggedKind,
    LoggedTransaction,
    LogPosition,
    Operation,
    RowChange,
)
from paraply.vocabulary.not_compilable import NotCompilable

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_OPERATIONS = {Operation.INSERT: L.INSERT, Operation.UPDATE: L.UPDATE, Operation.DELETE: L.DELETE}


@dataclass(frozen=True, slots=True)
class LeftEvent:
    """One rows event of a left table, and where the batch has it."""

    transaction: int
    row: int
    """Rows that kernels read before it."""
    slot: int
    """Of the table's descriptor."""
    table: TableMap
    data: bytes
    """Without checksum."""
    description: FormatDescription

    def rows(self, file: str) -> Iterator[RowChange]:
        """Yield the rows, at an unknown place of ``file``; raises ``NotCompilable``."""
        time_s, code, server_id, length, end, flags = HEADER.unpack_from(self.data)
        header = EventHeader(time_s, code, server_id, length, end, flags, 0, length)
        raw = RawEvent(header, self.data[HEADER_BYTES:])
        number = int.from_bytes(raw.body[:6], "little")
        try:
            event = parse_rows(raw, self.description, {number: self.table})
            if not event.row_data:
                raise NotCompilable(f"an event without rows of {self.table.name}")
            yield from decode_rows(event, file)
        except MalformedError as fault:
            raise NotCompilable(f"rows of {self.table.name}: {fault}") from None


@dataclass(frozen=True, slots=True)
class LeftChanges:
    """A transaction's rows of left tables, with their keys."""

    index: int
    """Of the transaction in its batch."""
    transaction: LoggedTransaction
    """Without what its header and other rows say."""
    rows: tuple[int, ...]
    """Place of each row among those of the batch."""


@dataclass(slots=True)
class LeftKeys:
    """Keys of left rows for the kernels, per transaction; ``ends`` are exclusive."""

    ends: Ints
    keys: Words
    kinds: Ints
    """Written, read or locked, in the order of ``collect_kernel``."""
    marks: NDArray[np.uint8]
    """``layout.PRIMARY_KEY`` and UNCERTAIN_KEY."""


@dataclass(slots=True)
class LeftRows:
    """What the readable code made of a batch's left rows."""

    changes: list[LeftChanges] = field(default_factory=list)
    rows_before: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each left row: the rows that kernels read before it."""
    lines: Ints = field(default_factory=lambda: np.zeros((0, L.ROW_COLUMNS), np.int64))


def keyed(txn: LoggedTransaction, keys: KeyBuilder) -> LoggedTransaction:
    """Give a transaction of left rows its keys."""
    keys.complete_transaction(txn)
    return txn


def only_left(txn: LoggedTransaction, names: Mapping[str, str]) -> LoggedTransaction:
    """Return a transaction without statements, and without rows of other tables."""
    rows = [row for row in txn.rows if row.table.lower() in names]
    return replace(txn, kind=LoggedKind.ROWS, rows=rows, statements=())


def left_rows(
    events: Sequence[LeftEvent], *, file: str, first_ordinal: int, domains: Sequence[int],
    keys: KeyBuilder,
) -> LeftRows:  # fmt: skip
    """Decode a batch's events; ``domains`` are -1 for absent. Raises ``NotCompilable``."""
    found = LeftRows()
    before: list[int] = []
    lines: list[tuple[int, int, bool]] = []
    for index, group in groupby(events, key=lambda event: event.transaction):
        first = len(before)
        rows: list[RowChange] = []
        for event in group:
            for change in event.rows(file):
                rows.append(change)
                before.append(event.row)
                lines.append((_OPERATIONS[change.operation], event.slot, change.unchecked))
        txn = LoggedTransaction(
            ordinal=first_ordinal + index,
            kind=LoggedKind.ROWS,
            start=LogPosition(file=file, offset=0),
            end_offset=0,
            domain=None if domains[index] < 0 else domains[index],
            rows=rows,
        )
        places = tuple(before[at] + at for at in range(first, len(before)))
        found.changes.append(LeftChanges(index, keyed(txn, keys), places))
    found.rows_before = np.array(before, np.int64)
    found.lines = np.zeros((len(lines), L.ROW_COLUMNS), np.int64)
    found.lines[:, [L.R_OPERATION, L.R_TABLE, L.R_UNCHECKED]] = lines
    return found


def touched_keys(txn: LoggedTransaction) -> Iterator[tuple[ConflictKey, int, bool]]:
    """Yield a keyed transaction's keys: written, read or locked, and whether each is certain."""
    uncertain = txn.uncertain_keys
    yield from ((key, WRITTEN, key not in uncertain) for key in txn.keys)
    yield from ((key, WRITTEN, False) for key in txn.searched_rows)
    yield from ((key, READ, key not in uncertain) for key in txn.shared_keys)
    yield from ((key, READ, False) for key in txn.left_rows - txn.searched_rows)
    yield from ((key, LOCKED, True) for key in txn.locked_keys)


def left_keys(
    changes: Iterable[LeftChanges], count: int, more: Iterable[ConflictKey] = ()
) -> LeftKeys:
    """Return the left rows' keys of a batch of ``count`` transactions.

    The last transaction also writes the keys ``more``.
    """
    ends = np.zeros(count, np.int64)
    digests: list[int] = []
    kinds: list[int] = []
    marks: list[int] = []
    for each in changes:
        before = len(digests)
        for key, kind, certain in touched_keys(each.transaction):
            digests.append(key_digest(key))
            kinds.append(kind)
            is_primary = kind == WRITTEN and key.index == PRIMARY
            marks.append(L.PRIMARY_KEY * is_primary + L.UNCERTAIN_KEY * (not certain))
        ends[each.index] = len(digests) - before
    for key in more:
        digests.append(key_digest(key))
        kinds.append(WRITTEN)
        marks.append(0)
        ends[-1] += 1
    return LeftKeys(
        np.cumsum(ends), np.array(digests, np.uint64), np.array(kinds, np.int64),
        np.array(marks, np.uint8),
    )  # fmt: skip


def key_digest(key: ConflictKey) -> int:
    """Return 64 bits, alike for equal keys."""
    text = repr((key.table, key.index, tuple(map(_as_compared, key.values))))
    found = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "little") or 1


def _as_compared(value: object) -> object:
    """Return what is written alike for equal values, as a decimal 1.0 and the integer 1."""
    kind = type(value)
    if kind is str or kind is bytes or kind is int:
        return value
    if isinstance(value, tuple):
        return tuple(map(_as_compared, value))
    ratio = getattr(value, "as_integer_ratio", None)
    if ratio is None:
        return value
    try:
        above, below = ratio()
    except (ValueError, OverflowError):
        return value
    return above if below == 1 else (above, below)
