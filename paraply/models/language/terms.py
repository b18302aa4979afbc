"""The small language that specifications are written in: typed first-order terms.

A term is data, so one text has several readings: it can be printed as SMT-LIB and proved for any
number of transactions, expanded over a small scope, or evaluated on plain Python values. Nothing
here knows a solver.

Sorts are ``INT``, ``BOOL`` and uninterpreted ones (``Sort("Row")``). Functions are declared once
(:class:`Function`) and applied by calling them. Connectives are the usual ones; ``&``, ``|``, ``~``
work on Booleans, ``<=``, ``<``, ``+``, ``-`` on integers; equality is :func:`eq`, because ``==``
compares the terms themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort: integers, Booleans, or an uninterpreted set of unknown size, at least one."""

    name: str

    def __repr__(self) -> str:
        return self.name


INT = Sort("Int")
BOOL = Sort("Bool")


class Term:
    """A typed term; every subclass has a ``sort``."""

    __slots__ = ()
    sort: Sort

    def __and__(self, other: Term) -> Term:
        return conj(self, other)

    def __or__(self, other: Term) -> Term:
        return disj(self, other)

    def __invert__(self) -> Term:
        return negate(self)

    def __le__(self, other: Term | int) -> Term:
        return Compare("<=", self, term(other))

    def __lt__(self, other: Term | int) -> Term:
        return Compare("<", self, term(other))

    def __ge__(self, other: Term | int) -> Term:
        return Compare("<=", term(other), self)

    def __gt__(self, other: Term | int) -> Term:
        return Compare("<", term(other), self)

    def __add__(self, other: int) -> Term:
        return Plus(self, other) if other else self

    def __sub__(self, other: int) -> Term:
        return Plus(self, -other) if other else self


@dataclass(frozen=True, slots=True)
class Literal(Term):
    """An integer or a truth value."""

    value: int | bool

    @property
    def sort(self) -> Sort:  # type: ignore[override]
        """Return BOOL for a truth value, INT for a number."""
        return BOOL if isinstance(self.value, bool) else INT


TRUE = Literal(True)
FALSE = Literal(False)


@dataclass(frozen=True, slots=True)
class Variable(Term):
    """A bound variable, an action's parameter or a Skolem constant."""

    name: str
    sort: Sort


@dataclass(frozen=True, slots=True)
class Function:
    """A declared symbol: a state variable, or a rigid function that no action changes."""

    name: str
    arguments: tuple[Sort, ...]
    result: Sort
    rigid: bool = False

    def __call__(self, *arguments: Term | int) -> Term:
        """Return the application; raises ``TypeError`` where the sorts do not fit."""
        given = tuple(term(argument) for argument in arguments)
        if tuple(argument.sort for argument in given) != self.arguments:
            raise TypeError(f"{self.name} takes {self.arguments}, got {given}")
        return Apply(self, given)


@dataclass(frozen=True, slots=True)
class Apply(Term):
    """A function applied to arguments; a constant is a function without arguments."""

    function: Function
    arguments: tuple[Term, ...]

    @property
    def sort(self) -> Sort:  # type: ignore[override]
        """Return the function's result sort."""
        return self.function.result


@dataclass(frozen=True, slots=True)
class Not(Term):
    """Negation."""

    body: Term
    sort = BOOL


@dataclass(frozen=True, slots=True)
class And(Term):
    """Conjunction of any number of terms; of none, true."""

    parts: tuple[Term, ...]
    sort = BOOL


@dataclass(frozen=True, slots=True)
class Or(Term):
    """Disjunction of any number of terms; of none, false."""

    parts: tuple[Term, ...]
    sort = BOOL


@dataclass(frozen=True, slots=True)
class Ite(Term):
    """If-then-else, of any sort."""

    condition: Term
    then: Term
    otherwise: Term

    @property
    def sort(self) -> Sort:  # type: ignore[override]
        """Return the sort of the branches."""
        return self.then.sort


@dataclass(frozen=True, slots=True)
class Equal(Term):
    """Equality of two terms of one sort; between Booleans, equivalence."""

    left: Term
    right: Term
    sort = BOOL


@dataclass(frozen=True, slots=True)
class Compare(Term):
    """``left <= right`` or ``left < right`` on integers."""

    operator: str
    left: Term
    right: Term
    sort = BOOL


@dataclass(frozen=True, slots=True)
class Plus(Term):
    """An integer term plus a constant: all the arithmetic that the specifications need."""

    left: Term
    constant: int
    sort = INT


@dataclass(frozen=True, slots=True)
class Quantified(Term):
    """``forall`` or ``exists`` over one variable."""

    universal: bool
    variable: Variable
    body: Term
    sort = BOOL


def term(value: Term | int | bool) -> Term:
    """Return a term for a Python number or truth value; a term is returned as it is."""
    return value if isinstance(value, Term) else Literal(value)


def conj(*parts: Term) -> Term:
    """Return the conjunction, flattened; a false part makes it false."""
    flat: list[Term] = []
    for part in parts:
        if part == FALSE:
            return FALSE
        if isinstance(part, And):
            flat.extend(part.parts)
        elif part != TRUE:
            flat.append(part)
    return flat[0] if len(flat) == 1 else And(tuple(flat)) if flat else TRUE


def disj(*parts: Term) -> Term:
    """Return the disjunction, flattened; a true part makes it true."""
    flat: list[Term] = []
    for part in parts:
        if part == TRUE:
            return TRUE
        if isinstance(part, Or):
            flat.extend(part.parts)
        elif part != FALSE:
            flat.append(part)
    return flat[0] if len(flat) == 1 else Or(tuple(flat)) if flat else FALSE


def negate(body: Term) -> Term:
    """Return the negation; two negations cancel."""
    if isinstance(body, Literal):
        return Literal(not body.value)
    return body.body if isinstance(body, Not) else Not(body)


def implies(premise: Term, conclusion: Term) -> Term:
    """Return ``premise -> conclusion``."""
    return disj(negate(premise), conclusion)


def ite(condition: Term, then: Term | int | bool, otherwise: Term | int | bool) -> Term:
    """Return ``then`` where ``condition`` holds, else ``otherwise``."""
    return Ite(condition, term(then), term(otherwise))


def eq(left: Term | int, right: Term | int) -> Term:
    """Return the equality of two terms of one sort."""
    first, second = term(left), term(right)
    if first.sort != second.sort:
        raise TypeError(f"cannot compare {first.sort} with {second.sort}")
    return TRUE if first == second else Equal(first, second)


def forall(variable: Variable, body: Term) -> Term:
    """Return ``body`` for every value of ``variable``."""
    return Quantified(True, variable, body)


def exists(variable: Variable, body: Term) -> Term:
    """Return ``body`` for some value of ``variable``."""
    return Quantified(False, variable, body)


def forall_many(variables: tuple[Variable, ...], body: Term) -> Term:
    """Return ``body`` for all values of all ``variables``."""
    return reduce(lambda inner, variable: forall(variable, inner), reversed(variables), body)


def rebuild(node: Term, visit: Callable[[Term], Term]) -> Term:
    """Return ``node`` with ``visit`` applied to each direct child."""
    match node:
        case Literal() | Variable():
            return node
        case Apply(function, arguments):
            return Apply(function, tuple(visit(argument) for argument in arguments))
        case Not(body):
            return negate(visit(body))
        case And(parts):
            return conj(*(visit(part) for part in parts))
        case Or(parts):
            return disj(*(visit(part) for part in parts))
        case Ite(condition, then, otherwise):
            return Ite(visit(condition), visit(then), visit(otherwise))
        case Equal(left, right):
            return eq(visit(left), visit(right))
        case Compare(operator, left, right):
            return Compare(operator, visit(left), visit(right))
        case Plus(left, constant):
            return Plus(visit(left), constant)
        case Quantified(universal, variable, body):
            return Quantified(universal, variable, visit(body))
    raise TypeError(f"not a term: {node!r}")


def parts_of(node: Term) -> tuple[Term, ...]:
    """Return the direct parts of a term or formula."""
    match node:
        case Literal() | Variable():
            return ()
        case Apply(_, parts) | And(parts) | Or(parts):
            return parts
        case Not(body) | Plus(body, _) | Quantified(_, _, body):
            return (body,)
        case Equal(left, right) | Compare(_, left, right):
            return (left, right)
        case Ite(condition, then, otherwise):
            return (condition, then, otherwise)
    raise TypeError(f"not a term: {node!r}")


def nodes_in(node: Term) -> Iterator[Term]:
    """Yield a term and all its parts, outermost first, with repetitions."""
    yield node
    for part in parts_of(node):
        yield from nodes_in(part)


def functions_in(nodes: Iterable[Term]) -> dict[str, Function]:
    """Return the functions that occur in any of ``nodes``, by name, in order of appearance."""
    return {
        one.function.name: one.function
        for node in nodes
        for one in nodes_in(node)
        if isinstance(one, Apply)
    }


def substitute(node: Term, values: Mapping[Variable, Term]) -> Term:
    """Replace free variables by terms; bound names must not clash, which the callers ensure."""
    if not values:
        return node
    if isinstance(node, Variable):
        return values.get(node, node)
    if isinstance(node, Quantified) and node.variable in values:
        values = {name: value for name, value in values.items() if name != node.variable}
    return rebuild(node, lambda child: substitute(child, values))
