"""The steps of a system around its stored runs, on plain values.

A search expands where the runs end, then states in a fixed random order, and notes for each action
how often it is enabled, which states follow, and how often one condition of its guard alone forbids
it. ``initially`` says the same of starts that differ in one value. A system with another guard,
update or initial condition has other numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import product
from random import Random
from typing import Any

from paraply.models.judging.proving import capacity_of
from paraply.models.judging.traces import replay, written
from paraply.models.language.compiled_reading import CompiledReading
from paraply.models.language.concrete import Table, Value, World, choosing
from paraply.models.language.system import Action, Statement, System
from paraply.models.language.terms import TRUE, conj, conjuncts, negate

STATES = 600
"""Expanded states of one system, besides the runs' ends."""

INITIALLY = "initially"

CHOICES = 6
"""Tables that the environment tries for its choices in one state."""


@dataclass(slots=True)
class Around:
    """What is seen of one action.

    Attributes:
        enabled: how often it is enabled, over states, parameters and choices.
        alone: for each condition of the guard, how often it alone is false.
    """

    enabled: int = 0
    alone: list[int] = field(default_factory=list)
    following: Any = field(default_factory=sha256)

    def as_data(self) -> dict[str, Any]:
        """Return the numbers, and a digest of the states that follow."""
        digest = self.following.hexdigest()[:16]
        return {"enabled": self.enabled, "alone": self.alone, "following": digest}


def surroundings(system: System, runs: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what is seen of each action around stored runs.

    Raises ``ValueError`` if a run is none of this system.
    """
    explorer = _Explorer(system)
    anywhere = Statement("anywhere", (), TRUE)
    for data in runs:
        run = replay(system, anywhere, dict(data))
        explorer.begin(run.start)
        for world in (run.start, *(step.world for step in run.steps)):
            explorer.meet(last := World(world.scope, dict(world.tables)))
        explorer.ends.append(last)
    explorer.explore()
    seen = {INITIALLY: explorer.starts, **explorer.seen}
    return {name: one.as_data() for name, one in seen.items()}


class _Explorer:
    def __init__(self, system: System) -> None:
        self.system = system
        self.reading = CompiledReading(system)
        self.seen = {action.name: Around() for action in system.actions}
        self.starts = Around(alone=[0])
        self._known: set[str] = set()
        self._waiting: list[World] = []
        self.ends: list[World] = []
        self._random = Random(0)
        self._capacity = capacity_of(system)
        self._alone = {action.name: _alone(system, action) for action in system.actions}
        for action in system.actions:
            self.seen[action.name].alone = [0] * len(self._alone[action.name])

    def begin(self, world: World) -> None:
        """Note which states beside a start are starts, too: one value is another one."""
        conditions = [statement.closed for statement in self.system.initially]
        for function in self.system.functions:
            if function.rigid:
                continue
            for given in world.scope.arguments(function):
                for value in world.scope.values(function.result):
                    changed = {**world.tables.get(function.name, {}), given: value}
                    beside = World(world.scope, {**world.tables, function.name: changed})
                    is_start = all(self.reading.holds(one, beside) for one in conditions)
                    self.starts.enabled += is_start
                    self.starts.alone[0] += not is_start
                    told = f"{function.name}{given} {value} {is_start}\n"
                    self.starts.following.update(told.encode())

    def meet(self, world: World) -> None:
        if self._capacity is not None and int(world.lookup(self._capacity, ())) > world.scope.high:
            return
        text = _text(world)
        if text not in self._known:
            self._known.add(text)
            self._waiting.append(world)

    def explore(self) -> None:
        texts = set(map(_text, self.ends))
        waiting, self._waiting = self._waiting, []
        for world in waiting:
            if _text(world) in texts:
                self._expand(world)
            else:
                self._waiting.append(world)
        for _ in range(STATES):
            if not self._waiting:
                return
            place = self._random.randrange(len(self._waiting))
            self._waiting[place], self._waiting[-1] = self._waiting[-1], self._waiting[place]
            self._expand(self._waiting.pop())

    def _expand(self, world: World) -> None:
        for action in self.system.actions:
            seen = self.seen[action.name]
            choices = list(_choices(action, world, self._random))
            for bound in _parameters(action, world):
                for number, chosen in enumerate(choices):
                    here = choosing(world, chosen)
                    if self.reading.is_enabled(action.name, here, bound):
                        after = self.reading.step(action.name, here, bound)
                        seen.enabled += 1
                        told = f"{sorted(bound.items())} {number} {_text(after)}\n"
                        seen.following.update(told.encode())
                        self.meet(after)
                        continue
                    for place, reading in enumerate(self._alone[action.name]):
                        if reading.is_enabled(action.name, here, bound):
                            seen.alone[place] += 1


def _alone(system: System, action: Action) -> list[CompiledReading]:
    """Return readings in which the guard says that one condition alone is false."""
    guards = conjuncts(action.guard) if action.guard != TRUE else ()
    found = []
    for part in guards:
        others = (other for other in guards if other is not part)
        only = Action(action.name, action.parameters, conj(*others, negate(part)), {})
        found.append(CompiledReading(System(system.name, actions=[only])))
    return found


def _parameters(action: Action, world: World) -> Iterator[dict[str, Value]]:
    names = [parameter.name for parameter in action.parameters]
    values = (world.scope.values(parameter.sort) for parameter in action.parameters)
    for given in product(*values):
        yield dict(zip(names, given, strict=True))


def _choices(action: Action, world: World, random: Random) -> Iterator[dict[str, Table]]:
    """Yield what the functions are by now, then random tables."""
    if not action.havoc:
        yield {}
        return
    yield {f.name: world.tables.get(f.name, {}) for f in action.havoc}
    for _ in range(CHOICES - 1):
        yield {
            f.name: {
                given: random.choice(world.scope.values(f.result))
                for given in world.scope.arguments(f)
            }
            for f in action.havoc
        }


def _text(world: World) -> str:
    return repr((world.scope, [(name, written(table)) for name, table in sorted(
        world.tables.items()) if "~" not in name]))  # fmt: skip
