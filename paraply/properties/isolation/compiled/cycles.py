"""The shortest cycles, on arrays: the fast version of ``isolation.cycles``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paraply.properties.isolation.compiled.columns import session_numbers
from paraply.properties.isolation.compiled.kernels import (
    answered,
    realtime_pairs,
    shortest_cycles,
    strong_parts,
)
from paraply.properties.isolation.cycles import Cycle, Shape
from paraply.properties.isolation.versions import Dependency, Kind, Versions
from paraply.vocabulary.client_history import ClientHistory, Ending

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

SCANS_PER_EDGE_MAX = 200
"""Limit of edge scans per part, for linear time.

Cycles of two or three are found long before; a longer one is marked, because it may not be
shortest.
"""


@dataclass(frozen=True, slots=True)
class Edges:
    """Dependencies as columns."""

    source: Ints
    target: Ints
    kind: Ints
    before: Ints
    after: Ints

    def __len__(self) -> int:
        return len(self.source)

    def where(self, mask: Mask) -> Edges:
        """Return the edges in the mask."""
        return Edges(*(column[mask] for column in self.columns))

    def and_also(self, other: Edges) -> Edges:
        """Return both sets of edges."""
        return Edges(
            *(np.concatenate(pair) for pair in zip(self.columns, other.columns, strict=True))
        )

    @property
    def columns(self) -> tuple[Ints, ...]:
        """Return the columns in the order of ``Dependency``."""
        return self.source, self.target, self.kind, self.before, self.after

    def __getitem__(self, place: int) -> Dependency:
        source, target, kind, before, after = (int(column[place]) for column in self.columns)
        return Dependency(source, target, Kind(kind), before, after)


class CompiledSearch:
    """Finds a shortest cycle in each strongly connected part.

    Caches the last history, which usually has no cycle and needs one pass.
    """

    def __init__(self) -> None:
        self._versions: Versions | None = None
        self._edges: dict[int, Edges] = {}
        self._acyclic: dict[int, bool] = {}

    def __call__(
        self, versions: Versions, shape: Shape, *, with_unread: bool = False
    ) -> list[Cycle]:
        """Return cycles by their smallest transaction."""
        if self._versions is not versions:
            self._versions = versions
            self._edges = {0: edges_of_versions(versions)}
            self._acyclic = {}
        orders = shape.path & (Kind.SESSION | Kind.REALTIME)
        if not with_unread and self._is_acyclic(orders):
            return []
        edges = self._edges_with(orders)
        if with_unread:
            edges = edges.and_also(edges_of([Dependency(*one) for one in versions.unread]))
        return find_cycles(len(versions.history.transactions), edges, shape)

    def _edges_with(self, orders: int) -> Edges:
        if orders not in self._edges:
            assert self._versions is not None
            history, edges = self._versions.history, self._edges[0]
            if orders & Kind.SESSION:
                edges = edges.and_also(session_edges(history))
            if orders & Kind.REALTIME:
                edges = edges.and_also(realtime_edges(history))
            self._edges[orders] = edges
        return self._edges[orders]

    def _is_acyclic(self, orders: int) -> bool:
        if orders not in self._acyclic:
            assert self._versions is not None
            edges = self._edges_with(orders)
            nodes = len(self._versions.history.transactions)
            part = strong_parts(nodes, edges.source, edges.target)
            self._acyclic[orders] = not (part[edges.source] == part[edges.target]).any()
        return self._acyclic[orders]


def edges_of(dependencies: Sequence[Dependency]) -> Edges:
    """Return dependencies as arrays."""
    return _from_rows(np.array(dependencies, np.int64).reshape(-1, 5).T)


def session_edges(history: ClientHistory) -> Edges:
    """Return the order of sessions."""
    session = session_numbers(history)
    order = np.argsort(session, kind="stable")
    order = order[session[order] >= 0]
    follows = session[order[1:]] == session[order[:-1]]
    return _order(order[:-1][follows], order[1:][follows], Kind.SESSION)


def realtime_edges(history: ClientHistory) -> Edges:
    """Return the order of real time."""
    transactions = history.transactions
    begun = [i for i, one in enumerate(transactions) if one.ending is not Ending.ABORTED]
    ended = [i for i, one in enumerate(transactions) if one.ending is Ending.COMMITTED]
    times = [transactions[i].invoked for i in begun] + [transactions[i].completed for i in ended]
    moments = np.array(begun + ended, np.int64)
    is_end = np.arange(len(moments)) >= len(begun)
    order = np.lexsort((moments, is_end, np.array(times, np.int64)))
    source, target = realtime_pairs(moments[order], is_end[order], len(transactions))
    return _order(source, target, Kind.REALTIME)


def _order(source: Ints, target: Ints, kind: Kind) -> Edges:
    nothing = np.full(len(source), -1, np.int64)
    return _from_rows(_column(source, target, kind, nothing, nothing))


def _from_rows(table: Ints) -> Edges:
    return Edges(*(np.ascontiguousarray(row) for row in table))


def edges_of_versions(versions: Versions) -> Edges:
    """Return ``versions.dependencies()`` as arrays."""
    writers = np.array(versions.writers, np.int64)
    follows = np.array(versions.follows, np.bool_)
    readers = np.array(versions.readers, np.int64)
    read = np.array(versions.read, np.int64)
    after_ww = np.flatnonzero(follows)
    next_version = np.minimum(read + 1, max(len(writers) - 1, 0))
    overwritten = np.zeros(0, np.bool_)
    if len(read):
        overwritten = (read + 1 < len(writers)) & follows[next_version]
    parts = [
        _column(writers[after_ww - 1], writers[after_ww], Kind.WW, after_ww - 1, after_ww),
        _column(writers[read], readers, Kind.WR, read, read),
        _column(
            readers[overwritten], writers[next_version[overwritten]], Kind.RW,
            read[overwritten], next_version[overwritten],
        ),
        np.array(versions.loose, np.int64).reshape(-1, 5).T,
    ]  # fmt: skip
    table = np.concatenate(parts, axis=1)
    table = table[:, (table[0] >= 0) & (table[0] != table[1])]
    return _from_rows(table)


def _column(source: Ints, target: Ints, kind: Kind, before: Ints, after: Ints) -> Ints:
    return np.stack([source, target, np.full(len(source), int(kind)), before, after])


def find_cycles(nodes: int, edges: Edges, shape: Shape) -> list[Cycle]:
    """Return a shortest cycle of each strong part."""
    admitted = edges.where((edges.kind & (shape.anchor | shape.path)) != 0)
    part = strong_parts(nodes, admitted.source, admitted.target)
    inside = admitted.where(part[admitted.source] == part[admitted.target])
    if not len(inside):
        return []
    anchors = np.flatnonzero((inside.kind & shape.anchor) != 0)
    anchors = _promising(nodes, inside, anchors, shape)
    # Parts in the order of their smallest transaction, as in the readable search.
    smallest = np.full(int(part.max()) + 1, nodes, np.int64)
    np.minimum.at(smallest, part[inside.source], inside.source)
    group = smallest[part[inside.source[anchors]]]
    order = np.argsort(group, kind="stable")
    chosen, lengths, are_shortest = shortest_cycles(
        nodes, inside.source, inside.target, inside.kind, int(shape.path), shape.may_repeat_rw,
        anchors[order], group[order], SCANS_PER_EDGE_MAX * len(inside),
    )  # fmt: skip
    cycles = []
    at = 0
    for length, is_shortest in zip(lengths.tolist(), are_shortest.tolist(), strict=True):
        steps = tuple(inside[int(place)] for place in chosen[at : at + length])
        cycles.append(Cycle(steps, is_shortest))
        at += length
    return cycles


def _promising(nodes: int, inside: Edges, anchors: Ints, shape: Shape) -> Ints:
    """Return the anchors that a cycle of the shape may contain.

    Adjacent anti-dependencies admit all. Otherwise each transaction is split by how it was reached.
    """
    single = bool(shape.anchor & Kind.RW) and not shape.path & Kind.RW
    if shape.may_repeat_rw and not single:
        return anchors
    is_rw = (inside.kind & Kind.RW) != 0
    # (u, 0) was reached by a dependency, (u, 1) by an anti-dependency: only dependencies follow.
    source = np.concatenate([2 * inside.source, 2 * inside.source[~is_rw] + 1])
    target = np.concatenate([2 * inside.target + is_rw, 2 * inside.target[~is_rw]])
    split = strong_parts(2 * nodes, source, target)
    begin, end = inside.source[anchors], inside.target[anchors]
    reached = split[2 * end + is_rw[anchors]]
    on_cycle = (split[2 * begin] == reached) | (~is_rw[anchors] & (split[2 * begin + 1] == reached))
    anchors = anchors[on_cycle]
    if not single or not len(anchors):
        return anchors
    # With one anti-dependency, the rest of the cycle has none.
    back = inside.where((inside.kind & shape.path) != 0)
    part = strong_parts(nodes, back.source, back.target)
    order = np.argsort(-part[back.source], kind="stable")
    found = answered(
        back.source[order], back.target[order], part,
        inside.target[anchors], inside.source[anchors],
    )  # fmt: skip
    return anchors[found]
