"""Decide whether a mutant's steps differ from those of its original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paraply.models.judging.bounded import Run
from paraply.models.judging.mutants import Mutant
from paraply.models.judging.proving import reach
from paraply.models.judging.solver import Answer, judge_z3
from paraply.models.language.concrete import Scope
from paraply.models.language.system import (
    Action,
    Obligation,
    Statement,
    System,
    arguments,
    as_state,
)
from paraply.models.language.terms import (
    TRUE,
    Apply,
    Equal,
    Function,
    Term,
    conj,
    disj,
    forall_many,
    implies,
    negate,
)


def is_same(system: System, mutant: Mutant, *, steps_max: int) -> bool:
    """Return whether Z3 proves that both have the same steps from every reachable state.

    It compares states that satisfy the original's invariants, which its proofs show reachable
    states to be. ``steps_max`` bounds Z3's steps.
    """
    stated = _same(system, mutant)
    return stated is not None and judge_z3(stated, steps_max=steps_max).answer is Answer.PROVED


def _same(system: System, mutant: Mutant) -> Obligation | None:
    known = [axiom.closed for axiom in system.axioms]
    if mutant.kind == "assumption dropped":
        left = tuple(axiom.closed for axiom in mutant.system.axioms)
        return Obligation(system.name, "same", "assumed", left, conj(*known), ())
    if mutant.kind.startswith("start"):
        both = Equal(_start(system), _start(mutant.system))
        return Obligation(system.name, "same", "initially", tuple(known), both, ())
    before, after = (one.action_named(mutant.place) for one in (system, mutant.system))
    if before.havoc != after.havoc:
        return None
    known += [statement.closed for statement in system.invariants]
    goal = conj(
        Equal(before.guard, after.guard),
        implies(before.guard, conj(*(negate(one) for one in _other_values(before, after)))),
    )
    return Obligation(
        system.name, "same", mutant.place, tuple(known), goal, before.parameters, before.havoc
    )


def difference(
    system: System, mutant: Mutant, scopes: Sequence[Scope], *, steps_max: int, timeout_s: float
) -> Run | None:
    """Return a run of the original to a state where the next step differs, or None.

    It searches runs of at most ``steps_max`` steps in the given scopes. Raises ``TimeoutError``.
    """
    where, situation = _differing(system, mutant)
    longest = steps_max if where is system else 0
    for scope in scopes:
        run = reach(where, situation, scope, longest, timeout_s=timeout_s)
        if run is not None:
            return run
    return None


def _differing(system: System, mutant: Mutant) -> tuple[System, Statement]:
    if mutant.kind == "assumption dropped":
        axioms = conj(*(axiom.closed for axiom in system.axioms))
        return mutant.system, Statement("differs", (), negate(axioms))
    if mutant.kind.startswith("start"):
        both = Equal(_start(system), _start(mutant.system))
        anything = System(
            system.name, functions=system.functions, axioms=system.axioms, actions=system.actions
        )
        return anything, Statement("differs", (), negate(both))
    before, after = (one.action_named(mutant.place) for one in (system, mutant.system))
    if before.havoc != after.havoc:
        # Without its choice, the step gives one value where it could give any.
        return system, Statement("differs", before.parameters, as_state(before.guard))
    body = disj(
        negate(Equal(before.guard, after.guard)),
        conj(before.guard, disj(*_other_values(before, after))),
    )
    return system, Statement("differs", before.parameters, as_state(body))


def _other_values(before: Action, after: Action) -> Iterator[Term]:
    for function in {**before.updates, **after.updates}:
        first, second = _value(before, function), _value(after, function)
        if first != second:
            yield negate(forall_many(arguments(function), Equal(first, second)))


def _value(action: Action, function: Function) -> Term:
    variables = arguments(function)
    return action.updates.get(function, (variables, Apply(function, variables)))[1]


def _start(system: System) -> Term:
    return conj(TRUE, *(statement.closed for statement in system.initially))
