"""Refuted progress: a weakly fair lasso, searched explicitly and replayed on plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from paraply.models.explicit.lasso import shortest_lasso
from paraply.models.judging.bounded import Run
from paraply.models.judging.traces import replay, written
from paraply.models.language.concrete import Scope, Table, Value, World, evaluate, is_enabled
from paraply.models.language.response import Response
from paraply.models.language.system import Statement, System
from paraply.models.language.terms import Term, Variable, negate


class NoLassoError(ValueError):
    """The run is no lasso of the response."""


def search_lasso(
    system: System,
    response: Response,
    scope: Scope,
    workloads: Sequence[Mapping[str, Table]],
    *,
    inside: Term | None = None,
    longest: int | None = None,
) -> Run | None:
    """Return a replayed shortest lasso, or None."""
    found = shortest_lasso(system, response, scope, workloads, inside=inside, longest=longest)
    if found is None:
        return None
    data = {
        "scope": {"low": scope.low, "high": scope.high, "size": scope.size},
        "start": {name: rows for name, table in sorted(found.tables.items())
                  if (rows := written(table))},
        "steps": [{"action": taken.action, "parameters": taken.parameters, "chosen": {}}
                  for taken in found.steps],
        "witness": found.witness,
        "loop": found.loop,
    }  # fmt: skip
    return replay_lasso(system, response, data)


def replay_lasso(system: System, response: Response, data: Mapping[str, Any]) -> Run:
    """Return the lasso in ``data`` after a check on plain values.

    Raises ``ValueError`` for a run that is not possible, and :class:`NoLassoError` unless the loop
    closes, the goal stays away once awaited, and every fair action is impossible or taken in the
    loop.
    """
    missed = Statement("a missed goal", response.variables, negate(response.goal))
    run = replay(system, missed, dict(data))
    loop: int = data["loop"]
    worlds = [run.start, *(step.world for step in run.steps)]
    stem = len(run.steps) - loop
    if not 0 <= stem or not _same(system, worlds[stem], worlds[-1]):
        raise NoLassoError(f"{system.name}: the run is no lasso: its loop does not close")
    witness = {v: run.witness[v.name] for v in response.variables}
    awaited = [
        moment for moment, world in enumerate(worlds)
        if evaluate(response.pending, world, witness)
    ]  # fmt: skip
    reached = [
        moment for moment, world in enumerate(worlds) if evaluate(response.goal, world, witness)
    ]
    if not any(not reached or reached[-1] < moment <= stem for moment in awaited):
        raise NoLassoError(f"{system.name}: the run is no lasso: nothing is pending in its loop")
    unfair = _unfair(system, response, run, worlds[stem:])
    if unfair:
        raise NoLassoError(f"{system.name}: the run is no lasso: {unfair} is always possible")
    return Run(system, run.start, run.steps, run.witness, loop)


def _same(system: System, first: World, second: World) -> bool:
    return all(
        first.lookup(function, arguments) == second.lookup(function, arguments)
        for function in system.functions
        for arguments in first.scope.arguments(function)
    )


def _unfair(system: System, response: Response, run: Run, loop: Sequence[World]) -> str:
    """Return a fair step that the loop always allows and never takes; empty if there is none."""
    taken = run.steps[len(run.steps) - len(loop) + 1 :]
    for name in response.fair:
        action = system.action_named(name)
        for values in product(*(run.start.scope.values(p.sort) for p in action.parameters)):
            bound: dict[Variable, Value] = dict(zip(action.parameters, values, strict=True))
            given = {parameter.name: value for parameter, value in bound.items()}
            is_taken = any((step.action, step.parameters) == (name, given) for step in taken)
            if not is_taken and all(is_enabled(action, world, bound) for world in loop):
                return f"{name}({', '.join(map(str, values))})"
    return ""
