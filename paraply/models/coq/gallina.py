"""Terms as Coq text, without simplification.

A formula without quantifiers is a ``bool``, others are a ``Prop``. The field of a *relation*, a
Boolean function with a quantified update, is a ``Prop``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from paraply.models.language.system import Action, System, choice_of
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

KEPT = frozenset(
    {"as", "at", "cofix", "do", "else", "end", "exists", "exists2", "fix", "for", "forall", "fun"}
    | {"if", "IF", "in", "let", "match", "mod", "Prop", "return", "Set", "then", "Type", "using"}
    | {"where", "with", "by", "bool", "nat", "list", "true", "false", "negb", "nth", "find"}
    | {"value", "form", "told", "tree", "fits", "decided", "refutes", "refuted", "all_true"}
    | {"is_run", "init", "step", "state", "run", "after", "k", "differs", "Z", "st", "I", "G", "S"}
)


class NotPrintableError(Exception):
    """The translation lacks this construct."""


def named(name: str) -> str:
    """Return a valid Coq name."""
    return name.replace(FRESH, "'") + ("_" if name in KEPT else "")


def sort_text(sort: Sort) -> str:
    """Return the Coq type of a sort."""
    return {INT: "Z", BOOL: "bool"}.get(sort) or named(sort.name)


def equality(sort: Sort) -> str:
    """Return the sort's Boolean equality."""
    return {INT: "Z.eqb", BOOL: "Bool.eqb"}.get(sort) or f"eqb_{named(sort.name)}"


def has_quantifier(node: Term) -> bool:
    """Return whether a term contains a quantifier."""
    return any(isinstance(one, Quantified) for one in nodes_in(node))


def boolean(node: Term) -> str:
    """Return a quantifier-free term as Coq text."""
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
    """Join parts pairwise, nested to the right."""
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
    """Negated quantified alternatives."""
    plain: tuple[Term, ...]
    conclusion: Term | None


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
        """Return whether a term is quantifier- and relation-free."""
        return not any(
            isinstance(one, Quantified)
            or (isinstance(one, Apply) and one.function in self.relations)
            for one in nodes_in(node)
        )

    def type_text(self, function: Function) -> str:
        """Return a function's type."""
        result = "Prop" if function in self.relations else sort_text(function.result)
        return " -> ".join([*map(sort_text, function.arguments), result])

    def proposition(self, node: Term) -> str:
        """Return a formula as a proposition."""
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
        """Return premises, plain parts and a quantified conclusion."""
        quantified = [part for part in node.parts if not self.is_plain(part)]
        positive = [part for part in quantified if not isinstance(part, Not)]
        if len(positive) > 1:
            raise NotPrintableError(f"two quantified alternatives: {node!r}")
        return Disjunction(
            premises=tuple(part.body for part in quantified if isinstance(part, Not)),
            plain=tuple(part for part in node.parts if self.is_plain(part)),
            conclusion=positive[0] if positive else None,
        )


def parameters(gallina: Gallina, action: Action) -> tuple[str, str]:
    """Return parameters as binders and as arguments."""
    typed = [(named(p.name), sort_text(p.sort)) for p in action.parameters]
    typed += [(named(choice_of(f).name), gallina.type_text(f)) for f in action.havoc]
    binders = " ".join(f"({name} : {kind})" for name, kind in typed)
    return binders, "".join(f" {name}" for name, _ in typed)
