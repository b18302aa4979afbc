"""Load a mutation into the running process by exchanging the code of one function.

Every reference to the function, also through subclasses and bound methods, then runs the changed
code.
"""

from __future__ import annotations

import ast
import functools
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from paraply.mutating.operators import Mutation

CodeKey = tuple[str, str, int]
"""File, qualified name and first line of a function's code."""


_WRAPPERS = (property, staticmethod, classmethod, functools.cached_property)


class PatchError(Exception):
    """The mutation does not compile, or fits no loaded function."""


def key_of(code: types.CodeType) -> CodeKey:
    """Return the key of a function's code."""
    return code.co_filename, code.co_qualname, code.co_firstlineno


class LoadedFunctions:
    """Functions of the loaded modules of some packages, by code.

    Also holds their ``lru_cache``s, because cached answers of the unchanged code must go.
    """

    def __init__(self, *packages: str) -> None:
        self._functions: dict[CodeKey, list[types.FunctionType]] = defaultdict(list)
        self._caches: list[Any] = []
        self._exchanged: list[tuple[types.FunctionType, types.CodeType]] = []
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in packages:
                for value in vars(module).values():
                    self._take(value, name)

    def _take(self, value: object, module: str) -> None:
        if isinstance(value, types.FunctionType):
            known = self._functions[key_of(value.__code__)]
            if not any(one is value for one in known):
                known.append(value)
        elif isinstance(value, functools._lru_cache_wrapper):
            self._caches.append(value)
        if isinstance(value, type):
            if value.__module__ == module:
                for one in vars(value).values():
                    self._take(one, module)
            return
        if isinstance(value, _WRAPPERS) or hasattr(value, "__wrapped__"):
            for attribute in ("fget", "fset", "func", "__func__", "__wrapped__"):
                inner = getattr(value, attribute, None)
                if inner is not None:
                    self._take(inner, module)

    def functions(self, key: CodeKey) -> list[types.FunctionType]:
        """Return the functions with this code."""
        return self._functions.get(key, [])

    def load(self, mutation: Mutation, module: types.ModuleType) -> CodeKey:
        """Exchange the code of a module's function; ``PatchError`` if it does not fit."""
        code = changed_code(mutation, str(module.__file__))
        functions = self.functions(key_of(code))
        if not functions:
            raise PatchError(f"{module.__name__} has no function {mutation.place}")
        try:
            for function in functions:
                before, function.__code__ = function.__code__, code
                self._exchanged.append((function, before))
        except ValueError as error:
            raise PatchError(str(error)) from error
        self._forget()
        return key_of(code)

    def restore(self) -> None:
        """Undo every exchange."""
        while self._exchanged:
            function, before = self._exchanged.pop()
            function.__code__ = before
        self._forget()

    def _forget(self) -> None:
        for cache in self._caches:
            cache.cache_clear()


def changed_code(mutation: Mutation, file: str) -> types.CodeType:
    """Compile a mutation; return the changed function's code, or raise ``PatchError``."""
    tree = mutation.tree
    try:
        top = compile(tree, file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, TypeError) as error:
        raise PatchError(f"{type(error).__name__}: {error}") from error
    line = _first_line(tree, mutation.function_line)
    for code in _codes(top):
        if code.co_qualname == mutation.place and code.co_firstlineno == line:
            return code
    raise PatchError(f"no code of {mutation.place}")


def _first_line(tree: ast.Module, line: int) -> int:
    """Return the line of a function's first decorator, or its own."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.lineno == line:
            return min([line, *(one.lineno for one in function.decorator_list)])
    raise PatchError(f"no function in line {line}")


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)
