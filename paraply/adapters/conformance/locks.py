"""Shared and exclusive locks, kept until the transaction ends."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

Holder = int


@dataclass(slots=True)
class _Lock:
    exclusive: Holder | None = None
    shared: set[Holder] = field(default_factory=set)

    def in_the_way_of(self, holder: Holder, *, exclusive: bool) -> set[Holder]:
        others = {self.exclusive} if self.exclusive is not None else set()
        if exclusive:
            others |= self.shared
        return {other for other in others if other is not None and other != holder}


class Locks:
    """Strict two-phase locks over hashable resources."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, _Lock] = {}

    def take(self, holder: Holder, wanted: Iterable[tuple[Hashable, bool]]) -> frozenset[Holder]:
        """Take (resource, is exclusive) locks in order.

        Stops at the first conflict, returns its holders and keeps the earlier locks.
        """
        for resource, exclusive in wanted:
            lock = self._locks.setdefault(resource, _Lock())
            others = lock.in_the_way_of(holder, exclusive=exclusive)
            if others:
                return frozenset(others)
            if exclusive:
                lock.exclusive = holder
            else:
                lock.shared.add(holder)
        return frozenset()

    def release(self, holder: Holder) -> None:
        """Free all locks of a transaction."""
        for resource in list(self._locks):
            lock = self._locks[resource]
            lock.shared.discard(holder)
            if lock.exclusive == holder:
                lock.exclusive = None
            if lock.exclusive is None and not lock.shared:
                del self._locks[resource]

    def clear(self) -> None:
        """Free all locks (a crash)."""
        self._locks.clear()


def closes_a_cycle(waits: Mapping[Holder, frozenset[Holder]], start: Holder) -> bool:
    """Return whether ``start`` waits for itself."""
    reached: set[Holder] = set()
    frontier = list(waits.get(start, ()))
    while frontier:
        holder = frontier.pop()
        if holder == start:
            return True
        if holder not in reached:
            reached.add(holder)
            frontier.extend(waits.get(holder, ()))
    return False
