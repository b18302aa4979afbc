"""Decide consistency with equality and integer differences.

Congruent nodes have equal values, but not conversely: for arguments of one function the search
decides (:meth:`Theory.undecided`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from paraply.models.kernel.congruence import Congruence
from paraply.models.kernel.differences import Edge, solve
from paraply.models.kernel.nodes import (
    FALSE_NODE,
    TRUE_NODE,
    ZERO,
    Difference,
    Holds,
    Nodes,
    Same,
    Symbol,
)
from paraply.models.language.terms import INT, Variable


@dataclass(frozen=True, slots=True)
class _Congruent:
    left: int
    right: int


_Because = int | _Congruent | None


@dataclass(frozen=True, slots=True)
class _Pair:
    left: int
    right: int
    below: int
    above: int


class Theory:
    """Judges literals after creation of all nodes."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._integers = [n for n in range(len(nodes.symbols)) if _is_integer(nodes.symbols[n])]
        self._sums: list[Edge[_Because]] = []
        for node in self._integers:
            base, offset = nodes.without_offset(node)
            if base != node:
                self._sums.append(Edge(node, base, offset, None))
                self._sums.append(Edge(base, node, -offset, None))
        self._pairs = list(self._arguments_that_may_meet())

    def _arguments_that_may_meet(self) -> Iterator[_Pair]:
        places: dict[tuple[Symbol, int], set[int]] = {}
        integers = set(self._integers)
        for symbol, arguments in zip(self._nodes.symbols, self._nodes.arguments, strict=True):
            for place, argument in enumerate(arguments):
                if argument in integers and not _is_sum(symbol):
                    places.setdefault((symbol, place), set()).add(argument)
        met = {pair for found in places.values() for pair in combinations(sorted(found), 2)}
        for left, right in sorted(met):
            first, second = self._nodes.without_offset(left), self._nodes.without_offset(right)
            if first[0] != second[0]:
                yield _Pair(left, right, self._nodes.at_most(first, second),
                            self._nodes.at_most(second, first))  # fmt: skip

    def contradiction(self, literals: Iterable[int]) -> list[int] | None:
        """Return some contradictory literals, or None."""
        return self._judge(list(literals))[0]

    def undecided(self, literals: Iterable[int]) -> int | None:
        """Return an equality of arguments to decide, or None."""
        given = list(literals)
        found, closure, value = self._judge(given)
        assert found is None, "asked only where there is no contradiction"
        known = set(given)
        for pair in self._pairs:
            if value[pair.left] == value[pair.right] and not closure.same(pair.left, pair.right):
                for literal in (pair.below, pair.above):
                    if literal not in known and -literal not in known:
                        return literal
        return None

    def _judge(self, literals: list[int]) -> tuple[list[int] | None, Congruence, list[int]]:
        nodes = self._nodes
        closure = Congruence(nodes)
        edges: list[Edge[_Because]] = list(self._sums)
        different: list[tuple[int, int, tuple[int, ...]]] = [(TRUE_NODE, FALSE_NODE, ())]
        for literal in literals:
            match nodes.atoms[abs(literal)]:
                case Holds(node):
                    closure.merge(node, TRUE_NODE if literal > 0 else FALSE_NODE, (literal,))
                case Same(left, right) if literal > 0:
                    closure.merge(left, right, (literal,))
                case Same(left, right):
                    different.append((left, right, (literal,)))
                case Difference() as told:
                    holds = told if literal > 0 else told.negated()
                    edges.append(Edge(holds.left, holds.right, holds.bound, literal))
        true = set(literals)
        for pair in self._pairs:
            if pair.below in true and pair.above in true:
                closure.merge(pair.left, pair.right, (pair.below, pair.above))
        for left, right, because in different:
            if closure.same(left, right):
                return [*because, *closure.explain(left, right)], closure, []
        for node in self._integers:
            other = closure.members[closure.representative[node]][0]
            if other != node:
                edges.append(Edge(node, other, 0, _Congruent(node, other)))
                edges.append(Edge(other, node, 0, _Congruent(node, other)))
        solution = solve(edges, len(nodes.symbols))
        cycle = [edge for edge in solution if isinstance(edge, Edge)]
        if not cycle:
            return None, closure, [number for number in solution if isinstance(number, int)]
        why: set[int] = set()
        for edge in cycle:
            if isinstance(edge.because, _Congruent):
                why |= closure.explain(edge.because.left, edge.because.right)
            elif edge.because is not None:
                why.add(edge.because)
        return sorted(why), closure, []


def _is_sum(symbol: Symbol) -> bool:
    return isinstance(symbol, tuple) and symbol[0] == "+"


def _is_integer(symbol: Symbol) -> bool:
    if isinstance(symbol, tuple):
        return _is_sum(symbol) or symbol == ("zero", ZERO)
    return symbol.sort == INT if isinstance(symbol, Variable) else symbol.result == INT
