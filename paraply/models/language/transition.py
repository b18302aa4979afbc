"""What a step is: the relation between the state before it and the state after it.

Every function has a second name for its value afterwards, given by an equation: the update, the
chosen value, or the value before. Obligations are made by substitution (``Action.post``) instead;
:func:`readings_agree` states, for every statement and action, that both readings are one.
"""

from __future__ import annotations

from collections.abc import Iterator

from paraply.models.language.system import (
    Action,
    Obligation,
    System,
    arguments,
    skolem,
)
from paraply.models.language.terms import (
    Apply,
    Equal,
    Function,
    Term,
    Variable,
    conj,
    eq,
    forall_many,
    rebuild,
    substitute,
)

BEFORE, AFTER = 0, 1


def at(node: Term, moment: int) -> Term:
    """Return ``node`` with every function that a step may change or choose read at ``moment``."""
    inner = rebuild(node, lambda part: at(part, moment))
    if isinstance(inner, Apply) and not inner.function.rigid:
        function = inner.function
        stamped = Function(f"{function.name}@{moment}", function.arguments, function.result)
        return Apply(stamped, inner.arguments)
    return inner


def relation(system: System, action: Action) -> Term:
    """Return that ``action`` leads from the state before to the state after, for its parameters."""
    parts = [at(action.guard, BEFORE)]
    for function in system.functions:
        if not function.rigid:
            variables = arguments(function)
            here = Apply(function, variables)
            _, value = action.updates.get(function, (variables, here))
            parts.append(forall_many(variables, eq(at(here, AFTER), at(value, BEFORE))))
    return conj(*parts)


def two_vocabulary_obligations(system: System) -> Iterator[Obligation]:
    """Yield, for each invariant and action, that the invariant holds in the state after."""
    system.require_well_formed()
    known = [axiom.closed for axiom in system.axioms]
    known += [at(statement.closed, BEFORE) for statement in system.invariants]
    relations = {action.name: relation(system, action) for action in system.actions}
    for statement in system.invariants:
        values, fresh = skolem(statement)
        goal = at(substitute(statement.body, values), AFTER)
        for action in system.actions:
            yield _obligation(system, statement.name, action, fresh,
                              (*known, relations[action.name]), goal)  # fmt: skip


def readings_agree(system: System) -> Iterator[Obligation]:
    """Yield, for each statement and action, that it is true after a step iff its wp is before.

    No invariant is assumed, so this is a question about the generator of obligations alone.
    """
    system.require_well_formed()
    relations = {action.name: relation(system, action) for action in system.actions}
    stated = {(s.variables, s.body): s for s in (*system.invariants, *system.safety)}
    for statement in stated.values():
        values, fresh = skolem(statement)
        goal = substitute(statement.body, values)
        for action in system.actions:
            both = Equal(at(goal, AFTER), at(action.post(goal), BEFORE))
            yield _obligation(system, statement.name, action, fresh,
                              (relations[action.name],), both)  # fmt: skip


def _obligation(
    system: System,
    statement: str,
    action: Action,
    fresh: tuple[Variable, ...],
    hypotheses: tuple[Term, ...],
    goal: Term,
) -> Obligation:
    constants = (*fresh, *action.parameters)
    return Obligation(system.name, statement, action.name, hypotheses, goal, constants)
