"""The transition relation over two vocabularies: the state before a step, and the state after it.

Obligations are made by substitution (``Action.post``), which says nothing of what does not change.
Here the same step is written out: every function has a second name for its value afterwards, told
by an equation. Nothing is substituted, so an error in one reading shows as a disagreement with the
other (``tests/models/test_transition.py``).
"""

from __future__ import annotations

from collections.abc import Iterator

from paraply.models.judging.bounded import at
from paraply.models.language.system import Action, Obligation, Statement, System
from paraply.models.language.terms import Apply, Term, Variable, conj, eq, forall_many, substitute

BEFORE, AFTER = 0, 1


def relation(system: System, action: Action) -> Term:
    """Return that ``action`` leads from the state before to the state after, for its parameters."""
    parts = [at(action.guard, BEFORE)]
    for function in system.functions:
        if function.rigid or function in action.havoc:
            continue
        variables = tuple(
            Variable(f"{function.name}_{position}", sort)
            for position, sort in enumerate(function.arguments)
        )
        here = Apply(function, variables)
        value: Term = here
        if function in action.updates:
            written, value = action.updates[function]
            assert written == variables, "an update names its variables after the function"
        parts.append(forall_many(variables, eq(at(here, AFTER), at(value, BEFORE))))
    return conj(*parts)


def two_vocabulary_obligations(system: System) -> Iterator[Obligation]:
    """Yield, for each invariant and action, that the invariant holds in the state after."""
    known = [axiom.closed for axiom in system.axioms]
    known += [at(statement.closed, BEFORE) for statement in system.invariants]
    for statement in system.invariants:
        for action in system.actions:
            goal, fresh = _for_constants(statement)
            yield Obligation(
                system.name, statement.name, action.name,
                (*known, relation(system, action)), at(goal, AFTER),
                (*fresh, *action.parameters), action.havoc,
            )  # fmt: skip


def _for_constants(statement: Statement) -> tuple[Term, tuple[Variable, ...]]:
    fresh = tuple(Variable(f"any_{v.name}", v.sort) for v in statement.variables)
    return substitute(statement.body, dict(zip(statement.variables, fresh, strict=True))), fresh
