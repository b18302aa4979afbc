"""Checks that logical timestamps order conflicting transactions in a table.

A row has a history, ``lc`` (last_committed), ``sn`` (sequence_number) and items; histories follow
log order. A row ``(0, 0)`` (view change) starts a window of incomparable numbers.

Definition: transactions i < j of a window with a common item require ``sn_i <= lc_j``
(:func:`check_all_pairs`). The linear check compares previous writers only, and checks ``lc < sn``
and rising numbers. Proof: i < j share x, p is the previous writer of x before j. Then i <= p, so
sn_i <= sn_p <= lc_j.

:class:`ChunkSummary` merges associatively and exactly, so chunks may run anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paraply.properties.start_rule import must_wait
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
        """Return whether a new window starts here."""
        return self.lc == 0 and self.sn == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCounts:
    """Additive counts of rows and faults."""

    transactions: int = 0
    malformed: int = 0
    """``lc >= sn``."""
    not_rising: int = 0
    """``sn`` not above the previous one in the window."""
    unordered: int = 0
    """Items whose previous writer's ``sn`` is above ``lc``."""
    compared: int = 0
    """Items with a previous writer."""

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
        """Return the verdict; unknown without conflicts."""
        if self.malformed or self.not_rising or self.unordered:
            return Verdict.VIOLATED
        return Verdict.HOLDS if self.compared else Verdict.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSummary:
    """Faults inside consecutive rows, and their ends."""

    counts: TableCounts = TableCounts()
    history_first: int = 0
    history_last: int = 0
    restarts: bool = False
    """Whether a window ends inside."""
    sn_first: int = 0
    """The first window's first ``sn``; 0 without one."""
    sn_last: int = 0
    firsts: dict[int, int] = field(default_factory=dict)
    """Item to first ``lc`` in the first window."""
    lasts: dict[int, int] = field(default_factory=dict)
    """Item to last ``sn`` in the last window."""

    def __add__(self, other: ChunkSummary) -> ChunkSummary:
        """Return the summary of consecutive stretches."""
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
                unordered=sum(not must_wait(other.firsts[item], self.lasts[item]) for item in met),
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
    """Return the summary of rows."""
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
                found += TableCounts(compared=1, unordered=int(not must_wait(row.lc, lasts[item])))
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
    """Return whether the definition is true; quadratic on purpose."""
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
            and (must_wait(later.lc, earlier.sn) or not set(earlier.items) & set(later.items))
            for earlier in window[:at]
        )
        for window in windows
        for at, later in enumerate(window)
    )
