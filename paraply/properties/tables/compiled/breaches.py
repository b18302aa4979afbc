"""Twin of :mod:`paraply.properties.tables.breaches`, by sorting.

Sorting by window and item puts each write after the previous one. :class:`BreachFold` compares
chunks' :class:`Edges`, so histories may span chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from paraply.properties.tables.breaches import KINDS, MALFORMED, NO_ROW, NOT_RISING, UNORDERED
from paraply.properties.tables.compiled.timestamps import Columns

Ints = NDArray[np.int64]

B_ROW, B_KIND, B_ITEM, B_EARLIER, B_HISTORY, B_LC, B_SN, B_EARLIER_SN, B_SIZE = range(9)
"""Fields of :class:`paraply.properties.tables.breaches.TableBreach`."""
W_ITEM, W_ROW, W_HISTORY, W_LC, W_SN, W_SIZE = range(6)
"""Writers, sorted by item (0 without items)."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Ends of consecutive rows.

    Attributes:
        restarts: whether a window ends inside.
        opening: first row as writer; empty for a view change.
        closing: last row, likewise.
        firsts: the first window's first writers.
        lasts: the last window's last writers.
    """

    history_first: int
    history_last: int
    restarts: bool
    opening: Ints
    closing: Ints
    firsts: Ints
    lasts: Ints

    def without(self, *, left: bool, right: bool) -> Edges:
        """Return the edges without first (``left``) or last (``right``) writers."""
        return replace(
            self,
            firsts=self.firsts[:0] if left else self.firsts,
            lasts=self.lasts[:0] if right else self.lasts,
        )


def breaches_in(columns: Columns, first_row: int) -> tuple[Ints, Edges]:
    """Return a nonempty chunk's sorted breaches and edges."""
    history, lc, sn = columns.history, columns.lc, columns.sn
    is_view_change = (lc | sn) == 0
    begins = is_view_change.copy()
    begins[1:] |= history[1:] != history[:-1]
    window = np.cumsum(begins)
    row_of, items = _writes(columns, ~is_view_change)
    order = np.lexsort((row_of, items, window[row_of]))
    row_of, items = row_of[order], items[order]
    follows = (items[1:] == items[:-1]) & (window[row_of[1:]] == window[row_of[:-1]])
    is_first, is_last = np.ones(len(items), bool), np.ones(len(items), bool)
    is_first[1:], is_last[:-1] = ~follows, ~follows

    writers = np.stack([np.zeros_like(lc), np.arange(len(lc)) + first_row, history, lc, sn], axis=1)
    malformed = writers[~is_view_change & (lc >= sn)]
    falls = ~begins[1:] & ~is_view_change[:-1] & (sn[:-1] != 0) & (sn[1:] <= sn[:-1])
    falling = np.flatnonzero(falls)
    writes = writers[row_of]
    writes[:, W_ITEM] = items
    overlapping = np.flatnonzero(follows & (sn[row_of[:-1]] > lc[row_of[1:]]))
    found = [
        _breaches(MALFORMED, malformed),
        _breaches(NOT_RISING, writers[falling + 1], writers[falling]),
        _breaches(UNORDERED, writes[overlapping + 1], writes[overlapping]),
    ]
    in_first, in_last = window[row_of] == 0, window[row_of] == window[-1]
    edges = Edges(
        history_first=int(history[0]),
        history_last=int(history[-1]),
        restarts=bool(window[-1]),
        opening=writers[:1][~is_view_change[:1]],
        closing=writers[-1:][~is_view_change[-1:]],
        firsts=writes[is_first & in_first],
        lasts=writes[is_last & in_last],
    )
    return sorted_breaches(found), edges


class BreachFold:
    """Compares chunk edges from left to right."""

    def __init__(self) -> None:
        self.edges: Edges | None = None

    def add(self, after: Edges) -> Ints:
        """Add a chunk; return sorted breaches against earlier chunks."""
        before = self.edges
        if before is None or before.history_last != after.history_first:
            self.edges = after if before is None else _beside(before, after)
            return sorted_breaches([])
        places, is_known = _looked_up(before.lasts, after.firsts)
        later, earlier = after.firsts[is_known], before.lasts[places[is_known]]
        overlaps = earlier[:, W_SN] > later[:, W_LC]
        found = [_breaches(UNORDERED, later[overlaps], earlier[overlaps])]
        if _falls(before.closing, after.opening):
            found.append(_breaches(NOT_RISING, after.opening, before.closing))
        self.edges = Edges(
            history_first=before.history_first,
            history_last=after.history_last,
            restarts=before.restarts or after.restarts,
            opening=before.opening,
            closing=after.closing,
            firsts=before.firsts if before.restarts else _merged(after.firsts, before.firsts),
            lasts=after.lasts if after.restarts else _merged(before.lasts, after.lasts),
        )
        return sorted_breaches(found)


def sorted_breaches(found: list[Ints]) -> Ints:
    """Return breaches by row, kind and item."""
    every = np.concatenate([*found, np.zeros((0, B_SIZE), np.int64)])
    order: Ints = np.lexsort((every[:, B_ITEM], every[:, B_KIND], every[:, B_ROW]))
    sorted_: Ints = every[order]
    return sorted_


def _writes(columns: Columns, is_transaction: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return row and item of writes, distinct, unordered."""
    counts = np.diff(columns.offsets).astype(np.int64)
    row_of = np.repeat(np.arange(len(counts)), counts)
    items = columns.items[columns.offsets[0] : columns.offsets[-1]]
    row_of, items = row_of[is_transaction[row_of]], items[is_transaction[row_of]]
    order = np.lexsort((items, row_of))
    row_of, items = row_of[order], items[order]
    is_new = np.ones(len(items), bool)
    is_new[1:] = (items[1:] != items[:-1]) | (row_of[1:] != row_of[:-1])
    return row_of[is_new], items[is_new]


def _breaches(kind: str, later: Ints, earlier: Ints | None = None) -> Ints:
    found: Ints = np.zeros((len(later), B_SIZE), np.int64)
    found[:, B_KIND], found[:, B_EARLIER] = KINDS.index(kind), NO_ROW
    for column, of in (
        (B_ROW, W_ROW), (B_ITEM, W_ITEM), (B_HISTORY, W_HISTORY), (B_LC, W_LC), (B_SN, W_SN)
    ):  # fmt: skip
        found[:, column] = later[:, of]
    if earlier is not None:
        found[:, B_EARLIER], found[:, B_EARLIER_SN] = earlier[:, W_ROW], earlier[:, W_SN]
    return found


def _falls(before: Ints, after: Ints) -> bool:
    if not len(before) or not len(after):
        return False
    return bool(before[0, W_SN] and after[0, W_SN] <= before[0, W_SN])


def _looked_up(known: Ints, wanted: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    if not len(known):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    places = np.minimum(np.searchsorted(known[:, W_ITEM], wanted[:, W_ITEM]), len(known) - 1)
    return places, known[places, W_ITEM] == wanted[:, W_ITEM]


def _merged(below: Ints, above: Ints) -> Ints:
    _, is_covered = _looked_up(above, below)
    both: Ints = np.concatenate([below[~is_covered], above])
    merged: Ints = both[np.argsort(both[:, W_ITEM], kind="stable")]
    return merged


def _beside(before: Edges, after: Edges) -> Edges:
    return replace(
        after,
        history_first=before.history_first, restarts=True,
        opening=before.opening, firsts=before.firsts,
    )  # fmt: skip
