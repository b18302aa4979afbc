"""Terms as Python text over one packed state ``s``.

For speed, a conjunction of simple tests becomes one mask and one comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paraply.models.explicit.layout import Layout
from paraply.models.language.concrete import Table
from paraply.models.language.terms import (
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
)


@dataclass(frozen=True, slots=True)
class Known:
    """A value independent of the state."""

    value: int


@dataclass(frozen=True, slots=True)
class Masked:
    """Whether the bits in ``mask`` equal ``value``."""

    mask: int
    value: int

    @property
    def text(self) -> str:
        """Return the test as Python text."""
        return f"s & {self.mask} == {self.value}"


@dataclass(frozen=True, slots=True)
class Code:
    """A Python expression over the state."""

    text: str


Expression = Known | Masked | Code
TRUE, FALSE = Known(1), Known(0)


def text_of(expression: Expression) -> str:
    """Return a bracketed expression or a number."""
    if isinstance(expression, Known):
        return str(expression.value)
    return f"({expression.text})"


@dataclass(slots=True)
class Context:
    """The environment of a translation.

    Attributes:
        rigid: tables of immutable functions.
        bound: values of variables.
        chosen: values of havoc functions, by function and arguments.
        fixed: values of tested constants.
    """

    layout: Layout
    rigid: Mapping[str, Table]
    bound: dict[Variable, int] = field(default_factory=dict)
    chosen: Mapping[tuple[Function, tuple[int, ...]], int] = field(default_factory=dict)
    fixed: Mapping[Function, int] = field(default_factory=dict)

    def binding(self, values: Mapping[Variable, int]) -> Context:
        """Return the context with more variables bound."""
        return Context(self.layout, self.rigid, {**self.bound, **values}, self.chosen, self.fixed)

    def read(self, node: Term) -> Expression:
        """Return the expression of a term."""
        match node:
            case Literal(value):
                return Known(int(value))
            case Variable():
                return Known(self.bound[node])
            case Apply(function, arguments):
                return self._apply(function, [self.read(one) for one in arguments])
            case Not(body):
                return negated(self.read(body))
            case And(parts):
                return all_of([self.read(part) for part in parts])
            case Or(parts):
                return negated(all_of([negated(self.read(part)) for part in parts]))
            case Ite(condition, then, otherwise):
                return self._choice(self.read(condition), then, otherwise)
            case Equal(left, right):
                return equal(self.read(left), self.read(right))
            case Compare(operator, left, right):
                return compared(operator, self.read(left), self.read(right))
            case Plus(left, constant):
                return _plus(self.read(left), constant)
            case Quantified(universal, variable, body):
                each = [
                    self.binding({variable: value}).read(body)
                    for value in self.layout.values(variable.sort)
                ]
                if universal:
                    return all_of(each)
                return negated(all_of([negated(one) for one in each]))
        raise TypeError(f"not a term: {node!r}")

    def _choice(self, condition: Expression, then: Term, otherwise: Term) -> Expression:
        if isinstance(condition, Known):
            return self.read(then if condition.value else otherwise)
        first, second = self.read(then), self.read(otherwise)
        if first == second:
            return first
        return Code(f"{text_of(first)} if {text_of(condition)} else {text_of(second)}")

    def _apply(self, function: Function, arguments: list[Expression]) -> Expression:
        if all(isinstance(one, Known) for one in arguments):
            given = tuple(one.value for one in arguments if isinstance(one, Known))
            return self.value_at(function, given)
        cases: dict[Expression, list[tuple[int, ...]]] = {}
        for given in self.layout.arguments(function):
            cases.setdefault(self.value_at(function, given), []).append(given)
        # Outside the scope a table is 0, as in the concrete reading.
        result: Expression = FALSE
        for value, places in cases.items():
            if value == FALSE:
                continue
            tests = [
                all_of([equal(one, Known(at)) for one, at in zip(arguments, place, strict=True)])
                for place in places
            ]
            condition = negated(all_of([negated(test) for test in tests]))
            if condition == TRUE:
                return value
            if condition != FALSE:
                result = Code(f"{text_of(value)} if {text_of(condition)} else {text_of(result)}")
        return result

    def value_at(self, function: Function, given: tuple[int, ...]) -> Expression:
        """Return a function's value at known arguments."""
        layout = self.layout
        if function in self.fixed:
            return Known(self.fixed[function])
        if (function, given) in self.chosen:
            return Known(self.chosen[function, given])
        place = layout.fields.get((function, given))
        if place is None:
            named = tuple(
                layout.named(sort, value)
                for sort, value in zip(function.arguments, given, strict=True)
                if value in layout.values(sort)
            )
            found = self.rigid.get(function.name, {}).get(named, 0)
            return Known(layout.number(function.result, found))
        if place.is_truth:
            return Masked(place.mask, place.mask)
        shift = f"s >> {place.offset} & {place.ones}" if place.offset else f"s & {place.ones}"
        return Code(f"({shift}) + {place.low}" if place.low else shift)


def negated(one: Expression) -> Expression:
    """Return the negation."""
    match one:
        case Known(value):
            return FALSE if value else TRUE
        case Masked(mask, value) if mask & (mask - 1) == 0:
            return Masked(mask, mask ^ value)
        case Masked(mask, value):
            return Code(f"s & {mask} != {value}")
        case Code(text) if text.startswith("not (") and _closes_at_the_end(text):
            return Code(text[5:-1])
    return Code(f"not ({one.text})")


def all_of(parts: list[Expression]) -> Expression:
    """Return the conjunction, with bit tests merged."""
    mask = value = 0
    others: dict[str, None] = {}
    for part in parts:
        match part:
            case Known(known):
                if not known:
                    return FALSE
            case Masked(more, wanted):
                if mask & more and (value ^ wanted) & mask & more:
                    return FALSE
                mask, value = mask | more, value | wanted
            case Code(text):
                others[text] = None
    if not others:
        return Masked(mask, value) if mask else TRUE
    texts = [f"s & {mask} == {value}"] if mask else []
    texts += [f"({text})" for text in others]
    return Code(" and ".join(texts)) if len(texts) > 1 else Code(texts[0][1:-1])


def equal(left: Expression, right: Expression) -> Expression:
    """Return the equality, preferably a bit test."""
    if left == right:
        return TRUE
    if isinstance(left, Known) and isinstance(right, Known):
        return FALSE
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Known):
            if isinstance(one, Masked):
                return one if other.value else negated(one)
            assert isinstance(one, Code)
            return _is_number(one, other.value)
    return Code(f"{text_of(left)} == {text_of(right)}")


def _is_number(one: Code, number: int) -> Expression:
    text, low = one.text, 0
    if text.startswith("(s ") and ") + " in text:
        inner, _, tail = text[1:].partition(") + ")
        if tail.lstrip("-").isdigit():
            text, low = inner, int(tail)
    words = text.split(" ")
    if words[0] == "s" and len(words) in (3, 5) and words[-1].isdigit():
        offset = int(words[2]) if len(words) == 5 and words[1] == ">>" else 0
        ones = int(words[-1])
        if words[-2] == "&" and (len(words) == 3 or words[1] == ">>"):
            if not 0 <= number - low <= ones:
                return FALSE
            return Masked(ones << offset, (number - low) << offset)
    return Code(f"({one.text}) == {number}")


def compared(operator: str, left: Expression, right: Expression) -> Expression:
    """Return a comparison."""
    if isinstance(left, Known) and isinstance(right, Known):
        holds = left.value < right.value if operator == "<" else left.value <= right.value
        return TRUE if holds else FALSE
    return Code(f"{text_of(left)} {operator} {text_of(right)}")


def _plus(left: Expression, constant: int) -> Expression:
    if isinstance(left, Known):
        return Known(left.value + constant)
    return Code(f"{text_of(left)} + {constant}")


def _closes_at_the_end(text: str) -> bool:
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position >= 4:
            return position == len(text) - 1
    return False
