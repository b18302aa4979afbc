"""Obligations as SMT-LIB 2 text for all solvers."""

from __future__ import annotations

from collections.abc import Sequence

from paraply.models.language.refusal import IllFormedError
from paraply.models.language.system import Obligation
from paraply.models.language.terms import (
    BOOL,
    INT,
    And,
    Apply,
    Compare,
    Equal,
    Ite,
    Literal,
    Not,
    Or,
    Plus,
    Quantified,
    Sort,
    Term,
    Variable,
    negate,
    remembered,
    symbols_in,
)


def text(node: Term) -> str:
    """Return one term as SMT-LIB text."""
    match node:
        case Literal(bool() as value):
            return "true" if value else "false"
        case Literal(value):
            return str(value) if value >= 0 else f"(- {-value})"
        case Variable(name, _):
            return name
        case Apply(function, ()):
            return function.name
        case Apply(function, arguments):
            return f"({function.name} {' '.join(map(text, arguments))})"
        case Not(body):
            return f"(not {text(body)})"
        case And(parts):
            return f"(and {' '.join(map(text, parts))})" if parts else "true"
        case Or(parts):
            return f"(or {' '.join(map(text, parts))})" if parts else "false"
        case Ite(condition, then, otherwise):
            return f"(ite {text(condition)} {text(then)} {text(otherwise)})"
        case Equal(left, right):
            return f"(= {text(left)} {text(right)})"
        case Compare(operator, left, right):
            return f"({operator} {text(left)} {text(right)})"
        case Plus(left, constant):
            return f"(+ {text(left)} {text(Literal(constant))})"
        case Quantified(universal, variable, body):
            word = "forall" if universal else "exists"
            return f"({word} (({variable.name} {variable.sort})) {text(body)})"
    raise TypeError(f"not a term: {node!r}")


_remembered = remembered(text)


def declarations(assertions: Sequence[Term], constants: Sequence[Variable]) -> list[str]:
    """Return declarations of all used names."""
    found, bound = symbols_in(assertions)
    sorts: dict[str, Sort] = {}
    for function in found.values():
        for sort in (*function.arguments, function.result):
            sorts[sort.name] = sort
    for variable in (*constants, *bound):
        sorts[variable.sort.name] = variable.sort
        if variable.name in found:
            raise IllFormedError(f"{variable.name} is a constant and a function")
    lines = [
        f"(declare-sort {name} 0)"
        for name, sort in sorted(sorts.items())
        if sort not in (INT, BOOL)
    ]
    for _, function in sorted(found.items()):
        arguments = " ".join(sort.name for sort in function.arguments)
        lines.append(f"(declare-fun {function.name} ({arguments}) {function.result.name})")
    lines += [f"(declare-const {constant.name} {constant.sort})" for constant in constants]
    return lines


def script(obligation: Obligation) -> str:
    """Return the negated obligation: ``unsat`` means proved."""
    assertions = [*obligation.hypotheses, negate(obligation.goal)]
    lines = [
        f"; {obligation.system}: {obligation.statement} / {obligation.step}",
        "(set-logic ALL)",
        *declarations(assertions, obligation.constants),
    ]
    lines += [f"(assert {_remembered(assertion)})" for assertion in assertions]
    lines.append("(check-sat)")
    return "\n".join(lines) + "\n"
