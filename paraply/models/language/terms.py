"""Typed first-order terms of specifications.

Sorts are ``INT``, ``BOOL`` and uninterpreted ones. ``&``, ``|``, ``~`` combine Booleans and ``<=``,
``<``, ``+``, ``-`` integers; :func:`eq` is equality, because ``==`` compares the terms themselves.
Constructors raise :class:`IllFormedError` for wrong sorts. Substitution avoids capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TypeVar, TypeVarTuple

from paraply.models.language.refusal import IllFormedError


@dataclass(frozen=True, slots=True)
class Sort:
    """Integers, Booleans, or an uninterpreted non-empty set."""

    name: str

    def __repr__(self) -> str:
        return self.name


INT = Sort("Int")
BOOL = Sort("Bool")
_NONE: frozenset[Variable] = frozenset()


def _require(sort: Sort, *terms: Term) -> None:
    for one in terms:
        if one.sort != sort:
            raise IllFormedError(f"expected {sort}, got {one.sort}: {one!r}")


class Term:
    """A typed term with a ``sort``."""

    __slots__ = ("free",)
    sort: Sort
    free: frozenset[Variable]

    def _has(self, *parts: Term) -> None:
        free: frozenset[Variable] = _NONE
        for part in parts:
            if part.free and part.free is not free:
                free = free | part.free if free else part.free
        object.__setattr__(self, "free", free)

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

    def __post_init__(self) -> None:
        if not isinstance(self.value, int):
            raise IllFormedError(f"neither a number nor a truth value: {self.value!r}")
        self._has()

    @property
    def sort(self) -> Sort:  # type: ignore[override]
        """Return BOOL or INT."""
        return BOOL if isinstance(self.value, bool) else INT


TRUE = Literal(True)
FALSE = Literal(False)


@dataclass(frozen=True, slots=True)
class Variable(Term):
    """A bound variable, parameter or Skolem constant."""

    name: str
    sort: Sort

    def __post_init__(self) -> None:
        object.__setattr__(self, "free", frozenset((self,)))


@dataclass(frozen=True, slots=True)
class Function:
    """A state variable, or a rigid function."""

    name: str
    arguments: tuple[Sort, ...]
    result: Sort
    rigid: bool = False

    def __call__(self, *arguments: Term | int) -> Term:
        """Return the application."""
        return Apply(self, tuple(term(argument) for argument in arguments))


@dataclass(frozen=True, slots=True)
class Apply(Term):
    """A function application."""

    function: Function
    arguments: tuple[Term, ...]

    def __post_init__(self) -> None:
        if tuple(argument.sort for argument in self.arguments) != self.function.arguments:
            raise IllFormedError(
                f"{self.function.name} takes {self.function.arguments}, got {self.arguments}"
            )
        self._has(*self.arguments)

    @property
    def sort(self) -> Sort:  # type: ignore[override]
        """Return the function's result sort."""
        return self.function.result


@dataclass(frozen=True, slots=True)
class Not(Term):
    """Negation."""

    body: Term
    sort = BOOL

    def __post_init__(self) -> None:
        _require(BOOL, self.body)
        self._has(self.body)


@dataclass(frozen=True, slots=True)
class And(Term):
    """Conjunction; empty means true."""

    parts: tuple[Term, ...]
    sort = BOOL

    def __post_init__(self) -> None:
        _require(BOOL, *self.parts)
        self._has(*self.parts)


@dataclass(frozen=True, slots=True)
class Or(Term):
    """Disjunction; empty means false."""

    parts: tuple[Term, ...]
    sort = BOOL

    def __post_init__(self) -> None:
        _require(BOOL, *self.parts)
        self._has(*self.parts)


@dataclass(frozen=True, slots=True)
class Ite(Term):
    """If-then-else, of any sort."""

    condition: Term
    then: Term
    otherwise: Term

    def __post_init__(self) -> None:
        _require(BOOL, self.condition)
        _require(self.then.sort, self.otherwise)
        self._has(self.condition, self.then, self.otherwise)

    @property
    def sort(self) -> Sort:  # type: ignore[override]
        """Return the branches' sort."""
        return self.then.sort


@dataclass(frozen=True, slots=True)
class Equal(Term):
    """Equality within one sort; for Booleans, equivalence."""

    left: Term
    right: Term
    sort = BOOL

    def __post_init__(self) -> None:
        _require(self.left.sort, self.right)
        self._has(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Compare(Term):
    """``left <= right`` or ``left < right``."""

    operator: str
    left: Term
    right: Term
    sort = BOOL

    def __post_init__(self) -> None:
        if self.operator not in ("<=", "<"):
            raise IllFormedError(f"no comparison: {self.operator!r}")
        _require(INT, self.left, self.right)
        self._has(self.left, self.right)


@dataclass(frozen=True, slots=True)
class Plus(Term):
    """An integer term plus a constant."""

    left: Term
    constant: int
    sort = INT

    def __post_init__(self) -> None:
        _require(INT, self.left)
        if not isinstance(self.constant, int) or isinstance(self.constant, bool):
            raise IllFormedError(f"not a number: {self.constant!r}")
        self._has(self.left)


@dataclass(frozen=True, slots=True)
class Quantified(Term):
    """``forall`` or ``exists`` over one variable."""

    universal: bool
    variable: Variable
    body: Term
    sort = BOOL

    def __post_init__(self) -> None:
        _require(BOOL, self.body)
        for other in self.body.free:
            if other.name == self.variable.name and other.sort != self.variable.sort:
                raise IllFormedError(f"{other.name} is of sort {other.sort} in {self.body!r}")
        object.__setattr__(self, "free", self.body.free - {self.variable})


def term(value: Term | int | bool) -> Term:
    """Return a value as a term."""
    return value if isinstance(value, Term) else Literal(value)


def conj(*parts: Term) -> Term:
    """Return the flattened, simplified conjunction."""
    flat: list[Term] = []
    for part in parts:
        if part == FALSE:
            return FALSE
        if isinstance(part, And):
            flat.extend(part.parts)
        elif part != TRUE:
            flat.append(part)
    return flat[0] if len(flat) == 1 else And(tuple(flat)) if flat else TRUE


def conjuncts(body: Term) -> tuple[Term, ...]:
    """Return a conjunction's parts."""
    return body.parts if isinstance(body, And) else (body,)


def disj(*parts: Term) -> Term:
    """Return the flattened, simplified disjunction."""
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
    """Return an equality within one sort."""
    first, second = term(left), term(right)
    _require(first.sort, second)
    return TRUE if first == second else Equal(first, second)


def forall(variable: Variable, body: Term) -> Term:
    """Return ``body`` for every value of ``variable``."""
    return Quantified(True, variable, body)


def exists(variable: Variable, body: Term) -> Term:
    """Return ``body`` for some value of ``variable``."""
    return Quantified(False, variable, body)


def forall_many(variables: tuple[Variable, ...], body: Term) -> Term:
    """Quantify over all ``variables``."""
    return reduce(lambda inner, variable: forall(variable, inner), reversed(variables), body)


def rebuild(node: Term, visit: Callable[[Term], Term]) -> Term:
    """Apply ``visit`` to each direct child."""
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
    """Return the direct parts of a term."""
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
    """Yield a term and its parts, with repetitions."""
    yield node
    for part in parts_of(node):
        yield from nodes_in(part)


Given = TypeVarTuple("Given")
R = TypeVar("R")
REMEMBERED_MAX = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class _Itself:
    """A term by identity: to compare it costs as much as to read it again."""

    node: Term

    def __hash__(self) -> int:
        return id(self.node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.node is other.node


def remembered(read: Callable[[Term, *Given], R]) -> Callable[[Term, *Given], R]:
    """Let a function of a term remember: hypotheses are those of all obligations of a system."""

    @lru_cache(REMEMBERED_MAX)
    def known(itself: _Itself, *given: *Given) -> R:
        return read(itself.node, *given)

    def reading(node: Term, *given: *Given) -> R:
        return known(_Itself(node), *given)

    return reading


@remembered
def _symbols(node: Term) -> tuple[tuple[Function, ...], tuple[Variable, ...]]:
    inner = list(nodes_in(node))
    functions = dict.fromkeys(one.function for one in inner if isinstance(one, Apply))
    bound = dict.fromkeys(one.variable for one in inner if isinstance(one, Quantified))
    return tuple(functions), tuple(bound)


def symbols_in(nodes: Iterable[Term]) -> tuple[dict[str, Function], dict[Variable, None]]:
    """Return functions by name and bound variables, in order.

    Raises :class:`IllFormedError` for a name with two meanings.
    """
    functions: dict[str, Function] = {}
    bound: dict[Variable, None] = {}
    for used, variables in map(_symbols, nodes):
        for function in used:
            if functions.setdefault(function.name, function) != function:
                raise IllFormedError(f"two functions have the name {function.name}")
        bound.update(dict.fromkeys(variables))
    for variable in bound:
        if variable.name in functions:
            raise IllFormedError(f"{variable.name} is a function and a bound variable")
    return functions, bound


def functions_in(nodes: Iterable[Term]) -> dict[str, Function]:
    """Return functions by name, in order."""
    return symbols_in(nodes)[0]


FRESH = "~"


def substitute(node: Term, values: Mapping[Variable, Term]) -> Term:
    """Replace free variables without capture."""
    if node.free.isdisjoint(values):
        return node
    if isinstance(node, Variable):
        return values.get(node, node)
    if isinstance(node, Quantified):
        values = {name: values[name] for name in node.free if name in values}
        node = without_capture(node, (value.free for value in values.values()))
    return rebuild(node, lambda child: substitute(child, values))


def without_capture(node: Quantified, free: Iterable[Iterable[Variable]]) -> Quantified:
    """Rename the bound variable if necessary."""
    taken = {variable.name for variables in free for variable in variables}
    name = node.variable.name
    if name not in taken:
        return node
    taken |= {variable.name for variable in node.body.free}
    while name in taken:
        name += FRESH
    fresh = Variable(name, node.variable.sort)
    return Quantified(node.universal, fresh, substitute(node.body, {node.variable: fresh}))
