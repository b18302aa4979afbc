"""The bounded reading: the smallest run that reaches a situation or breaks a statement.

Quantifiers are expanded over a small scope and the transition relation is unrolled step by step, so
the first run found is one of the shortest. Every run is replayed in the concrete reading before it
is believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

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
from paraply.models.language.smtlib import text
from paraply.models.language.system import Action, Statement, System, choice_of
from paraply.models.language.terms import (
    BOOL,
    INT,
    Apply,
    Function,
    Literal,
    Quantified,
    Sort,
    Term,
    Variable,
    conj,
    disj,
    eq,
    negate,
    rebuild,
    substitute,
)
from paraply.models.language.transition import at


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run: the action, its parameters, and the world after it."""

    action: str
    parameters: dict[str, Value]
    world: World


@dataclass(frozen=True, slots=True)
class Run:
    """A run that ends in the situation looked for; ``workload`` holds the rigid functions."""

    system: System
    start: World
    steps: tuple[Step, ...]
    witness: dict[str, Value]


MARK = "!"
"""Ends the name of a scope's element in SMT-LIB text, where no function has it."""


def constant_of(sort: Sort, value: Value) -> Term:
    """Return the term for a value of a scope."""
    return Literal(value) if isinstance(value, int) else Variable(f"{value}{MARK}", sort)


def expand(node: Term, scope: Scope) -> Term:
    """Return ``node`` with every quantifier expanded over the scope."""
    if isinstance(node, Quantified):
        parts = [
            expand(substitute(node.body, {node.variable: constant_of(node.variable.sort, value)}),
                   scope)
            for value in scope.values(node.variable.sort)
        ]  # fmt: skip
        return conj(*parts) if node.universal else disj(*parts)
    return rebuild(node, lambda child: expand(child, scope))


class Unrolling:
    """The assertions that describe all runs of a system of a given length, as SMT-LIB text."""

    def __init__(self, system: System, scope: Scope, capacity: Function | None) -> None:
        self.system = system
        self.scope = scope
        self.capacity = capacity
        """A counter that must not exceed the scope, or lookups would fall outside the tables."""
        system.require_well_formed()
        chosen = dict.fromkeys(f for action in system.actions for f in action.havoc)
        self._moving = [f for f in system.functions if not f.rigid] + [*map(choice_of, chosen)]
        sorts = {s for f in system.functions for s in (*f.arguments, f.result)} - {INT, BOOL}
        self.constants = [constant_of(sort, value) for sort in sorted(sorts, key=str)
                          for value in scope.values(sort)]  # fmt: skip
        self.header = [f"(declare-sort {sort} 0)" for sort in sorted(map(str, sorts))]
        self.header += [f"(declare-const {text(c)} {c.sort})" for c in self.constants]
        for sort in sorted(sorts, key=str):
            names = " ".join(text(c) for c in self.constants if c.sort == sort)
            if " " in names:
                self.header.append(f"(assert (distinct {names}))")
        for function in system.functions:
            if function.rigid:
                self.header += [self._declare(function, function.name), *self._inside(function, 0)]
        self.header += [f"(assert {text(expand(axiom.closed, scope))})" for axiom in system.axioms]

    def _declare(self, function: Function, name: str) -> str:
        arguments = " ".join(sort.name for sort in function.arguments)
        return f"(declare-fun {name} ({arguments}) {function.result.name})"

    def declare(self, moment: int) -> list[str]:
        """Return the declarations of one moment, and that its values lie inside the scope."""
        lines = []
        for function in self._moving:
            lines.append(self._declare(function, f"{function.name}@{moment}"))
            lines += self._inside(function, moment)
        if self.capacity is not None:
            inside = self.capacity() <= self.scope.high
            lines.append(f"(assert {text(at(inside, moment))})")
        return lines

    def _inside(self, function: Function, moment: int) -> list[str]:
        """Return that a function into an uninterpreted sort names one of the scope's values."""
        if function.result in (INT, BOOL):
            return []
        lines = []
        for arguments in self.scope.arguments(function):
            given = [constant_of(s, v) for s, v in zip(function.arguments, arguments, strict=True)]
            value = at(function(*given), moment)
            some = disj(*(eq(value, c) for c in self.constants if c.sort == function.result))
            lines.append(f"(assert {text(some)})")
        return lines

    def start(self) -> list[str]:
        """Return what is true at moment 0."""
        return [
            f"(assert {text(at(expand(statement.closed, self.scope), 0))})"
            for statement in self.system.initially
        ]

    def choices(self, action: Action) -> Iterator[dict[Variable, Value]]:
        """Yield every choice of an action's parameters; integers may be any of the scope."""
        values = [self.scope.values(parameter.sort) for parameter in action.parameters]
        for chosen in product(*values):
            yield dict(zip(action.parameters, chosen, strict=True))

    def transition(self, moment: int) -> list[str]:
        """Return that some action happens between ``moment`` and the next."""
        lines, names = [], []
        for number, action in enumerate(self.system.actions):
            for position, chosen in enumerate(self.choices(action)):
                name = f"take@{moment}@{number}@{position}"
                lines.append(f"(declare-const {name} Bool)")
                names.append(name)
                values = {p: constant_of(p.sort, v) for p, v in chosen.items()}
                lines.append(f"(assert (=> {name} {self._effect(action, values, moment)}))")
        lines.append(f"(assert (or {' '.join(names)}))")
        return lines

    def _effect(self, action: Action, values: dict[Variable, Term], moment: int) -> str:
        parts = [at(expand(substitute(action.guard, values), self.scope), moment)]
        for function in self.system.functions:
            if function.rigid:
                continue
            for arguments in self.scope.arguments(function):
                given = tuple(
                    constant_of(s, v) for s, v in zip(function.arguments, arguments, strict=True)
                )
                after = at(Apply(function, given), moment + 1)
                if function in action.updates:
                    variables, value = action.updates[function]
                    filled = substitute(
                        value, {**values, **dict(zip(variables, given, strict=True))}
                    )
                    before = at(expand(filled, self.scope), moment)
                else:
                    before = at(Apply(function, given), moment)
                parts.append(eq(after, before))
        return text(conj(*parts))

    def reached(self, situation: Statement, moment: int) -> str:
        """Return that the situation holds for some values of its variables."""
        body: Term = situation.body
        for variable in situation.variables:
            body = Quantified(False, variable, body)
        return f"(assert {text(at(expand(body, self.scope), moment))})"


def breach_of(statement: Statement) -> Statement:
    """Return the situation in which a universal statement is false."""
    return Statement(f"not {statement.name}", statement.variables, negate(statement.body))


def replayed(
    system: System,
    scope: Scope,
    tables: list[dict[str, Table]],
    taken: list[tuple[int, int]],
    situation: Statement,
    unrolling: Unrolling,
) -> Run:
    """Return the run, after every step of it was checked in the concrete reading.

    ``tables`` holds the solver's tables per moment, ``taken`` the action and choice per step.
    """  # fmt: skip
    world = World(scope, tables[0])
    start, steps = world, []
    for statement in (*system.initially, *system.axioms):
        assert evaluate(statement.closed, world, {}), f"{statement.name} is false at the start"
    for moment, (number, position) in enumerate(taken):
        action = system.actions[number]
        chosen = list(unrolling.choices(action))[position]
        world = choosing(world, {f.name: tables[moment + 1][f.name] for f in action.havoc})
        assert is_enabled(action, world, chosen), f"{action.name} is not enabled at {moment}"
        world = step(system, action, world, chosen)
        shown = {variable.name: value for variable, value in chosen.items()}
        steps.append(Step(action.name, shown, world))
    for values in product(*(scope.values(variable.sort) for variable in situation.variables)):
        witness = dict(zip(situation.variables, values, strict=True))
        if evaluate(situation.body, world, witness):
            return Run(system, start, tuple(steps), {v.name: x for v, x in witness.items()})
    raise AssertionError(f"the replayed run does not reach {situation.name}")
