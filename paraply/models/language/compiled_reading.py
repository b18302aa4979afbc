"""The concrete reading, compiled to Python functions.

It is about twenty times faster than ``paraply.models.language.concrete``, its reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paraply.models.language.concrete import Scope, Value, World, without_choices
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
    Term,
    Variable,
    conjuncts,
)


class CompiledReading:
    """Compiled guards and updates by action."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._guards: dict[str, Callable[..., Any]] = {}
        self._choices: dict[str, Callable[..., Any]] = {}
        self._updates: dict[str, dict[str, Callable[..., Any]]] = {}
        for action in system.actions:
            parameters = [_name(parameter) for parameter in action.parameters]
            self._guards[action.name] = _function(parameters, text(action.guard))
            self._choices[action.name] = _choices(action)
            self._updates[action.name] = {
                function.name: _table(parameters, function, variables, value)
                for function, (variables, value) in action.updates.items()
            }
        self._statements: dict[Term, Callable[..., Any]] = {}
        self._parameters = {
            action.name: {parameter.name: parameter.sort.name for parameter in action.parameters}
            for action in system.actions
        }

    def is_enabled(self, action: str, world: World, bound: Mapping[str, Value]) -> bool:
        """Return whether the guard holds."""
        given = [bound[name] for name in self._parameters[action]]
        return bool(self._guards[action](world.tables, _values(world.scope), *given))

    def enabled(
        self, action: str, world: World, known: Mapping[str, Value]
    ) -> list[dict[str, Value]]:
        """Return all parameters, by name, with which the guard holds; some may be known."""
        names, values = self._parameters[action], _values(world.scope)
        given = [
            [known[name]] if name in known else values[sort] for name, sort in names.items()
        ]  # fmt: skip
        found = self._choices[action](world.tables, values, *given)
        return [dict(zip(names, chosen, strict=True)) for chosen in found]

    def holds(self, statement: Term, world: World) -> bool:
        """Return whether a closed term is true."""
        if statement not in self._statements:
            self._statements[statement] = _function([], text(statement))
        return bool(self._statements[statement](world.tables, _values(world.scope)))

    def step(self, action: str, world: World, bound: Mapping[str, Value]) -> World:
        """Return the next world, as a copy."""
        given = [bound[name] for name in self._parameters[action]]
        values = _values(world.scope)
        after = without_choices(world)
        for name, update in self._updates[action].items():
            after.tables[name] = update(world.tables, values, *given)
        return after


def text(node: Term) -> str:
    """Return Python text over ``T`` and ``V``."""
    match node:
        case Literal(value):
            return repr(value)
        case Variable():
            return _name(node)
        case Apply(function, arguments):
            given = "".join(f"{text(one)}, " for one in arguments)
            return f"T.get({function.name!r}, E).get(({given}), {_default(function)!r})"
        case Not(body):
            return f"(not {text(body)})"
        case And(parts):
            return f"({' and '.join(map(text, parts))})" if parts else "True"
        case Or(parts):
            return f"({' or '.join(map(text, parts))})" if parts else "False"
        case Ite(condition, then, otherwise):
            return f"({text(then)} if {text(condition)} else {text(otherwise)})"
        case Equal(left, right):
            return f"({text(left)} == {text(right)})"
        case Compare(operator, left, right):
            return f"({text(left)} {operator} {text(right)})"
        case Plus(left, constant):
            return f"({text(left)} + {constant})"
        case Quantified(universal, variable, body):
            decide = "all" if universal else "any"
            return f"{decide}({text(body)} for {_name(variable)} in V[{variable.sort.name!r}])"
    raise TypeError(f"not a term: {node!r}")


def _choices(action: Action) -> Callable[..., Any]:
    """Return a function of possible values to those for which the guard holds.

    Each condition is asked as soon as its parameters are chosen.
    """
    names = [_name(parameter) for parameter in action.parameters]
    left = list(conjuncts(action.guard))
    loops = ""
    for number in range(len(names) + 1):
        chosen = set(action.parameters[:number])
        asked = [part for part in left if part.free <= chosen]
        left = [part for part in left if part not in asked]
        if number:
            loops += f" for {names[number - 1]} in P{number - 1}"
        else:
            loops += " for _ in (0,)"
        loops += "".join(f" if {text(part)}" for part in asked)
    values = "".join(f"{name}, " for name in names)
    return _function([f"P{number}" for number in range(len(names))], f"[({values}){loops}]")


def _table(
    parameters: list[str], function: Function, variables: tuple[Variable, ...], value: Term
) -> Callable[..., Any]:
    key = "".join(f"{_name(variable)}, " for variable in variables)
    loops = "".join(f" for {_name(one)} in V[{one.sort.name!r}]" for one in variables)
    if not loops:
        return _function(parameters, f"{{(): {text(value)}}}")
    return _function(parameters, f"{{({key}): {text(value)}{loops}}}")


def _function(parameters: list[str], expression: str) -> Callable[..., Any]:
    arguments = ", ".join(["T", "V", *parameters])
    made: Callable[..., Any] = eval(f"lambda {arguments}: {expression}", {"E": {}})
    return made


def _name(variable: Variable) -> str:
    return "x_" + variable.name.replace("_", "__").replace(FRESH, "_x")


def _default(function: Function) -> Value:
    return {BOOL: False, INT: 0}.get(function.result, "")


_KNOWN: dict[tuple[int, int, int], dict[str, list[Value]]] = {}


def _values(scope: Scope) -> Mapping[str, list[Value]]:
    key = (scope.low, scope.high, scope.size)
    if key not in _KNOWN:
        _KNOWN[key] = _Values(scope)
    return _KNOWN[key]


class _Values(dict[str, list[Value]]):
    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self[INT.name] = list(range(scope.low, scope.high + 1))
        self[BOOL.name] = [False, True]
        self._size = scope.size

    def __missing__(self, name: str) -> list[Value]:
        self[name] = [f"{name.lower()}{number}" for number in range(self._size)]
        return self[name]
