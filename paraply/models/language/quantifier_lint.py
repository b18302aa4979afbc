"""Warnings about quantifiers that may slow or block a solver.

Solvers instantiate universal statements where *triggers*, terms with their variables, match ground
terms. Soundness is unaffected.

Source: the Simplify matching algorithm (Detlefs, Nelson, Saxe 2005); proofs of this project.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paraply.models.kernel.normal_form import MARK, Assertion, assertions
from paraply.models.language.system import Obligation, Statement, System
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    Apply,
    Function,
    Plus,
    Sort,
    Term,
    Variable,
    nodes_in,
)


@dataclass(frozen=True, slots=True)
class NoTrigger:
    """A universal variable without a trigger."""

    statement: str
    variable: str

    def __str__(self) -> str:
        return f"{self.statement}: {self.variable} is no argument of a function; eliminate it"


@dataclass(frozen=True, slots=True)
class WitnessDependsOnUniversal:
    """Instances create existential witnesses."""

    statement: str
    variable: str

    def __str__(self) -> str:
        return (
            f"{self.statement}: {self.variable} exists for each value of others; name it by a ghost"
        )


@dataclass(frozen=True, slots=True)
class SortCycle:
    """Instances create terms of two sorts mutually."""

    functions: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{' and '.join(self.functions)} lead from sort to sort in a circle under quantifiers"
        )


@dataclass(frozen=True, slots=True)
class StepMakesTerms:
    """Instances create successive numbers."""

    statement: str
    function: str

    def __str__(self) -> str:
        return f"{self.statement}: {self.function} is applied to a variable plus a constant"


Warned = NoTrigger | WitnessDependsOnUniversal | SortCycle | StepMakesTerms


def lint(system: System) -> tuple[Warned, ...]:
    """Return distinct warnings about a system's hypotheses."""
    found: dict[Warned, None] = {}
    edges: dict[tuple[Sort, Sort], set[str]] = {}
    for statement in (*system.axioms, *system.invariants):
        for assertion in _pieces(statement):
            for warned in _of_one(statement.name, assertion):
                found[warned] = None
            for function in _made_of_variables(assertion):
                for argument in set(function.arguments) - {function.result}:
                    edges.setdefault((argument, function.result), set()).add(function.name)
    for functions in _circles(edges):
        found[SortCycle(functions)] = None
    return tuple(found)


def _pieces(statement: Statement) -> tuple[Assertion, ...]:
    asked = Obligation("", statement.name, "lint", (statement.closed,), FALSE, ())
    return tuple(assertion for assertion in assertions(asked) if assertion.origin == 0)


def _of_one(name: str, assertion: Assertion) -> Iterator[Warned]:
    applied = [node for node in nodes_in(assertion.matrix) if isinstance(node, Apply)]
    touched = {v for node in applied for v in _variables(node)}
    for variable in assertion.variables:
        if variable not in touched:
            yield NoTrigger(name, _plain(variable.name))
    for node in applied:
        if MARK in node.function.name and node.arguments:
            yield WitnessDependsOnUniversal(name, _plain(node.function.name))
        if any(isinstance(a, Plus) and _variables(a) for a in node.arguments):
            yield StepMakesTerms(name, node.function.name)


def _made_of_variables(assertion: Assertion) -> Iterator[Function]:
    for node in nodes_in(assertion.matrix):
        if isinstance(node, Apply) and node.sort != BOOL and _variables(node):
            yield node.function


def _circles(edges: Mapping[tuple[Sort, Sort], set[str]]) -> Iterator[tuple[str, ...]]:
    sorts = sorted({sort for edge in edges for sort in edge}, key=str)
    reach = {pair: set(names) for pair, names in edges.items()}
    for through in sorts:
        for start in sorts:
            for end in sorts:
                if (start, through) in reach and (through, end) in reach and start != end:
                    both = reach[start, through] | reach[through, end]
                    reach.setdefault((start, end), both)
    for number, first in enumerate(sorts):
        for second in sorts[number + 1 :]:
            if (first, second) in reach and (second, first) in reach:
                yield tuple(sorted(reach[first, second] | reach[second, first]))


def _variables(node: Term) -> set[Variable]:
    return {n for n in nodes_in(node) if isinstance(n, Variable) and MARK in n.name}


def _plain(name: str) -> str:
    return name.split(MARK)[0]
