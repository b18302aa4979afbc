"""Readers of a replica see growing prefixes of the source's log.

The log's order makes the check linear. It separates impossible states from stale reads, which are
allowed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from paraply.properties.registry import Violation, always, sometimes, write_sets
from paraply.properties.vocabularies import BETWEEN_DOMAINS, reads_of_replicas
from paraply.vocabulary.events import Event, EventKind, Observation
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionId
from paraply.vocabulary.write_set import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class StateNeverExisted(Violation):
    """A snapshot misses an earlier commit."""

    member: str
    seen: TransactionId
    seen_item: Item
    missed: TransactionId
    missed_item: Item

    def __str__(self) -> str:
        return (
            f"{self.member}: a reader saw {self.seen_item} of T{self.seen} but not "
            f"{self.missed_item} of T{self.missed}, which comes first: the source never was so"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadWentBack(Violation):
    """A read shows an older state than before."""

    member: str
    missed: TransactionId
    item: Item
    shown_before: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: after a read that included T{self.shown_before} a reader no longer "
            f"saw {self.item} of T{self.missed}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDiverged(Violation):
    """A final row differs from the source's."""

    member: str
    item: Item
    expected: TransactionId
    found: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: {self.item} is of T{self.found}, the source left T{self.expected}"


@dataclass(frozen=True, slots=True)
class PrefixRange:
    """From T``least`` to before T``limit``."""

    least: TransactionId
    least_item: Item
    limit: TransactionId | None
    limit_item: Item


def writers_of(history: History) -> dict[Item, list[TransactionId]]:
    """Return each item's writers in order."""
    writers: dict[Item, list[TransactionId]] = {}
    for transaction in history.transactions:
        for item in transaction.write_set:
            writers.setdefault(item, []).append(transaction.id)
    return writers


def prefixes_that_explain(
    observed: Iterable[Observation], writers: Mapping[Item, Sequence[TransactionId]]
) -> PrefixRange:
    """Return the prefixes that explain the versions."""
    least = INITIAL_STATE
    least_item: Item = ""
    limit: TransactionId | None = None
    limit_item: Item = ""
    for item, writer in observed:
        if writer > least:
            least, least_item = writer, item
        versions = writers.get(item, [])
        place = bisect_right(versions, writer)
        following = versions[place] if place < len(versions) else None
        if following is not None and (limit is None or following < limit):
            limit, limit_item = following, item
    return PrefixRange(least, least_item, limit, limit_item)


def steps_back(
    reads: Iterable[tuple[str, PrefixRange]],
) -> Iterator[tuple[str, PrefixRange, TransactionId, TransactionId]]:
    """Yield member, read, missing transaction, and the prefix shown before."""
    shown: dict[str, TransactionId] = {}
    for member, read in reads:
        before = shown.get(member, INITIAL_STATE)
        if read.limit is not None and read.limit <= before:
            yield member, read, read.limit, before
        shown[member] = max(before, read.least)


def _reads(history: History) -> Iterator[tuple[Event, PrefixRange]]:
    writers = writers_of(history)
    for event in history.events_of(EventKind.READ):
        yield event, prefixes_that_explain(event.observed, writers)


@sometimes(of=reads_of_replicas, source="a reader that only sees all or nothing tests little")
def reader_sees_the_middle(history: History) -> bool:
    """A reader saw some transactions and not yet others."""
    return any(found.least and found.limit is not None for _, found in _reads(history))


@always(
    of=reads_of_replicas,
    exemptions=(BETWEEN_DOMAINS,),
    source="WL#4648, any-time consistency; MySQL manual, gaps",
    witness=reader_sees_the_middle,
)
def readers_see_prefixes(history: History) -> tuple[StateNeverExisted, ...]:
    """Every snapshot on a replica is a state that the source once had."""
    return tuple(
        StateNeverExisted(
            member=event.member,
            seen=found.least,
            seen_item=found.least_item,
            missed=found.limit,
            missed_item=found.limit_item,
        )
        for event, found in _reads(history)
        if found.limit is not None and found.limit <= found.least
    )


def _two_reads(history: History) -> bool:
    members = [event.member for event in history.events_of(EventKind.READ)]
    return len(set(members)) < len(members)


@always(
    of=reads_of_replicas,
    exemptions=(BETWEEN_DOMAINS,),
    source="monotonic prefix consistency",
    witness=_two_reads,
)
def reads_never_go_back(history: History) -> tuple[ReadWentBack, ...]:
    """Of two reads on one replica, the later never shows less."""
    return tuple(
        ReadWentBack(member=member, missed=missed, item=read.limit_item, shown_before=before)
        for member, read, missed, before in steps_back(
            (event.member, read) for event, read in _reads(history)
        )
    )


def _final_reads(history: History) -> dict[str, Event]:
    """Excludes restarted members and truncated recordings."""
    finals: dict[str, Event] = {}
    stopped: dict[str, Event] = {}
    for event in history.events if history.is_complete else ():
        if event.kind is EventKind.READ:
            finals[event.member] = event
        elif event.kind is EventKind.STOPPED and event.member in finals:
            stopped[event.member] = finals[event.member]
        elif event.kind is EventKind.STARTED:
            stopped.pop(event.member, None)
    return stopped


@always(
    gaps=(write_sets,),
    of=reads_of_replicas,
    source="WL#4648, eventual consistency; requirement R1",
    witness=lambda history: any(event.observed for event in _final_reads(history).values()),
)
def final_state_is_the_sources(history: History) -> tuple[StateDiverged, ...]:
    """When all is applied, every row is what a serial replay of the log leaves."""
    writers = writers_of(history)
    return tuple(
        StateDiverged(member=member, item=item, expected=writers[item][-1], found=writer)
        for member, event in _final_reads(history).items()
        for item, writer in event.observed
        if item in writers and writers[item][-1] != writer
    )
