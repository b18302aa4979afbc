"""Evaluate terms on Python values over a finite scope.

Replays and recorded steps use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from paraply.models.language.system import Action, System
from paraply.models.language.terms import (
    BOOL,
    FRESH,
    INT,
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
)

Value = int | bool | str
Table = dict[tuple[Value, ...], Value]


@dataclass(slots=True)
class Scope:
    """Integers ``low`` to ``high`` inclusive, ``size`` elements per sort."""

    high: int
    low: int = -1
    size: int = 1

    def values(self, sort: Sort) -> list[Value]:
        """Return a sort's values in order."""
        if sort == INT:
            return list(range(self.low, self.high + 1))
        if sort == BOOL:
            return [False, True]
        return [f"{sort.name.lower()}{number}" for number in range(self.size)]

    def arguments(self, function: Function) -> list[tuple[Value, ...]]:
        """Return every argument tuple of a function."""
        return list(product(*(self.values(sort) for sort in function.arguments)))


@dataclass(slots=True)
class World:
    """Tables by function; absent values are False, 0 or the first element."""

    scope: Scope
    tables: dict[str, Table] = field(default_factory=dict)

    def lookup(self, function: Function, arguments: tuple[Value, ...]) -> Value:
        """Return a function's value at ``arguments``."""
        default: Value = {BOOL: False, INT: 0}.get(function.result, "")
        return self.tables.get(function.name, {}).get(arguments, default)


def evaluate(node: Term, world: World, bound: Mapping[Variable, Value]) -> Value:
    """Return a term's value."""
    match node:
        case Literal(value):
            return value
        case Variable():
            return bound[node]
        case Apply(function, arguments):
            return world.lookup(function, tuple(evaluate(a, world, bound) for a in arguments))
        case Not(body):
            return not evaluate(body, world, bound)
        case And(parts):
            return all(evaluate(part, world, bound) for part in parts)
        case Or(parts):
            return any(evaluate(part, world, bound) for part in parts)
        case Ite(condition, then, otherwise):
            return evaluate(then if evaluate(condition, world, bound) else otherwise, world, bound)
        case Equal(left, right):
            return evaluate(left, world, bound) == evaluate(right, world, bound)
        case Compare(operator, left, right):
            first, second = evaluate(left, world, bound), evaluate(right, world, bound)
            assert isinstance(first, int)
            assert isinstance(second, int)
            return first < second if operator == "<" else first <= second
        case Plus(left, constant):
            number = evaluate(left, world, bound)
            assert isinstance(number, int)
            return number + constant
        case Quantified(universal, variable, body):
            decide = all if universal else any
            return decide(
                evaluate(body, world, {**bound, variable: value})
                for value in world.scope.values(variable.sort)
            )
    raise TypeError(f"not a term: {node!r}")


def choosing(world: World, chosen: Mapping[str, Table]) -> World:
    """Return the world with the environment's choices."""
    return World(world.scope, {**world.tables, **{f + FRESH: t for f, t in chosen.items()}})


def without_choices(world: World) -> World:
    """Return the world without a step's choices."""
    kept = {name: table for name, table in world.tables.items() if not name.endswith(FRESH)}
    return World(world.scope, kept)


def is_enabled(action: Action, world: World, bound: Mapping[Variable, Value]) -> bool:
    """Return whether the guard holds after choices."""
    return bool(evaluate(action.guard, world, bound))


def step(system: System, action: Action, world: World, bound: Mapping[Variable, Value]) -> World:
    """Return the next world, as a copy."""
    after = without_choices(world)
    for function in system.functions:
        if function not in action.updates:
            continue
        variables, value = action.updates[function]
        after.tables[function.name] = {
            arguments: evaluate(
                value, world, {**bound, **dict(zip(variables, arguments, strict=True))}
            )
            for arguments in world.scope.arguments(function)
        }
    return after
