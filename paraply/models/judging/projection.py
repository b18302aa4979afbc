"""Project a system to a few elements to find an inductive invariant.

A safety statement's variables name the elements. The projection keeps scalars and cells at these
elements; other reads yield arbitrary values, and quantifiers in guards range over the elements. It
simulates every step, so its invariants hold for *all* elements.

Source: Bjørner, McMillan and Rybalchenko, "On solving universally quantified Horn clauses" (2013);
Spacer (Komuravelli, Gurfinkel and Chaki 2014) solves the projected problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, count, product

from paraply.models.language.smtlib import text
from paraply.models.language.system import Action, Statement, System
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
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
    Sort,
    Term,
    Variable,
    conj,
    disj,
    eq,
    ite,
    negate,
    rebuild,
    substitute,
)

INVARIANT = "invariant"


def scalar(sort: Sort) -> Sort:
    """Return a cell's sort, integers for uninterpreted elements."""
    return BOOL if sort == BOOL else INT


class Projection:
    """A system projected to a statement's elements."""

    def __init__(self, system: System, safety: Statement) -> None:
        self.system = system
        # A parameter or bound variable of the same name differs.
        self.names = tuple(Variable(f"named_{v.name}", v.sort) for v in safety.variables)
        self._breach = negate(
            substitute(safety.body, dict(zip(safety.variables, self.names, strict=True)))
        )
        terms = dict.fromkeys([*self._at_names(), *self._nested()])
        self.cells = {
            term: Variable(f"cell_{number}", scalar(term.sort)) for number, term in enumerate(terms)
        }
        """Cells by kept term."""
        self._fresh = count(1)
        self._outside: dict[Term, Variable] = {}
        """Other terms of the current clause."""

    def _named(self, sort: Sort) -> list[Variable]:
        return [name for name in self.names if name.sort == sort]

    def _at_names(self) -> Iterator[Term]:
        chosen = {function for action in self.system.actions for function in action.havoc}
        for function in self.system.functions:
            if function not in chosen:
                for place in product(*(self._named(sort) for sort in function.arguments)):
                    yield function(*place)

    def _nested(self) -> Iterator[Term]:
        # Only inner functions into uninterpreted sorts matter: numbers change.
        for action in self.system.actions:
            read = [action.guard, *(value for _, value in action.updates.values())]
            for term in (inner for node in read for inner in _applications(node)):
                free = sorted(_variables(term), key=str)
                inside = [a.sort for a in term.arguments if isinstance(a, Apply)]
                if inside and not {INT, BOOL} & set(inside):
                    for place in product(*(self._named(v.sort) for v in free)):
                        yield substitute(term, dict(zip(free, place, strict=True)))

    def value(self, node: Term) -> Term:
        """Return a term over cells and arbitrary values."""
        match node:
            case Literal():
                return node
            case Variable(name, sort):
                return Variable(name, scalar(sort))
            case Apply(function, arguments):
                for place, argument in enumerate(arguments):
                    if isinstance(argument, Ite):
                        then, other = (
                            function(*arguments[:place], branch, *arguments[place + 1 :])
                            for branch in (argument.then, argument.otherwise)
                        )
                        return self.value(Ite(argument.condition, then, other))
                return self._read(node, function, arguments)
            case Not(body):
                return negate(self.value(body))
            case And(parts):
                return conj(*map(self.value, parts))
            case Or(parts):
                return disj(*map(self.value, parts))
            case Ite(condition, then, otherwise):
                return ite(*map(self.value, (condition, then, otherwise)))
            case Equal(left, right):
                return eq(self.value(left), self.value(right))
            case Compare(operator, left, right):
                return Compare(operator, self.value(left), self.value(right))
            case Plus(left, constant):
                return Plus(self.value(left), constant)
            case Quantified():
                return self._choose(node)
        raise TypeError(f"not a term: {node!r}")

    def _read(self, node: Term, function: Function, arguments: tuple[Term, ...]) -> Term:
        if node in self.cells:
            return self.cells[node]
        result: Term = self._choose(node)
        for kept, cell in self.cells.items():
            if isinstance(kept, Apply) and kept.function == function:
                same = [eq(self.value(a), self.value(b))
                        for a, b in zip(arguments, kept.arguments, strict=True)]  # fmt: skip
                result = ite(conj(*same), cell, result)
        return result

    def _choose(self, node: Term) -> Variable:
        if node not in self._outside:
            fresh = Variable(f"outside_{next(self._fresh)}", scalar(node.sort))
            self._outside[node] = fresh
        return self._outside[node]

    def holds(self, node: Term, known: Sequence[Term], positive: bool = True) -> Term:
        """Return the consequences of ``node`` or its negation.

        It instantiates universal statements at ``known`` and ignores existential ones.
        """
        match node:
            case Not(body):
                return self.holds(body, known, not positive)
            case And(parts) | Or(parts):
                both = conj if isinstance(node, And) == positive else disj
                return both(*(self.holds(part, known, positive) for part in parts))
            case Ite(condition, then, otherwise) if node.sort == BOOL:
                return conj(
                    disj(self.holds(condition, known, False), self.holds(then, known, positive)),
                    disj(self.holds(condition, known), self.holds(otherwise, known, positive)),
                )
            case Quantified(universal, variable, body):
                if universal != positive:
                    return TRUE
                at_terms = (
                    self.holds(substitute(body, {variable: term}), known, positive)
                    for term in known
                    if term.sort == variable.sort
                )
                return conj(*at_terms)
        found = self.value(node)
        return found if positive else negate(found)

    def horn(self) -> str:
        """Return SMT-LIB clauses, satisfiable by an inductive invariant over cells."""
        sorts = " ".join(str(scalar(term.sort)) for term in (*self.names, *self.cells))
        clauses = [self._clause([], self.system.initially, self._state())]
        clauses += [self._step(action) for action in self.system.actions]
        clauses.append(self._clause([self._state(), self.value(self._breach)], [], FALSE))
        header = ["(set-logic HORN)", f"(declare-fun {INVARIANT} ({sorts}) Bool)"]
        return "\n".join([*header, *clauses]) + "\n"

    def _known(self) -> list[Term]:
        return [*self.names, *(term for term in self.cells if term.sort not in (INT, BOOL))]

    def _step(self, action: Action) -> str:
        given = {p: Variable(f"given_{p.name}", p.sort) for p in action.parameters}
        after = [self.value(substitute(action.post(term), given)) for term in self.cells]
        known = [*self._known(), *given.values()]
        guard = self.holds(substitute(action.guard, given), known)
        parameters = [Variable(p.name, scalar(p.sort)) for p in given.values()]
        return self._clause([self._state(), guard], [], self._state(after), parameters, known)

    def _state(self, after: Sequence[Term] | None = None) -> Term:
        names = [self.value(name) for name in self.names]
        arguments = [*names, *(self.cells.values() if after is None else after)]
        return Function(INVARIANT, tuple(a.sort for a in arguments), BOOL)(*arguments)

    def _clause(
        self,
        premises: Sequence[Term],
        stated: Sequence[Statement],
        conclusion: Term,
        parameters: Sequence[Variable] = (),
        known: Sequence[Term] = (),
    ) -> str:
        terms = known or self._known()
        distinct = [negate(eq(self.value(a), self.value(b)))
                    for a, b in combinations(self.names, 2) if a.sort == b.sort]  # fmt: skip
        told = [self.holds(s.closed, terms) for s in (*self.system.axioms, *stated)]
        premise = conj(*premises, *distinct, *told)
        names = [Variable(name.name, scalar(name.sort)) for name in self.names]
        bound = [*names, *self.cells.values(), *parameters, *self._outside.values()]
        self._outside = {}
        declared = " ".join(f"({v.name} {v.sort})" for v in bound)
        return f"(assert (forall ({declared}) (=> {text(premise)} {text(conclusion)})))"


def _applications(node: Term) -> Iterator[Apply]:
    if isinstance(node, Apply):
        yield node
    for part in children(node):
        yield from _applications(part)


def _variables(node: Term) -> set[Variable]:
    if isinstance(node, Variable):
        return {node}
    return set().union(*(_variables(part) for part in children(node)))


def children(node: Term) -> list[Term]:
    """Return the direct parts of a term."""
    found: list[Term] = []

    def visit(part: Term) -> Term:
        found.append(part)
        return part

    rebuild(node, visit)
    return found
