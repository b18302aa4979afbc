"""Steps as relations between the states before and after.

Each function has a second name for its next value. Obligations use substitution (``Action.post``);
:func:`readings_agree` states the equivalence.
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
    """Return ``node`` read at ``moment``."""
    inner = rebuild(node, lambda part: at(part, moment))
    if isinstance(inner, Apply) and not inner.function.rigid:
        function = inner.function
        stamped = Function(f"{function.name}@{moment}", function.arguments, function.result)
        return Apply(stamped, inner.arguments)
    return inner


def relation(system: System, action: Action) -> Term:
    """Return the step relation of ``action``."""
    parts = [at(action.guard, BEFORE)]
    for function in system.functions:
        if not function.rigid:
            variables = arguments(function)
            here = Apply(function, variables)
            _, value = action.updates.get(function, (variables, here))
            parts.append(forall_many(variables, eq(at(here, AFTER), at(value, BEFORE))))
    return conj(*parts)


def two_vocabulary_obligations(system: System) -> Iterator[Obligation]:
    """Yield preservation over two vocabularies."""
    system.require_well_formed()
    known = [axiom.closed for axiom in system.axioms]
    known += [at(statement.closed, BEFORE) for statement in system.invariants]
    relations = {action.name: relation(system, action) for action in system.actions}
    for statement in system.invariants:
        values, fresh = skolem(statement.variables)
        goal = at(substitute(statement.body, values), AFTER)
        for action in system.actions:
            yield _obligation(system, statement.name, action, fresh,
                              (*known, relations[action.name]), goal)  # fmt: skip


def readings_agree(system: System) -> Iterator[Obligation]:
    """Yield the equivalence of a weakest precondition and truth after the step.

    Without invariants, it tests the generator of obligations alone. What a response reads after a
    step is compared by value.
    """
    system.require_well_formed()
    relations = {action.name: relation(system, action) for action in system.actions}
    stated = {(s.variables, s.body): s.name for s in (*system.invariants, *system.safety)}
    for response in system.responses:
        for node in response.read_after:
            stated.setdefault((response.variables, node), response.name)
    for (variables, body), name in stated.items():
        values, fresh = skolem(variables)
        goal = substitute(body, values)
        for action in system.actions:
            both = Equal(at(goal, AFTER), at(action.post(goal), BEFORE))
            yield _obligation(system, name, action, fresh, (relations[action.name],), both)


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
