"""A system as Coq definitions for review."""

from __future__ import annotations

import re
from collections.abc import Iterable

from paraply.models.coq.gallina import (
    STATE,
    Gallina,
    NotPrintableError,
    boolean,
    named,
    parameters,
    sort_text,
)
from paraply.models.coq.responses import definitions_of
from paraply.models.language.system import Action, Statement, System
from paraply.models.language.terms import (
    BOOL,
    INT,
    Function,
    Term,
    Variable,
    substitute,
)


def module_name(system: System) -> str:
    """Return a system's Coq file name."""
    return "M_" + re.sub(r"\W+", "_", system.name).strip("_")


def sorts_of(system: System) -> list[str]:
    """Return uninterpreted sorts in order."""
    sorts = {s for f in system.functions for s in (*f.arguments, f.result)}
    variables = [v for s in statements_of(system) for v in s.variables]
    variables += [v for action in system.actions for v in action.parameters]
    sorts |= {variable.sort for variable in variables}
    return sorted(named(sort.name) for sort in sorts - {INT, BOOL})


def statements_of(system: System) -> list[Statement]:
    """Return every statement in the translation."""
    return [*system.axioms, *system.initially, *system.invariants, *system.safety]


def definitions(system: System) -> str:
    """Return the text before the proofs; leaves the section open."""
    gallina = Gallina(system)
    names = [function.name for function in system.functions]
    if clash := sorted({*sorts_of(system)} & {*names}):
        raise NotPrintableError(f"{clash[0]} is a sort and a function")
    state = [function for function in system.functions if not function.rigid]
    lines = [
        f"(* {system.name}: {system.meaning}.",
        "   Written by paraply from the model of that name. *)",
        "",
        f"Require Import {'Response' if system.responses else 'Foundation'}.",
        "",
        "Section Model.",
        "",
    ]
    for sort in sorts_of(system):
        lines += [
            f"Variable {sort} : Type.",
            f"Variable some_{sort} : {sort}.",
            f"Variable eqb_{sort} : {sort} -> {sort} -> bool.",
            f"Hypothesis eqb_{sort}_true : forall x y, eqb_{sort} x y = true <-> x = y.",
            "",
        ]
    lines += ["(* What no step changes. *)"]
    lines += [f"Variable {named(f.name)} : {gallina.type_text(f)}."
              for f in system.functions if f.rigid]  # fmt: skip
    for axiom in system.axioms:
        said = gallina.proposition(axiom.closed)
        lines += [*comment(axiom.meaning), f"Hypothesis axiom_{axiom.name} : {said}."]
    lines += ["", "Record state : Type := {"]
    fields = [f"  {named(f.name)} : {gallina.type_text(f)}" for f in state]
    lines += [";\n".join(fields), "}.", ""]
    for statement in system.initially:
        lines += defined(f"init_{statement.name}", gallina, statement)
    begins = conjunction(f"init_{s.name} {STATE}" for s in system.initially)
    lines += [f"Definition init ({STATE} : state) : Prop :=", f"  {begins}.", ""]
    for action in system.actions:
        lines += _action(system, gallina, action)
    lines += [f"Inductive step ({STATE} : state) : state -> Prop :="]
    for action in system.actions:
        binders, given = parameters(gallina, action)
        quantified = f"forall {binders}, " if binders else ""
        lines.append(
            f"| step_{action.name} : {quantified}guard_{action.name} {STATE}{given} ->\n"
            f"    step {STATE} (act_{action.name} {STATE}{given})"
        )
    lines[-1] += "."
    lines.append("")
    for statement in system.invariants:
        lines += defined(f"inv_{statement.name}", gallina, statement)
    for statement in system.safety:
        lines += defined(f"safe_{statement.name}", gallina, statement)
    for response in system.responses:
        lines += definitions_of(system, response)
    return "\n".join(lines) + "\n"


def conjunction(parts: Iterable[str]) -> str:
    """Return the conjunction; ``True`` for no parts."""
    return " /\\ ".join(parts) or "True"


def comment(meaning: str) -> list[str]:
    """Return a comment, or nothing."""
    return [f"(* {meaning} *)"] if meaning else []


def defined(name: str, gallina: Gallina, statement: Statement) -> list[str]:
    """Return the definition of a state predicate."""
    said = gallina.proposition(statement.closed)
    head = f"Definition {name} ({STATE} : state) : Prop :="
    return [*comment(statement.meaning), head, f"  {said}.", ""]


def _action(system: System, gallina: Gallina, action: Action) -> list[str]:
    binders, _ = parameters(gallina, action)
    head = f"({STATE} : state)" + (f" {binders}" if binders else "")
    lines = [
        *comment(action.meaning),
        f"Definition guard_{action.name} {head} : Prop :=",
        f"  {gallina.proposition(action.guard)}.",
        f"Definition act_{action.name} {head} : state :=",
    ]
    fields = []
    for function in system.functions:
        if function.rigid:
            continue
        value = f"{named(function.name)} {STATE}"
        if function in action.updates:
            value = _new_value(gallina, function, *action.updates[function])
        fields.append(f"     {named(function.name)} := {value}")
    lines += ["  {|", ";\n".join(fields), "  |}.", ""]
    return lines


def _new_value(
    gallina: Gallina, function: Function, variables: tuple[Variable, ...], value: Term
) -> str:
    fresh = tuple(Variable(f"x{place}", v.sort) for place, v in enumerate(variables))
    body = substitute(value, dict(zip(variables, fresh, strict=True)))
    written = gallina.proposition(body) if function in gallina.relations else boolean(body)
    binders = " ".join(f"({v.name} : {sort_text(v.sort)})" for v in fresh)
    return f"fun {binders} => {written}" if fresh else written
