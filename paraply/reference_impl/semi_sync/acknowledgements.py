"""Count acknowledgements at the source.

``AckContainer`` is MySQL's faster algorithm.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, field
from typing import Self


@dataclass(slots=True)
class Acknowledgements:
    """Reports by replica; N replicas acknowledge ``released``."""

    required: int
    reported: dict[str, int] = field(default_factory=dict)
    released: int = 0
    """Highest position of N replicas, or 0."""

    def report(self, replica: str, position: int) -> None:
        """Count a reply up to ``position``."""
        self.reported[replica] = position
        positions = sorted(self.reported.values(), reverse=True)
        if len(positions) >= self.required:
            self.released = max(self.released, positions[self.required - 1])

    def fork(self) -> Self:
        """Return an independent copy."""
        twin = copy(self)
        twin.reported = self.reported.copy()
        return twin

    def of(self, replica: str) -> Hashable:
        """Return a replica's state."""
        return self.reported.get(replica)


@dataclass(slots=True)
class AckContainer(Acknowledgements):
    """N-1 slots; a reply to full slots releases a position.

    Source: ``AckContainer::insert`` and ``handleAck`` of the semi-sync source plugin.
    """

    slots: dict[str, int] = field(default_factory=dict)

    def report(self, replica: str, position: int) -> None:
        """Update the slot, or release a position."""
        self.reported[replica] = position
        if position <= self.released:
            return
        if replica in self.slots:
            self.slots[replica] = max(position, self.slots[replica])
        elif len(self.slots) < self.required - 1:
            self.slots[replica] = position
        else:
            self.released = min([position, *self.slots.values()])
            self.slots[replica] = position
            self.slots = {name: at for name, at in self.slots.items() if at > self.released}

    def fork(self) -> Self:
        """Return an independent copy."""
        twin = Acknowledgements.fork(self)
        twin.slots = self.slots.copy()
        return twin

    def of(self, replica: str) -> Hashable:
        """Return a replica's state."""
        return self.reported.get(replica), self.slots.get(replica)
