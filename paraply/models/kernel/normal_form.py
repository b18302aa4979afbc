"""Obligations as quantifier-free assertions with universal variables.

The assertions include the negated goal; they are contradictory exactly for a valid obligation.
Negation occurs only at atoms, Skolem functions replace existential variables, and if-then-else
becomes cases. Names are numbered by appearance, so the result is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

from paraply.models.language.system import Obligation
from paraply.models.language.terms import (
    BOOL,
    And,
    Apply,
    Compare,
    Equal,
    Function,
    Ite,
    Literal,
    Not,
    Or,
    Plus,
    Quantified,
    Term,
    Variable,
    conj,
    disj,
    functions_in,
    negate,
    nodes_in,
    parts_of,
    rebuild,
    remembered,
    substitute,
)

MARK = "!"
"""Marks generated names."""


class NotSupportedError(Exception):
    """The kernel does not support this obligation."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A quantifier-free ``matrix`` for all values of ``variables``.

    It has no if-then-else, and negation only at atoms. ``origin`` is its hypothesis; the goal comes
    last.
    """

    variables: tuple[Variable, ...]
    matrix: Term
    origin: int


def assertions(obligation: Obligation) -> tuple[Assertion, ...]:
    """Return the assertions of a counterexample.

    Raises :class:`NotSupportedError` for Boolean arguments, undeclared variables or marked names;
    :class:`IllFormedError` for ambiguous names.
    """
    functions_in((*obligation.hypotheses, obligation.goal))
    for constant in obligation.constants:
        _refuse_mark(constant.name)
    found: list[Assertion] = []
    number = 1
    for origin, part in enumerate((*obligation.hypotheses, negate(obligation.goal))):
        declared = part.free.intersection(obligation.constants)
        pieces, number = _pieces(part, declared, number)
        found += [Assertion(variables, matrix, origin) for variables, matrix in pieces]
    return tuple(found)


@remembered
def _pieces(
    part: Term, constants: frozenset[Variable], number: int
) -> tuple[tuple[tuple[tuple[Variable, ...], Term], ...], int]:
    """Return an assertion's conjuncts with their variables, and the next number."""
    maker = _NormalForm(constants, number)
    matrix = maker.read(part, True, {}, ())
    pieces = matrix.parts if isinstance(matrix, And) else (matrix,)
    own = tuple((tuple(dict.fromkeys(_own_variables(one))), one) for one in pieces)
    return own, maker.next_number()


class _NormalForm:
    def __init__(self, constants: frozenset[Variable], number: int) -> None:
        self._constants = constants
        self._numbers = count(number)

    def next_number(self) -> int:
        """Return a number that no name has."""
        return next(self._numbers)

    def read(
        self,
        node: Term,
        positive: bool,
        bound: Mapping[Variable, Term],
        universal: tuple[Variable, ...],
    ) -> Term:
        def inner(part: Term, sign: bool) -> Term:
            return self.read(part, sign, bound, universal)

        match node:
            case Literal(bool() as value):
                return Literal(value == positive)
            case Not(body):
                return inner(body, not positive)
            case And(parts) | Or(parts):
                together = conj if isinstance(node, And) == positive else disj
                return together(*(inner(part, positive) for part in parts))
            case Ite(condition, then, otherwise):
                return conj(
                    disj(inner(condition, False), inner(then, positive)),
                    disj(inner(condition, True), inner(otherwise, positive)),
                )
            case Equal(left, right) if left.sort == BOOL:
                return conj(
                    disj(inner(left, False), inner(right, positive)),
                    disj(inner(left, True), inner(right, not positive)),
                )
            case Quantified(is_universal, variable, body):
                name = f"{variable.name}{MARK}{next(self._numbers)}"
                if is_universal == positive:
                    fresh = Variable(name, variable.sort)
                    return self.read(body, positive, {**bound, variable: fresh},
                                     (*universal, fresh))  # fmt: skip
                sorts = tuple(outer.sort for outer in universal)
                witness = Function(name, sorts, variable.sort)(*universal)
                return self.read(body, positive, {**bound, variable: witness}, universal)
        choice = _first_choice(node)
        if choice is not None:
            cases = Ite(choice.condition, _replaced(node, choice, choice.then),
                        _replaced(node, choice, choice.otherwise))  # fmt: skip
            return inner(cases, positive)
        self._admit(node, bound)
        atom = substitute(node, bound)
        return atom if positive else negate(atom)

    def _admit(self, node: Term, bound: Mapping[Variable, Term]) -> None:
        match node:
            case Variable():
                if node not in bound and node not in self._constants:
                    raise NotSupportedError(f"{node.name} is declared nowhere")
            case Apply(function, _):
                _refuse_mark(function.name)
                if BOOL in function.arguments:
                    raise NotSupportedError(f"{function.name} takes a truth value")
            case Literal() | Equal() | Compare() | Plus():
                pass
            case _:
                raise NotSupportedError(f"not an atom: {node!r}")
        for part in parts_of(node):
            self._admit(part, bound)


def _refuse_mark(name: str) -> None:
    if MARK in name:
        raise NotSupportedError(f"the name {name} contains {MARK}")


def _first_choice(node: Term) -> Ite | None:
    if isinstance(node, Ite):
        return node
    return next((found for part in parts_of(node) if (found := _first_choice(part))), None)


def _replaced(node: Term, old: Term, new: Term) -> Term:
    return new if node == old else rebuild(node, lambda part: _replaced(part, old, new))


def _own_variables(node: Term) -> Iterator[Variable]:
    return (one for one in nodes_in(node) if isinstance(one, Variable) and MARK in one.name)
