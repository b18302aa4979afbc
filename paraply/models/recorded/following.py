"""Whether a recorded run is a run of a specification, with steps in between that nobody saw.

A record says what was observable: actions, some of their parameters, and values that were seen
afterwards. What it does not say is tried: every value of a parameter that is not given, and any
number of hidden actions (a lock that is taken, a mark that advances) before each step. The worlds
that fit are carried along, so that a refusal means that no run of the specification fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Scope, Table, Value, World, choosing, evaluate
from paraply.models.language.system import Action, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One observed step: one of ``actions``, with the parameters that are known.

    Attributes:
        actions: names of the actions that it may have been; one that a system lacks is none.
        parameters: those that were seen, by name; an action without one of that name ignores it.
        chosen: tables of what the environment chose (``Action.havoc``).
        seen: what a function is known to be afterwards: name, arguments, value.
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
    """A run as an abstraction function reads it.

    Attributes:
        scope: the positions and elements that occur in it.
        start: the workload, and whatever is not a default initially.
        steps: what was observed, in order.
        hidden: actions that leave no trace in a record and choose nothing.
        possible_afterwards: actions that may follow the run, though nobody took them: what a
            replica would be allowed to do.
        ghosts: functions that no guard reads. Worlds that differ in these alone count as one, as
            long as no statement is asked about.
    """

    scope: Scope
    start: Mapping[str, Table]
    steps: tuple[RecordedStep, ...]
    hidden: frozenset[str] = frozenset()
    possible_afterwards: frozenset[str] = frozenset()
    ghosts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """How far a specification follows a recorded run.

    Attributes:
        steps: how many steps it allows.
        refused: the first that it does not allow; None if it allows all.
        broken_after: after how many steps the statement asked about was first false; None if
            never.
        broken_for: values of its variables for which it was.
    """

    steps: int
    refused: RecordedStep | None
    broken_after: int | None = None
    broken_for: Mapping[str, Value] = field(default_factory=dict)


WORLDS_MAX = 20_000
"""More worlds than this at once raise ``ValueError``: the record says too little."""


def follow(
    reading: CompiledReading, recorded: Recorded, statement: Statement | None = None
) -> Followed:
    """Follow a run step by step, and say when ``statement`` is false in some world that fits.

    Raises ``ValueError`` where the run does not begin as the specification does, or where too many
    worlds fit.
    """
    start = World(recorded.scope, dict(recorded.start))
    system = reading.system
    for given in (*system.initially, *system.axioms):
        if not reading.holds(given.closed, start):
            raise ValueError(f"{system.name}: {given.name} does not hold at the start")
    ignored = recorded.ghosts if statement is None else frozenset[str]()
    telling = [f.name for f in system.functions if not f.rigid and f.name not in ignored]
    hidden = [action for action in system.actions if action.name in recorded.hidden]
    worlds = _closed(reading, [start], hidden, telling)
    broken = _breach(reading, statement, worlds)
    after = 0 if broken is not None else None
    for number, step in enumerate(recorded.steps):
        worlds = _closed(reading, _stepped(reading, worlds, step), hidden, telling)
        if not worlds:
            return Followed(steps=number, refused=step, broken_after=after, broken_for=broken or {})
        if broken is None:
            broken = _breach(reading, statement, worlds)
            after = number + 1 if broken is not None else None
    if broken is None and recorded.possible_afterwards:
        allowed = recorded.hidden | recorded.possible_afterwards
        later = [action for action in system.actions if action.name in allowed]
        broken = _breach(reading, statement, _closed(reading, worlds, later, telling))
        after = len(recorded.steps) if broken is not None else None
    return Followed(
        steps=len(recorded.steps), refused=None, broken_after=after, broken_for=broken or {}
    )


def _stepped(
    reading: CompiledReading, worlds: Iterable[World], step: RecordedStep
) -> Iterator[World]:
    """Return every world after a step, from any of the worlds before it."""
    functions = {function.name: function for function in reading.system.functions}
    actions = [action for action in reading.system.actions if action.name in step.actions]
    for before in worlds:
        world = choosing(before, step.chosen)
        for action in actions:
            for after in _taken(reading, world, action, step.parameters):
                if all(after.lookup(functions[f], at) == value for f, at, value in step.seen):
                    yield after


def _taken(
    reading: CompiledReading, world: World, action: Action, known: Mapping[str, Value]
) -> Iterator[World]:
    """Return the worlds after an action, for each value of the parameters that are not known."""
    names = [parameter.name for parameter in action.parameters]
    values = [
        [known[parameter.name]] if parameter.name in known else world.scope.values(parameter.sort)
        for parameter in action.parameters
    ]
    for chosen in product(*values):
        bound = dict(zip(names, chosen, strict=True))
        if reading.is_enabled(action.name, world, bound):
            yield reading.step(action.name, world, bound)


def _closed(
    reading: CompiledReading, worlds: Iterable[World], hidden: list[Action], telling: list[str]
) -> list[World]:
    """Return the worlds that hidden actions lead to, the given ones among them, each once."""
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
            raise ValueError(f"{reading.system.name}: more than {WORLDS_MAX:,} worlds fit")
        found[key] = world
        for action in hidden:
            pending.extend(_taken(reading, world, action, {}))
    return list(found.values())


def _key(world: World, telling: list[str]) -> object:
    """Return what tells a world from others of the same workload."""
    return frozenset(
        (name, arguments, value)
        for name in telling
        for arguments, value in world.tables.get(name, {}).items()
        if value is not False and value != 0 and value != ""
    )


def _breach(
    reading: CompiledReading, statement: Statement | None, worlds: Iterable[World]
) -> dict[str, Value] | None:
    """Return values for which a statement is false in one of the worlds, None if there are none."""
    if statement is None:
        return None
    for world in worlds:
        if reading.holds(statement.closed, world):
            continue
        for values in product(*(world.scope.values(v.sort) for v in statement.variables)):
            bound = dict(zip(statement.variables, values, strict=True))
            if not evaluate(statement.body, world, bound):
                return {variable.name: value for variable, value in bound.items()}
    return None
