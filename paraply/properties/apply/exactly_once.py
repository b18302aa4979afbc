"""Every event group reaches every replica exactly once.

``members`` of a STOPPED event names the sources. A source without events has logged all
transactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.gtid.histories import entries_of
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import named_sources_at_rest, recorded, stated_positions
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

FILTERED = "filtered"
"""Note of a SKIPPED event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventAppliedTwice(Violation):
    """A member commits a transaction twice."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} applied T{self.transaction} twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLost(Violation):
    """A caught-up member lacks a source's transaction."""

    member: str
    source: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} has nothing left to read from {self.source} and lacks "
            f"T{self.transaction}"
        )


@sometimes(
    of=stated_positions, source="to be able to do this and automatically get replication started"
)
def replication_resumes(history: History) -> bool:
    """A replica started from a position that was not empty, and then applied something."""
    resumed: set[str] = set()
    for event in history.events:
        if event.kind is EventKind.STARTED and entries_of(event.gtid_set):
            resumed.add(event.member)
        elif event.kind is EventKind.ENGINE_COMMITTED and event.member in resumed:
            return True
    return False


def _something_is_applied(history: History) -> bool:
    return any(history.events_of(EventKind.ENGINE_COMMITTED))


@always(
    of=recorded(EventKind.ENGINE_COMMITTED),
    source="without loosing or duplicating some event",
    witness=_something_is_applied,
)
def no_event_is_applied_twice(history: History) -> tuple[EventAppliedTwice, ...]:
    """No member commits a transaction that it has."""
    data: dict[str, set[TransactionId]] = {}
    found = []
    for event in history.events_of(EventKind.ENGINE_COMMITTED, EventKind.RECOVERED):
        mine = data.setdefault(event.member, set())
        if event.kind is EventKind.RECOVERED:
            mine.intersection_update(event.transactions)
        elif event.transaction in mine:
            found.append(EventAppliedTwice(member=event.member, transaction=event.transaction))
        elif event.transaction is not None:
            mine.add(event.transaction)
    return tuple(found)


def final_stops(history: History) -> dict[str, Event]:
    """Return each stopped member's last STOPPED; empty if cut short."""
    stops: dict[str, Event] = {}
    for event in history.events if history.is_complete else ():
        if event.kind is EventKind.STOPPED:
            stops[event.member] = event
        elif event.kind in (EventKind.STARTED, EventKind.CRASHED):
            stops.pop(event.member, None)
    return stops


def _source_and_replica_end(history: History) -> int:
    return sum(bool(logged) for _, _, _, logged in _final_sets(history))


@always(
    of=named_sources_at_rest,
    source="without loosing or duplicating some event",
    witness=_source_and_replica_end,
)
def no_event_is_lost(history: History) -> tuple[EventLost, ...]:
    """When all is at rest, a replica has what its sources have, but for what it filters."""
    return tuple(_lost(history))


def _final_sets(
    history: History,
) -> Iterator[tuple[str, Event, str, tuple[TransactionId, ...]]]:
    """Yield each stopped replica, its stop, a source, and what that has at rest."""
    stops = final_stops(history)
    present = {event.member for event in history.events}
    for member, stop in stops.items():
        for source in stop.members:
            if source not in present:
                yield member, stop, source, tuple(one.id for one in history.transactions)
            elif source in stops:
                yield member, stop, source, stops[source].transactions


def _lost(history: History) -> Iterator[EventLost]:
    skipped = set()
    for event in history.events_of(EventKind.SKIPPED):
        if event.note == FILTERED and event.transaction is not None:
            skipped.add((event.member, event.transaction))
            domain = history.transaction(event.transaction).domain
            if domain is not None:
                # MariaDB filters whole domains (IGNORE_DOMAIN_IDS).
                same = (one.id for one in history.transactions if one.domain == domain)
                skipped.update((event.member, one) for one in same)
    for member, stop, source, logged in _final_sets(history):
        for one in logged:
            if one not in stop.transactions and (member, one) not in skipped:
                yield EventLost(member=member, source=source, transaction=one)
