"""Terms as Coq text. Nothing is simplified: what is printed is what Coq reduces to.

A formula without quantifiers is a truth value (``bool``); one with quantifiers is a proposition
over such values. A *relation* is a Boolean function whose update quantifies: its field is a
proposition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from paraply.models.language.system import System
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
    nodes_in,
)

T = TypeVar("T")

STATE = "st"
"""The name of the state in every definition."""

KEPT = frozenset(
    {"as", "at", "cofix", "do", "else", "end", "exists", "exists2", "fix", "for", "forall", "fun"}
    | {"if", "IF", "in", "let", "match", "mod", "Prop", "return", "Set", "then", "Type", "using"}
    | {"where", "with", "by", "bool", "nat", "list", "true", "false", "negb", "nth", "find"}
    | {"value", "form", "told", "tree", "fits", "decided", "refutes", "refuted", "all_true"}
    | {"is_run", "init", "step", "state", "run", "after", "k", "differs", "Z", "st", "I", "G", "S"}
)
"""Words of Coq and of the frame of each file, which no name of a system may be."""


class NotPrintableError(Exception):
    """A system uses what the translation does not have; the text says what."""


def named(name: str) -> str:
    """Return a name as Coq reads it."""
    return name.replace(FRESH, "'") + ("_" if name in KEPT else "")


def sort_text(sort: Sort) -> str:
    """Return a sort as a Coq type."""
    return {INT: "Z", BOOL: "bool"}.get(sort) or named(sort.name)


def equality(sort: Sort) -> str:
    """Return the Boolean equality of a sort."""
    return {INT: "Z.eqb", BOOL: "Bool.eqb"}.get(sort) or f"eqb_{named(sort.name)}"


def has_quantifier(node: Term) -> bool:
    """Return whether a term quantifies anywhere."""
    return any(isinstance(one, Quantified) for one in nodes_in(node))


def boolean(node: Term) -> str:
    """Return a term without quantifiers as Coq text of its type."""
    match node:
        case Literal(bool() as value):
            return "true" if value else "false"
        case Literal(value):
            return str(value) if value >= 0 else f"({value})"
        case Variable(name, _):
            return named(name)
        case Apply(function, arguments):
            is_field = not function.rigid and not function.name.endswith(FRESH)
            words = [named(function.name), *([STATE] if is_field else []), *map(boolean, arguments)]
            return f"({' '.join(words)})" if len(words) > 1 else words[0]
        case Not(body):
            return f"(negb {boolean(body)})"
        case And(parts):
            return chain([boolean(part) for part in parts], "({} && {})".format, "true")
        case Or(parts):
            return chain([boolean(part) for part in parts], "({} || {})".format, "false")
        case Ite(condition, then, otherwise):
            return f"(if {boolean(condition)} then {boolean(then)} else {boolean(otherwise)})"
        case Equal(left, right):
            return f"({equality(left.sort)} {boolean(left)} {boolean(right)})"
        case Compare(operator, left, right):
            return f"({boolean(left)} {operator}? {boolean(right)})"
        case Plus(left, constant):
            return f"({boolean(left)} + {boolean(Literal(constant))})"
    raise NotPrintableError(f"a quantifier inside a truth value: {node!r}")


def chain(parts: list[T], join: Callable[[T, T], T], empty: T) -> T:
    """Return parts joined two at a time, nested to the right."""
    if not parts:
        return empty
    made = parts[-1]
    for part in reversed(parts[:-1]):
        made = join(part, made)
    return made


@dataclass(frozen=True, slots=True)
class Disjunction:
    """A disjunction as an implication."""

    premises: tuple[Term, ...]
    """Quantified alternatives that were negated."""
    plain: tuple[Term, ...]
    conclusion: Term | None
    """The one quantified alternative."""


class Gallina:
    """Formulas of one system as propositions."""

    def __init__(self, system: System) -> None:
        self.relations = frozenset(
            function
            for action in system.actions
            for function, (_, value) in action.updates.items()
            if function.result == BOOL and has_quantifier(value)
        )

    def is_plain(self, node: Term) -> bool:
        """Return whether a term is a truth value or an element: no quantifier, no relation."""
        return not any(
            isinstance(one, Quantified)
            or (isinstance(one, Apply) and one.function in self.relations)
            for one in nodes_in(node)
        )

    def type_text(self, function: Function) -> str:
        """Return the type of a function or of its field."""
        result = "Prop" if function in self.relations else sort_text(function.result)
        return " -> ".join([*map(sort_text, function.arguments), result])

    def proposition(self, node: Term) -> str:
        """Return a formula as a proposition.

        A disjunction with quantified parts becomes an implication, see :meth:`disjunction`.
        """
        if self.is_plain(node):
            return f"{boolean(node)} = true"
        match node:
            case Apply():
                return boolean(node)
            case Quantified(True, variable, body):
                bound = f"{named(variable.name)} : {sort_text(variable.sort)}"
                return f"(forall {bound}, {self.proposition(body)})"
            case And(parts):
                return chain(
                    [f"({self.proposition(part)})" for part in parts], "({} /\\ {})".format, "True"
                )
            case Ite(condition, then, otherwise) if self.is_plain(condition):
                first, second = self.proposition(then), self.proposition(otherwise)
                return f"(if {boolean(condition)} then ({first}) else ({second}))"
            case Or():
                split = self.disjunction(node)
                words = [f"({self.proposition(premise)})" for premise in split.premises]
                plain = boolean(Or(split.plain))
                if split.conclusion is None:
                    words.append(f"{plain} = true")
                else:
                    words += [f"{plain} = false"] if split.plain else []
                    words.append(f"({self.proposition(split.conclusion)})")
                return "(" + " -> ".join(words) + ")"
        raise NotPrintableError(f"no proposition without an axiom: {node!r}")

    def disjunction(self, node: Or) -> Disjunction:
        """Return a disjunction as premises, plain parts and at most one quantified conclusion."""
        quantified = [part for part in node.parts if not self.is_plain(part)]
        positive = [part for part in quantified if not isinstance(part, Not)]
        if len(positive) > 1:
            raise NotPrintableError(f"two quantified alternatives: {node!r}")
        return Disjunction(
            premises=tuple(part.body for part in quantified if isinstance(part, Not)),
            plain=tuple(part for part in node.parts if self.is_plain(part)),
            conclusion=positive[0] if positive else None,
        )
