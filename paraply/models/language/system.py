"""Transition systems: state, actions, assumptions, invariants and safety.

Unchanged functions need no frame condition. Invariants and safety are universal statements. In a
step, a separate symbol stands for the chosen value of a ``havoc`` function. The weakest
precondition is a substitution (:meth:`Action.post`). Ill-formed declarations raise
:class:`IllFormedError` with file and line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from paraply.models.language.refusal import IllFormedError
from paraply.models.language.response import (
    BOUNDED,
    COVERED,
    ENABLED,
    HELPS,
    Response,
    require_cases,
)
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
    eq,
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
    require_name,
    require_term,
    require_variables,
)

STEPS = frozenset({"initially", "safety", COVERED, BOUNDED, ENABLED, HELPS})
"""Steps of obligations that are no actions."""

Updates = dict[Function, Callable[..., Term | int | bool]]
"""New values as lambdas over arguments."""

Values = dict[Variable, Term]

Written = dict[Function, tuple[tuple[Variable, ...], Term]]
"""Argument variables and new value over the old state."""


def argument(function: Function, position: int) -> Variable:
    """Return an update's variable for one argument."""
    return Variable(f"{function.name}{FRESH}{position}", function.arguments[position])


def arguments(function: Function) -> tuple[Variable, ...]:
    """Return an update's variables for all arguments."""
    return tuple(argument(function, position) for position in range(len(function.arguments)))


def choice_of(function: Function) -> Function:
    """Return the symbol of a function's chosen value."""
    return replace(function, name=function.name + FRESH)


def with_choices(node: Term, havoc: Collection[Function]) -> Term:
    """Replace ``havoc`` functions by chosen symbols."""
    inner = rebuild(node, lambda part: with_choices(part, havoc)) if havoc else node
    if isinstance(inner, Apply) and inner.function in havoc:
        return Apply(choice_of(inner.function), inner.arguments)
    return inner


def as_state(node: Term) -> Term:
    """Replace chosen symbols by their functions."""
    inner = rebuild(node, as_state)
    if isinstance(inner, Apply) and inner.function.name.endswith(FRESH):
        function = replace(inner.function, name=inner.function.name.removesuffix(FRESH))
        return Apply(function, inner.arguments)
    return inner


@dataclass(frozen=True, slots=True)
class Statement:
    """A universal statement: ``body`` for all ``variables``."""

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
    """One atomic step: requires ``guard``, applies ``updates``.

    The environment chooses ``parameters`` and ``havoc`` functions; guard and updates use
    :func:`choice_of` them.
    """

    name: str
    parameters: tuple[Variable, ...]
    guard: Term
    updates: Written
    havoc: tuple[Function, ...] = ()
    meaning: str = ""

    def post(self, node: Term) -> Term:
        """Return the weakest precondition of ``node``."""
        if isinstance(node, Quantified):
            # The values of updates use parameters and argument variables, nothing else.
            node = without_capture(node, [self.parameters])
        inner = rebuild(node, self.post)
        # ``node``, because ``inner`` may have become an application of the new state: ~~f is f.
        if isinstance(node, Apply) and isinstance(inner, Apply) and node.function in self.updates:
            variables, value = self.updates[node.function]
            return substitute(value, dict(zip(variables, inner.arguments, strict=True)))
        return inner


@dataclass(slots=True)
class System:
    """A specification with several readings."""

    name: str
    meaning: str = ""
    functions: list[Function] = field(default_factory=list)
    initially: list[Statement] = field(default_factory=list)
    axioms: list[Statement] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    invariants: list[Statement] = field(default_factory=list)
    safety: list[Statement] = field(default_factory=list)
    covers: list[Statement] = field(default_factory=list)
    """Existential situations that must be reachable."""
    responses: list[Response] = field(default_factory=list)
    """Progress under weak fairness."""

    def state(self, name: str, *sorts: Sort) -> Function:
        """Declare a state variable; the result sort is last."""
        return self._declare(Function(name, tuple(sorts[:-1]), sorts[-1]))

    def rigid(self, name: str, *sorts: Sort) -> Function:
        """Declare an immutable function."""
        return self._declare(Function(name, tuple(sorts[:-1]), sorts[-1], rigid=True))

    def _declare(self, function: Function) -> Function:
        require_function(function, self.functions)
        self.functions.append(function)
        return function

    def starts_with(self, name: str, variables: Sequence[Variable], body: Term) -> None:
        """State an initial condition."""
        self._state(self.initially, Statement(name, tuple(variables), body))

    def assume(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State an assumption; ``meaning`` describes its absence."""
        self._state(self.axioms, Statement(name, tuple(variables), body, meaning))

    def invariant(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State an inductive invariant."""
        self._state(self.invariants, Statement(name, tuple(variables), body, meaning))

    def safe(self, name: str, variables: Sequence[Variable], body: Term, meaning: str) -> None:
        """State a safety property."""
        self._state(self.safety, Statement(name, tuple(variables), body, meaning))

    def cover(self, name: str, variables: Sequence[Variable], body: Term) -> None:
        """State a situation that must be reachable."""
        self._state(self.covers, Statement(name, tuple(variables), body))

    def responds(self, response: Response) -> None:
        """State progress, after the actions that it names."""
        self._require_response(response)
        self.responses.append(response)
        self._require_distinct_claims()

    def action_named(self, name: str) -> Action:
        """Return an action. Raises :class:`IllFormedError`."""
        for action in self.actions:
            if action.name == name:
                return action
        raise IllFormedError(f"{self.name} has no action {name}")

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
        """Add an action with lambdas as updates."""
        written: Written = {}
        for function, value in (updates or {}).items():
            if function in havoc:
                raise IllFormedError(f"{name} both chooses and updates {function.name}")
            written[function] = (arguments(function), term(value(*arguments(function))))
        self.add(Action(name, tuple(parameters), guard, written, tuple(havoc), meaning))

    def add(self, action: Action) -> None:
        """Add an action; ``havoc`` functions become chosen symbols."""
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
        """Raise :class:`IllFormedError` for any ill-formed part."""
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
        for response in self.responses:
            self._require_response(response)
        self._require_distinct_claims()

    @property
    def claims(self) -> list[str]:
        """Return the names of safety statements and responses."""
        return [s.name for s in self.safety] + [response.name for response in self.responses]

    def _require_distinct_claims(self) -> None:
        _require_distinct(self.claims)

    def _require_response(self, response: Response) -> None:
        require_name(response.name)
        require_variables(response.variables, self.functions)
        require_cases(response)
        formulas = [response.pending, response.goal, *(case.condition for case in response.cases)]
        for formula in formulas:
            require_formula(formula, response.variables, self.functions)
        for measure in response.rank:
            for end in (measure.top, measure.bottom):
                require_term(end, response.variables, self.functions)
        for name in response.fair:
            if self.action_named(name).havoc:
                raise IllFormedError(f"{response.name} calls {name} fair, which chooses functions")
        for case in response.cases:
            require_name(case.name)
            action = self.action_named(case.action)
            wanted = [parameter.sort for parameter in action.parameters]
            if [argument.sort for argument in case.arguments] != wanted:
                raise IllFormedError(f"{case.name} gives {action.name} other arguments")
            for argument in case.arguments:
                require_term(argument, response.variables, self.functions)

    def _require_statement(self, statement: Statement, *, rigid: bool) -> None:
        usable = [function for function in self.functions if function.rigid or not rigid]
        require_variables(statement.variables, self.functions)
        require_formula(statement.body, statement.variables, usable)

    def _require_action(self, action: Action) -> None:
        if action.name in STEPS:
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
    """A proof obligation: ``hypotheses`` imply ``goal``."""

    system: str
    statement: str
    step: str
    """An action, ``initially``, ``safety`` or a step of a response."""
    hypotheses: tuple[Term, ...]
    goal: Term
    constants: tuple[Variable, ...]
    """Free parameters and Skolem constants."""
    havoc: tuple[Function, ...] = ()
    claim: str = ""
    """The safety statement or response that needs it; empty for induction."""
    own: Term | None = None
    """The statement itself, if the step changes nothing of it, so that it follows from itself."""

    def focused(self) -> Obligation:
        """Return it with the hypotheses that solvers are given: where nothing changes, one."""
        return self if self.own is None else replace(self, hypotheses=(self.own,))

    def shuffled(self, order: int) -> Obligation:
        """Shuffle hypotheses and negated goal; 0 keeps the order."""
        if order == 0:
            return self
        asserted = [*self.focused().hypotheses, negate(self.goal)]
        Random(order).shuffle(asserted)
        return replace(self, hypotheses=tuple(asserted), goal=FALSE, own=None)


def skolem(
    variables: tuple[Variable, ...],
) -> tuple[dict[Variable, Term], tuple[Variable, ...]]:
    """Return a fresh constant per variable."""
    fresh = tuple(Variable(SKOLEM + v.name, v.sort) for v in variables)
    return dict(zip(variables, fresh, strict=True)), fresh


def obligations(system: System) -> list[Obligation]:
    """Return all obligations of induction, safety and progress."""
    system.require_well_formed()
    found: list[Obligation] = []
    axioms = tuple(axiom.closed for axiom in system.axioms)
    inductive = tuple(statement.closed for statement in system.invariants)
    start = tuple(statement.closed for statement in system.initially)
    for statement in system.invariants:
        values, fresh = skolem(statement.variables)
        goal = substitute(statement.body, values)
        found.append(Obligation(
            system.name, statement.name, "initially", axioms + start, goal, fresh))  # fmt: skip
        for action in system.actions:
            after = action.post(goal)
            found.append(Obligation(
                system.name, statement.name, action.name, (*axioms, *inductive, action.guard),
                after, (*fresh, *action.parameters), action.havoc,
                own=statement.closed if after == goal else None))  # fmt: skip
    for statement in system.safety:
        values, fresh = skolem(statement.variables)
        found.append(Obligation(
            system.name, statement.name, "safety", axioms + inductive,
            substitute(statement.body, values), fresh, claim=statement.name))  # fmt: skip
    for response in system.responses:
        found += _response_obligations(system, named_apart(response), axioms + inductive)
    return found


def named_apart(response: Response) -> Response:
    """Return the response about Skolem constants, which no parameter is named like."""
    values, fresh = skolem(response.variables)

    def read(node: Term) -> Term:
        return substitute(node, values)

    rank = tuple(replace(m, top=read(m.top), bottom=read(m.bottom)) for m in response.rank)
    cases = tuple(
        replace(c, condition=read(c.condition), arguments=tuple(map(read, c.arguments)))
        for c in response.cases
    )
    return replace(response, variables=fresh, pending=read(response.pending),
                   goal=read(response.goal), rank=rank, cases=cases)  # fmt: skip


def given_to(action: Action) -> tuple[Variable, ...]:
    """Return constants for the arguments of a helpful action."""
    return tuple(Variable(SKOLEM + p.name + FRESH, p.sort) for p in action.parameters)


def _response_obligations(
    system: System, response: Response, known: tuple[Term, ...]
) -> Iterator[Obligation]:
    known = (*known, *response.open)
    fresh = response.variables

    def obligation(part: str, step: str, hypotheses: Iterable[Term], goal: Term,
                   constants: tuple[Variable, ...] = (), action: Action | None = None
                   ) -> Obligation:  # fmt: skip
        return Obligation(
            system.name, part, step, (*known, *hypotheses), goal, (*fresh, *constants),
            action.havoc if action else (), claim=response.name)  # fmt: skip

    yield obligation(response.name, COVERED, (), response.covered())
    yield obligation(response.name, BOUNDED, (), response.bounded())
    for case in response.cases:
        part, helpful = response.part(case), system.action_named(case.action)
        given = given_to(helpful)
        values: Values = dict(zip(helpful.parameters, given, strict=True))
        same = (eq(g, a) for g, a in zip(given, case.arguments, strict=True))
        here = (case.condition, *same)

        def helped(node: Term, action: Action = helpful, values: Values = values) -> Term:
            return substitute(action.post(node), values)

        yield obligation(part, ENABLED, here, substitute(helpful.guard, values), given)
        yield obligation(part, HELPS, here, response.helped(helped), given)
        for action in system.actions:
            yield obligation(
                part, action.name, (*here, action.guard),
                response.not_worse(case, given, action.post), (*given, *action.parameters),
                action)  # fmt: skip
