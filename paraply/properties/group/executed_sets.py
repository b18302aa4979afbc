"""Executed sets that members broadcast, and sets that they state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import certification, recorded
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

_GTID = re.compile(r"[^:,]+:\d+")
_GTID_SET = re.compile(r"[^:,]+(:\d+(-\d+)?)+(,[^:,]+(:\d+(-\d+)?)+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastLacksExecuted(Violation):
    """A broadcast lacks an executed transaction."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} broadcast an executed set without T{self.transaction}, which it has"


def _a_busy_member_broadcasts(history: History) -> bool:
    committed: set[str] = set()
    for event in history.events:
        if event.kind is EventKind.ENGINE_COMMITTED:
            committed.add(event.member)
        elif event.kind is EventKind.EXECUTED_SET_BROADCAST and event.member in committed:
            return True
    return False


@always(
    of=recorded(EventKind.EXECUTED_SET_BROADCAST),
    source="certifier.cc: a cloned member reported the GTID_EXECUTED that it had started with",
    witness=_a_busy_member_broadcasts,
)
def broadcasts_tell_what_is_executed(history: History) -> list[BroadcastLacksExecuted]:
    """A member broadcasts every transaction that it has executed.

    Otherwise the stable set stops growing.
    """
    streams = {stream.member: stream for stream in member_streams(history)}
    return [
        BroadcastLacksExecuted(member=event.member, transaction=transaction.id)
        for index, event in enumerate(history.events)
        if event.kind is EventKind.EXECUTED_SET_BROADCAST and event.member in streams
        for transaction in history.transactions
        if transaction.id not in event.transactions
        and streams[event.member].had_committed(transaction.id, index)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetNamesOthers(Violation):
    """A stated GTID set differs from its transactions."""

    member: str
    kind: EventKind
    gtid: str
    is_in_set: bool

    def __str__(self) -> str:
        said = "has" if self.is_in_set else "lacks"
        return (
            f"the GTID set of {self.member}'s {self.kind.value} {said} {self.gtid}, "
            "unlike its transactions"
        )


def _has(stated: str, gtid: str) -> bool:
    """Return whether a GTID set in the servers' format has a GTID; sources may be any names."""
    source, _, number = gtid.rpartition(":")
    for entry in stated.split(","):
        name, *intervals = entry.strip().split(":")
        for interval in intervals if name == source else ():
            first, _, last = interval.partition("-")
            if int(first) <= int(number) <= int(last or first):
                return True
    return False


def _is_readable(stated: str) -> bool:
    """Return whether a set has sources and intervals only."""
    return bool(_GTID_SET.fullmatch(stated))


def _owners(history: History) -> dict[str, set[TransactionId]]:
    """Return who had or asked for each GTID."""
    owners: dict[str, set[TransactionId]] = {}
    for event in history.events_of(EventKind.CERTIFIED, EventKind.ENGINE_COMMITTED):
        if _GTID.fullmatch(event.gtid) and event.transaction is not None:
            owners.setdefault(event.gtid, set()).add(event.transaction)
    for one in history.transactions:
        if one.gtid:
            owners.setdefault(one.gtid, set()).add(one.id)
    return owners


def _own_gtids(history: History) -> dict[TransactionId, str]:
    """Return the GTIDs that no second transaction had or asked for."""
    return {one: gtid for gtid, (one, *others) in _owners(history).items() if not others}


def _stated_sets(history: History) -> Iterator[tuple[Event, list[TransactionId]]]:
    """Yield events that state a set, and their transactions without a recorded GTID."""
    named = {one for owners in _owners(history).values() for one in owners}
    for event in history.events:
        if event.transactions and event.gtid_set:
            yield event, [one for one in event.transactions if one not in named]


def _sets_of_unnamed(history: History) -> Iterator[str]:
    for _, unnamed in _stated_sets(history):
        if unnamed:
            yield f"no GTID of T{unnamed[0]}"


@always(
    gaps=(_sets_of_unnamed,),
    of=certification,
    source="MySQL manual, GTID sets: intervals of numbers",
    witness=lambda history: sum(not unnamed for _, unnamed in _stated_sets(history)),
)
def stated_gtid_sets_name_their_transactions(history: History) -> list[SetNamesOthers]:
    """A stated GTID set has the GTIDs of the transactions that it is said to have.

    Of other transactions it has none that the member committed before. A GTID that two transactions
    asked for judges nothing.
    """
    gtid_of = _own_gtids(history)
    committed: dict[str, set[TransactionId]] = {}
    found = []
    for event in history.events:
        mine = committed.setdefault(event.member, set())
        if event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            mine.add(event.transaction)
        if not event.transactions or not _is_readable(event.gtid_set):
            continue
        for one in sorted((mine | set(event.transactions)) & gtid_of.keys()):
            is_in_set = _has(event.gtid_set, gtid_of[one])
            if is_in_set != (one in event.transactions):
                found.append(
                    SetNamesOthers(
                        member=event.member,
                        kind=event.kind,
                        gtid=gtid_of[one],
                        is_in_set=is_in_set,
                    )
                )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SetInAnotherForm(Violation):
    """A GTID set is stated otherwise than servers do."""

    member: str
    kind: EventKind
    stated: str
    why: str

    def __str__(self) -> str:
        return f"{self.member}'s {self.kind.value} states the GTID set {self.stated}: {self.why}"


def _texts(history: History) -> Iterator[Event]:
    """Yield events that state sets of MySQL."""
    return (event for event in history.events if ":" in event.gtid_set)


_ENTRY = re.compile(r"[^:,]+(:([a-z_]\w*:)?\d+(-\d+)?)+", re.IGNORECASE)
"""A source with intervals; those of a tag follow it."""


def _fault(stated: str) -> str:
    """Return what is wrong with a set, or nothing."""
    entries = [entry.strip() for entry in stated.split(",")]
    names = [entry.partition(":")[0] for entry in entries]
    if len(set(names)) < len(names):
        return "a source is there twice"
    for entry in entries:
        if not _ENTRY.fullmatch(entry):
            return f"{entry} is no source with intervals"
        least = 1
        for part in entry.split(":")[1:]:
            first, _, last = part.partition("-")
            if not first.isdecimal():
                least = 1
            elif int(first) < least or (last and int(last) <= int(first)):
                return f"interval {part} is empty, or touches the one before it"
            else:
                least = int(last or first) + 2
    return ""


def stated_gtid_sets(history: History) -> bool:
    """MySQL GTID sets are stated."""
    return any(True for _ in _texts(history))


@always(
    of=stated_gtid_sets,
    source="MySQL manual, GTID sets: servers merge intervals, and give each source once",
    witness=lambda history: sum(1 for _ in _texts(history)),
)
def gtid_sets_are_in_shortest_form(history: History) -> list[SetInAnotherForm]:
    """A stated GTID set has each source once, with rising intervals that do not touch."""
    return [
        SetInAnotherForm(member=event.member, kind=event.kind, stated=event.gtid_set, why=why)
        for event in _texts(history)
        if (why := _fault(event.gtid_set))
    ]


@sometimes(
    of=recorded(EventKind.VIEW_INSTALLED, EventKind.ONLINE),
    source="certifier.cc: handle_view_change, stable set at a join; WL#8440",
)
def a_member_collects_at_a_join(history: History) -> bool:
    """A member collects in the step in which it installs a view."""
    collected: dict[str, int] = {}
    for event in history.events_of(EventKind.GARBAGE_COLLECTED, EventKind.VIEW_INSTALLED):
        if event.kind is EventKind.GARBAGE_COLLECTED:
            collected[event.member] = event.time
        elif collected.get(event.member) == event.time:
            return True
    return False
