"""Transition systems: state, actions with guard and effect, assumptions, invariants, safety.

An action's effect is given as one lambda per changed function; what is not mentioned stays as it
is, so there are no frame conditions to forget. Invariants and safety are universal statements over
named variables. A function that the environment chooses anew (``havoc``) is, while the step is
taken, a symbol of its own, and the function has that value afterwards. The weakest precondition of
a statement is a substitution (:meth:`Action.post`).

Everything is checked when it is declared; :class:`IllFormedError` has the file and line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from paraply.models.language.refusal import IllFormedError
from paraply.models.language.terms import (
    FALSE,
    FRESH,
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
    without_capture,
)
from paraply.models.language.well_formed import (
    SKOLEM,
    require_formula,
    require_function,
    require_term,
    require_variables,
)

Updates = dict[Function, Callable[..., Term | int | bool]]
"""What an action changes: per function, the new value as a lambda over its arguments."""

Written = dict[Function, tuple[tuple[Variable, ...], Term]]
"""What an action changes: per function, argument variables and new value over the old state."""


def argument(function: Function, position: int) -> Variable:
    """Return the variable that an update uses for one of a function's arguments."""
    return Variable(f"{function.name}{FRESH}{position}", function.arguments[position])


def arguments(function: Function) -> tuple[Variable, ...]:
    """Return the variables that an update uses for a function's arguments."""
    return tuple(argument(function, position) for position in range(len(function.arguments)))


def choice_of(function: Function) -> Function:
    """Return the symbol for the value that the environment chooses for ``function`` in a step."""
    return replace(function, name=function.name + FRESH)


def with_choices(node: Term, havoc: Collection[Function]) -> Term:
    """Return ``node`` with the chosen symbol for each function of ``havoc``."""
    inner = rebuild(node, lambda part: with_choices(part, havoc)) if havoc else node
    if isinstance(inner, Apply) and inner.function in havoc:
        return Apply(choice_of(inner.function), inner.arguments)
    return inner


def as_state(node: Term) -> Term:
    """Return ``node`` with the functions themselves for the symbols of their chosen values."""
    inner = rebuild(node, as_state)
    if isinstance(inner, Apply) and inner.function.name.endswith(FRESH):
        function = replace(inner.function, name=inner.function.name.removesuffix(FRESH))
        return Apply(function, inner.arguments)
    return inner


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
    set of purged rows, say): guard and updates use :func:`choice_of` them, and ``updates`` sets
    them to it.
    """

    name: str
    parameters: tuple[Variable, ...]
    guard: Term
    updates: Written
    havoc: tuple[Function, ...] = ()
    meaning: str = ""

    def post(self, node: Term) -> Term:
        """Return ``node`` of the state after this action, written over the state before it."""
        if isinstance(node, Quantified):
            # The values of updates use parameters and argument variables, nothing else.
            node = without_capture(node, [self.parameters])
        inner = rebuild(node, self.post)
        if isinstance(inner, Apply) and inner.function in self.updates:
            variables, value = self.updates[inner.function]
            return substitute(value, dict(zip(variables, inner.arguments, strict=True)))
        return inner


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
        require_function(function, self.functions)
        self.functions.append(function)
        return function

    def starts_with(self, name: str, variables: Sequence[Variable], body: Term) -> None:
        """State what is true initially."""
        self._state(self.initially, Statement(name, tuple(variables), body))

    def assume(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State an assumption about rigid functions; ``meaning`` says what breaks without it."""
        self._state(self.axioms, Statement(name, tuple(variables), body, meaning))

    def invariant(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State an inductive invariant with its one-line meaning."""
        self._state(self.invariants, Statement(name, tuple(variables), body, meaning))

    def safe(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State what is to be proved; it need not be inductive by itself."""
        self._state(self.safety, Statement(name, tuple(variables), body, meaning))

    def cover(self, name: str, variables: Sequence[Variable], body: Term) -> None:
        """State a situation that must be reachable, or the proofs say nothing."""
        self._state(self.covers, Statement(name, tuple(variables), body))

    def _state(self, stated: list[Statement], statement: Statement) -> None:
        self._require_statement(statement, rigid=stated is self.axioms)
        stated.append(statement)
        _require_distinct(one.name for one in stated)

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
        written: Written = {}
        for function, value in (updates or {}).items():
            if function in havoc:
                raise IllFormedError(f"{name} both chooses and updates {function.name}")
            written[function] = (arguments(function), term(value(*arguments(function))))
        self.add(Action(name, tuple(parameters), guard, written, tuple(havoc), meaning))

    def add(self, action: Action) -> None:
        """Add an action in which functions of ``havoc`` stand for the values chosen for them."""
        written: Written = {
            function: (variables, with_choices(value, action.havoc))
            for function, (variables, value) in action.updates.items()
        }
        for function in action.havoc:
            written[function] = (arguments(function), choice_of(function)(*arguments(function)))
        guard = with_choices(action.guard, action.havoc)
        action = replace(action, guard=guard, updates=written)
        self._require_action(action)
        self.actions.append(action)
        _require_distinct(one.name for one in self.actions)

    def require_well_formed(self) -> None:
        """Raise :class:`IllFormedError` if some part, however it was added, is ill-formed."""
        known: list[Function] = []
        for function in self.functions:
            require_function(function, known)
            known.append(function)
        for stated in (self.initially, self.axioms, self.invariants, self.safety, self.covers):
            for statement in stated:
                self._require_statement(statement, rigid=stated is self.axioms)
            _require_distinct(one.name for one in stated)
        for action in self.actions:
            self._require_action(action)
        _require_distinct(one.name for one in self.actions)

    def _require_statement(self, statement: Statement, *, rigid: bool) -> None:
        usable = [function for function in self.functions if function.rigid or not rigid]
        require_variables(statement.variables, self.functions)
        require_formula(statement.body, statement.variables, usable)

    def _require_action(self, action: Action) -> None:
        if action.name in ("initially", "safety"):
            raise IllFormedError(f"no action may have the name {action.name}")
        require_variables(action.parameters, self.functions)
        state = {function for function in self.functions if not function.rigid}
        usable = {*self.functions, *map(choice_of, action.havoc)}
        require_formula(action.guard, action.parameters, usable)
        for function in (*action.updates, *action.havoc):
            if function not in state:
                raise IllFormedError(f"{action.name} changes {function.name}, which is no state")
        for function, (variables, value) in action.updates.items():
            if variables != arguments(function) or value.sort != function.result:
                raise IllFormedError(f"{action.name} changes {function.name} to another sort")
            require_term(value, (*variables, *action.parameters), usable)
        for function in action.havoc:
            chosen = (arguments(function), choice_of(function)(*arguments(function)))
            if action.updates.get(function) != chosen:
                raise IllFormedError(f"{action.name} both chooses and updates {function.name}")


def _require_distinct(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise IllFormedError(f"{name} is stated twice")
        seen.add(name)


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


def skolem(statement: Statement) -> tuple[dict[Variable, Term], tuple[Variable, ...]]:
    """Return a fresh constant for each variable of a statement."""
    fresh = tuple(Variable(SKOLEM + v.name, v.sort) for v in statement.variables)
    return dict(zip(statement.variables, fresh, strict=True)), fresh


def obligations(system: System) -> list[Obligation]:
    """Return everything that makes the safety statements true in every reachable state."""
    system.require_well_formed()
    found: list[Obligation] = []
    axioms = tuple(axiom.closed for axiom in system.axioms)
    inductive = tuple(statement.closed for statement in system.invariants)
    start = tuple(statement.closed for statement in system.initially)
    for statement in system.invariants:
        values, fresh = skolem(statement)
        goal = substitute(statement.body, values)
        found.append(Obligation(
            system.name, statement.name, "initially", axioms + start, goal, fresh))  # fmt: skip
        for action in system.actions:
            found.append(Obligation(
                system.name, statement.name, action.name, (*axioms, *inductive, action.guard),
                action.post(goal), (*fresh, *action.parameters), action.havoc))  # fmt: skip
    for statement in system.safety:
        values, fresh = skolem(statement)
        found.append(Obligation(
            system.name, statement.name, "safety", axioms + inductive,
            substitute(statement.body, values), fresh))  # fmt: skip
    return found
