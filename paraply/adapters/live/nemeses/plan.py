"""A plan of faults, drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from paraply.adapters.live.nemeses.wires import Pair

RANDOM = "random"
"""Draws the names from the seed as well."""
_RANDOM_MIN, _RANDOM_MAX = 2, 4
_LONGEST, _SHORTEST = 0.9, 0.5
"""Shares of the time that a strike may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a nemesis does to which members."""

    victims: tuple[int, ...]
    """Numbers of members, from 0."""
    cut: frozenset[Pair] = frozenset()
    """Directions that a partition cuts."""
    amount: int = 0
    """Milliseconds, seconds or bytes, by nemesis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """One nemesis from its start to its stop, in seconds of the plan."""

    nemesis: str
    aim: Aim
    begins_s: float
    ends_s: float


class Action(NamedTuple):
    """The start or stop of a strike."""

    at_s: float
    is_start: bool
    number: int
    """Of the strike in the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Strikes in the order of their beginnings; each ends within the plan."""

    seed: int
    seconds: float
    strikes: tuple[Strike, ...]

    def actions(self) -> Iterator[Action]:
        """Yield all starts and stops in time order; a stop precedes a start of the same time."""
        found = []
        for number, strike in enumerate(self.strikes):
            found.append(Action(strike.begins_s, True, number))
            found.append(Action(strike.ends_s, False, number))
        yield from sorted(found)


class Drawable(Protocol):
    """What a plan uses of a nemesis."""

    @property
    def name(self) -> str:
        """Return the name."""

    @property
    def resource(self) -> str:
        """Return what it changes; strikes on one resource do not overlap."""

    def aim(self, dice: random.Random, members: int) -> Aim:
        """Draw victims and amounts."""


def draw_names(known: Sequence[str], seed: int) -> list[str]:
    """Return the names of a random combination."""
    dice = random.Random(f"names/{seed}")
    return dice.sample(sorted(known), min(len(known), dice.randint(_RANDOM_MIN, _RANDOM_MAX)))


def draw_plan(nemeses: Sequence[Drawable], seed: int, members: int, seconds: float) -> Plan:
    """Return a plan that strikes once with each nemesis."""
    dice = random.Random(f"plan/{seed}")
    shares: dict[str, list[Drawable]] = {}
    for one in nemeses:
        shares.setdefault(one.resource, []).append(one)
    strikes = []
    for sharing in shares.values():
        dice.shuffle(sharing)
        slot_s = seconds / len(sharing)
        for number, one in enumerate(sharing):
            length_s = slot_s * dice.uniform(_SHORTEST, _LONGEST)
            begins_s = number * slot_s + dice.uniform(0, slot_s - length_s)
            strikes.append(
                Strike(
                    nemesis=one.name,
                    aim=one.aim(dice, members),
                    begins_s=round(begins_s, 3),
                    ends_s=round(begins_s + length_s, 3),
                )
            )
    strikes.sort(key=lambda strike: strike.begins_s)
    return Plan(seed=seed, seconds=seconds, strikes=tuple(strikes))
