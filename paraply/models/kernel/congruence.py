"""Congruence closure over ground terms with explanations.

Source: Nelson and Oppen, "Fast decision procedures based on congruence closure" (1980); Nieuwenhuis
and Oliveras, "Proof-producing congruence closure" (2005), for the forest of reasons.
"""

from __future__ import annotations

from paraply.models.kernel.nodes import Nodes, Symbol

Reason = tuple[int, ...] | None
"""Literals; None for equal arguments."""


class Congruence:
    """Classes of nodes under the merged equalities."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        everything = range(len(nodes.symbols))
        self.representative = list(everything)
        self.members: list[list[int]] = [[node] for node in everything]
        self._users: list[list[int]] = [[] for _ in everything]
        self._known: dict[tuple[Symbol, tuple[int, ...]], int] = {}
        self._towards: list[tuple[int, Reason] | None] = [None] * len(nodes.symbols)
        """Next node towards the root, and reason."""
        for node in everything:
            for argument in nodes.arguments[node]:
                self._users[argument].append(node)
            if nodes.arguments[node]:
                self._known[nodes.symbols[node], nodes.arguments[node]] = node

    def same(self, left: int, right: int) -> bool:
        """Return whether two nodes are equal."""
        return self.representative[left] == self.representative[right]

    def merge(self, left: int, right: int, reason: tuple[int, ...]) -> None:
        """Merge two nodes and all congruent nodes."""
        waiting: list[tuple[int, int, Reason]] = [(left, right, reason)]
        while waiting:
            first, second, why = waiting.pop()
            kept, gone = self.representative[second], self.representative[first]
            if kept == gone:
                continue
            if len(self.members[kept]) < len(self.members[gone]):
                first, second, kept, gone = second, first, gone, kept
            self._hang(first, second, why)
            for member in self.members[gone]:
                self.representative[member] = kept
            self.members[kept] += self.members[gone]
            self.members[gone] = []
            for user in self._users[gone]:
                arguments = tuple(self.representative[a] for a in self._nodes.arguments[user])
                twin = self._known.setdefault((self._nodes.symbols[user], arguments), user)
                if twin != user:
                    waiting.append((user, twin, None))
            self._users[kept] += self._users[gone]

    def _hang(self, node: int, under: int, reason: Reason) -> None:
        link: tuple[int, Reason] | None = (under, reason)
        while link is not None:
            before, self._towards[node] = self._towards[node], link
            link = None if before is None else (node, before[1])
            node = node if before is None else before[0]

    def explain(self, left: int, right: int) -> set[int]:
        """Return literals that imply an equality."""
        literals: set[int] = set()
        waiting, done = [(left, right)], set()
        while waiting:
            pair = waiting.pop()
            if pair in done or pair[0] == pair[1]:
                continue
            done.add(pair)
            for first, second, reason in self._way(*pair):
                if reason is None:
                    arguments = self._nodes.arguments
                    waiting += zip(arguments[first], arguments[second], strict=True)
                else:
                    literals.update(reason)
        return literals

    def _way(self, left: int, right: int) -> list[tuple[int, int, Reason]]:
        above = {left: 0}
        upwards: list[tuple[int, int, Reason]] = []
        node = left
        while (link := self._towards[node]) is not None:
            upwards.append((node, *link))
            node = link[0]
            above[node] = len(upwards)
        other: list[tuple[int, int, Reason]] = []
        node = right
        while node not in above:
            link = self._towards[node]
            assert link is not None, "two nodes of one class are in one tree"
            other.append((node, *link))
            node = link[0]
        return upwards[: above[node]] + other
