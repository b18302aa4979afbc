"""Servers stop once, and recover once after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Exemption, Violation, always
from paraply.properties.vocabularies import (
    attempts_of_workers,
    certification,
    named_sources,
    recorded,
    views_with_members,
)
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

_ENDS_A_STOP = frozenset({EventKind.STARTED, EventKind.RECOVERED, EventKind.CRASHED})
_WORK = frozenset(
    {
        EventKind.SCHEDULED,
        EventKind.BEGUN,
        EventKind.ROW_APPLIED,
        EventKind.PREPARED,
        EventKind.FLUSHED,
        EventKind.SYNCED,
        EventKind.ENGINE_COMMITTED,
        EventKind.CERTIFIED,
        EventKind.CLIENT_ACKNOWLEDGED,
        EventKind.STOPPED,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActedAfterStop(Violation):
    """A stopped member acts."""

    member: str
    kind: EventKind
    time: int

    def __str__(self) -> str:
        return f"{self.member} had stopped, and {self.kind.value} is recorded at {self.time}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredAgain(Violation):
    """A member recovers although it has not crashed since."""

    member: str
    time: int

    def __str__(self) -> str:
        return f"{self.member} recovered at {self.time}, and had not crashed since it last did"


def controlled_stops(history: History) -> bool:
    """A controlled run records stops."""
    return history.header.tier is EvidenceTier.CONTROLLED_RUN and EventKind.STOPPED in history.kinds


@always(
    of=controlled_stops,
    source="STOP REPLICA; SHUTDOWN: a server that has stopped does nothing until it starts",
    witness=lambda history: sum(1 for _ in history.events_of(EventKind.STOPPED)),
)
def stopped_servers_are_silent(history: History) -> tuple[ActedAfterStop, ...]:
    """A member that has stopped changes nothing, and stops no second time, until it starts.

    A server may be lost while it is stopped; it is then judged as a crashed one.
    """
    stopped: set[str] = set()
    found = []
    for event in history.events:
        if event.kind in _ENDS_A_STOP:
            stopped.discard(event.member)
        elif event.member in stopped and event.kind in _WORK:
            found.append(ActedAfterStop(member=event.member, kind=event.kind, time=int(event.time)))
        if event.kind is EventKind.STOPPED:
            stopped.add(event.member)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftUnderWay(Violation):
    """A member stops with an attempt under way."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} stopped, and neither committed nor rolled back T{self.transaction}, "
            "which it had begun"
        )


def stops_of_workers(history: History) -> bool:
    """Numbered workers of a controlled run's replicas stop; who leaves a group need not wait."""
    is_stopped = EventKind.STOPPED in history.kinds and not certification(history)
    return is_stopped and attempts_of_workers(history)


def _under_way_at_stops(history: History) -> Iterator[tuple[str, list[TransactionId]]]:
    """Yield each stop of an applier, and what it has begun and not ended."""
    under_way: dict[str, dict[TransactionId, None]] = {}
    for event in history.events:
        mine, one = under_way.get(event.member), event.transaction
        if event.kind is EventKind.BEGUN and event.worker is not None and one is not None:
            under_way.setdefault(event.member, {})[one] = None
        elif mine is None:
            continue
        elif event.kind is EventKind.STOPPED:
            yield event.member, list(mine)
        elif event.kind in _ENDS_A_STOP:
            mine.clear()
        elif event.kind in _ENDS_AN_ATTEMPT:
            for other in (one, *event.transactions):
                mine.pop(other, None)  # type: ignore[arg-type]


_ENDS_AN_ATTEMPT = frozenset(
    {EventKind.ENGINE_COMMITTED, EventKind.ROLLED_BACK, EventKind.FAILED, EventKind.SKIPPED}
)


@always(
    of=stops_of_workers,
    source="STOP REPLICA: a begun transaction is completed, or rolled back to be applied later",
    witness=lambda history: sum(1 for _ in _under_way_at_stops(history)),
)
def stops_leave_nothing_under_way(history: History) -> tuple[LeftUnderWay, ...]:
    """A replica that stops has committed or rolled back whatever its workers had begun."""
    return tuple(
        LeftUnderWay(member=member, transaction=one)
        for member, left in _under_way_at_stops(history)
        for one in left
    )


def controlled_recoveries(history: History) -> bool:
    """A controlled run records crashes and recoveries."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and recorded(EventKind.CRASHED, EventKind.RECOVERED)(history)


def _recoveries(history: History) -> Iterator[tuple[Event, bool]]:
    """Yield recoveries, and whether the member had crashed since its last one."""
    crashed: set[str] = set()
    for event in history.events_of(EventKind.CRASHED, EventKind.RECOVERED):
        if event.kind is EventKind.CRASHED:
            crashed.add(event.member)
        else:
            yield event, event.member in crashed
            crashed.discard(event.member)


@always(
    of=controlled_recoveries,
    source="crash recovery; MDEV-162, crash scenarios",
    witness=lambda history: sum(1 for _ in _recoveries(history)),
    exemptions=(
        Exemption(applies=views_with_members, because="a joiner recovers from a donor"),
        Exemption(applies=named_sources, because="a server may be restored from a backup"),
    ),
)
def servers_recover_once_after_a_crash(history: History) -> tuple[RecoveredAgain, ...]:
    """A server recovers once after each crash, and never without one."""
    return tuple(
        RecoveredAgain(member=event.member, time=int(event.time))
        for event, has_crashed in _recoveries(history)
        if not has_crashed
    )
