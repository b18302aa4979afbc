"""Small mutations of Python source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field
from functools import partial

from paraply.mutating.wiring import Wiring

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
NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "sorted": "list",
    "append": "appendleft",
    "popleft": "pop",
    "update": "intersection_update",
    "add": "discard",
    "issubset": "issuperset",
    "union": "intersection",
    "intersection": "union",
}
"""Functions and methods that are confused."""


@dataclass(frozen=True, slots=True)
class Swaps:
    """What a program may confuse besides operators and constants.

    Attributes:
        names: name -> another, for variables, functions and methods.
        attributes: attribute -> another.
        is_wired: also swap arguments and variables of one type.
        unchanged: calls that stay as they are, by method.
        has_words: also change the text of f-strings.
    """

    names: Mapping[str, str] = field(default_factory=lambda: NAMES)
    attributes: Mapping[str, str] = field(default_factory=dict)
    is_wired: bool = True
    unchanged: frozenset[str] = frozenset()
    has_words: bool = True


@dataclass(frozen=True, slots=True)
class Mutation:
    """One changed program.

    Attributes:
        place: class and function.
        function_line: the function's line in the source.
        make: makes the changed module.
    """

    place: str
    line: int
    what: str
    function_line: int
    make: Callable[[], ast.Module]

    @property
    def tree(self) -> ast.Module:
        """Return the changed module, made anew."""
        return self.make()


ALL_CLASSES: frozenset[str] = frozenset()


def mutations(
    source: str, classes: frozenset[str] = ALL_CLASSES, swaps: Swaps | None = None
) -> Iterator[Mutation]:
    """Yield distinct mutations of a module's functions, or of some classes."""
    swaps = swaps or Swaps()
    tree = ast.parse(source)
    _without_docstrings(tree)
    for top, function in _functions(tree, classes):
        wiring = Wiring(function, top) if swaps.is_wired else None
        seen: set[tuple[int, str]] = set()
        for node in _statements(function, swaps):
            found = list(_changes(node, swaps))
            found += wiring.changes(node) if wiring else []
            for before, after in found:
                key = _difference(node, after)
                if key is None or key in seen:
                    continue
                seen.add(key)
                yield Mutation(
                    place=f"{top.name}.{function.name}" if top else function.name,
                    line=getattr(node, "lineno", function.lineno),
                    what=f"`{_short(before)}` → `{_short(after)}`",
                    function_line=function.lineno,
                    make=partial(_changed, tree, top, function, node, after),
                )


def _difference(before: ast.AST, after: ast.AST) -> tuple[int, str] | None:
    """Return the least differing subtree and its new text; None without a difference."""
    while type(before) is type(after):
        fields = [
            name
            for name in before._fields
            if _text(getattr(before, name)) != _text(getattr(after, name))
        ]
        if not fields:
            return None
        old, new = getattr(before, fields[0]), getattr(after, fields[0])
        if len(fields) > 1 or not isinstance(old, ast.AST) or not isinstance(new, ast.AST):
            break
        before, after = old, new
    return id(before), ast.dump(after)


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return ast.dump(value) if isinstance(value, ast.AST) else repr(value)


def _changed(
    tree: ast.Module,
    top: ast.ClassDef | None,
    function: ast.FunctionDef,
    node: ast.AST,
    after: ast.AST,
) -> ast.Module:
    changed = _replaced(function, node, after)
    if any(isinstance(one, ast.Name) and one.id == "super" for one in ast.walk(function)):
        # Code takes a function's place only if it has the same closure, also without super().
        kept = ast.Expr(ast.Name("__class__", ast.Load()))
        changed.body = [ast.copy_location(kept, changed.body[0]), *changed.body]
        ast.fix_missing_locations(changed)
    return _with_function(tree, top, function, changed)


def _functions(
    tree: ast.Module, classes: frozenset[str]
) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    for top in tree.body:
        if isinstance(top, ast.ClassDef) and (not classes or top.name in classes):
            yield from ((top, one) for one in top.body if isinstance(one, ast.FunctionDef))
        elif isinstance(top, ast.FunctionDef) and not classes:
            yield None, top


def _with_function(
    tree: ast.Module, top: ast.ClassDef | None, function: ast.FunctionDef, changed: ast.FunctionDef
) -> ast.Module:
    module = copy(tree)
    if top is None:
        module.body = [changed if one is function else one for one in tree.body]
        return module
    other = copy(top)
    other.body = [changed if one is function else one for one in top.body]
    module.body = [other if one is top else one for one in tree.body]
    return module


def _changes(node: ast.AST, swaps: Swaps) -> Iterator[tuple[ast.AST, ast.AST]]:
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
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in swaps.names:
            yield node, _with(node, id=swaps.names[node.id])
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        for table in (swaps.attributes, swaps.names):
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
    # A text with a space is a message.
    return (f"{value}_",) if isinstance(value, str) and " " not in value else ()


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


def _statements(function: ast.FunctionDef, swaps: Swaps) -> Iterator[ast.AST]:
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Assert) or _called(node) in swaps.unchanged:
            continue
        yield node
        todo += [
            child
            for name, value in ast.iter_fields(node)
            if name not in ("annotation", "returns")
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST) and (swaps.has_words or not _is_text(node, child))
        ]


def _is_text(node: ast.AST, child: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)


def _called(node: ast.AST) -> str:
    call = node.value if isinstance(node, ast.Expr) else None
    called = call.func if isinstance(call, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) else ""


def _without_docstrings(tree: ast.Module) -> None:
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body[0] = ast.copy_location(ast.Pass(), first)


def _short(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node)).replace("\n", " ").replace("`", "'")
    return text if len(text) <= 60 else f"{text[:57]}..."
