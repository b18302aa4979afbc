"""The abstract states of members in which faults and other events of no transaction occur.

A moment is an event's kind and what is true at its member: ``hole`` (committed before one that was
begun earlier), ``saved`` (a position), ``in flight`` (begun, prepared or certified, unfinished),
``logged`` (in flight, and flushed to the binary log), ``joining`` (any member).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

HOLE, SAVED, IN_FLIGHT, LOGGED, JOINING = "hole", "saved", "in flight", "logged", "joining"
FLAGS = (HOLE, SAVED, IN_FLIGHT, LOGGED, JOINING)
NOTHING = "-"

_BEGINS = frozenset({EventKind.SCHEDULED, EventKind.BEGUN, EventKind.PREPARED, EventKind.CERTIFIED})
_ENDS = frozenset({EventKind.ENGINE_COMMITTED, EventKind.SKIPPED, EventKind.FAILED})
_FORGETS = frozenset({EventKind.CRASHED, EventKind.STARTED, EventKind.STOPPED})


@dataclass(slots=True)
class _Member:
    begun: dict[TransactionId, int] = field(default_factory=dict)
    """Unfinished transaction -> place of its beginning."""
    logged: set[TransactionId] = field(default_factory=set)
    places: int = 0
    committed_to: int = -1
    has_saved: bool = False

    def take(self, event: Event) -> None:
        """Follow an event."""
        transaction = event.transaction
        if event.kind in _FORGETS:
            self.begun.clear()
            self.logged.clear()
            self.committed_to = -1
        elif event.kind is EventKind.POSITION_SAVED:
            self.has_saved = True
        elif transaction is None or event.outcome is Outcome.NEGATIVE:
            return
        elif event.kind in _BEGINS and transaction not in self.begun:
            self.begun[transaction] = self.places
            self.places += 1
        elif event.kind is EventKind.FLUSHED and transaction in self.begun:
            self.logged.add(transaction)
        elif event.kind in _ENDS:
            self.logged.discard(transaction)
            place = self.begun.pop(transaction, -1)
            self.committed_to = max(self.committed_to, place)

    def flags(self) -> list[str]:
        """Return what is true."""
        has_hole = any(place < self.committed_to for place in self.begun.values())
        found = ((HOLE, has_hole), (SAVED, self.has_saved), (IN_FLIGHT, bool(self.begun)),
                 (LOGGED, bool(self.logged)))  # fmt: skip
        return [name for name, is_so in found if is_so]


@dataclass(slots=True)
class _Group:
    view: int = -1
    members: frozenset[str] = frozenset()
    joining: frozenset[str] = frozenset()

    def take(self, event: Event) -> None:
        """Follow views and who is online."""
        if event.kind is EventKind.ONLINE:
            self.joining -= set(event.members)
        elif event.kind is EventKind.VIEW_INSTALLED and (event.view or 0) > self.view:
            members = frozenset(event.members)
            added = members - self.members if self.members else frozenset()
            self.view, self.members = event.view or 0, members
            self.joining = (self.joining | added) & members


class Members:
    """Follows the states of all members."""

    def __init__(self) -> None:
        self._members: defaultdict[str, _Member] = defaultdict(_Member)
        self._group = _Group()

    @property
    def may_join(self) -> bool:
        """Return whether there is a group."""
        return self._group.view >= 0

    @property
    def has_logged(self) -> bool:
        """Return whether a member has a logged transaction in flight."""
        return any(member.logged for member in self._members.values())

    def take(self, event: Event) -> None:
        """Follow an event."""
        self._members[event.member].take(event)
        self._group.take(event)

    def state(self, member: str) -> str:
        """Return what is true at a member."""
        return _state(*self._members[member].flags(), *([JOINING] if self._group.joining else ()))


def _state(*flags: str) -> str:
    return ", ".join(flags) or NOTHING


_WORK = ((IN_FLIGHT,), (SAVED, IN_FLIGHT), (HOLE, IN_FLIGHT), (HOLE, SAVED, IN_FLIGHT))


def states(*, may_log: bool, may_join: bool) -> tuple[str, ...]:
    """Return all states; ``logged`` and ``joining`` only where they may be."""
    logged = tuple((*work, LOGGED) for work in _WORK) if may_log else ()
    return tuple(
        _state(*work, *joining)
        for joining in (((), (JOINING,)) if may_join else ((),))
        for work in ((), (SAVED,), *_WORK, *logged)
    )


def moments_of(history: History) -> set[str]:
    """Return the moments as ``crashed: hole, saved``."""
    members = Members()
    found: set[str] = set()
    for event in history.events:
        if event.transaction is None:
            found.add(f"{event.kind.value}: {members.state(event.member)}")
        members.take(event)
    return found
