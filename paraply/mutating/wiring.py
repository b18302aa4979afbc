"""Confuse arguments, and variables and attributes of one type."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

Change = tuple[ast.AST, ast.AST]


class Wiring:
    """Names and attributes of ``self`` by annotation, in one function.

    ``top`` is its class, if any.
    """

    def __init__(self, function: ast.FunctionDef, top: ast.ClassDef | None) -> None:
        self._names = _others(_annotated(_parameters(function)))
        self._attributes = _others(_annotated(_attributes(top))) if top else {}

    def changes(self, node: ast.AST) -> Iterator[Change]:
        """Yield changes of one node: itself and what replaces it."""
        if isinstance(node, ast.Call):
            yield from _swapped_arguments(node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            for other in self._names.get(node.id, ()):
                yield node, ast.Name(other, ast.Load())
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        ):
            for other in self._attributes.get(node.attr, ()):
                yield node, ast.Attribute(node.value, other, ast.Load())


def _swapped_arguments(call: ast.Call) -> Iterator[Change]:
    arguments = call.args
    if any(isinstance(one, ast.Starred) for one in arguments):
        return
    for at in range(len(arguments) - 1):
        swapped = [*arguments[:at], arguments[at + 1], arguments[at], *arguments[at + 2 :]]
        yield call, ast.Call(call.func, swapped, call.keywords)


def _parameters(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    every = function.args
    for one in (*every.posonlyargs, *every.args, *every.kwonlyargs):
        yield one.arg, one.annotation


def _attributes(top: ast.ClassDef) -> Iterator[tuple[str, ast.expr | None]]:
    for statement in top.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, statement.annotation
        elif isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            yield from _initialised(statement)


def _initialised(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    parameters = dict(_parameters(function))
    for statement in function.body:
        target: ast.expr
        if isinstance(statement, ast.AnnAssign):
            target, annotation = statement.target, statement.annotation
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
            target = statement.targets[0]
            found = parameters.get(statement.value.id)
            if found is None:
                continue
            annotation = found
        else:
            continue
        if isinstance(target, ast.Attribute):
            yield target.attr, annotation


def _annotated(found: Iterable[tuple[str, ast.expr | None]]) -> dict[str, list[str]]:
    by_type: dict[str, list[str]] = defaultdict(list)
    for name, annotation in found:
        if annotation is not None:
            by_type[ast.unparse(annotation)].append(name)
    return by_type


def _others(by_type: dict[str, list[str]]) -> dict[str, list[str]]:
    return {
        name: [other for other in names if other != name]
        for names in by_type.values()
        for name in names
    }
