"""Ground terms as numbered nodes, and ground formulas as clauses over numbered atoms.

A node is an application, and equal applications are one node. An integer term is read as a node
plus an offset. An atom is a predicate that holds, two nodes of an uninterpreted sort that are
equal, or a difference ``x - y <= k``; every comparison and every equality of integers is made of
differences. A literal is the number of an atom, negative where the atom is false; 1 is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paraply.models.language.terms import (
    BOOL,
    INT,
    And,
    Apply,
    Compare,
    Equal,
    Function,
    Literal,
    Not,
    Or,
    Plus,
    Term,
    Variable,
)

TRUE_LITERAL = 1

ZERO = 0
"""The node that stands for the integer 0."""

TRUE_NODE = 1
FALSE_NODE = 2


@dataclass(frozen=True, slots=True)
class Holds:
    """The node, an application of a predicate, is true."""

    node: int


@dataclass(frozen=True, slots=True)
class Same:
    """Two nodes of one uninterpreted sort are equal."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Difference:
    """``left - right <= bound``; for integers its negation is ``right - left <= -bound - 1``."""

    left: int
    right: int
    bound: int

    def negated(self) -> Difference:
        """Return the difference that holds exactly where this one does not."""
        return Difference(self.right, self.left, -self.bound - 1)


@dataclass(frozen=True, slots=True)
class Defined:
    """A name for a subformula; it means nothing to the theories."""

    number: int


Atom = Holds | Same | Difference | Defined
Symbol = Function | Variable | tuple[str, int]
"""What a node applies: a function, a constant, or ``("+", k)`` for a node plus an offset."""


class Nodes:
    """All ground terms and atoms of one problem, and its clauses."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = [("zero", 0), ("true", 0), ("false", 0)]
        self.arguments: list[tuple[int, ...]] = [(), (), ()]
        self.atoms: list[Atom] = [Defined(0), Defined(0)]
        """By number; the first is not used, and the second is true."""
        self.clauses: list[tuple[int, ...]] = [(TRUE_LITERAL,)]
        self._numbers: dict[tuple[Symbol, tuple[int, ...]], int] = {}
        self._literals: dict[Atom, int] = {}

    def node(self, term: Term, values: Mapping[Variable, int]) -> int:
        """Return the node of a term, with nodes for its variables."""
        match term:
            case Variable():
                return values[term] if term in values else self._node(term, ())
            case Apply(function, arguments):
                return self._node(function, tuple(self.node(a, values) for a in arguments))
            case Literal() | Plus():
                base, offset = self.linear(term, values)
                return base if offset == 0 else self._node(("+", offset), (base,))
        raise TypeError(f"not a ground term: {term!r}")

    def linear(self, term: Term, values: Mapping[Variable, int]) -> tuple[int, int]:
        """Return an integer term as a node and an offset; the node is no sum itself."""
        match term:
            case Literal(value):
                return ZERO, value
            case Plus(left, constant):
                base, offset = self.linear(left, values)
                return base, offset + constant
        return self.without_offset(self.node(term, values))

    def without_offset(self, node: int) -> tuple[int, int]:
        """Return a node that may be a sum as a node that is none, and an offset."""
        match self.symbols[node]:
            case ("+", offset):
                return self.arguments[node][0], offset
        return node, 0

    def _node(self, symbol: Symbol, arguments: tuple[int, ...]) -> int:
        key = (symbol, arguments)
        if key not in self._numbers:
            self._numbers[key] = len(self.symbols)
            self.symbols.append(symbol)
            self.arguments.append(arguments)
        return self._numbers[key]

    def holds(self, formula: Term, values: Mapping[Variable, int]) -> None:
        """Add the clauses that say that a matrix in normal form holds, for nodes as variables."""
        match formula:
            case And(parts):
                for part in parts:
                    self.holds(part, values)
            case Or(parts):
                self.clause([self._literal(part, values) for part in parts])
            case _:
                self.clause([self._literal(formula, values)])

    def clause(self, literals: Sequence[int]) -> None:
        """Add a clause, unless it is true whatever the atoms are."""
        kept = tuple(dict.fromkeys(x for x in literals if x != -TRUE_LITERAL))
        if TRUE_LITERAL not in kept and not any(-literal in kept for literal in kept):
            self.clauses.append(kept)

    def _literal(self, formula: Term, values: Mapping[Variable, int]) -> int:
        """Return a literal from which ``formula`` follows and which is free where it is true.

        One direction suffices: negation stands at atoms only, so nothing asks for the other.
        """
        match formula:
            case Literal(value):
                return TRUE_LITERAL if value else -TRUE_LITERAL
            case Not(Equal(left, right)) if left.sort == INT:
                below, above = self._equal(left, right, values)
                return self._any(-below, -above)
            case Not(Apply() | Variable() | Compare() | Equal() as atom):
                return -self._literal(atom, values)
            case And(parts):
                return self._all(*(self._literal(part, values) for part in parts))
            case Or(parts):
                return self._any(*(self._literal(part, values) for part in parts))
            case Compare(operator, left, right):
                return self.at_most(self.linear(left, values), self.linear(right, values),
                                    strictly=operator == "<")  # fmt: skip
            case Equal(left, right) if left.sort == INT:
                return self._all(*self._equal(left, right, values))
            case Equal(left, right):
                first, second = self.node(left, values), self.node(right, values)
                if first == second:
                    return TRUE_LITERAL
                return self._atom(Same(min(first, second), max(first, second)))
            case Apply() | Variable() if formula.sort == BOOL:
                return self._atom(Holds(self.node(formula, values)))
        raise TypeError(f"not in normal form: {formula!r}")

    def _equal(self, left: Term, right: Term, values: Mapping[Variable, int]) -> tuple[int, int]:
        first, second = self.linear(left, values), self.linear(right, values)
        return self.at_most(first, second), self.at_most(second, first)

    def at_most(
        self, left: tuple[int, int], right: tuple[int, int], *, strictly: bool = False
    ) -> int:
        """Return the literal of ``left <= right``, or ``left < right``, of nodes with offsets."""
        bound = right[1] - left[1] - strictly
        if left[0] == right[0]:
            return TRUE_LITERAL if bound >= 0 else -TRUE_LITERAL
        wanted = Difference(left[0], right[0], bound)
        # A difference and its negation are one atom.
        if wanted.left > wanted.right:
            return -self._atom(wanted.negated())
        return self._atom(wanted)

    def _atom(self, atom: Atom) -> int:
        if atom not in self._literals:
            self._literals[atom] = len(self.atoms)
            self.atoms.append(atom)
        return self._literals[atom]

    def _all(self, *literals: int) -> int:
        if len(literals) == 1:
            return literals[0]
        name = self._atom(Defined(len(self.atoms)))
        for literal in literals:
            self.clause([-name, literal])
        return name

    def _any(self, *literals: int) -> int:
        if len(literals) == 1:
            return literals[0]
        name = self._atom(Defined(len(self.atoms)))
        self.clause([-name, *literals])
        return name
