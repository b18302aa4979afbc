"""Forward simulation: proofs about the abstract system transfer to the concrete one.

A joint step has the *concrete* guard, and zero, one or several *abstract* steps. The joint system
records whether these are enabled; coupling invariants prove that they always are.

Source: Lynch and Vaandrager, "Forward and backward simulations" (1995); Abadi and Lamport, "The
existence of refinement mappings" (1991), for what a joint state may remember.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from paraply.models.language.refusal import IllFormedError
from paraply.models.language.system import (
    Action,
    Statement,
    System,
    Written,
    arguments,
    choice_of,
)
from paraply.models.language.terms import (
    BOOL,
    FRESH,
    TRUE,
    And,
    Apply,
    Function,
    Term,
    Variable,
    conj,
    rebuild,
    substitute,
)


class Words:
    """A system's functions by name: ``words.started(p)``."""

    def __init__(self, system: System, prefix: str = "") -> None:
        self._functions = {f.name.removeprefix(prefix): f for f in system.functions}

    def __getattr__(self, name: str) -> Function:
        try:
            return self._functions[name]
        except KeyError:
            raise AttributeError(name) from None

    def of(self, function: Function) -> Function:
        """Return the function of the same name."""
        if function.name.endswith(FRESH):
            return choice_of(self._functions[function.name.removesuffix(FRESH)])
        return self._functions[function.name]

    def told(self, node: Term) -> Term:
        """Translate another system's term."""
        inner = rebuild(node, self.told)
        if isinstance(inner, Apply):
            return Apply(self.of(inner.function), inner.arguments)
        return inner


def renamed(system: System, prefix: str, shared: Sequence[str] = ()) -> System:
    """Prefix names, except of ``shared`` functions."""
    functions = [
        function if function.name in shared else replace(function, name=prefix + function.name)
        for function in system.functions
    ]
    words = Words(replace(system, functions=functions), prefix)

    def stated(statements: list[Statement]) -> list[Statement]:
        return [replace(s, name=prefix + s.name, body=words.told(s.body)) for s in statements]

    def acting(action: Action) -> Action:
        updates: Written = {}
        for function, (before, value) in action.updates.items():
            new = words.of(function)
            filled = substitute(value, dict(zip(before, arguments(new), strict=True)))
            updates[new] = (arguments(new), words.told(filled))
        havoc = tuple(words.of(function) for function in action.havoc)
        return replace(action, guard=words.told(action.guard), updates=updates, havoc=havoc)

    return System(
        prefix + system.name,
        system.meaning,
        functions=functions,
        initially=stated(system.initially),
        axioms=stated(system.axioms),
        actions=[acting(action) for action in system.actions],
        invariants=stated(system.invariants),
    )


def taken(system: System, name: str, *arguments: Term) -> Action:
    """Return an action with terms as parameters."""
    action = next(action for action in system.actions if action.name == name)
    values = dict(zip(action.parameters, arguments, strict=True))
    updates = {f: (at, substitute(value, values)) for f, (at, value) in action.updates.items()}
    return replace(
        action, parameters=(), guard=substitute(action.guard, values), updates=updates
    )  # fmt: skip


def given(action: Action, chosen: Function, value: Callable[..., Term]) -> Action:
    """Replace the environment's choice by ``value``."""
    symbol = choice_of(chosen)
    updates = action.updates.items()
    return replace(
        action,
        guard=with_values(action.guard, symbol, value),
        updates={f: (at, with_values(changed, symbol, value)) for f, (at, changed) in updates},
        havoc=tuple(function for function in action.havoc if function != chosen),
    )


def with_values(node: Term, function: Function, value: Callable[..., Term]) -> Term:
    """Return a term with ``value`` in place of ``function``."""
    inner = rebuild(node, lambda part: with_values(part, function, value))
    if isinstance(inner, Apply) and inner.function == function:
        return value(*inner.arguments)
    return inner


def in_turn(*actions: Action) -> Action:
    """Compose steps; without steps, the identity."""
    whole = Action("", (), TRUE, {})
    for action in actions:
        if not set(whole.havoc).isdisjoint(action.havoc):
            raise IllFormedError("two steps in turn choose the same function")
        later = {
            function: (variables, whole.post(value))
            for function, (variables, value) in action.updates.items()
        }
        whole = replace(
            whole,
            guard=conj(whole.guard, whole.post(action.guard)),
            updates={**whole.updates, **later},
            havoc=(*whole.havoc, *action.havoc),
        )
    return whole


class Simulation:
    """A joint system under construction, in ``system``."""

    def __init__(self, name: str, meaning: str, concrete: System, abstract: System) -> None:
        self.system = System(name, meaning)
        for part in (concrete, abstract):
            self.system.functions += [f for f in part.functions if f not in self.system.functions]
            self.system.initially += part.initially
            self.system.axioms += part.axioms
        self.matched = self.system.state("matched", BOOL)
        self.system.starts_with("nothing_to_match", (), self.matched())

    def step(
        self,
        name: str,
        parameters: Sequence[Variable],
        concrete: Action,
        *abstract: Action,
        agreed: Term = TRUE,
        remembered: Written | None = None,
        meaning: str,
    ) -> None:
        """Add a joint step.

        ``agreed`` equates transactions and states further assumptions. ``remembered`` updates the
        joint state alone.
        """
        matching = in_turn(*abstract)
        updates = {**concrete.updates, **matching.updates, **(remembered or {})}
        if matching.guard != TRUE:
            updates[self.matched] = ((), conj(self.matched(), matching.guard))
        havoc = tuple(dict.fromkeys((*concrete.havoc, *matching.havoc)))
        asked = conj(concrete.guard, agreed)
        once = conj(*dict.fromkeys(asked.parts)) if isinstance(asked, And) else asked
        self.system.add(Action(name, tuple(parameters), once, updates, havoc, meaning))

    def claim(self) -> None:
        """State that every step is matched, inductively."""
        meaning = "whenever the leading model takes a step, the other can take the steps of its own"
        self.system.safe("every_step_is_matched", (), self.matched(), meaning)
        self.system.invariant("every_step_is_matched", (), self.matched(), meaning)

    def keep(self, part: System, names: Sequence[str]) -> None:
        """Add invariants of one system."""
        known = {statement.name: statement for statement in part.invariants}
        self.system.invariants += [known[name] for name in names]
