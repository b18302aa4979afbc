"""Decide whether a recorded run is a run of a specification.

The search tries all unobserved parameters and any number of hidden actions, and tracks every
fitting world. So a refusal excludes every run of the specification.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Scope, Table, Value, World, choosing, evaluate
from paraply.models.language.system import Action, Statement


class TooManyWorldsError(ValueError):
    """More worlds fit to what was observed than are followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One observed step with its known parameters.

    Attributes:
        actions: possible actions; unknown names do not count.
        parameters: values by name, ignored by actions without it.
        chosen: tables of the environment's choices (``Action.havoc``).
        seen: known values afterwards: function, arguments, value.
    """

    actions: tuple[str, ...]
    parameters: Mapping[str, Value] = field(default_factory=dict)
    chosen: Mapping[str, Table] = field(default_factory=dict)
    seen: tuple[tuple[str, tuple[Value, ...], Value], ...] = ()

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{' or '.join(self.actions)}({given})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A recorded run after abstraction.

    Attributes:
        start: workload and non-default initial values.
        hidden: unobservable actions without choices.
        possible_afterwards: actions that may follow the run, though unobserved.
        ghosts: functions that no guard reads; without a statement, worlds may differ in them.
        complete: actions of which nothing is missing.
        ended: why the reading ends before the history does, or empty.
    """

    scope: Scope
    start: Mapping[str, Table]
    steps: tuple[RecordedStep, ...]
    hidden: frozenset[str] = frozenset()
    possible_afterwards: frozenset[str] = frozenset()
    ghosts: frozenset[str] = frozenset()
    complete: frozenset[str] = frozenset()
    ended: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a run that is followed by itself."""

    name: str
    recorded: Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """How far a specification follows a recorded run.

    Attributes:
        steps: number of allowed steps.
        refused: the first step not allowed.
        broken_after: number of steps before the first breach.
        broken: the statement that it breaks.
        broken_for: the breach's values of the statement's variables.
        worlds: those that fit before the refused step, or after the last.
    """

    steps: int
    refused: RecordedStep | None
    broken_after: int | None = None
    broken: str = ""
    broken_for: Mapping[str, Value] = field(default_factory=dict)
    worlds: tuple[World, ...] = ()


WORLDS_MAX = 20_000
"""More simultaneous worlds raise ``ValueError``."""
UNRECORDED_MAX = 1_000
"""The same for worlds with steps that are not recorded."""


def follow(reading: CompiledReading, recorded: Recorded, *statements: Statement) -> Followed:
    """Follow a run, and find the first breach of ``statements``.

    Raises ``ValueError`` for a wrong initial state or too many worlds.
    """
    start = World(recorded.scope, dict(recorded.start))
    system = reading.system
    for given in (*system.initially, *system.axioms):
        if not reading.holds(given.closed, start):
            raise ValueError(f"{system.name}: {given.name} does not hold at the start")
    ignored = frozenset[str]() if statements else recorded.ghosts
    telling = [f.name for f in system.functions if not f.rigid and f.name not in ignored]
    hidden = [action for action in system.actions if action.name in recorded.hidden]
    worlds = _closed(reading, [start], hidden, telling)
    followed = _judged(reading, statements, Followed(steps=0, refused=None), worlds)
    for number, step in enumerate(recorded.steps, start=1):
        after = _closed(reading, _stepped(reading, worlds, step), hidden, telling)
        if not after:
            return replace(followed, refused=step, worlds=tuple(worlds))
        worlds = after
        followed = _judged(reading, statements, replace(followed, steps=number), worlds)
    if recorded.possible_afterwards:
        allowed = recorded.hidden | recorded.possible_afterwards
        later = [action for action in system.actions if action.name in allowed]
        followed = _judged(reading, statements, followed, _closed(reading, worlds, later, telling))
    return replace(followed, worlds=tuple(worlds))


def unrecorded(
    reading: CompiledReading, recorded: Recorded, followed: Followed
) -> tuple[RecordedStep, ...]:
    """Return the fewest steps that no record shows and that would allow the refused step, or none.

    Raises ``ValueError`` for too many worlds.
    """
    if followed.refused is None:
        return ()
    names = [f.name for f in reading.system.functions if not f.rigid]
    missing = [one for one in reading.system.actions if one.name not in recorded.complete]
    pending = deque((world, tuple[RecordedStep, ...]()) for world in followed.worlds)
    found: set[object] = set()
    while pending:
        world, taken = pending.popleft()
        if any(True for _ in _stepped(reading, [world], followed.refused)):
            return taken
        for action in missing:
            for bound in () if action.havoc else reading.enabled(action.name, world, {}):
                after = reading.step(action.name, world, bound)
                key = _key(after, names)
                if key in found or _is_recorded(reading, recorded, action, bound, after):
                    continue
                if len(found) >= UNRECORDED_MAX:
                    raise TooManyWorldsError(
                        f"{followed.refused} is not allowed, unless unrecorded steps explain it"
                    )
                found.add(key)
                step = RecordedStep(actions=(action.name,), parameters=bound)
                pending.append((after, (*taken, step)))
    return ()


def _is_recorded(
    reading: CompiledReading, recorded: Recorded, action: Action,
    bound: Mapping[str, Value], after: World,
) -> bool:  # fmt: skip
    return any(
        action.name in step.actions
        and all(bound.get(name, value) == value for name, value in step.parameters.items())
        and _fits(reading, step, after)
        for step in recorded.steps
    )


def _stepped(
    reading: CompiledReading, worlds: Iterable[World], step: RecordedStep
) -> Iterator[World]:
    actions = [action for action in reading.system.actions if action.name in step.actions]
    for before in worlds:
        world = choosing(before, step.chosen)
        for action in actions:
            for after in _taken(reading, world, action, step.parameters):
                if _fits(reading, step, after):
                    yield after


def _fits(reading: CompiledReading, step: RecordedStep, after: World) -> bool:
    functions = {function.name: function for function in reading.system.functions}
    return all(after.lookup(functions[f], at) == value for f, at, value in step.seen)


def _taken(
    reading: CompiledReading, world: World, action: Action, known: Mapping[str, Value]
) -> Iterator[World]:
    for bound in reading.enabled(action.name, world, known):
        yield reading.step(action.name, world, bound)


def _closed(
    reading: CompiledReading, worlds: Iterable[World], hidden: list[Action], telling: list[str]
) -> list[World]:
    found: dict[object, World] = {}
    pending = list(worlds)
    if not hidden and len(pending) < 2:
        return pending
    while pending:
        world = pending.pop()
        key = _key(world, telling)
        if key in found:
            continue
        if len(found) >= WORLDS_MAX:
            raise TooManyWorldsError(f"{reading.system.name}: more than {WORLDS_MAX:,} worlds fit")
        found[key] = world
        for action in hidden:
            pending.extend(_taken(reading, world, action, {}))
    return list(found.values())


def _key(world: World, telling: list[str]) -> object:
    return frozenset(
        (name, arguments, value)
        for name in telling
        for arguments, value in world.tables.get(name, {}).items()
        if value is not False and value != 0 and value != ""
    )


def _judged(
    reading: CompiledReading,
    statements: Iterable[Statement],
    followed: Followed,
    worlds: Iterable[World],
) -> Followed:
    if followed.broken_after is not None:
        return followed
    for statement, world in product(statements, worlds):
        if reading.holds(statement.closed, world):
            continue
        for values in product(*(world.scope.values(v.sort) for v in statement.variables)):
            bound = dict(zip(statement.variables, values, strict=True))
            if not evaluate(statement.body, world, bound):
                named = {variable.name: value for variable, value in bound.items()}
                after = followed.steps
                return replace(
                    followed, broken_after=after, broken=statement.name, broken_for=named
                )
    return followed
