"""Small mutations of Python source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy, deepcopy
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "sorted": "list",
    "earlier": "later",
    "later": "earlier",
    "written": "wanted",
    "wanted": "written",
    "append": "appendleft",
    "popleft": "pop",
    "update": "intersection_update",
}
_ATTRIBUTES = {"lc": "sn", "sn": "lc", "keys": "reads", "reads": "keys", "id": "sn", "file": "lc"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One changed program.

    Attributes:
        place: class and function.
    """

    place: str
    line: int
    what: str
    tree: ast.Module


def mutations(source: str, classes: frozenset[str]) -> Iterator[Mutation]:
    """Yield distinct mutations of some classes."""
    tree = ast.parse(source)
    _without_docstrings(tree)
    for top in tree.body:
        if not isinstance(top, ast.ClassDef) or top.name not in classes:
            continue
        for function in [one for one in top.body if isinstance(one, ast.FunctionDef)]:
            seen = {ast.dump(function)}
            for node in _statements(function):
                for before, after in _changes(node):
                    changed = _replaced(function, node, after)
                    text = ast.dump(changed)
                    if text in seen:
                        continue
                    seen.add(text)
                    yield Mutation(
                        place=f"{top.name}.{function.name}",
                        line=getattr(node, "lineno", function.lineno),
                        what=f"`{_short(before)}` → `{_short(after)}`",
                        tree=_with_function(tree, top, function, changed),
                    )


def _with_function(
    tree: ast.Module, top: ast.ClassDef, function: ast.FunctionDef, changed: ast.FunctionDef
) -> ast.Module:
    other = copy(top)
    other.body = [changed if one is function else one for one in top.body]
    module = copy(tree)
    module.body = [other if one is top else one for one in tree.body]
    return module


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    if isinstance(node, ast.Compare):
        for other in _COMPARISONS.get(type(node.ops[0]), ()):
            yield node, _with(node, ops=[other(), *node.ops[1:]])
    elif isinstance(node, ast.BoolOp):
        other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, _with(node, op=other_op)
        for value in node.values:
            yield node, value
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield node, _with(node, op=_ARITHMETIC[type(node.op)]())
        yield node, node.left
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node, node.operand
    elif isinstance(node, ast.Constant):
        yield from ((node, ast.Constant(value)) for value in _other_constants(node.value))
    elif isinstance(node, ast.Name) and node.id in _NAMES and isinstance(node.ctx, ast.Load):
        yield node, _with(node, id=_NAMES[node.id])
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        for table in (_ATTRIBUTES, _NAMES):
            if node.attr in table:
                yield node, _with(node, attr=table[node.attr])
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield from ((node, _with(node, test=ast.Constant(value))) for value in (True, False))
    elif isinstance(node, ast.Return) and node.value is not None:
        yield from ((node, _with(node, value=ast.Constant(value))) for value in (None, True, False))
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Delete | ast.Break):
        yield node, ast.Pass()
    elif isinstance(node, ast.Set | ast.Tuple | ast.List) and not isinstance(
        getattr(node, "ctx", None), ast.Store
    ):
        for at in range(len(node.elts)):
            yield node, _with(node, elts=[*node.elts[:at], *node.elts[at + 1 :]])
    elif isinstance(node, ast.comprehension):
        for at in range(len(node.ifs)):
            yield node, _with(node, ifs=[*node.ifs[:at], *node.ifs[at + 1 :]])


def _other_constants(value: object) -> tuple[str | int, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1)
    if value is None:
        return ()
    return (f"{value}_",) if isinstance(value, str) else ()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = type(node)(**{name: getattr(node, name) for name in node._fields})
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


class _Replace(ast.NodeTransformer):
    def __init__(self, at: int, put: ast.AST) -> None:
        self._left = at
        self._put = put

    def visit(self, node: ast.AST) -> ast.AST:
        self._left -= 1
        if self._left < 0:
            self._left = 1 << 60
            return self._put
        return self.generic_visit(node)


def _replaced(function: ast.FunctionDef, node: ast.AST, put: ast.AST) -> ast.FunctionDef:
    numbers = {id(one): at for at, one in enumerate(_preorder(function))}
    changed = _Replace(numbers[id(node)], put).visit(deepcopy(function))
    assert isinstance(changed, ast.FunctionDef)
    return ast.fix_missing_locations(changed)


def _preorder(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _preorder(child)


def _statements(function: ast.FunctionDef) -> Iterator[ast.AST]:
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Assert):
            continue
        yield node
        todo += [
            child
            for name, value in ast.iter_fields(node)
            if name not in ("annotation", "returns")
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST)
        ]


def _without_docstrings(tree: ast.Module) -> None:
    del tree.body[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body[0] = ast.copy_location(ast.Pass(), first)


def _short(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node)).replace("\n", " ").replace("`", "'")
    return text if len(text) <= 60 else f"{text[:57]}..."
