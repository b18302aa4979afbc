"""An obligation as a list of assertions without quantifiers, whose variables stand for all values.

The goal is negated and joins the hypotheses: the obligation is proved when all of them together
are contradictory. Each step keeps that question as it is: negations are pushed to the atoms,
if-then-else inside atoms becomes a case distinction, an existential variable becomes a Skolem
function of the universal variables around it, and a universal variable gets a name of its own, so
that an assertion can be split at its conjunctions. Names are given in order of appearance, so the
same obligation always yields the same list.
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
    substitute,
)

MARK = "!"
"""Part of every name made here and of none that an obligation may bring."""


class NotSupportedError(Exception):
    """The obligation holds something that the kernel does not read; it cannot be judged."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """True for all values of ``variables``; ``matrix`` has no quantifier and no if-then-else.

    Negation stands at atoms only. Without variables it is a plain fact. ``origin`` is the number of
    the hypothesis that it is a piece of; the goal comes after the last.
    """

    variables: tuple[Variable, ...]
    matrix: Term
    origin: int


def assertions(obligation: Obligation) -> tuple[Assertion, ...]:
    """Return what would hold in a counterexample of the obligation.

    Raises :class:`NotSupportedError` for a Boolean argument of a function, a variable that nobody
    declared and a name that contains the kernel's own mark; :class:`IllFormedError` where one name
    means two things.
    """
    functions_in((*obligation.hypotheses, obligation.goal))
    maker = _NormalForm(frozenset(obligation.constants))
    found: list[Assertion] = []
    for origin, part in enumerate((*obligation.hypotheses, negate(obligation.goal))):
        matrix = maker.read(part, True, {}, ())
        pieces = matrix.parts if isinstance(matrix, And) else (matrix,)
        found += [Assertion(tuple(dict.fromkeys(_own_variables(p))), p, origin) for p in pieces]
    return tuple(found)


class _NormalForm:
    """Reads terms one after another and numbers the names it makes."""

    def __init__(self, constants: frozenset[Variable]) -> None:
        for constant in constants:
            _refuse_mark(constant.name)
        self._constants = constants
        self._numbers = count(1)

    def read(
        self,
        node: Term,
        positive: bool,
        bound: Mapping[Variable, Term],
        universal: tuple[Variable, ...],
    ) -> Term:
        """Return ``node``, or its negation, with ``bound`` for its variables, in normal form."""

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
    """Return the first if-then-else inside an atom, outermost first."""
    if isinstance(node, Ite):
        return node
    return next((found for part in parts_of(node) if (found := _first_choice(part))), None)


def _replaced(node: Term, old: Term, new: Term) -> Term:
    return new if node == old else rebuild(node, lambda part: _replaced(part, old, new))


def _own_variables(node: Term) -> Iterator[Variable]:
    """Yield the variables that the normal form made, in order of appearance, with repetitions."""
    return (one for one in nodes_in(node) if isinstance(one, Variable) and MARK in one.name)
