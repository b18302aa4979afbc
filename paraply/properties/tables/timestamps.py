"""Are conflicting transactions ordered by their logical timestamps, in a table of transactions?

A row is a transaction: its history, ``lc`` (last_committed), ``sn`` (sequence_number) and the items
it writes. Rows of a history follow each other in the order of the log. A row with ``(0, 0)`` is a
view change: numbers before and after it do not compare, and nothing overlaps it.

By the definition, two transactions i < j of one window that write a common item must have
``sn_i <= lc_j`` (:func:`check_all_pairs`). The linear check compares each item's previous writer
only; together with ``lc < sn`` and rising numbers, which it checks as well, it finds a fault if
and only if the definition does. For let i < j share x, p be the previous writer of x before j:
i <= p, so sn_i <= sn_p <= lc_j.

A table is checked in chunks that know nothing of each other: a :class:`ChunkSummary` says what is
wrong inside, and what its ends must be compared with. Summaries merge associatively, so chunks may
be checked anywhere and merged in any grouping that keeps their order, and the result is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from paraply.vocabulary.verdict import Verdict


@dataclass(frozen=True, slots=True)
class TableRow:
    """One transaction."""

    history: int
    lc: int
    sn: int
    items: tuple[int, ...]

    @property
    def is_view_change(self) -> bool:
        """Return whether numbers start anew here."""
        return self.lc == 0 and self.sn == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCounts:
    """How many rows and faults there are; they add up."""

    transactions: int = 0
    malformed: int = 0
    """Transactions with ``lc >= sn``."""
    not_rising: int = 0
    """Transactions whose ``sn`` is not above that of the transaction before, in one window."""
    unordered: int = 0
    """Items of transactions whose previous writer may overlap: its ``sn`` is above their ``lc``."""
    compared: int = 0
    """Items of transactions that have a previous writer: what ``unordered`` is a part of."""

    def __add__(self, other: TableCounts) -> TableCounts:
        return TableCounts(
            transactions=self.transactions + other.transactions,
            malformed=self.malformed + other.malformed,
            not_rising=self.not_rising + other.not_rising,
            unordered=self.unordered + other.unordered,
            compared=self.compared + other.compared,
        )

    @property
    def verdict(self) -> Verdict:
        """Return whether conflicting transactions are ordered; unknown if none conflict."""
        if self.malformed or self.not_rising or self.unordered:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.compared else Verdict.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSummary:
    """What rows that follow each other show, and what rows beside them are compared with."""

    counts: TableCounts = TableCounts()
    history_first: int = 0
    history_last: int = 0
    restarts: bool = False
    """Whether a window ends inside, so that nothing passes from one end to the other."""
    sn_first: int = 0
    """Of the first transaction, if it is of the first window; 0 if there is none."""
    sn_last: int = 0
    firsts: dict[int, int] = field(default_factory=dict)
    """Item to ``lc`` of its first writer, in the first window."""
    lasts: dict[int, int] = field(default_factory=dict)
    """Item to ``sn`` of its last writer, in the last window."""

    def __add__(self, other: ChunkSummary) -> ChunkSummary:
        """Return the summary of these rows followed by the other's."""
        if not self.counts.transactions:
            return other
        if not other.counts.transactions:
            return self
        joins = self.history_last == other.history_first
        counts = self.counts + other.counts
        if joins:
            met = self.lasts.keys() & other.firsts.keys()
            counts += TableCounts(
                not_rising=int(bool(other.sn_first and self.sn_last >= other.sn_first)),
                unordered=sum(self.lasts[item] > other.firsts[item] for item in met),
                compared=len(met),
            )
        passes_left = joins and not self.restarts
        passes_right = joins and not other.restarts
        return ChunkSummary(
            counts=counts,
            history_first=self.history_first,
            history_last=other.history_last,
            restarts=self.restarts or other.restarts or not joins,
            sn_first=self.sn_first or (other.sn_first if passes_left else 0),
            sn_last=other.sn_last or (self.sn_last if passes_right else 0),
            firsts={**other.firsts, **self.firsts} if passes_left else self.firsts,
            lasts={**self.lasts, **other.lasts} if passes_right else other.lasts,
        )


def summarise(rows: Iterable[TableRow]) -> ChunkSummary:
    """Return the summary of rows in one pass."""
    counts = TableCounts()
    firsts: dict[int, int] = {}
    lasts: dict[int, int] = {}
    restarts = False
    history_first = history = None
    sn_first = sn_last = 0
    for row in rows:
        counts += TableCounts(transactions=1)
        if history_first is None:
            history_first = history = row.history
        if row.history != history or row.is_view_change:
            history, restarts, sn_last, lasts = row.history, True, 0, {}
        if row.is_view_change:
            continue
        found = TableCounts(
            malformed=int(row.lc >= row.sn), not_rising=int(bool(sn_last) and row.sn <= sn_last)
        )
        for item in dict.fromkeys(row.items):
            if item in lasts:
                found += TableCounts(compared=1, unordered=int(lasts[item] > row.lc))
            elif not restarts:
                firsts[item] = row.lc
            lasts[item] = row.sn
        counts += found
        if not restarts and not sn_first:
            sn_first = row.sn
        sn_last = row.sn
    return ChunkSummary(
        counts=counts,
        history_first=history_first or 0,
        history_last=history or 0,
        restarts=restarts,
        sn_first=sn_first,
        sn_last=sn_last,
        firsts=firsts,
        lasts=lasts,
    )


def check_all_pairs(rows: Sequence[TableRow]) -> bool:
    """Return whether the definition holds; quadratic on purpose."""
    windows: list[list[TableRow]] = []
    history = None
    for row in rows:
        if row.history != history or row.is_view_change or not windows:
            windows.append([])
        history = row.history
        if not row.is_view_change:
            windows[-1].append(row)
    return all(
        later.lc < later.sn
        and all(
            earlier.sn < later.sn
            and (earlier.sn <= later.lc or not set(earlier.items) & set(later.items))
            for earlier in window[:at]
        )
        for window in windows
        for at, later in enumerate(window)
    )


def without_ends(summary: ChunkSummary, *, left: bool, right: bool) -> ChunkSummary:
    """Return a summary without what a neighbour would be compared with, where there is none."""
    return replace(
        summary,
        firsts={} if left else summary.firsts,
        lasts={} if right else summary.lasts,
    )
