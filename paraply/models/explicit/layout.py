"""One state as one packed integer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.language.system import System
from paraply.models.language.terms import (
    BOOL,
    INT,
    Apply,
    Function,
    Quantified,
    Sort,
    Term,
    rebuild,
)

WORD = 64
"""Bits of a word; a field lies in one word, if it can."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value's bits; zero means ``low``."""

    offset: int
    width: int
    low: int
    high: int
    is_truth: bool = False

    @property
    def ones(self) -> int:
        """Return the unshifted mask."""
        return (1 << self.width) - 1

    @property
    def mask(self) -> int:
        """Return the field's bits in place."""
        return self.ones << self.offset

    def packed(self, value: int) -> int:
        """Return a value in place."""
        return (value - self.low) << self.offset

    def read(self, state: int) -> int:
        """Return the field's value in a state."""
        return (state >> self.offset & self.ones) + self.low


class Layout:
    """The places of all values that guards and statements read.

    Others, such as proof ghosts, would only multiply the states.
    """

    def __init__(self, system: System, scope: Scope, roots: Iterable[Term]) -> None:
        self.system = system
        self.scope = scope
        self.fields: dict[tuple[Function, tuple[int, ...]], Field] = {}
        self.functions = _needed(system, roots)
        offset = 0
        for function in self.functions:
            low, high = self.range_of(function.result)
            width = max(1, (high - low).bit_length())
            for arguments in self.arguments(function):
                if offset // WORD != (offset + width - 1) // WORD:
                    offset += -offset % WORD
                self.fields[function, arguments] = Field(
                    offset, width, low, high, is_truth=function.result == BOOL
                )
                offset += width
        self.width = offset

    def range_of(self, sort: Sort) -> tuple[int, int]:
        """Return least and greatest value, from 0 for names."""
        if sort == INT:
            return self.scope.low, self.scope.high
        return (0, 1) if sort == BOOL else (0, self.scope.size - 1)

    def values(self, sort: Sort) -> range:
        """Return a sort's values as numbers."""
        low, high = self.range_of(sort)
        return range(low, high + 1)

    def arguments(self, function: Function) -> list[tuple[int, ...]]:
        """Return every argument tuple as numbers."""
        found: list[tuple[int, ...]] = [()]
        for sort in function.arguments:
            found = [(*one, value) for one in found for value in self.values(sort)]
        return found

    def number(self, sort: Sort, value: Value) -> int:
        """Return the number of a concrete value."""
        if isinstance(value, str):
            return self.scope.values(sort).index(value) if value else 0
        return int(value)

    def pack(self, tables: Mapping[str, Table]) -> int:
        """Pack concrete tables; absent entries are 0."""
        state = 0
        for (function, arguments), field in self.fields.items():
            named = tuple(
                self.named(sort, value)
                for sort, value in zip(function.arguments, arguments, strict=True)
            )
            value = tables.get(function.name, {}).get(named, 0)
            state |= field.packed(self.number(function.result, value))
        return state

    def unpack(self, state: int) -> dict[str, Table]:
        """Return a state as concrete tables."""
        tables: dict[str, Table] = {}
        for (function, arguments), field in self.fields.items():
            named = tuple(
                self.named(sort, value)
                for sort, value in zip(function.arguments, arguments, strict=True)
            )
            value = self.named(function.result, field.read(state))
            tables.setdefault(function.name, {})[named] = value
        return tables

    def named(self, sort: Sort, value: int) -> Value:
        """Return the concrete value of a number."""
        if sort == BOOL:
            return bool(value)
        return value if sort == INT else self.scope.values(sort)[value]


def _needed(system: System, roots: Iterable[Term]) -> list[Function]:
    wanted: set[Function] = set()
    todo = [*roots, *(action.guard for action in system.actions)]
    while todo:
        for function in functions_in(todo.pop()):
            if function.rigid or function in wanted:
                continue
            wanted.add(function)
            todo += [
                action.updates[function][1]
                for action in system.actions
                if function in action.updates
            ]
    return [function for function in system.functions if function in wanted]


def functions_in(node: Term) -> set[Function]:
    """Return the functions that a term applies."""
    found: set[Function] = set()

    def visit(inner: Term) -> Term:
        if isinstance(inner, Apply):
            found.add(inner.function)
        if isinstance(inner, Quantified):
            visit(inner.body)
            return inner
        return rebuild(inner, visit)

    visit(node)
    return found
