"""A changed copy of some modules beside the unchanged ones, in one process.

Whatever imports a changed module is copied with it, so that no reference to unchanged code is left
in the copy, and none to the copy outside.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import re
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

_IMPORTED = re.compile(r"^\s*from (\S+) import ", re.MULTILINE)


class ChangeError(Exception):
    """A change does not fit the source."""


@dataclass(frozen=True, slots=True)
class Change:
    """One replaced text.

    Attributes:
        place: module, colon, and function or class (``group.member:Member.certify``); or a module.
        old: a text that the place has once; empty for the body of a function. Its further lines,
            and those of ``new``, are indented as seen from the line with its first.
    """

    place: str
    old: str
    new: str

    def applied(self, source: str) -> str:
        """Return the changed source of the module; raises ``ChangeError``."""
        name = self.place.partition(":")[2]
        lines = source.splitlines(keepends=True)
        first, last = 0, len(lines)
        if name:
            node = _node(ast.parse(source), name)
            if node is None:
                raise ChangeError(f"{self.place} does not exist")
            first, last = _first_line(node, has_body_only=not self.old) - 1, node.end_lineno or 0
            if not self.old:
                body = _indented(self.new, _margin(lines[first]), is_whole_line=True)
                return "".join([*lines[:first], f"{body}\n", *lines[last:]])
        found = [
            (at, column, old)
            for at in range(first, last)
            for old in [_indented(self.old, _margin(lines[at]))]
            for column in _columns("".join(lines[at:last]), old, len(lines[at]))
        ]
        if len(found) != 1:
            raise ChangeError(f"{self.place} has {len(found)} times: {self.old}")
        at, column, old = found[0]
        before, rest = "".join(lines[:at]), "".join(lines[at:])
        new = _indented(self.new, _margin(lines[at]))
        return before + rest[:column] + new + rest[column + len(old) :]


def _node(tree: ast.Module, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    node: ast.Module | ast.FunctionDef | ast.ClassDef | None = tree
    for part in name.split("."):
        named = [
            one
            for one in getattr(node, "body", ())
            if isinstance(one, ast.FunctionDef | ast.ClassDef) and one.name == part
        ]
        node = named[0] if named else None
    assert not isinstance(node, ast.Module)
    return node


def _first_line(node: ast.FunctionDef | ast.ClassDef, *, has_body_only: bool) -> int:
    if not has_body_only:
        return min([node.lineno, *(one.lineno for one in node.decorator_list)])
    has_docstring = ast.get_docstring(node) is not None and len(node.body) > 1
    return node.body[1 if has_docstring else 0].lineno


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indented(text: str, margin: str, *, is_whole_line: bool = False) -> str:
    first, *others = text.strip("\n").split("\n")
    start = margin if is_whole_line else ""
    return "\n".join([start + first, *(margin + one if one else "" for one in others)])


def _columns(text: str, old: str, width: int) -> Iterator[int]:
    """Yield where a text occurs with its beginning in the first so many characters."""
    at = text.find(old)
    while 0 <= at < width:
        yield at
        at = text.find(old, at + 1)


class ChangedCopy:
    """A copy of a package's modules with some changes.

    Attributes:
        name: of the copy, in the names of its modules.
    """

    def __init__(self, name: str, package: str, changes: Sequence[Change]) -> None:
        """Prepare the copy; modules are named from ``package``. Raises ``ChangeError``."""
        self.name = name
        self._package = package
        self._sources: dict[str, str] = {}
        for change in changes:
            module = f"{package}.{change.place.partition(':')[0]}"
            source = self._sources.get(module) or _source(module)
            if source is None:
                raise ChangeError(f"{change.place} does not exist")
            self._sources[module] = change.applied(source)
        self._roots = {package.partition(".")[0]}
        self._loaded: dict[str, types.ModuleType] = {}
        self._copied: dict[str, bool] = {}

    def module(self, name: str) -> types.ModuleType:
        """Return a module as changed: a copy, or itself if it imports nothing that is."""
        self._roots.add(name.partition(".")[0])
        if self._is_copied(name):
            return self._load(name)
        return importlib.import_module(name)

    def _is_copied(self, name: str) -> bool:
        if name not in self._copied:
            found: set[str] = set()
            todo = [name]
            while todo:
                one = todo.pop()
                if one not in found and one.partition(".")[0] in self._roots:
                    found.add(one)
                    todo.extend(_imports(one))
            self._copied[name] = not found.isdisjoint(self._sources)
        return self._copied[name]

    def _load(self, name: str) -> types.ModuleType:
        if name not in self._loaded:
            file = _file(name)
            copied = f"{name} in {self.name}"
            module = types.ModuleType(copied)
            module.__file__ = file
            module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
            self._loaded[name] = sys.modules[copied] = module  # Dataclasses look it up.
            exec(self._code(name, file), module.__dict__)
        return self._loaded[name]

    def _code(self, name: str, file: str) -> types.CodeType:
        if name in self._sources:
            changed = f"{file}, changed by {self.name}"
            return compile(self._sources[name], changed, "exec", dont_inherit=True)
        return _unchanged_code(name)

    def _import(
        self,
        name: str,
        names: Any = None,
        local: Any = None,
        wanted: Sequence[str] = (),
        level: int = 0,
    ) -> types.ModuleType:
        if level == 0 and wanted and self._is_copied(name):
            return self._load(name)
        return __import__(name, names, local, wanted, level)


def _file(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    return str(spec.origin)


@cache
def _source(name: str) -> str | None:
    """Return a module's source, also out of an archive; None if it does not exist."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None
    if spec is None or spec.origin is None:
        return None
    data: bytes = spec.loader.get_data(spec.origin)  # type: ignore[union-attr]
    return data.decode("utf-8")


@cache
def _unchanged_code(name: str) -> types.CodeType:
    return compile(_source(name) or "", _file(name), "exec", dont_inherit=True)


@cache
def _imports(name: str) -> tuple[str, ...]:
    return tuple(sorted(set(_IMPORTED.findall(_source(name) or ""))))
