"""Transition systems: state, actions with guard and effect, assumptions, invariants, safety.

An action's effect is given as one lambda per changed function; what is not mentioned stays as it
is, so there are no frame conditions to forget. Invariants and safety are universal statements over
named variables. The post-state reading of a statement is a substitution (the weakest precondition).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from paraply.models.language.terms import (
    FALSE,
    TRUE,
    Apply,
    Function,
    Quantified,
    Sort,
    Term,
    Variable,
    forall_many,
    negate,
    rebuild,
    substitute,
    term,
)

Updates = dict[Function, Callable[..., Term | int | bool]]
"""What an action changes: per function, the new value as a lambda over its arguments."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A named universal statement about one state: for all ``variables``, ``body``."""

    name: str
    variables: tuple[Variable, ...]
    body: Term
    meaning: str = ""

    @property
    def closed(self) -> Term:
        """Return the statement with its quantifiers."""
        return forall_many(self.variables, self.body)


@dataclass(frozen=True, slots=True)
class Action:
    """One atomic step: it may happen where ``guard`` holds and then changes ``updates``.

    ``parameters`` are chosen by the environment; ``havoc`` are functions chosen anew (an arbitrary
    set of purged rows, say). An update is (argument variables, new value over the old state).
    """

    name: str
    parameters: tuple[Variable, ...]
    guard: Term
    updates: dict[Function, tuple[tuple[Variable, ...], Term]]
    havoc: tuple[Function, ...] = ()
    meaning: str = ""

    def post(self, node: Term) -> Term:
        """Return ``node`` of the state after this action, written over the state before it.

        Raises ``ValueError`` where ``node`` quantifies over the name of a parameter, which would
        then be taken for that variable.
        """

        def visit(inner: Term) -> Term:
            return self.post(inner)

        if isinstance(node, Quantified) and node.variable in self.parameters:
            raise ValueError(f"{self.name} has a parameter {node.variable.name}: name it apart")
        if isinstance(node, Apply) and node.function in self.updates:
            variables, value = self.updates[node.function]
            arguments = tuple(self.post(argument) for argument in node.arguments)
            return substitute(value, dict(zip(variables, arguments, strict=True)))
        return rebuild(node, visit)


@dataclass(slots=True)
class System:
    """A specification: written once, read symbolically, over a small scope, or concretely."""

    name: str
    meaning: str = ""
    functions: list[Function] = field(default_factory=list)
    initially: list[Statement] = field(default_factory=list)
    axioms: list[Statement] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    invariants: list[Statement] = field(default_factory=list)
    safety: list[Statement] = field(default_factory=list)
    covers: list[Statement] = field(default_factory=list)
    """Situations that must be reachable; the body is existential over the variables."""

    def state(self, name: str, *sorts: Sort) -> Function:
        """Declare a state variable: argument sorts, then the result sort."""
        return self._declare(Function(name, tuple(sorts[:-1]), sorts[-1]))

    def rigid(self, name: str, *sorts: Sort) -> Function:
        """Declare a function that no action changes: part of the arbitrary workload."""
        return self._declare(Function(name, tuple(sorts[:-1]), sorts[-1], rigid=True))

    def _declare(self, function: Function) -> Function:
        if any(known.name == function.name for known in self.functions):
            raise ValueError(f"{self.name}: {function.name} is declared twice")
        self.functions.append(function)
        return function

    def starts_with(self, name: str, variables: Sequence[Variable], body: Term) -> None:
        """State what is true initially."""
        self.initially.append(Statement(name, tuple(variables), body))

    def assume(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State an assumption about rigid functions; ``meaning`` says what breaks without it."""
        self.axioms.append(Statement(name, tuple(variables), body, meaning))

    def invariant(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State an inductive invariant with its one-line meaning."""
        self.invariants.append(Statement(name, tuple(variables), body, meaning))

    def safe(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State what is to be proved; it need not be inductive by itself."""
        self.safety.append(Statement(name, tuple(variables), body, meaning))

    def cover(self, name: str, variables: Sequence[Variable], body: Term) -> None:
        """State a situation that must be reachable, or the proofs say nothing."""
        self.covers.append(Statement(name, tuple(variables), body))

    def action(
        self,
        name: str,
        parameters: Sequence[Variable] = (),
        guard: Term = TRUE,
        updates: Updates | None = None,
        havoc: Sequence[Function] = (),
        meaning: str = "",
    ) -> None:
        """Add an action; each update is a lambda over the function's arguments."""
        written: dict[Function, tuple[tuple[Variable, ...], Term]] = {}
        for function, value in (updates or {}).items():
            if function.rigid:
                raise ValueError(f"{self.name}.{name} changes the rigid {function.name}")
            variables = tuple(
                Variable(f"{function.name}_{position}", sort)
                for position, sort in enumerate(function.arguments)
            )
            written[function] = (variables, term(value(*variables)))
        self.actions.append(Action(name, tuple(parameters), guard, written, tuple(havoc), meaning))


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to prove: ``hypotheses`` imply ``goal``; a cell (statement, action) of a matrix."""

    system: str
    statement: str
    step: str
    """An action's name, ``initially`` or ``safety``."""
    hypotheses: tuple[Term, ...]
    goal: Term
    constants: tuple[Variable, ...]
    """Parameters and Skolem constants that occur free."""
    havoc: tuple[Function, ...] = ()

    def shuffled(self, order: int) -> Obligation:
        """Return the same question with what is asserted in another order; 0 keeps the order.

        The negated goal is shuffled among the hypotheses, so that it is not always the last.
        """
        if order == 0:
            return self
        asserted = [*self.hypotheses, negate(self.goal)]
        Random(order).shuffle(asserted)
        return replace(self, hypotheses=tuple(asserted), goal=FALSE)


def _skolem(statement: Statement) -> tuple[dict[Variable, Term], tuple[Variable, ...]]:
    """Return a fresh constant for each variable of a statement."""
    fresh = tuple(
        Variable(f"sk_{variable.name}", variable.sort) for variable in statement.variables
    )
    return dict(zip(statement.variables, fresh, strict=True)), fresh


def obligations(system: System) -> list[Obligation]:
    """Return everything that makes the safety statements true in every reachable state."""
    found: list[Obligation] = []
    axioms = tuple(axiom.closed for axiom in system.axioms)
    inductive = tuple(statement.closed for statement in system.invariants)
    start = tuple(statement.closed for statement in system.initially)
    for statement in system.invariants:
        values, fresh = _skolem(statement)
        goal = substitute(statement.body, values)
        found.append(Obligation(
            system.name, statement.name, "initially", axioms + start, goal, fresh))  # fmt: skip
        for action in system.actions:
            found.append(Obligation(
                system.name, statement.name, action.name, (*axioms, *inductive, action.guard),
                action.post(goal), (*fresh, *action.parameters), action.havoc))  # fmt: skip
    for statement in system.safety:
        values, fresh = _skolem(statement)
        found.append(Obligation(
            system.name, statement.name, "safety", axioms + inductive,
            substitute(statement.body, values), fresh))  # fmt: skip
    return found
