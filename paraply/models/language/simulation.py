"""Forward simulation: what one system does another can do, so what is proved of it carries over.

Two systems are run side by side as one. Each step of the *concrete* one comes with the steps of the
*abstract* one that match it: one, several in turn, or none. The guard of such a joint step is the
concrete guard; whether the abstract steps are possible is not asked for but noted, and that it is
always noted has to be proved. Invariants couple the two states: it is an induction like any other.

Nothing is written twice: guards and effects are those of the two systems. Source: Lynch and
Vaandrager, "Forward and backward simulations" (1995); Abadi and Lamport, "The existence of
refinement mappings" (1991), for what a joint state may remember.
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
    """The functions of a system by their names: ``words.started(p)``."""

    def __init__(self, system: System, prefix: str = "") -> None:
        self._functions = {f.name.removeprefix(prefix): f for f in system.functions}

    def __getattr__(self, name: str) -> Function:
        """Return the function; raises ``AttributeError`` where the system has none of that name."""
        try:
            return self._functions[name]
        except KeyError:
            raise AttributeError(name) from None

    def of(self, function: Function) -> Function:
        """Return the function that has the name of one of another system, or its chosen symbol."""
        if function.name.endswith(FRESH):
            return choice_of(self._functions[function.name.removesuffix(FRESH)])
        return self._functions[function.name]

    def told(self, node: Term) -> Term:
        """Return what ``node`` says, of another system, about the functions of the same names."""
        inner = rebuild(node, self.told)
        if isinstance(inner, Apply):
            return Apply(self.of(inner.function), inner.arguments)
        return inner


def renamed(system: System, prefix: str, shared: Sequence[str] = ()) -> System:
    """Return the same system, ``prefix`` before every name but those of ``shared`` functions."""
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
    """Return an action of a system with terms for its parameters."""
    action = next(action for action in system.actions if action.name == name)
    values = dict(zip(action.parameters, arguments, strict=True))
    updates = {f: (at, substitute(value, values)) for f, (at, value) in action.updates.items()}
    return replace(
        action, parameters=(), guard=substitute(action.guard, values), updates=updates
    )  # fmt: skip


def given(action: Action, chosen: Function, value: Callable[..., Term]) -> Action:
    """Return an action in which a function is not for the environment to choose, but ``value``."""
    symbol = choice_of(chosen)

    def told(node: Term) -> Term:
        inner = rebuild(node, told)
        if isinstance(inner, Apply) and inner.function == symbol:
            return value(*inner.arguments)
        return inner

    return replace(
        action,
        guard=told(action.guard),
        updates={f: (at, told(changed)) for f, (at, changed) in action.updates.items()},
        havoc=tuple(function for function in action.havoc if function != chosen),
    )


def in_turn(*actions: Action) -> Action:
    """Return several steps, one after the other, as one; of none, the step that changes nothing."""
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
    """A joint system while it is put together; ``system`` is what it comes to."""

    def __init__(self, name: str, meaning: str, concrete: System, abstract: System) -> None:
        """Declare both states; ``matched`` remembers whether every step so far was matched."""
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

        ``agreed`` says that both are given the same transaction, and what is assumed of the
        concrete system beyond its own guards. ``remembered`` are changes of what only the joint
        state has.
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
        """State that every step is matched, which is inductive with what has been added before."""
        meaning = "whenever the leading model takes a step, the other can take the steps of its own"
        self.system.safe("every_step_is_matched", (), self.matched(), meaning)
        self.system.invariant("every_step_is_matched", (), self.matched(), meaning)

    def keep(self, part: System, names: Sequence[str]) -> None:
        """Take over some of the invariants of one of the two systems."""
        known = {statement.name: statement for statement in part.invariants}
        self.system.invariants += [known[name] for name in names]
