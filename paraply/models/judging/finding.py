"""Find inductive invariants on a projection, then prove them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from paraply.models.judging.lifting import found_invariants
from paraply.models.judging.projection import Projection
from paraply.models.judging.solver import Answer, judge_z3, solve_horn
from paraply.models.language.system import Obligation, Statement, System
from paraply.models.language.terms import substitute


def find_invariants(
    system: System, safety: Statement, *, steps_max: int = 0, timeout_s: float = 60.0
) -> list[Statement] | None:
    """Return invariants that imply ``safety``, or None for this projection.

    It ignores the system's own. Raises ``NotLiftableError`` for an answer beyond truth values and
    differences.
    """
    found: list[Statement] = []
    for case in cases(safety):
        if says_nothing(case):
            continue
        projection = Projection(system, case)
        answer = solve_horn(projection.horn(), steps_max=steps_max, timeout_s=timeout_s)
        if answer is None:
            return None
        found += found_invariants(projection, answer, case)
    return [replace(s, name=f"found_{number}") for number, s in enumerate(found, start=1)]


def cases(safety: Statement) -> Iterator[Statement]:
    """Yield the statement with distinct and equal elements."""
    yield safety
    for first, second in combinations(safety.variables, 2):
        if first.sort == second.sort:
            kept = tuple(v for v in safety.variables if v != second)
            body = substitute(safety.body, {second: first})
            yield from cases(replace(safety, variables=kept, body=body))


def says_nothing(statement: Statement) -> bool:
    """Return whether a statement is trivially true."""
    asked = Obligation("", statement.name, "says nothing", (), statement.body, statement.variables)
    return judge_z3(asked).answer is Answer.PROVED


def with_invariants(system: System, found: list[Statement], safety: Statement) -> System:
    """Return the system with these invariants and goal."""
    return replace(
        system,
        name=f"{system.name}[found]",
        invariants=found,
        safety=[safety],
        covers=[],
        responses=[],
    )
