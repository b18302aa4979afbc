"""Twin of :mod:`paraply.properties.tables.breaches`, by a kernel.

:class:`BreachFold` compares chunks' :class:`Edges`, so histories may span chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from paraply.properties.tables.breaches import KINDS, MALFORMED, NO_ROW, NOT_RISING, UNORDERED
from paraply.properties.tables.compiled import kernels as K
from paraply.properties.tables.compiled.breach_kernel import find_overlaps
from paraply.properties.tables.compiled.timestamps import SLOTS_MIN, Columns, empty_table

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
    overlaps, firsts, lasts = _compared(columns, begins, is_view_change)

    def writers(rows: Ints, items: Ints | None = None) -> Ints:
        named = np.zeros_like(rows) if items is None else items
        return np.stack([named, rows + first_row, history[rows], lc[rows], sn[rows]], axis=1)

    malformed = np.flatnonzero(~is_view_change & (lc >= sn))
    falls = ~begins[1:] & ~is_view_change[:-1] & (sn[:-1] != 0) & (sn[1:] <= sn[:-1])
    falling = np.flatnonzero(falls)
    later, earlier, items = overlaps.T
    found = [
        _breaches(MALFORMED, writers(malformed)),
        _breaches(NOT_RISING, writers(falling + 1), writers(falling)),
        _breaches(UNORDERED, writers(later, items), writers(earlier)),
    ]
    ends = np.array([0, len(lc) - 1])
    opening, closing = (writers(end[~is_view_change[end]]) for end in (ends[:1], ends[1:]))
    edges = Edges(
        history_first=int(history[0]),
        history_last=int(history[-1]),
        restarts=bool(begins.any()),
        opening=opening,
        closing=closing,
        firsts=writers(*_by_item(firsts)),
        lasts=writers(*_by_item(lasts)),
    )
    return sorted_breaches(found), edges


def _compared(
    columns: Columns, begins: NDArray[np.bool_], is_view_change: NDArray[np.bool_]
) -> tuple[Ints, Ints, Ints]:
    """Return overlaps (later row, earlier row, item), first and last writers (row, item)."""
    starts = np.flatnonzero(begins)
    starts = starts if len(starts) and starts[0] == 0 else np.concatenate([[0], starts])
    counts = np.diff(columns.offsets).astype(np.int64)
    in_window, in_all = int(np.add.reduceat(counts, starts).max()), int(counts.sum())
    table = empty_table(max(SLOTS_MIN, 1 << (2 * in_window).bit_length()))
    overlaps: Ints = np.empty((in_all, 3), np.int64)
    firsts: Ints = np.empty((in_all, 2), np.int64)
    found, first, window = find_overlaps(
        begins, is_view_change, columns.lc, columns.sn, columns.offsets, columns.items,
        table, overlaps, firsts,
    )  # fmt: skip
    lasts: Ints = np.empty((in_window + 1, 2), np.int64)
    last = K.collect(table, window, K.ROW, lasts)
    return overlaps[:found], firsts[:first], lasts[:last, ::-1] - np.array([1, 0])


def _by_item(writes: Ints) -> tuple[Ints, Ints]:
    ordered = writes[np.argsort(writes[:, 1], kind="stable")]
    return ordered[:, 0], ordered[:, 1]


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
