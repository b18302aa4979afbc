"""Lift a solver's answer about cells to invariants.

Each conjunct of the SMT-LIB answer becomes a statement about all elements. The order of
uninterpreted elements means nothing, so ``x <= y`` becomes equality and ``x < y`` false. The judges
prove the result, so the lifting needs no trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from paraply.models.judging.projection import Projection
from paraply.models.language.system import Statement
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    And,
    Compare,
    Equal,
    Literal,
    Term,
    Variable,
    conj,
    disj,
    eq,
    implies,
    negate,
    substitute,
)

Tree = str | list["Tree"]


class NotLiftableError(Exception):
    """The answer exceeds truth values and differences."""


def read_tree(text: str) -> Tree:
    """Return the first s-expression in ``text``."""
    stack: list[list[Tree]] = [[]]
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


def found_invariants(projection: Projection, answer: str, safety: Statement) -> list[Statement]:
    """Return an answer's conjuncts as universal statements.

    Raises :class:`NotLiftableError` for arithmetic other than differences.
    """
    back: dict[Variable, Term] = dict(zip(projection.names, safety.variables, strict=True))
    terms = [substitute(term, back) for term in (*projection.names, *projection.cells)]
    known = {f"v{number}": term for number, term in enumerate(terms)}
    whole = _Reader(known).formula(read_tree(answer), {}, True)
    distinct = [negate(eq(a, b)) for a, b in combinations(safety.variables, 2) if a.sort == b.sort]
    return [
        Statement(f"found_{number}", safety.variables, implies(conj(*distinct), part),
                  "found by machine")
        for number, part in enumerate(whole.parts if isinstance(whole, And) else [whole], start=1)
        if part != TRUE
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sum:
    factors: dict[Term, int]
    constant: int

    def plus(self, other: _Sum, factor: int = 1) -> _Sum:
        factors = dict(self.factors)
        for term, times in other.factors.items():
            factors[term] = factors.get(term, 0) + factor * times
        kept = {term: times for term, times in factors.items() if times}
        return _Sum(kept, self.constant + factor * other.constant)


class _Reader:
    def __init__(self, known: Mapping[str, Term]) -> None:
        self._known = known

    def formula(self, tree: Tree, let: Mapping[str, Tree], positive: bool) -> Term:
        match tree:
            case "true" | "false":
                return Literal((tree == "true") == positive)
            case str() if tree in let:
                return self.formula(let[tree], let, positive)
            case str() if tree in self._known:
                return self._known[tree] if positive else negate(self._known[tree])
            case ["let", list() as bindings, body]:
                # Bindings are read where they are used; a name is bound once in an answer.
                return self.formula(body, {**let, **{str(b[0]): b[1] for b in bindings}}, positive)
            case ["not", body]:
                return self.formula(body, let, not positive)
            case ["=>", premise, conclusion]:
                return self.formula(["or", ["not", premise], conclusion], let, positive)
            case [("and" | "or") as word, *parts]:
                both = conj if (word == "and") == positive else disj
                return both(*(self.formula(part, let, positive) for part in parts))
            case [("<=" | ">=" | "<" | ">" | "=") as operator, left, right]:
                return self._compared(operator, left, right, let, positive)
        raise NotLiftableError(f"not a formula: {tree}")

    def _compared(
        self, operator: str, left: Tree, right: Tree, let: Mapping[str, Tree], positive: bool
    ) -> Term:
        if operator == "=" and self._is_truth_value(left, let):
            both: Tree = ["and", left, right]
            neither: Tree = ["and", ["not", left], ["not", right]]
            return self.formula(["or", both, neither], let, positive)
        if operator in (">=", ">"):
            left, right, operator = right, left, {">=": "<=", ">": "<"}[operator]
        told = self.total(left, let).plus(self.total(right, let), -1)
        if operator == "=":
            found = _equal(told)
            return found if positive else negate(found)
        if not positive:
            # not (s <= 0) is -s < 0; not (s < 0) is -s <= 0.
            told = _Sum({}, 0).plus(told, -1)
            operator = "<" if operator == "<=" else "<="
        return _at_most_zero(told, strictly=operator == "<")

    def _is_truth_value(self, tree: Tree, let: Mapping[str, Tree]) -> bool:
        if isinstance(tree, str):
            if tree in let:
                return self._is_truth_value(let[tree], let)
            return tree in ("true", "false") or (
                tree in self._known and self._known[tree].sort == BOOL
            )
        return tree[0] in ("not", "and", "or", "=", "<=", ">=", "<", ">")

    def total(self, tree: Tree, let: Mapping[str, Tree]) -> _Sum:
        match tree:
            case str() if tree in let:
                return self.total(let[tree], let)
            case str() if tree in self._known:
                return _Sum({self._known[tree]: 1}, 0)
            case str() if tree.isdecimal():
                return _Sum({}, int(tree))
            case ["-", body]:
                return _Sum({}, 0).plus(self.total(body, let), -1)
            case ["-", left, right]:
                return self.total(left, let).plus(self.total(right, let), -1)
            case ["+", *parts]:
                result = _Sum({}, 0)
                for part in parts:
                    result = result.plus(self.total(part, let))
                return result
            case ["*", factor, body]:
                number = self.total(factor, let)
                if not number.factors:
                    return _Sum({}, 0).plus(self.total(body, let), number.constant)
        raise NotLiftableError(f"not a sum: {tree}")


def _sides(told: _Sum) -> tuple[Term | None, Term | None]:
    added = [term for term, times in told.factors.items() if times == 1]
    taken = [term for term, times in told.factors.items() if times == -1]
    if len(added) > 1 or len(taken) > 1 or len(added) + len(taken) != len(told.factors):
        raise NotLiftableError(f"not a difference: {told}")
    return next(iter(added), None), next(iter(taken), None)


def _equal(told: _Sum) -> Term:
    added, taken = _sides(told)
    if added is None and taken is None:
        return Literal(told.constant == 0)
    if added is None or taken is None:
        only = added or taken
        assert only is not None
        number = Literal(-told.constant if added else told.constant)
        return Equal(only, number) if only.sort == INT else FALSE
    if added.sort != INT:
        return eq(added, taken) if told.constant == 0 else FALSE
    return eq(added + told.constant, taken)


def _at_most_zero(told: _Sum, *, strictly: bool) -> Term:
    added, taken = _sides(told)
    bound = -told.constant - strictly  # added - taken <= bound
    sorts = {term.sort for term in (added, taken) if term is not None}
    if sorts - {INT}:
        return eq(added, taken) if added and taken and bound >= 0 else FALSE
    if added is None and taken is None:
        return Literal(bound >= 0)
    if taken is None:
        assert added is not None
        return Compare("<=", added, Literal(bound))
    if added is None:
        return Compare("<=", Literal(-bound), taken)
    return Compare("<=", added, taken + bound)
