"""The cycle phenomena, and a readable search for the shortest of each.

Each has an *anchor*, its characteristic dependency. Snapshot isolation admits no adjacent
anti-dependencies.

Sources: Adya, "Weak Consistency" (2000), section 4.2 and 5.3; Cerone and Gotsman, "Analysing
Snapshot Isolation" (2018), theorem 9.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from paraply.properties.isolation.versions import Dependency, Kind

DEPENDENCIES = Kind.WW | Kind.WR


@dataclass(frozen=True, slots=True)
class Shape:
    """``anchor`` and ``path`` are masks of kinds."""

    anchor: int
    """Kinds of the first dependency."""
    path: int
    """Kinds of all others."""
    may_repeat_rw: bool = True
    """Whether anti-dependencies may be adjacent."""


class CyclePhenomenon(Enum):
    """Cycle phenomena, named as in the literature."""

    G0 = "G0"
    G1C = "G1c"
    G_SINGLE = "G-single"
    G_NONADJACENT = "G-nonadjacent"
    G2_ITEM = "G2-item"

    @property
    def shape(self) -> Shape:
        """Return the shape of data cycles."""
        return _SHAPES[self]


_SHAPES = {
    CyclePhenomenon.G0: Shape(Kind.WW, Kind.WW),
    CyclePhenomenon.G1C: Shape(Kind.WR, DEPENDENCIES),
    CyclePhenomenon.G_SINGLE: Shape(Kind.RW, DEPENDENCIES),
    CyclePhenomenon.G_NONADJACENT: Shape(Kind.RW, DEPENDENCIES | Kind.RW, may_repeat_rw=False),
    CyclePhenomenon.G2_ITEM: Shape(Kind.RW, DEPENDENCIES | Kind.RW),
}


@dataclass(frozen=True, slots=True)
class Cycle:
    """Dependencies; the last ends where the first begins."""

    steps: tuple[Dependency, ...]
    is_shortest: bool = True


State = tuple[int, bool]
"""A transaction, and whether no anti-dependency may follow."""


def find_cycles(
    dependencies: Iterable[Dependency], shape: Shape, *, any_suffices: bool = False
) -> list[Cycle]:
    """Return a shortest cycle of each strongly connected part, by smallest transaction.

    ``any_suffices`` returns the first that is found, which is much faster in large parts.
    """
    # A late import: it is slow, and few runs search a cycle.
    import networkx as nx

    admitted = [one for one in dependencies if one.kind & (shape.anchor | shape.path)]
    graph = nx.DiGraph()
    graph.add_edges_from((one.source, one.target) for one in admitted)
    part_of = {}
    parts = sorted(sorted(part) for part in nx.strongly_connected_components(graph))
    for number, part in enumerate(parts):
        part_of.update(dict.fromkeys(part, number))
    inside: dict[int, list[Dependency]] = {}
    for one in admitted:
        if part_of[one.source] == part_of[one.target]:
            inside.setdefault(part_of[one.source], []).append(one)
    found = []
    for number in sorted(inside):
        cycle = _shortest(inside[number], shape, any_suffices=any_suffices)
        if cycle is not None:
            found.append(Cycle(cycle, is_shortest=not any_suffices))
    return found


def _shortest(
    inside: Sequence[Dependency], shape: Shape, *, any_suffices: bool
) -> tuple[Dependency, ...] | None:
    leaving: dict[int, list[Dependency]] = {}
    for one in inside:
        if one.kind & shape.path:
            leaving.setdefault(one.source, []).append(one)
    best: tuple[Dependency, ...] | None = None
    for anchor in inside:
        if anchor.kind & shape.anchor:
            back = _way_back(anchor, leaving, shape)
            if back is not None and any_suffices:
                return back
            if back is not None and (best is None or len(back) < len(best)):
                best = back
    return best


def _way_back(
    anchor: Dependency, leaving: dict[int, list[Dependency]], shape: Shape
) -> tuple[Dependency, ...] | None:
    """Return the anchor's shortest cycle, by breadth-first search."""
    start: State = (anchor.target, bool(anchor.kind & Kind.RW) and not shape.may_repeat_rw)
    reached_by: dict[State, tuple[State, Dependency] | None] = {start: None}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for step in leaving.get(state[0], ()):
            is_rw = bool(step.kind & Kind.RW) and not shape.may_repeat_rw
            following: State = (step.target, is_rw)
            if (state[1] and is_rw) or following in reached_by:
                continue
            reached_by[following] = (state, step)
            # The cycle closes with the anchor, an anti-dependency itself.
            if step.target == anchor.source and not (is_rw and anchor.kind & Kind.RW):
                return _told(anchor, following, reached_by)
            waiting.append(following)
    return None


def _told(
    anchor: Dependency,
    state: State,
    reached_by: dict[State, tuple[State, Dependency] | None],
) -> tuple[Dependency, ...]:
    steps = []
    while (before := reached_by[state]) is not None:
        state, step = before
        steps.append(step)
    return (anchor, *reversed(steps))


def kind_of_cycle(steps: Sequence[Dependency]) -> CyclePhenomenon:
    """Return a cycle's most specific phenomenon."""
    is_rw = [bool(step.kind & Kind.RW) for step in steps]
    if any(is_rw):
        if sum(is_rw) == 1:
            return CyclePhenomenon.G_SINGLE
        adjacent = any(is_rw[place - 1] and is_rw[place] for place in range(len(is_rw)))
        return CyclePhenomenon.G2_ITEM if adjacent else CyclePhenomenon.G_NONADJACENT
    reads = any(step.kind & Kind.WR for step in steps)
    return CyclePhenomenon.G1C if reads else CyclePhenomenon.G0
