"""Renamings of values that preserve a workload."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations, product

from paraply.models.explicit.layout import Layout
from paraply.models.language.concrete import Table, Value
from paraply.models.language.terms import BOOL, INT, Sort

Renaming = dict[Sort, tuple[int, ...]]
"""New numbers by sort."""
Move = list[tuple[int, int, int]]
"""Mask, left shift, right shift."""


def symmetries(layout: Layout, rigid: Mapping[str, Table], start: int) -> list[Move]:
    """Return renamings, without identity, that preserve workload and start."""
    functions = layout.system.functions
    sorts = {sort for function in functions for sort in (*function.arguments, function.result)} - {
        INT,
        BOOL,
    }
    found: list[Move] = []
    for renaming in _renamings(sorted(sorts, key=str), layout.scope.size):
        if all(new == tuple(range(len(new))) for new in renaming.values()):
            continue
        move = _move(layout, renaming)
        if _keeps(layout, rigid, renaming) and apply(move, start) == start:
            found.append(move)
    return found


def canonical_by(moves: list[Move]) -> Callable[[int], int] | None:
    """Return the map to the least renaming, or None."""
    if not moves:
        return None
    lines = ["def canonical(s):", " least = s"]
    for move in moves:
        parts = [
            f"(s & {mask}) << {left}" if left else f"(s & {mask}) >> {right}" if right
            else f"s & {mask}"
            for mask, left, right in move
        ]  # fmt: skip
        lines += [f" t = {' | '.join(parts)}", " if t < least: least = t"]
    lines.append(" return least")
    space: dict[str, object] = {}
    exec("\n".join(lines), space)
    found: Callable[[int], int] = space["canonical"]  # type: ignore[assignment]
    return found


def apply(move: Move, state: int) -> int:
    """Return a state with its names exchanged."""
    return sum((state & mask) << left >> right for mask, left, right in move)


def _renamings(sorts: list[Sort], size: int) -> Iterator[Renaming]:
    for chosen in product(permutations(range(size)), repeat=len(sorts)):
        yield dict(zip(sorts, chosen, strict=True))


def _move(layout: Layout, renaming: Renaming) -> Move:
    by_distance: dict[int, int] = {}
    for (function, arguments), place in layout.fields.items():
        if function.result not in (INT, BOOL):
            raise ValueError(f"{function.name} has a name as its value; search without symmetry")
        renamed = tuple(
            _renamed(renaming, sort, value)
            for sort, value in zip(function.arguments, arguments, strict=True)
        )
        distance = layout.fields[function, renamed].offset - place.offset
        by_distance[distance] = by_distance.get(distance, 0) | place.mask
    return [(mask, max(0, far), max(0, -far)) for far, mask in sorted(by_distance.items())]


def _renamed(renaming: Renaming, sort: Sort, value: int) -> int:
    return renaming[sort][value] if sort in renaming else value


def _keeps(layout: Layout, rigid: Mapping[str, Table], renaming: Renaming) -> bool:
    for function in layout.system.functions:
        table = rigid.get(function.name)
        if table is None:
            continue
        for arguments, value in table.items():
            numbers = [
                layout.number(sort, one)
                for sort, one in zip(function.arguments, arguments, strict=True)
            ]
            other = tuple(
                _value(layout, sort, _renamed(renaming, sort, number))
                for sort, number in zip(function.arguments, numbers, strict=True)
            )
            if table.get(other, 0) != value:
                return False
    return True


def _value(layout: Layout, sort: Sort, number: int) -> Value:
    if sort == BOOL:
        return bool(number)
    return number if sort == INT else layout.scope.values(sort)[number]
