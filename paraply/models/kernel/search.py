"""Conflict-driven clause learning, modulo the theories.

Source: Marques-Silva and Sakallah, "GRASP" (1999); Moskewicz et al., "Chaff" (2001), for watched
literals. It decides only for a clause that is not yet true.
"""

from __future__ import annotations

from enum import Enum

from paraply.models.kernel.nodes import Defined, Nodes
from paraply.models.kernel.theory import Theory


class Outcome(Enum):
    """The result of a search."""

    REFUTED = "refuted"
    NOT_REFUTED = "not refuted"
    """The theories accept some assignment."""
    GAVE_UP = "gave up"


def search(nodes: Nodes, conflicts_max: int = 20_000) -> Outcome:
    """Return whether the clauses are contradictory."""
    return _Search(nodes, conflicts_max).run()


class _Search:
    def __init__(self, nodes: Nodes, conflicts_max: int) -> None:
        self._theory = Theory(nodes)
        self._conflicts_max = conflicts_max
        self._meaningful = [not isinstance(atom, Defined) for atom in nodes.atoms]
        self._given = nodes.clauses
        self._clauses: list[list[int]] = []
        """The first two literals are watched."""
        self._watching: dict[int, list[list[int]]] = {}
        self._trail: list[int] = []
        self._read = 0
        """Length of the propagated trail."""
        self._starts: list[int] = []
        """Start of each level, from 1."""
        self._true: set[int] = set()
        self._level: dict[int, int] = {}
        self._reason: dict[int, tuple[int, ...]] = {}

    def run(self) -> Outcome:
        if not all(self._give(clause) for clause in self._given):
            return Outcome.REFUTED
        for _ in range(self._conflicts_max):
            conflict = self._next_conflict()
            if conflict is None:
                return Outcome.NOT_REFUTED
            if all(self._level[abs(literal)] == 0 for literal in conflict):
                return Outcome.REFUTED
            self._learn(conflict)
        return Outcome.GAVE_UP

    def _give(self, literals: tuple[int, ...]) -> bool:
        clause = sorted(literals, key=lambda literal: -literal in self._true)
        if not clause or -clause[0] in self._true:
            return False
        unit = all(-literal in self._true for literal in clause[1:])
        if not unit:
            self._watch(clause)
        elif clause[0] not in self._true:
            self._assign(clause[0], ())
        return True

    def _watch(self, clause: list[int]) -> None:
        self._clauses.append(clause)
        for literal in clause[:2]:
            self._watching.setdefault(literal, []).append(clause)

    def _assign(self, literal: int, reason: tuple[int, ...]) -> None:
        self._trail.append(literal)
        self._true.add(literal)
        self._level[abs(literal)] = len(self._starts)
        self._reason[abs(literal)] = reason

    def _back_to(self, level: int) -> None:
        if level < len(self._starts):
            kept = self._starts[level]
            self._true.difference_update(self._trail[kept:])
            del self._trail[kept:], self._starts[level:]
            self._read = min(self._read, kept)

    def _next_conflict(self) -> tuple[int, ...] | None:
        while True:
            conflict = self._propagate()
            if conflict is not None:
                return conflict
            told = [literal for literal in self._trail if self._meaningful[abs(literal)]]
            contradiction = self._theory.contradiction(told)
            if contradiction is not None:
                return tuple(-literal for literal in contradiction)
            decision = self._decision() or self._theory.undecided(told)
            if decision is None:
                return None
            self._starts.append(len(self._trail))
            self._assign(decision, ())

    def _propagate(self) -> tuple[int, ...] | None:
        true = self._true
        while self._read < len(self._trail):
            false = -self._trail[self._read]
            self._read += 1
            watching = self._watching.get(false, [])
            self._watching[false] = kept = []
            for position, clause in enumerate(watching):
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                other = clause[0]
                if other not in true:
                    for place in range(2, len(clause)):
                        if -clause[place] not in true:
                            clause[1], clause[place] = clause[place], false
                            self._watching.setdefault(clause[1], []).append(clause)
                            break
                    else:
                        kept.append(clause)
                        if -other in true:
                            kept += watching[position + 1 :]
                            return tuple(clause)
                        self._assign(other, tuple(clause))
                    continue
                kept.append(clause)
        return None

    def _decision(self) -> int | None:
        true = self._true
        for clause in self._clauses:
            if true.isdisjoint(clause):
                return next(literal for literal in clause if -literal not in true)
        return None

    def _learn(self, conflict: tuple[int, ...]) -> None:
        # Resolves to the first unique implication point.
        top = max(self._level[abs(literal)] for literal in conflict)
        self._back_to(top)
        seen: set[int] = set()
        below: list[int] = []
        open_at_top, place, clause = 0, len(self._trail), conflict
        while True:
            for literal in clause:
                number = abs(literal)
                if number not in seen and self._level[number] > 0:
                    seen.add(number)
                    if self._level[number] == top:
                        open_at_top += 1
                    else:
                        below.append(literal)
            place -= 1
            while abs(self._trail[place]) not in seen:
                place -= 1
            pivot = self._trail[place]
            open_at_top -= 1
            if open_at_top == 0:
                break
            clause = tuple(literal for literal in self._reason[abs(pivot)] if literal != pivot)
        below.sort(key=lambda literal: self._level[abs(literal)], reverse=True)
        self._back_to(self._level[abs(below[0])] if below else 0)
        learned = [-pivot, *below]
        if len(learned) > 1:
            self._watch(learned)
        self._assign(-pivot, tuple(learned))
