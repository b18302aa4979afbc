"""Counterexamples as JSON data, replayed without a solver.

A trace has scope, workload, initial tables, and the action, parameters and choices per step.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paraply.models.judging.bounded import Run, Step
from paraply.models.language.concrete import (
    Scope,
    Table,
    Value,
    World,
    choosing,
    evaluate,
    is_enabled,
    step,
)
from paraply.models.language.system import Statement, System
from paraply.models.language.terms import Function, Variable


def written(table: Table) -> list[list[Any]]:
    """Return a table's rows other than default values."""
    return [[*arguments, value] for arguments, value in sorted(table.items(), key=repr)
            if value is not False and value != 0 and value != ""]  # fmt: skip


def _read(rows: list[list[Any]]) -> Table:
    return {tuple(row[:-1]): row[-1] for row in rows}


def to_data(run: Run) -> dict[str, Any]:
    """Return a run as JSON-ready data."""
    scope = run.start.scope
    steps = []
    for taken in run.steps:
        action = next(a for a in run.system.actions if a.name == taken.action)
        chosen = {f.name: written(taken.world.tables[f.name]) for f in action.havoc}
        steps.append({"action": taken.action, "parameters": taken.parameters, "chosen": chosen})
    loop = {} if run.loop is None else {"loop": run.loop}
    return {
        "scope": {"low": scope.low, "high": scope.high, "size": scope.size},
        "start": {
            name: rows for name, table in sorted(run.start.tables.items())
            if (rows := written(table))
        },
        "steps": steps,
        "witness": run.witness,
        **loop,
    }  # fmt: skip


def replay(system: System, situation: Statement, data: dict[str, Any]) -> Run:
    """Return the run in ``data`` after a check.

    Raises ``ValueError`` if start, guard or situation fails.
    """
    scope = Scope(**data["scope"])
    by_name: dict[str, Function] = {function.name: function for function in system.functions}
    world = World(scope, {name: _read(rows) for name, rows in data["start"].items()})
    start = world
    for statement in (*system.initially, *system.axioms):
        if not evaluate(statement.closed, world, {}):
            raise ValueError(f"{system.name}: {statement.name} does not hold at the start")
    steps: list[Step] = []
    for number, taken in enumerate(data["steps"], start=1):
        action = next((a for a in system.actions if a.name == taken["action"]), None)
        if action is None:
            raise ValueError(f"{system.name} has no action {taken['action']!r}")
        for name in taken["chosen"]:
            if by_name[name] not in action.havoc:
                raise ValueError(f"step {number}: {action.name} does not choose {name}")
        world = choosing(world, {name: _read(rows) for name, rows in taken["chosen"].items()})
        bound: dict[Variable, Value] = {p: taken["parameters"][p.name] for p in action.parameters}
        if not is_enabled(action, world, bound):
            raise ValueError(f"step {number}: {action.name} is not enabled")
        world = step(system, action, world, bound)
        steps.append(Step(action.name, dict(taken["parameters"]), world))
    witness = {variable: data["witness"][variable.name] for variable in situation.variables}
    if not evaluate(situation.body, world, witness):
        raise ValueError(f"{system.name}: the run does not end in {situation.name}")
    return Run(system, start, tuple(steps), dict(data["witness"]))


RUNS = Path(__file__).resolve().parents[2] / "proofs" / "counterexamples.json"


def stored_runs() -> dict[str, Any]:
    """Return the stored runs by counterexample identifier."""
    runs: dict[str, Any] = json.loads(RUNS.read_text(encoding="utf-8"))
    return runs
