"""Which position enough replicas have acknowledged, as the source counts it.

``Acknowledgements`` says what is meant: the highest position that N replicas have reached.
``AckContainer`` is how MySQL finds it without looking at every replica each time.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, field
from typing import Self


@dataclass(slots=True)
class Acknowledgements:
    """What each replica has reported; ``released`` is the position that N of them have."""

    required: int
    reported: dict[str, int] = field(default_factory=dict)
    """What each replica has reported last."""
    released: int = 0
    """The position that enough replicas have had; 0 if too few have reported any."""

    def report(self, replica: str, position: int) -> None:
        """Take a reply of a replica: everything before ``position`` is in its relay log."""
        self.reported[replica] = position
        positions = sorted(self.reported.values(), reverse=True)
        if len(positions) >= self.required:
            self.released = max(self.released, positions[self.required - 1])

    def fork(self) -> Self:
        """Return an equal count that goes its own way."""
        twin = copy(self)
        twin.reported = self.reported.copy()
        return twin

    def of(self, replica: str) -> Hashable:
        """Return what is kept of one replica."""
        return self.reported.get(replica)


@dataclass(slots=True)
class AckContainer(Acknowledgements):
    """N-1 slots and the newest reply; a reply that finds them full releases a position.

    Source: ``AckContainer::insert`` and ``handleAck`` of the semi-sync source plugin.
    """

    slots: dict[str, int] = field(default_factory=dict)

    def report(self, replica: str, position: int) -> None:
        """Take a reply: update the replica's slot, or release if the others are taken."""
        self.reported[replica] = position
        if position <= self.released:
            return
        if replica in self.slots:
            self.slots[replica] = max(position, self.slots[replica])
        elif len(self.slots) < self.required - 1:
            self.slots[replica] = position
        else:
            self.released = self.least_of(position)
            self.slots[replica] = position
            self.slots = {name: at for name, at in self.slots.items() if at > self.released}

    def fork(self) -> Self:
        """Return an equal count that goes its own way."""
        twin = Acknowledgements.fork(self)
        twin.slots = self.slots.copy()
        return twin

    def of(self, replica: str) -> Hashable:
        """Return what is kept of one replica."""
        return self.reported.get(replica), self.slots.get(replica)

    def least_of(self, position: int) -> int:
        """Return the least of the slots and a new position: what all of these have."""
        return min([position, *self.slots.values()])
