"""Actions that commute, and sleep sets (Godefroid 1996), which enumerate one order of them.

Two actions commute if neither writes what the other reads or writes. In either order they lead to
the same state, and no judge prefers one. A later action sleeps while every run with it next has an
equal run: the enumeration took it before, and all actions since commute with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Touched:
    """Names of the parts of the state that an action reads and writes."""

    reads: frozenset[str]
    writes: frozenset[str]

    @classmethod
    def of(cls, *, reads: Iterable[str] = (), writes: Iterable[str] = ()) -> Touched:
        """Return the named parts."""
        return cls(frozenset(reads), frozenset(writes))

    def commutes_with(self, other: Touched) -> bool:
        """Return whether two possible actions give the same in either order."""
        return (
            self.writes.isdisjoint(other.writes)
            and self.writes.isdisjoint(other.reads)
            and self.reads.isdisjoint(other.writes)
        )


class SleepSet:
    """The sleeping actions of a run, by name."""

    def __init__(self) -> None:
        self.asleep: dict[str, Touched] = {}

    def awake(self, names: Sequence[str]) -> list[int]:
        """Return the positions of actions that do not sleep."""
        return [number for number, name in enumerate(names) if name not in self.asleep]

    def follow(self, before: dict[str, Touched], taken: Touched) -> None:
        """Take an action; ``before`` are possible ones that the enumeration took earlier."""
        self.asleep = {
            name: touched
            for name, touched in (self.asleep | before).items()
            if touched.commutes_with(taken)
        }
