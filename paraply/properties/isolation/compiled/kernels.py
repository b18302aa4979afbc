"""Graph algorithms over edge arrays; nodes count from 0."""

# numba's decorators carry no types, and inside a kernel numpy's sized integers are plain numbers.
# mypy: disallow-untyped-decorators=False, warn-return-any=False
# mypy: disable-error-code="arg-type,assignment,return-value"

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

RW = 4
"""``Kind.RW`` as a constant for kernels."""


@njit(cache=True)
def leaving_edges(nodes: int, source: Ints) -> tuple[Ints, Ints]:
    """Return each node's first edge place, and the edges by source."""
    start = np.zeros(nodes + 1, np.int64)
    for edge in range(len(source)):
        start[source[edge] + 1] += 1
    for node in range(nodes):
        start[node + 1] += start[node]
    place = start[:nodes].copy()
    edges = np.empty(len(source), np.int64)
    for edge in range(len(source)):
        edges[place[source[edge]]] = edge
        place[source[edge]] += 1
    return start, edges


@njit(cache=True)
def strong_parts(nodes: int, source: Ints, target: Ints) -> Ints:
    """Return each node's strongly connected part (Tarjan, without recursion).

    Edges never lead to greater part numbers.
    """
    start, edges = leaving_edges(nodes, source)
    part = np.full(nodes, -1, np.int64)
    number = np.full(nodes, -1, np.int64)
    low = np.zeros(nodes, np.int64)
    place = start[:nodes].copy()
    stack = np.empty(nodes, np.int64)
    path = np.empty(nodes, np.int64)
    on_stack = 0
    next_number = 0
    next_part = 0
    for root in range(nodes):
        if number[root] != -1:
            continue
        depth = 0
        path[0] = root
        number[root] = low[root] = next_number
        next_number += 1
        stack[on_stack] = root
        on_stack += 1
        while depth >= 0:
            node = path[depth]
            if place[node] < start[node + 1]:
                other = target[edges[place[node]]]
                place[node] += 1
                if number[other] == -1:
                    number[other] = low[other] = next_number
                    next_number += 1
                    stack[on_stack] = other
                    on_stack += 1
                    depth += 1
                    path[depth] = other
                elif part[other] == -1:
                    low[node] = min(low[node], number[other])
                continue
            if low[node] == number[node]:
                while True:
                    on_stack -= 1
                    part[stack[on_stack]] = next_part
                    if stack[on_stack] == node:
                        break
                next_part += 1
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[node])
    return part


@njit(cache=True)
def answered(source: Ints, target: Ints, part: Ints, start: Ints, goal: Ints) -> NDArray[np.bool_]:
    """Return for each pair whether ``start`` reaches ``goal``, 64 at a time.

    Requires edges sorted by descending strong ``part`` of their source.
    """
    found = np.zeros(len(start), np.bool_)
    parts = part.max() + 1 if len(part) else 0
    reached = np.zeros(parts, np.uint64)
    for begin in range(0, len(start), 64):
        end = min(begin + 64, len(start))
        reached[:] = 0
        for pair in range(begin, end):
            reached[part[start[pair]]] |= np.uint64(1) << np.uint64(pair - begin)
        for edge in range(len(source)):
            reached[part[target[edge]]] |= reached[part[source[edge]]]
        for pair in range(begin, end):
            bit = np.uint64(1) << np.uint64(pair - begin)
            found[pair] = (reached[part[goal[pair]]] & bit) != 0
    return found


@njit(cache=True)
def shortest_cycles(
    nodes: int,
    source: Ints,
    target: Ints,
    kind: Ints,
    path: int,
    may_repeat_rw: bool,
    anchors: Ints,
    group: Ints,
    scans_max: int,
) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return each group's shortest cycle that begins with an anchor.

    Args:
        path: mask of the kinds after the anchor.
        anchors: edges, contiguous per ``group``.
        scans_max: edge scans per group before the best cycle is taken.

    Returns:
        All edges in sequence, each cycle's length (0 for none), and whether it is shortest.
    """
    start, edges = leaving_edges(nodes, source)
    stamp = np.zeros(2 * nodes, np.int64)
    came_by = np.empty(2 * nodes, np.int64)
    came_from = np.empty(2 * nodes, np.int64)
    depth = np.empty(2 * nodes, np.int64)
    queue = np.empty(2 * nodes, np.int64)
    best = np.empty(nodes + 1, np.int64)
    all_edges = [np.int64(0) for _ in range(0)]
    lengths = [np.int64(0) for _ in range(0)]
    are_shortest = [True for _ in range(0)]
    tick = 0
    at = 0
    while at < len(anchors):
        best_length = 0
        scans = 0
        is_shortest = True
        this = group[at]
        while at < len(anchors) and group[at] == this:
            anchor = anchors[at]
            at += 1
            if best_length == 2 or (best_length and scans > scans_max):
                is_shortest = is_shortest and best_length == 2
                continue
            closes_rw = not may_repeat_rw and (kind[anchor] & RW) != 0
            tick += 1
            first = 2 * target[anchor] + (1 if closes_rw else 0)
            stamp[first] = tick
            came_by[first] = -1
            depth[first] = 1
            queue[0] = first
            head, tail = 0, 1
            closed = np.int64(-1)
            while head < tail and closed < 0:
                state = queue[head]
                head += 1
                if best_length and depth[state] + 1 >= best_length:
                    break
                node = state >> 1
                for place in range(start[node], start[node + 1]):
                    edge = edges[place]
                    scans += 1
                    if (kind[edge] & path) == 0:
                        continue
                    is_rw = not may_repeat_rw and (kind[edge] & RW) != 0
                    if is_rw and (state & 1):
                        continue
                    other = 2 * target[edge] + (1 if is_rw else 0)
                    if stamp[other] == tick:
                        continue
                    stamp[other] = tick
                    came_by[other] = edge
                    came_from[other] = state
                    depth[other] = depth[state] + 1
                    if target[edge] == source[anchor] and not (is_rw and closes_rw):
                        closed = other
                        break
                    queue[tail] = other
                    tail += 1
            if closed >= 0:
                best_length = depth[closed]
                fill = best_length - 1
                while came_by[closed] >= 0:
                    best[fill] = came_by[closed]
                    fill -= 1
                    closed = came_from[closed]
                best[0] = anchor
        if best_length:
            for step in range(best_length):
                all_edges.append(best[step])
            lengths.append(best_length)
            are_shortest.append(is_shortest)
    return (
        np.array(all_edges, np.int64),
        np.array(lengths, np.int64),
        np.array(are_shortest, np.bool_),
    )


@njit(cache=True)
def realtime_pairs(moments: Ints, is_end: NDArray[np.bool_], nodes: int) -> tuple[Ints, Ints]:
    """Return the real-time pairs without implied ones.

    Args:
        moments: nodes by time of begin or end.
        is_end: whether each moment is an end.
    """
    source = [np.int64(0) for _ in range(0)]
    target = [np.int64(0) for _ in range(0)]
    first = np.zeros(nodes, np.int64)
    count = np.zeros(nodes, np.int64)
    is_kept = np.zeros(nodes, np.bool_)
    kept = np.empty(nodes, np.int64)
    size = 0
    for at in range(len(moments)):
        node = moments[at]
        if is_end[at]:
            for pair in range(first[node], first[node] + count[node]):
                is_kept[source[pair]] = False
            is_kept[node] = True
            kept[size] = node
            size += 1
            continue
        first[node] = len(source)
        place = 0
        for old in range(size):
            if is_kept[kept[old]]:
                kept[place] = kept[old]
                place += 1
                source.append(kept[old])
                target.append(node)
        size = place
        count[node] = len(source) - first[node]
    return np.array(source, np.int64), np.array(target, np.int64)
