"""Decide integer differences by negative cycles.

Source: Bellman, "On a routing problem" (1958).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Because = TypeVar("Because")


@dataclass(frozen=True, slots=True)
class Edge(Generic[Because]):
    """``left - right <= bound``, with the caller's reason."""

    left: int
    right: int
    bound: int
    because: Because


def solve(edges: Sequence[Edge[Because]], size: int) -> list[int] | list[Edge[Because]]:
    """Return a value per node, or a negative cycle."""
    value = [0] * size
    last: list[Edge[Because] | None] = [None] * size
    changed: int | None = None
    for _ in range(size + 1):
        changed = None
        for edge in edges:
            reach = value[edge.right] + edge.bound
            if reach < value[edge.left]:
                value[edge.left] = reach
                last[edge.left] = edge
                changed = edge.left
        if changed is None:
            return value
    assert changed is not None
    return _cycle(last, changed)


def _cycle(last: Sequence[Edge[Because] | None], start: int) -> list[Edge[Because]]:
    seen: set[int] = set()
    node = start
    while node not in seen:
        seen.add(node)
        node = _edge_into(last, node).right
    cycle = [_edge_into(last, node)]
    while cycle[-1].right != node:
        cycle.append(_edge_into(last, cycle[-1].right))
    assert total(cycle) < 0, "what never settles runs in a negative cycle"
    return cycle


def _edge_into(last: Sequence[Edge[Because] | None], node: int) -> Edge[Because]:
    edge = last[node]
    assert edge is not None, "a node that improved in the last round was reached by an edge"
    return edge


def total(edges: Iterable[Edge[Because]]) -> int:
    """Return the total of the edges' bounds."""
    return sum(edge.bound for edge in edges)
