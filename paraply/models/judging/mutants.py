"""Generate faulty twins of a system, each with one small change.

A change weakens, strengthens or rewrites a guard, drops, rewrites or swaps updates, fixes a choice
of the environment, or drops or rewrites an initial condition or an assumption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from paraply.models.language.smtlib import text
from paraply.models.language.system import Action, Statement, System, arguments, choice_of
from paraply.models.language.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    And,
    Apply,
    Compare,
    Equal,
    Function,
    Ite,
    Literal,
    Not,
    Or,
    Plus,
    Quantified,
    Term,
    Variable,
    conj,
    conjuncts,
    disj,
    eq,
    negate,
    parts_of,
)

KINDS = {
    "guard dropped": "a condition of a guard is left out",
    "guard changed": "one part of a guard is another one",
    "guard added": "a guard asks for more (over-restriction)",
    "action dropped": "an action never happens (over-restriction)",
    "update dropped": "a state variable keeps its value",
    "update changed": "one part of a new value is another one",
    "updates swapped": "two state variables get each other's new value",
    "choice dropped": "what the environment chooses stays as it is (over-restriction)",
    "start dropped": "an initial condition is left out",
    "start changed": "one part of an initial condition is another one",
    "assumption dropped": "an assumption is left out",
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A system with one change; ``name`` is unique within the original system."""

    kind: str
    place: str
    """The action or statement."""
    what: str
    system: System
    number: int = 1

    @property
    def name(self) -> str:
        """Return kind, place and change."""
        return f"{self.place}: {self.kind}: {self.what}#{self.number}"


def mutants(system: System) -> Iterator[Mutant]:
    """Yield every mutant of a system, without repetitions; all are well-formed."""
    seen: Counter[str] = Counter()
    made: set[tuple[str, object]] = set()
    for mutant, part in _all(system):
        if (mutant.place, part) in made:
            continue
        made.add((mutant.place, part))
        seen[mutant.name] += 1
        yield replace(mutant, number=seen[mutant.name])


def _all(system: System) -> Iterator[tuple[Mutant, object]]:
    for action in system.actions:
        for kind, what, changed in _actions(system, action):
            key = _key(changed)
            if key != _key(action):
                yield Mutant(kind, action.name, what, _with_action(system, changed)), key
    for statement in system.initially:
        left = [one for one in system.initially if one is not statement]
        for kind, what, other in _statements(system, statement):
            stated = left if other is None else [*left, other]
            part = None if other is None else other.body
            yield Mutant(kind, statement.name, what, replace(system, initially=stated)), part
    for statement in system.axioms:
        left = [one for one in system.axioms if one is not statement]
        less = replace(system, axioms=left)
        yield Mutant("assumption dropped", statement.name, statement.name, less), None


def _key(action: Action) -> object:
    return action.guard, tuple(sorted(action.updates.items(), key=lambda update: update[0].name))


def _with_action(system: System, changed: Action) -> System:
    return replace(
        system, actions=[changed if one.name == changed.name else one for one in system.actions]
    )


def _actions(system: System, action: Action) -> Iterator[tuple[str, str, Action]]:
    functions = [*system.functions, *map(choice_of, action.havoc)]
    guards = conjuncts(action.guard) if action.guard != TRUE else ()
    for part in guards:
        kept = conj(*(other for other in guards if other is not part))
        yield "guard dropped", text(part), replace(action, guard=kept)
        for what, other in changes(part, action.parameters, functions):
            guard = conj(*(other if one is part else one for one in guards))
            yield "guard changed", what, replace(action, guard=guard)
    for added in _more(system, action):
        yield "guard added", text(added), replace(action, guard=conj(action.guard, added))
    yield "action dropped", action.name, replace(action, guard=FALSE)
    chosen = {*action.havoc}
    updated = [function for function in action.updates if function not in chosen]
    for function in action.havoc:
        yield "choice dropped", function.name, _fixed(action, function)
    for function in updated:
        variables, value = action.updates[function]
        less = {one: new for one, new in action.updates.items() if one != function}
        yield "update dropped", function.name, replace(action, updates=less)
        for what, other in changes(value, (*variables, *action.parameters), functions):
            new = {**action.updates, function: (variables, other)}
            yield "update changed", f"{function.name}: {what}", replace(action, updates=new)
    for first, second in combinations(updated, 2):
        if (first.arguments, first.result) == (second.arguments, second.result):
            yield "updates swapped", f"{first.name}, {second.name}", _swapped(action, first, second)


def _fixed(action: Action, function: Function) -> Action:
    """Return the action with what ``function`` was before in place of a choice."""

    def before(node: Term) -> Term:
        return _replaced(node, choice_of(function), function)

    return replace(
        action,
        guard=before(action.guard),
        updates={
            one: (variables, before(value))
            for one, (variables, value) in action.updates.items()
            if one != function
        },
        havoc=tuple(one for one in action.havoc if one != function),
    )


def _replaced(node: Term, old: Function, new: Function) -> Term:
    inner = _with_parts(node, [_replaced(part, old, new) for part in parts_of(node)])
    if isinstance(inner, Apply) and inner.function == old:
        return Apply(new, inner.arguments)
    return inner


def _swapped(action: Action, first: Function, second: Function) -> Action:
    def renamed(value: Term, old: Function, new: Function) -> Term:
        names = dict(zip(arguments(old), arguments(new), strict=True))
        return _renamed(value, names)

    updates = dict(action.updates)
    updates[first] = (arguments(first), renamed(action.updates[second][1], second, first))
    updates[second] = (arguments(second), renamed(action.updates[first][1], first, second))
    return replace(action, updates=updates)


def _renamed(node: Term, names: dict[Variable, Variable]) -> Term:
    if isinstance(node, Variable):
        return names.get(node, node)
    return _with_parts(node, [_renamed(part, names) for part in parts_of(node)])


def _more(system: System, action: Action) -> Iterator[Term]:
    """Yield conditions that a guard might ask for: a truth of the state, or another guard's."""
    given = action.parameters
    for function in system.functions:
        if function.result == BOOL:
            for applied in _applications(function, given):
                yield applied
                yield negate(applied)
        elif function.result == INT and not function.rigid:
            for applied in _applications(function, given):
                yield eq(applied, 0)
    for parameter in given:
        if parameter.sort == INT:
            yield eq(parameter, 0)
    for other in system.actions:
        if other.name != action.name and not other.havoc:
            for part in conjuncts(other.guard):
                if part != TRUE and part.free <= {*given}:
                    yield part


def _applications(function: Function, given: Sequence[Variable]) -> Iterator[Term]:
    fitting = [[one for one in given if one.sort == sort] for sort in function.arguments]
    if all(fitting):
        yield function(*(one[0] for one in fitting))


def _statements(
    system: System, statement: Statement
) -> Iterator[tuple[str, str, Statement | None]]:
    parts = conjuncts(statement.body)
    if len(parts) == 1:
        yield "start dropped", statement.name, None
    for part in parts:
        kept = [other for other in parts if other is not part]
        if kept:
            yield "start dropped", text(part), replace(statement, body=conj(*kept))
        for what, other in changes(part, statement.variables, system.functions):
            body = conj(*(other if one is part else one for one in parts))
            yield "start changed", what, replace(statement, body=body)


def changes(
    node: Term, variables: Iterable[Variable], functions: Sequence[Function]
) -> Iterator[tuple[str, Term]]:
    """Yield a description and a term with one part changed.

    ``variables`` are in scope, ``functions`` may stand in for each other.
    """
    here = tuple(variables)
    for other in _at_root(node, here, functions):
        if other != node and other.sort == node.sort:
            yield f"{text(node)} → {text(other)}", other
    inside = (*here, node.variable) if isinstance(node, Quantified) else here
    parts = parts_of(node)
    for number, part in enumerate(parts):
        for what, changed in changes(part, inside, functions):
            new = _with_parts(node, [*parts[:number], changed, *parts[number + 1 :]])
            yield what, new


def _at_root(
    node: Term, variables: Sequence[Variable], functions: Sequence[Function]
) -> Iterator[Term]:
    match node:
        case Literal(value):
            numbers = isinstance(value, int) and not isinstance(value, bool)
            yield from map(Literal, (value + 1, value - 1) if numbers else (not value,))
        case Variable():
            yield from (one for one in variables if one.sort == node.sort)
        case Apply(function, given):
            alike = (function.arguments, function.result)
            for other in functions:
                if (other.arguments, other.result) == alike:
                    yield Apply(other, given)
            if function.result == BOOL:
                yield Not(node)
        case Not(body):
            yield body
        case And(parts):
            yield disj(*parts)
            yield from (conj(*parts[:n], *parts[n + 1 :]) for n in range(len(parts)))
        case Or(parts):
            yield conj(*parts)
            yield from (disj(*parts[:n], *parts[n + 1 :]) for n in range(len(parts)))
        case Ite(condition, then, otherwise):
            yield Ite(condition, otherwise, then)
            yield from (then, otherwise)
        case Equal(left, right):
            yield negate(node)
            if left.sort == INT:
                yield from (left <= right, right <= left)
        case Compare(operator, left, right):
            yield Compare("<" if operator == "<=" else "<=", left, right)
            yield from (Compare(operator, right, left), eq(left, right))
        case Plus(left, constant):
            yield from (left, Plus(left, constant + 1), Plus(left, constant - 1))
        case Quantified(universal, variable, body):
            yield Quantified(not universal, variable, body)


def _with_parts(node: Term, parts: Sequence[Term]) -> Term:
    match node:
        case Apply(function, _):
            return Apply(function, tuple(parts))
        case Not():
            return negate(parts[0])
        case And():
            return conj(*parts)
        case Or():
            return disj(*parts)
        case Equal():
            return eq(*parts)
        case Compare(operator, _, _):
            return Compare(operator, *parts)
        case Ite():
            return Ite(*parts)
        case Plus(_, constant):
            return Plus(parts[0], constant)
        case Quantified(universal, variable, _):
            return Quantified(universal, variable, parts[0])
    return node
