"""The table check on columns: the twin of :mod:`properties.tables.timestamps`.

Three ways through it, for three shapes of input: :class:`TableChecker` for tables of whole
histories, block by block; :func:`summarise_columns` for a chunk of a history; and
:class:`SummaryFold`, which merges the chunks' summaries from left to right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from properties.tables.compiled import kernels as K
from properties.tables.timestamps import ChunkSummary, TableCounts

Ints = NDArray[np.int64]

SLOTS_MIN = 1 << 12
CHUNK_ROWS = 1 << 18
"""Rows of a chunk: so many that most items come back in it, which makes summaries small."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows of a table; the items of row i end at ``ends[i]`` in ``items``."""

    history: Ints
    lc: Ints
    sn: Ints
    ends: Ints
    items: Ints

    def __len__(self) -> int:
        return len(self.lc)

    def slice(self, begin: int, end: int) -> Columns:
        """Return some rows."""
        first = int(self.ends[begin - 1]) if begin else 0
        last = int(self.ends[end - 1]) if end else 0
        return Columns(
            self.history[begin:end],
            self.lc[begin:end],
            self.sn[begin:end],
            self.ends[begin:end] - first,
            self.items[first:last],
        )


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A :class:`ChunkSummary` with its items in arrays of (item, number)."""

    counts: TableCounts
    history_first: int
    history_last: int
    restarts: bool
    sn_first: int
    sn_last: int
    firsts: Ints
    lasts: Ints

    def readable(self) -> ChunkSummary:
        """Return it as the readable twin has it."""
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


class TableChecker:
    """Checks rows block by block; the table of items is kept from one block to the next."""

    def __init__(self, slots: int = SLOTS_MIN) -> None:
        self._table: Ints = np.zeros((slots, 4), np.int64)
        self._window = 0

    def _run(self, columns: Columns, firsts: Ints) -> Ints:
        counters = np.zeros(K.COUNTERS, np.int64)
        counters[K.N_WINDOW] = self._window + 1
        at = 0
        while True:
            at = K.check_rows(
                columns.history, columns.lc, columns.sn, columns.ends, columns.items,
                self._table, counters, firsts, at,
            )  # fmt: skip
            if at == len(columns):
                break
            start = int(columns.ends[at - 1]) if at else 0
            needed = 2 * (int(counters[K.N_USED]) + int(columns.ends[at]) - start)
            slots = 2 * len(self._table)
            while slots < needed:
                slots *= 2
            larger: Ints = np.zeros((slots, 4), np.int64)
            K.rehash(self._table, int(counters[K.N_WINDOW]), larger)
            self._table = larger
        self._window = int(counters[K.N_WINDOW])
        return counters

    def check(self, columns: Columns) -> TableCounts:
        """Return the counts of rows that begin and end with whole histories."""
        return _counts(self._run(columns, np.zeros((0, 2), np.int64)), len(columns))

    def summarise(self, columns: Columns) -> ColumnSummary:
        """Return the summary of rows that may begin and end inside a history."""
        if not len(columns):
            none: Ints = np.zeros((0, 2), np.int64)
            return ColumnSummary(TableCounts(), 0, 0, False, 0, 0, none, none)
        firsts: Ints = np.empty((len(columns.items) + 1, 2), np.int64)
        counters = self._run(columns, firsts)
        lasts: Ints = np.empty((int(counters[K.N_USED]), 2), np.int64)
        found = K.collect_lasts(self._table, self._window, lasts)
        assert found == len(lasts)
        return ColumnSummary(
            _counts(counters, len(columns)),
            int(columns.history[0]),
            int(columns.history[-1]),
            bool(counters[K.N_RESTARTS]),
            int(counters[K.S_SN_FIRST]),
            int(counters[K.S_SN_LAST]),
            firsts[: int(counters[K.S_FIRSTS])].copy(),
            lasts,
        )


def _counts(counters: Ints, transactions: int) -> TableCounts:
    return TableCounts(
        transactions=transactions,
        malformed=int(counters[K.N_MALFORMED]),
        not_rising=int(counters[K.N_NOT_RISING]),
        unordered=int(counters[K.N_UNORDERED]),
        compared=int(counters[K.N_COMPARED]),
    )


class SummaryFold:
    """Merges summaries from left to right: the sum of :class:`ChunkSummary`, without its firsts."""

    def __init__(self) -> None:
        self.counts = TableCounts()
        self._history: int | None = None
        self._sn_last = 0
        self._keys: Ints = np.zeros(SLOTS_MIN, np.int64)
        self._numbers: Ints = np.zeros((SLOTS_MIN, 2), np.int64)
        self._window = 1
        self._used = 0

    def add(self, summary: ColumnSummary) -> None:
        """Merge the summary of the rows that follow."""
        if not summary.counts.transactions:
            return
        self.counts += summary.counts
        if self._history == summary.history_first:
            compared, unordered = K.meet(self._keys, self._numbers, self._window, summary.firsts)
            rises = not (summary.sn_first and self._sn_last >= summary.sn_first)
            self.counts += TableCounts(
                compared=int(compared), unordered=int(unordered), not_rising=int(not rises)
            )
        else:
            self._forget()
        if summary.restarts:
            self._forget()
        self._history = summary.history_last
        self._sn_last = summary.sn_last or self._sn_last
        self._make_room(len(summary.lasts))
        self._used += K.take_in(self._keys, self._numbers, self._window, summary.lasts)

    def _forget(self) -> None:
        self._window += 1
        self._used = self._sn_last = 0

    def _make_room(self, more: int) -> None:
        slots = len(self._keys)
        while 2 * (self._used + more) > slots:
            slots *= 2
        if slots == len(self._keys):
            return
        kept = self._numbers[:, 0] == self._window
        old = np.column_stack([self._keys[kept], self._numbers[kept, 1]])
        self._keys = np.zeros(slots, np.int64)
        self._numbers = np.zeros((slots, 2), np.int64)
        K.take_in(self._keys, self._numbers, self._window, old)


def check_in_chunks(columns: Columns, chunk_rows: int = CHUNK_ROWS) -> TableCounts:
    """Return the counts of a table by merging the summaries of its chunks."""
    checker, fold = TableChecker(), SummaryFold()
    for begin in range(0, len(columns), chunk_rows):
        chunk = columns.slice(begin, min(len(columns), begin + chunk_rows))
        fold.add(checker.summarise(chunk))
    return fold.counts
