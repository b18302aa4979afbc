"""Checks beyond the sorts of terms.

A name needs one meaning in Python, SMT-LIB and Coq, distinct from generated names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from paraply.models.language.refusal import IllFormedError
from paraply.models.language.terms import (
    BOOL,
    FRESH,
    INT,
    Function,
    Quantified,
    Term,
    Variable,
    functions_in,
    nodes_in,
)

SKOLEM = "sk_"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RESERVED = frozenset(
    {"and", "or", "not", "xor", "ite", "true", "false", "forall", "exists", "let", "par", "match"}
    | {"distinct", "assert", "as", "div", "mod", "abs", "select", "store", "divisible", "is_int"}
    | {"to_int", "to_real", "Int", "Bool", "Real", "Array", "String", "RegLan", "Seq", "Set", "Bag"}
)


def require_name(name: str) -> None:
    """Raise :class:`IllFormedError` for an unusable name."""
    if not _NAME.fullmatch(name):
        raise IllFormedError(f"{name!r} is no name: letters, digits and _ only")
    if name in _RESERVED:
        raise IllFormedError(f"{name} is a word of SMT-LIB")
    if name.startswith(SKOLEM):
        raise IllFormedError(f"{name} begins with {SKOLEM}, which is kept for Skolem constants")


def require_function(function: Function, known: Iterable[Function]) -> None:
    """Raise :class:`IllFormedError` if ``function`` conflicts with ``known``."""
    require_name(function.name)
    if any(other.name == function.name for other in known):
        raise IllFormedError(f"{function.name} is declared twice")
    for sort in (*function.arguments, function.result):
        if sort not in (INT, BOOL):
            require_name(sort.name)
    if BOOL in function.arguments:
        raise IllFormedError(f"{function.name} takes a truth value, which the kernel cannot read")


def require_variables(variables: Sequence[Variable], functions: Collection[Function]) -> None:
    """Raise :class:`IllFormedError` for bad names."""
    names = [variable.name for variable in variables]
    for name in names:
        require_name(name)
        if names.count(name) > 1:
            raise IllFormedError(f"{name} names two variables")
        if any(function.name == name for function in functions):
            raise IllFormedError(f"{name} is a function and a variable")


def require_term(
    node: Term, variables: Collection[Variable], functions: Collection[Function]
) -> None:
    """Raise :class:`IllFormedError` for unknown names in ``node``."""
    unknown = sorted(variable.name for variable in node.free.difference(variables))
    if unknown:
        raise IllFormedError(f"{unknown[0]} is declared nowhere")
    for function in functions_in([node]).values():
        if function not in functions:
            raise IllFormedError(f"{function.name} is no function that may occur here")
    for one in nodes_in(node):
        if isinstance(one, Quantified):
            bound = Variable(one.variable.name.rstrip(FRESH), one.variable.sort)
            require_variables((bound,), functions)


def require_formula(
    node: Term, variables: Collection[Variable], functions: Collection[Function]
) -> None:
    """Raise :class:`IllFormedError` unless ``node`` is a formula."""
    if node.sort != BOOL:
        raise IllFormedError(f"expected a formula, got {node.sort}: {node!r}")
    require_term(node, variables, functions)
