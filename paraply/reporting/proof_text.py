"""Proofs and counterexamples as text."""

from __future__ import annotations

from paraply.models.judging.bounded import Run
from paraply.models.judging.proving import Proof, Refutation
from paraply.models.judging.solver import Answer
from paraply.models.language.concrete import Value, World
from paraply.models.language.terms import BOOL, Function

_MARK = {Answer.PROVED: "ok", Answer.UNDECIDED: "UNDECIDED", Answer.REFUTED: "REFUTED"}


def matrix_text(proof: Proof) -> str:
    """Return proved steps and methods per statement."""
    lines: dict[tuple[str, str], list[str]] = {}
    for judgment in proof.judgments:
        cell = f"{judgment.obligation.step} {_MARK[judgment.answer]}"
        key = (judgment.obligation.system, judgment.obligation.statement)
        lines.setdefault(key, []).append(cell)
    width = max((len(statement) for _, statement in lines), default=0)
    printed, last = [], ""
    for (system, statement), cells in lines.items():
        if system != last:
            printed.append(f"     {system}")
            last = system
        printed.append(f"       {statement:{width}}  {' · '.join(cells)}")
    return "\n".join(printed)


def counterexample_text(found: Refutation, *, table: bool) -> str:
    """Return claim and result; ``table`` adds the run."""
    wanted = found.counterexample
    head = f"{wanted.id}  {wanted.title}"
    if found.undecided:
        return f"{head}\n     undecided: {found.undecided}"
    if found.run is None:
        return f"{head}\n     NOT FOUND within {wanted.steps} steps"
    steps = len(found.run.steps)
    shown = "and none is shorter" if found.is_shortest else "in the stored run, replayed"
    fit = shown if found.as_expected else f"RECORDED as {wanted.steps}"
    verb = "breaks" if found.run.loop is None else "avoids the goal of"
    lines = [head, f"     {verb} {wanted.statement} after {steps} steps, {fit}"]
    if table:
        lines += ["", *run_lines(found.run)]
    return "\n".join(lines)


def run_lines(run: Run) -> list[str]:
    """Return the workload and each step's changes."""
    lines = ["     workload  " + (_workload(run) or "nothing")]
    before = run.start
    for number, step in enumerate(run.steps, start=1):
        given = ", ".join(f"{name}={value}" for name, value in step.parameters.items())
        changed = "; ".join(_changes(run, before, step.world)) or "nothing"
        lines.append(f"     {number:2}  {step.action}({given})  ->  {changed}")
        before = step.world
    witness = ", ".join(f"{name}={value}" for name, value in run.witness.items())
    if run.loop is None:
        return [*lines, f"     so for {witness or 'this state'} the statement is false"]
    first = len(run.steps) - run.loop + 1
    last = f"steps {first} to {len(run.steps)} repeat for ever" if run.loop else (
        "no fair step is possible from here on")  # fmt: skip
    return [*lines, f"     {last}, and for {witness or 'this state'} the goal is never reached"]


def _changes(run: Run, before: World, after: World) -> list[str]:
    changes = []
    for function in run.system.functions:
        if function.rigid:
            continue
        for arguments in after.scope.arguments(function):
            old, new = before.lookup(function, arguments), after.lookup(function, arguments)
            if old != new:
                changes.append(_cell(function, arguments, new))
    return changes


def _workload(run: Run) -> str:
    cells = []
    for function in run.system.functions:
        if not function.rigid:
            continue
        for arguments in run.start.scope.arguments(function):
            inside = all(not isinstance(value, int) or value >= 0 for value in arguments)
            value = run.start.lookup(function, arguments)
            if inside and value != "" and (value or function.result != BOOL):
                cells.append(_cell(function, arguments, value))
    return ", ".join(cells)


def _cell(function: Function, arguments: tuple[Value, ...], value: Value) -> str:
    place = f"{function.name}({', '.join(map(str, arguments))})" if arguments else function.name
    if value is True:
        return place
    return f"not {place}" if value is False else f"{place}={value}"
