"""Shapes of partitions: which directions between members are cut."""

from __future__ import annotations

import random
from collections.abc import Iterable

from paraply.adapters.live.nemeses.plan import Aim
from paraply.adapters.live.nemeses.wires import Pair


def between(left: Iterable[int], right: Iterable[int]) -> frozenset[Pair]:
    """Return both directions between two parts."""
    right = tuple(right)
    return frozenset(
        pair for one in left for other in right for pair in ((one, other), (other, one))
    )


def minority(dice: random.Random, members: int) -> Aim:
    """Cut a minority, at least one member, off the others."""
    victims = _sample(dice, members, max(1, dice.randint(1, max(1, (members - 1) // 2))))
    return Aim(victims=victims, cut=between(victims, _others(victims, members)))


def majority(dice: random.Random, members: int) -> Aim:
    """Cut each member of a majority off all others, so that no part has a quorum."""
    victims = _sample(dice, members, members // 2 + 1)
    cut = frozenset(pair for one in victims for pair in between((one,), _others((one,), members)))
    return Aim(victims=victims, cut=cut)


def bridge(dice: random.Random, members: int) -> Aim:
    """Cut two halves off each other; one member, the bridge, reaches both."""
    order = _sample(dice, members, members, is_sorted=False)
    half = (members - 1) // 2
    left, right = order[1 : 1 + half], order[1 + half :]
    return Aim(victims=order[:1], cut=between(left, right))


def one_way(dice: random.Random, members: int) -> Aim:
    """Cut what a minority sends, or what it receives; the other direction works."""
    victims = minority(dice, members).victims
    is_mute = dice.random() < 0.5
    cut = frozenset(
        (one, other) if is_mute else (other, one)
        for one in victims
        for other in _others(victims, members)
    )
    return Aim(victims=victims, cut=cut)


def _sample(
    dice: random.Random, members: int, count: int, *, is_sorted: bool = True
) -> tuple[int, ...]:
    found = dice.sample(range(members), count)
    return tuple(sorted(found) if is_sorted else found)


def _others(some: Iterable[int], members: int) -> tuple[int, ...]:
    left_out = set(some)
    return tuple(one for one in range(members) if one not in left_out)
