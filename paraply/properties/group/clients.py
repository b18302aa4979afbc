"""Guarantees to a group's clients, also in a network partition.

``CUT_OFF`` notes the minority's view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.exactly_once import final_stops
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import recorded
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

CUT_OFF = "cut off"
"""Note of the minority's VIEW_INSTALLED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedThenMissing(Violation):
    """A member lacks a confirmed transaction."""

    transaction: TransactionId
    told_by: str
    member: str

    def __str__(self) -> str:
        return (
            f"{self.told_by} told a client that T{self.transaction} had committed, and "
            f"{self.member} ends without it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedWhileCutOff(Violation):
    """A minority member confirms a commit."""

    transaction: TransactionId
    member: str

    def __str__(self) -> str:
        return f"{self.member} was cut off from its group, and confirmed T{self.transaction}"


def _group(history: History) -> frozenset[str]:
    views = history.events_of(EventKind.VIEW_INSTALLED)
    return frozenset(member for event in views for member in event.members)


def _ends(history: History) -> dict[str, frozenset[TransactionId]]:
    """Return the transactions of members that stop in the group.

    A member that left states nothing. Stories of servers follow each other, without a common time,
    so that a view in one says nothing of the end of another.
    """
    group = _group(history)
    left_after_it: set[str] = set()
    for event in history.events:
        if event.kind is EventKind.STOPPED:
            left_after_it.discard(event.member)
        elif event.kind is EventKind.VIEW_INSTALLED:
            left_after_it |= group - frozenset(event.members)
    return {
        member: frozenset(stop.transactions)
        for member, stop in final_stops(history).items()
        if member in group and (stop.transactions or member not in left_after_it)
    }


def _told(history: History) -> Iterator[tuple[str, TransactionId]]:
    for event in history.events_of(EventKind.CLIENT_ACKNOWLEDGED):
        if event.transaction is not None:
            yield event.member, event.transaction


def _clients_are_told_and_members_end(history: History) -> bool:
    group = _group(history)
    return len(_ends(history)) > 1 and any(member in group for member, _ in _told(history))


@always(
    of=recorded(EventKind.VIEW_INSTALLED, EventKind.CLIENT_ACKNOWLEDGED),
    source="virtual synchrony: a commit is confirmed once it is ordered in the group",
    witness=_clients_are_told_and_members_end,
)
def what_a_group_confirmed_survives(history: History) -> tuple[ConfirmedThenMissing, ...]:
    """Every member of the group ends with every transaction confirmed to a client.

    This excludes members that left.
    """
    group = _group(history)
    ends = _ends(history)
    return tuple(
        ConfirmedThenMissing(transaction=transaction, told_by=told_by, member=member)
        for told_by, transaction in _told(history)
        if told_by in group
        for member, having in ends.items()
        if transaction not in having
    )


def _somebody_is_cut_off(history: History) -> bool:
    return any(event.note == CUT_OFF for event in history.events_of(EventKind.VIEW_INSTALLED))


@always(
    of=recorded(EventKind.VIEW_INSTALLED, EventKind.CLIENT_ACKNOWLEDGED),
    source="quorum: wsrep_cluster_status non-Primary; unreachable majority",
    witness=_somebody_is_cut_off,
)
def members_cut_off_confirm_nothing(history: History) -> tuple[ConfirmedWhileCutOff, ...]:
    """A member that is cut off from the larger part of its group confirms no commit."""
    cut_off: set[str] = set()
    found = []
    kinds = (EventKind.VIEW_INSTALLED, EventKind.CLIENT_ACKNOWLEDGED)
    for event in history.events_of(*kinds):
        if event.kind is EventKind.VIEW_INSTALLED:
            (cut_off.add if event.note == CUT_OFF else cut_off.discard)(event.member)
        elif event.member in cut_off and event.transaction is not None:
            found.append(ConfirmedWhileCutOff(transaction=event.transaction, member=event.member))
    return tuple(found)
