"""Random schedules with a bias, for interleavings that uniform choice rarely draws.

All are reproducible from a seed, and their choices replay like any others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random
from typing import TypeVar, overload

from paraply.vocabulary.events import Event
from paraply.vocabulary.moments import Members, states
from paraply.vocabulary.schedule import Schedule

T = TypeVar("T")

STARVED_SHARE = 0.35
STARVED_WEIGHT = 0.04
CHANGES_MAX = 4
"""Changes of priority in one run."""
CHANGE_WITHIN = 60
"""Choices in which they happen."""
UNIFORM_SHARE = 0.1
"""Choices that ignore priorities, so that every enabled step is taken at last."""
REPEATED_SHARE = 0.5
PLAIN_SHARE = 0.8
CONFLICT_SHARE = 0.2
"""Transactions of a plain run that may write any row."""
PLACING_SHARE = 0.5
"""Runs that place faults; in others they are steps like any, and often come early.

A crash midway takes away overlap that one at the beginning leaves.
"""
PLACED_SHARE = 0.5
"""Choices in its state at which a fault is placed."""
WAITS_MAX = 20
"""Choices that a fault waits for its state."""
RARE_SHARE = 0.4
"""Transactions of a kind that not every choice of writes has, such as DDL, where one has it."""
WRITES = "writes"
"""The question about a transaction's rows."""

Number = Callable[[], float]
"""The next random number in [0, 1)."""


class Bias:
    """Picks one of several named options; this one uniformly."""

    def __init__(self, uniform: Number) -> None:
        self.uniform = uniform

    def pick(self, names: Sequence[str], label: str, made: int) -> int:
        """Return an index; ``made`` counts earlier choices of the run."""
        del label, made
        return self.number(len(names))

    def number(self, count: int) -> int:
        """Return a random number in ``[0, count)``."""
        return int(self.uniform() * count)


class Starving(Bias):
    """Takes some kinds of steps rarely: an actor, or one kind of step of every actor."""

    def __init__(self, uniform: Number) -> None:
        super().__init__(uniform)
        self._weights: dict[str, float] = {}
        kinds: tuple[Callable[[str], str], ...] = (str, _actor_of, _action_of)
        self._kind_of = kinds[self.number(len(kinds))]

    def pick(self, names: Sequence[str], label: str, made: int) -> int:
        """Return an index by weight."""
        del made
        weights = [self._weight(f"{label} {self._kind_of(name)}") for name in names]
        point = self.uniform() * sum(weights)
        for index, weight in enumerate(weights):
            point -= weight
            if point < 0:
                return index
        return len(names) - 1

    def _weight(self, kind: str) -> float:
        if kind not in self._weights:
            is_starved = self.uniform() < STARVED_SHARE
            self._weights[kind] = STARVED_WEIGHT if is_starved else 1.0
        return self._weights[kind]


class Priorities(Bias):
    """Runs the actor of greatest priority, which changes a few times.

    After Burckhardt et al., A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs,
    ASPLOS 2010.
    """

    def __init__(self, uniform: Number) -> None:
        super().__init__(uniform)
        self._priorities: dict[str, float] = {}
        self._changes = {self.number(CHANGE_WITHIN) for _ in range(self.number(CHANGES_MAX + 1))}

    def pick(self, names: Sequence[str], label: str, made: int) -> int:
        """Return the greatest actor's index."""
        if self.uniform() < UNIFORM_SHARE:
            return self.number(len(names))
        actors = [f"{label} {_actor_of(name)}" for name in names]
        for actor in actors:
            if actor not in self._priorities:
                self._priorities[actor] = self.uniform()
        index = max(range(len(actors)), key=lambda at: self._priorities[actors[at]])
        if made in self._changes:
            self._priorities[actors[index]] = -float(made + 1)
        return index


class Abreast(Bias):
    """Runs the actor that has acted least, so that all get on together."""

    def __init__(self, uniform: Number) -> None:
        super().__init__(uniform)
        self._acted: Counter[str] = Counter()

    def pick(self, names: Sequence[str], label: str, made: int) -> int:
        """Return an index of one of the actors that have acted least."""
        del made
        actors = [f"{label} {_actor_of(name)}" for name in names]
        least = min(self._acted[actor] for actor in actors)
        behind = [at for at, actor in enumerate(actors) if self._acted[actor] == least]
        if self.uniform() < UNIFORM_SHARE:
            behind = list(range(len(actors)))
        index = behind[self.number(len(behind))]
        self._acted[actors[index]] += 1
        return index


class Repeating(Bias):
    """Often gives the same answer again, so that transactions conflict."""

    def __init__(self, uniform: Number) -> None:
        super().__init__(uniform)
        self._last: dict[str, str] = {}

    def pick(self, names: Sequence[str], label: str, made: int) -> int:
        """Return the last answer's index, or any."""
        del made
        last = self._last.get(label)
        if last in names and self.uniform() < REPEATED_SHARE:
            return names.index(last)
        index = self.number(len(names))
        self._last[label] = names[index]
        return index


class Plain(Bias):
    """Prefers first options, which are plain by convention: few rows, no barrier, no fault.

    Most transactions write rows that no recent one wrote, and may overlap.
    """

    def __init__(self, uniform: Number) -> None:
        super().__init__(uniform)
        self._written: list[frozenset[str]] = []

    def pick(self, names: Sequence[str], label: str, made: int) -> int:
        """Return a small index."""
        del made
        if label != WRITES:
            return self._small(len(names))
        rows = [_rows_in(name) for name in names]
        fresh = list(range(len(names)))
        if self.uniform() >= CONFLICT_SHARE:
            for written in reversed(self._written):
                disjoint = [at for at in fresh if rows[at] and not rows[at] & written]
                if not disjoint:
                    break
                fresh = disjoint
        index = fresh[self._small(len(fresh))]
        self._written.append(rows[index])
        return index

    def _small(self, count: int) -> int:
        place = 0
        while place + 1 < count and self.uniform() >= PLAIN_SHARE:
            place += 1
        return place


class Placing:
    """Places faults in states of their members, drawn uniformly: rare ones as often as common ones.

    A fault waits until its member is in the drawn state, or until it has waited for long enough.
    States of logs are drawn once one has been seen: many systems have none.
    """

    def __init__(self, uniform: Number) -> None:
        self._uniform = uniform
        self._states = Members()
        self._may_log = False
        self._followed = 0
        self._wanted: dict[str, tuple[str, int]] = {}
        """Kind of fault -> state, and choices made when it stops waiting."""

    def follow(self, events: Sequence[Event]) -> None:
        """Follow the run's new events."""
        for event in events[self._followed :]:
            self._states.take(event)
        self._followed = len(events)
        if not self._may_log and self._states.has_logged:
            self._may_log = True
            self._wanted.clear()

    def taken(self, name: str) -> None:
        """Draw anew for the next fault of a kind."""
        self._wanted.pop(_kind_of(name), None)

    def sort(
        self, names: Sequence[str], members: Sequence[str], made: int
    ) -> tuple[int, list[int]]:
        """Return a fault to place now, or -1, and the options that do not wait."""
        met: list[int] = []
        free: list[int] = []
        for at, (name, member) in enumerate(zip(names, members, strict=True)):
            if not member:
                free.append(at)
                continue
            state, end = self._drawn(_kind_of(name), made)
            if self._states.state(member) == state:
                met.append(at)
            elif made >= end:
                free.append(at)
        if met and self._uniform() < PLACED_SHARE:
            return met[int(self._uniform() * len(met))], free
        return -1, free

    def _drawn(self, kind: str, made: int) -> tuple[str, int]:
        if kind not in self._wanted:
            known = states(may_log=self._may_log, may_join=self._states.may_join)
            state = known[int(self._uniform() * len(known))]
            self._wanted[kind] = state, made + int(self._uniform() * WAITS_MAX)
        return self._wanted[kind]


STEP_QUESTIONS = frozenset({"step", "what happens next"})
"""Questions about what acts next; all others are about content, such as written rows."""
OF_STEPS: tuple[type[Bias], ...] = (Bias, Starving, Priorities, Abreast, Abreast)
OF_CONTENT: tuple[type[Bias], ...] = (*[Plain] * 7, Repeating, Bias)


class MixedSchedule(Schedule):
    """A random schedule with one bias for steps and one for content; the seed decides both.

    Options have names by their ``label`` or ``name``, else by their numbers.
    """

    __slots__ = (
        "_content", "_events", "_kinds", "_offered", "_placing", "_promised", "_steps", "seed",
    )  # fmt: skip

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        # Python guarantees only the sequence of Random.random().
        uniform = Random(seed).random
        self._steps = OF_STEPS[int(uniform() * len(OF_STEPS))](uniform)
        self._content = OF_CONTENT[int(uniform() * len(OF_CONTENT))](uniform)
        # Runs without faults keep their choices, whatever is drawn for faults.
        faults = Random(f"faults {seed}").random
        self._placing = Placing(faults) if faults() < PLACING_SHARE else None
        self._kinds = Random(f"kinds {seed}").random
        self._offered: Counter[object] = Counter()
        self._events: Sequence[Event] = ()
        self._promised = -1
        """Index of the fault for which it is the options' turn."""

    def watch(self, events: Sequence[Event]) -> None:
        """Place faults by what these events lead to."""
        self._events = events

    @overload
    def choose(self, options: int, label: str = "") -> int: ...

    @overload
    def choose(self, options: Sequence[T], label: str = "") -> T: ...

    def choose(self, options: Sequence[T] | int, label: str = "") -> T | int:
        """Return an option, or a number in ``[0, options)``."""
        if isinstance(options, int) or len(options) < 2:
            return super().choose(options, label)
        if label == WRITES and (rare := self._rare_kind(options)) is not None:
            self.choices.append(rare)
            return options[rare]
        names = [name_of(one, at) for at, one in enumerate(options)]
        if self._placing is not None and label in STEP_QUESTIONS:
            members = [getattr(one, "fault_at", "") for one in options]
            if any(members):
                return options[self._placed(self._placing, names, members, label)]
        return options[self._picked(names, label)]

    def choose_seldom(self, one_in: int, options: Sequence[object], label: str) -> bool:
        """Return whether it is the options' turn: at random, unless a fault is placed or waits."""
        members = [getattr(one, "fault_at", "") for one in options]
        if self._placing is not None and any(members):
            self._placing.follow(self._events)
            names = [name_of(one, at) for at, one in enumerate(options)]
            self._promised, free = self._placing.sort(names, members, len(self.choices))
            if self._promised >= 0 or not free:
                self.choices.append(one_in - 1 if self._promised >= 0 else 0)
                return self._promised >= 0
        del label
        # A bias of content would make it never their turn.
        self.choices.append(self._content.number(one_in))
        return self.choices[-1] == one_in - 1

    def choose_index(self, count: int, label: str = "") -> int:
        """Return an index of unnamed options."""
        if count < 2:
            if count < 1:
                raise ValueError(f"nothing to choose from for {label}")
            return 0
        return self._picked([str(at) for at in range(count)], label)

    def _rare_kind(self, options: Sequence[object]) -> int | None:
        """Return the index of a kind that is offered seldom, if it is its turn."""
        kinds = [getattr(one, "kind", None) for one in options]
        self._offered.update(set(kinds))
        most = max(self._offered.values())
        rare = [
            at
            for at, kind in enumerate(kinds)
            if kind is not kinds[0] and self._offered[kind] < most
        ]
        if not rare or self._kinds() >= RARE_SHARE:
            return None
        return rare[int(self._kinds() * len(rare))]

    def _placed(
        self, placing: Placing, names: Sequence[str], members: Sequence[str], label: str
    ) -> int:
        index, self._promised = self._promised, -1
        free: list[int] = []
        if index < 0:
            placing.follow(self._events)
            index, free = placing.sort(names, members, len(self.choices))
        if index < 0:
            free = free or list(range(len(names)))
            picked = self._steps.pick([names[at] for at in free], label, len(self.choices))
            index = free[picked]
        if members[index]:
            placing.taken(names[index])
        self.choices.append(index)
        return index

    def _picked(self, names: Sequence[str], label: str) -> int:
        bias = self._steps if label in STEP_QUESTIONS else self._content
        index = bias.pick(names, label, len(self.choices))
        self.choices.append(index)
        return index


def name_of(option: object, at: int) -> str:
    """Return an option's name, or its number ``at``."""
    for found in (getattr(option, "label", None), getattr(option, "name", None),
                  getattr(option, "items", None), option):  # fmt: skip
        if isinstance(found, str | tuple):
            return str(found)
    return str(at)


@lru_cache(maxsize=4096)
def _rows_in(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", name))


def _actor_of(name: str) -> str:
    """Return ``worker 1`` of "worker 1 applying", ``r2 worker 1`` of "r2 worker 1 applying"."""
    words = name.split()
    number = next((at for at, word in enumerate(words) if word.isdigit()), 1)
    return " ".join(words[: number + 1])


def _kind_of(fault: str) -> str:
    """Return the fault without its member, and without what survives it."""
    return _action_of(fault.partition(",")[0])


def _action_of(name: str) -> str:
    return name.split()[-1] if name.split() else ""
