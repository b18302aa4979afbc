"""Twin of :mod:`paraply.properties.tables.timestamps` on columns.

:class:`SummaryFold` merges summaries of :class:`TableChecker`. Costs grow with stretches and items,
not rows: use one stretch per task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paraply.properties.tables.compiled import kernels as K
from paraply.properties.tables.timestamps import ChunkSummary, TableCounts

Ints = NDArray[np.int64]
Offsets = NDArray[np.int32]

SLOTS_MIN = 1 << 13
"""256 kB: fits a cache, with few collisions for a thousand items."""
CHUNK_ROWS = 1 << 21
"""Most items repeat within so many rows, so summaries stay small."""
WORDS = int(K.WORDS)
ALIGNMENT = 64
"""Cache line in bytes; slots must not span two."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows; ``items[offsets[i] : offsets[i + 1]]`` belong to row i."""

    history: Ints
    lc: Ints
    sn: Ints
    offsets: Offsets
    items: Ints

    def __len__(self) -> int:
        return len(self.lc)

    def slice(self, begin: int, end: int) -> Columns:
        """Return a range of rows without copying."""
        return Columns(
            self.history[begin:end],
            self.lc[begin:end],
            self.sn[begin:end],
            self.offsets[begin : end + 1],
            self.items,
        )


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A :class:`ChunkSummary` with arrays of (item, number)."""

    counts: TableCounts
    history_first: int
    history_last: int
    restarts: bool
    sn_first: int
    sn_last: int
    firsts: Ints
    lasts: Ints

    def readable(self) -> ChunkSummary:
        """Return the readable form."""
        return ChunkSummary(
            counts=self.counts,
            history_first=self.history_first,
            history_last=self.history_last,
            restarts=self.restarts,
            sn_first=self.sn_first,
            sn_last=self.sn_last,
            firsts=dict(self.firsts.tolist()),
            lasts=dict(self.lasts.tolist()),
        )


def empty_table(slots: int) -> Ints:
    """Return an aligned table of free slots."""
    spare = ALIGNMENT // 8
    words: Ints = np.zeros(slots * WORDS + spare, np.int64)
    begin = -words.ctypes.data % ALIGNMENT // 8
    return words[begin : begin + slots * WORDS]


def _with_room(table: Ints, window: int, items: int) -> Ints:
    """Return a table with the same entries, half full at most."""
    slots = len(table) // WORDS
    if 2 * items <= slots:
        return table
    while slots < 2 * items:
        slots *= 2
    larger = empty_table(slots)
    K.rehash(table, window, larger)
    return larger


def _collected(table: Ints, window: int, items: int, word: np.uint64) -> Ints:
    found: Ints = np.empty((items + 1, 2), np.int64)
    assert K.collect(table, window, word, found) == items
    return found[:items]


class TableChecker:
    """Checks consecutive rows, block by block.

    ``joins_left`` keeps first writers for an earlier neighbour. ``slots`` is a power of two.
    """

    def __init__(self, *, joins_left: bool = True, slots: int = SLOTS_MIN) -> None:
        self._table = empty_table(slots)
        self._state: Ints = np.zeros(K.STATES, np.int64)
        self._state[K.S_ROWS] = 1
        self.begin(joins_left=joins_left)

    def begin(self, *, joins_left: bool = True) -> None:
        """Begin new rows; keeps the table size."""
        rows = self._state[K.S_ROWS]
        self._state[:] = 0
        self._state[K.S_ROWS] = self._state[K.S_WINDOW] = self._rows_before = rows
        self._state[K.S_KEEPS_FIRSTS] = joins_left
        self._history_first = 0
        self._firsts: Ints = np.zeros((0, 2), np.int64)

    def add(self, columns: Columns) -> None:
        """Check the next rows."""
        if not len(columns):
            return
        state = self._state
        if state[K.S_ROWS] == self._rows_before:
            self._history_first = state[K.S_HISTORY] = columns.history[0]
        at = 0
        while True:
            at = K.check_rows(
                columns.history, columns.lc, columns.sn, columns.offsets, columns.items,
                self._table, state, at,
            )  # fmt: skip
            if at == len(columns):
                break
            if state[K.S_ROOM_WANTED]:
                window, wanted = int(state[K.S_WINDOW]), int(state[K.S_ROOM_WANTED])
                self._table = _with_room(self._table, window, wanted)
                state[K.S_ROOM_WANTED] = 0
            else:
                self._firsts = self._collect(K.LC)
                state[K.S_KEEPS_FIRSTS] = 0
        state[K.S_ROWS] += len(columns)

    def _collect(self, word: np.uint64) -> Ints:
        window, used = int(self._state[K.S_WINDOW]), int(self._state[K.S_USED])
        return _collected(self._table, window, used, word)

    @property
    def disordered(self) -> int:
        """Return how often history numbers descend."""
        return int(self._state[K.N_DISORDERED])

    @property
    def counts(self) -> TableCounts:
        """Return the counts so far."""
        state = self._state
        return TableCounts(
            transactions=int(state[K.S_ROWS] - self._rows_before),
            malformed=int(state[K.N_MALFORMED]),
            not_rising=int(state[K.N_NOT_RISING]),
            unordered=int(state[K.N_UNORDERED]),
            compared=int(state[K.N_COMPARED]),
        )

    def summary(self, *, joins_right: bool = True) -> ColumnSummary:
        """Return the summary; ``joins_right`` keeps last writers."""
        state = self._state
        none: Ints = np.zeros((0, 2), np.int64)
        return ColumnSummary(
            self.counts,
            int(self._history_first),
            int(state[K.S_HISTORY]),
            bool(state[K.S_RESTARTS]),
            int(state[K.S_SN_FIRST]),
            int(state[K.S_SN_LAST]),
            self._collect(K.LC) if state[K.S_KEEPS_FIRSTS] else self._firsts,
            self._collect(K.SN) if joins_right else none,
        )


class SummaryFold:
    """Merges summaries in order, without first writers."""

    def __init__(self) -> None:
        self.counts = TableCounts()
        self._history: int | None = None
        self._sn_last = 0
        self._table = empty_table(SLOTS_MIN)
        self._window = 1
        self._used = 0

    def add(self, summary: ColumnSummary) -> None:
        """Merge the next rows' summary."""
        if not summary.counts.transactions:
            return
        self.counts += summary.counts
        known = 0
        if self._history == summary.history_first:
            compared, unordered = K.meet(self._table, self._window, summary.firsts)
            rises = not (summary.sn_first and self._sn_last >= summary.sn_first)
            self.counts += TableCounts(
                compared=int(compared), unordered=int(unordered), not_rising=int(not rises)
            )
            known = int(compared)
        else:
            self._forget()
        if summary.restarts:
            self._forget()
            known = 0
        self._history = summary.history_last
        self._sn_last = summary.sn_last or self._sn_last
        items = self._used + len(summary.lasts) - known
        self._table = _with_room(self._table, self._window, items)
        self._used += K.take_in(self._table, self._window, summary.lasts)

    def _forget(self) -> None:
        self._window += 1
        self._used = self._sn_last = 0


def check_whole(columns: Columns) -> TableCounts:
    """Return the counts of a table."""
    checker = TableChecker(joins_left=False)
    checker.add(columns)
    return checker.counts


MapChunks = Callable[
    [Callable[[Columns], ColumnSummary], Iterable[Columns]], Iterable[ColumnSummary]
]


def check_in_chunks(
    columns: Columns, chunk_rows: int = CHUNK_ROWS, map_chunks: MapChunks = map
) -> TableCounts:
    """Return the counts of all chunks.

    Kernels release the GIL: ``ThreadPoolExecutor.map`` is parallel.
    """
    idle: deque[TableChecker] = deque()

    def summarise(chunk: Columns) -> ColumnSummary:
        try:
            checker = idle.pop()
            checker.begin()
        except IndexError:
            checker = TableChecker()
        checker.add(chunk)
        summary = checker.summary()
        idle.append(checker)
        return summary

    begins = range(0, len(columns), chunk_rows)
    chunks = (columns.slice(at, min(len(columns), at + chunk_rows)) for at in begins)
    fold = SummaryFold()
    for summary in map_chunks(summarise, chunks):
        fold.add(summary)
    return fold.counts
