"""Bounded model checking for shortest runs.

It expands quantifiers over a scope, unrolls transitions, and replays each run concretely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    """An action, its parameters and its result."""

    action: str
    parameters: dict[str, Value]
    world: World


@dataclass(frozen=True, slots=True)
class Run:
    """A run; ``workload`` contains the rigid functions."""

    system: System
    start: World
    steps: tuple[Step, ...]
    witness: dict[str, Value]
    loop: int | None = None
    """The number of last steps that repeat for ever; None for a run to a breach."""


MARK = "!"
"""Marks a scope's elements in SMT-LIB text."""


def constant_of(sort: Sort, value: Value) -> Term:
    """Return the term for a value."""
    return Literal(value) if isinstance(value, int) else Variable(f"{value}{MARK}", sort)


def expand(node: Term, scope: Scope) -> Term:
    """Return ``node`` without quantifiers."""
    if isinstance(node, Quantified):
        parts = [
            expand(substitute(node.body, {node.variable: constant_of(node.variable.sort, value)}),
                   scope)
            for value in scope.values(node.variable.sort)
        ]  # fmt: skip
        return conj(*parts) if node.universal else disj(*parts)
    return rebuild(node, lambda child: expand(child, scope))


class Unrolling:
    """All runs of a length as SMT-LIB text."""

    def __init__(self, system: System, scope: Scope, capacity: Function | None) -> None:
        self.system = system
        self.scope = scope
        self.capacity = capacity
        """Bounded, so lookups stay inside the tables."""
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
        """Return a moment's declarations and bounds."""
        lines = []
        for function in self._moving:
            lines.append(self._declare(function, f"{function.name}@{moment}"))
            lines += self._inside(function, moment)
        if self.capacity is not None:
            inside = self.capacity() <= self.scope.high
            lines.append(f"(assert {text(at(inside, moment))})")
        return lines

    def _inside(self, function: Function, moment: int) -> list[str]:
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
        """Return the assertions of moment 0."""
        return self.first(self.system.initially)

    def first(self, statements: Iterable[Statement]) -> list[str]:
        """Return that statements are true at moment 0."""
        return [f"(assert {text(at(expand(one.closed, self.scope), 0))})" for one in statements]

    def choices(self, action: Action) -> Iterator[dict[Variable, Value]]:
        """Yield every choice of parameters."""
        values = [self.scope.values(parameter.sort) for parameter in action.parameters]
        for chosen in product(*values):
            yield dict(zip(action.parameters, chosen, strict=True))

    def transition(self, moment: int) -> list[str]:
        """Return that an action happens after ``moment``."""
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
        """Return that the situation occurs at ``moment``."""
        body: Term = situation.body
        for variable in situation.variables:
            body = Quantified(False, variable, body)
        return f"(assert {text(at(expand(body, self.scope), moment))})"


def breach_of(statement: Statement) -> Statement:
    """Return a universal statement's breach."""
    return Statement(f"not {statement.name}", statement.variables, negate(statement.body))


def replayed(
    system: System,
    scope: Scope,
    tables: list[dict[str, Table]],
    taken: list[tuple[int, int]],
    situation: Statement,
    unrolling: Unrolling,
) -> Run:
    """Return the run after a concrete check.

    ``tables`` has the solver's tables per moment, ``taken`` action and choice per step.
    """
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
