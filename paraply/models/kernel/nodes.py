"""Ground terms as numbered nodes, formulas as clauses over numbered atoms.

Equal applications share a node; an integer term is a node plus an offset. An atom is a predicate,
an equality of uninterpreted nodes, or a difference ``x - y <= k``. A literal is an atom's number,
negative for its negation; 1 is true.
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

TRUE_NODE = 1
FALSE_NODE = 2


@dataclass(frozen=True, slots=True)
class Holds:
    """A predicate application is true."""

    node: int


@dataclass(frozen=True, slots=True)
class Same:
    """Two uninterpreted nodes are equal."""

    left: int
    right: int


@dataclass(frozen=True, slots=True)
class Difference:
    """``left - right <= bound`` over integers."""

    left: int
    right: int
    bound: int

    def negated(self) -> Difference:
        """Return the negated difference."""
        return Difference(self.right, self.left, -self.bound - 1)


@dataclass(frozen=True, slots=True)
class Defined:
    """A subformula's name."""

    number: int


Atom = Holds | Same | Difference | Defined
Symbol = Function | Variable | tuple[str, int]
"""``("+", k)`` is a node plus an offset."""


class Nodes:
    """A problem's terms, atoms and clauses."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = [("zero", 0), ("true", 0), ("false", 0)]
        self.arguments: list[tuple[int, ...]] = [(), (), ()]
        self.atoms: list[Atom] = [Defined(0), Defined(0)]
        """Index 0 is unused, 1 is true."""
        self.clauses: list[tuple[int, ...]] = [(TRUE_LITERAL,)]
        self._numbers: dict[tuple[Symbol, tuple[int, ...]], int] = {}
        self._literals: dict[Atom, int] = {}

    def node(self, term: Term, values: Mapping[Variable, int]) -> int:
        """Return a term's node."""
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
        """Return an integer term as node and offset."""
        match term:
            case Literal(value):
                return ZERO, value
            case Plus(left, constant):
                base, offset = self.linear(left, values)
                return base, offset + constant
        return self.without_offset(self.node(term, values))

    def without_offset(self, node: int) -> tuple[int, int]:
        """Split a sum node."""
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
        """Add a normal-form matrix's clauses."""
        match formula:
            case And(parts):
                for part in parts:
                    self.holds(part, values)
            case Or(parts):
                self.clause([self._literal(part, values) for part in parts])
            case _:
                self.clause([self._literal(formula, values)])

    def clause(self, literals: Sequence[int]) -> None:
        """Add a clause without tautologies."""
        kept = tuple(dict.fromkeys(x for x in literals if x != -TRUE_LITERAL))
        if TRUE_LITERAL not in kept and not any(-literal in kept for literal in kept):
            self.clauses.append(kept)

    def _literal(self, formula: Term, values: Mapping[Variable, int]) -> int:
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
        """Return the literal of a comparison."""
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
