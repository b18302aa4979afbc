"""Readers at group members see prefixes of that member's own commits.

Commit orders differ (``group_commit_order``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import MemberStream, member_streams
from paraply.properties.readers.replica_reads import PrefixRange, prefixes_that_explain, steps_back
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import recorded
from paraply.vocabulary.events import Event, EventKind, Observation
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionId
from paraply.vocabulary.write_set import Item, format_item


@dataclass(frozen=True, slots=True, kw_only=True)
class UncommittedShown(Violation):
    """A reader sees an uncommitted transaction."""

    member: str
    transaction: TransactionId
    item: Item

    def __str__(self) -> str:
        return (
            f"{self.member}: a reader saw {format_item(self.item)} of T{self.transaction}, which "
            f"{self.member} never committed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberNeverWasSo(Violation):
    """A snapshot misses an earlier commit."""

    member: str
    seen: TransactionId
    seen_item: Item
    missed: TransactionId
    missed_item: Item

    def __str__(self) -> str:
        return (
            f"{self.member}: a reader saw {format_item(self.seen_item)} of T{self.seen} but not "
            f"{format_item(self.missed_item)} of T{self.missed}, which was committed there first"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReadWentBack(Violation):
    """A snapshot misses a transaction shown before."""

    member: str
    missed: TransactionId
    item: Item
    shown_before: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: after a read that included T{self.shown_before} a reader no longer "
            f"saw {format_item(self.item)} of T{self.missed}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """``explained`` are places in ``order``, from 1; 0 is the initial state."""

    member: str
    order: list[TransactionId]
    explained: PrefixRange
    strange: tuple[Observation, ...]
    """Versions that the member never committed."""

    def at(self, place: int) -> TransactionId:
        return self.order[place - 1] if place else INITIAL_STATE


def _reads(history: History) -> Iterator[_Read]:
    for stream in member_streams(history):
        reads = [event for _, event in stream.events if event.kind is EventKind.READ]
        if reads and stream.certified:
            yield from _explained(history, stream, reads)


def _explained(history: History, stream: MemberStream, reads: list[Event]) -> Iterator[_Read]:
    order = sorted(stream.committed_at, key=lambda one: stream.committed_at[one])
    places = {one: TransactionId(place) for place, one in enumerate(order, start=1)}
    places[INITIAL_STATE] = INITIAL_STATE
    writers: dict[Item, list[TransactionId]] = {}
    for one in order:
        for item in history.transaction(one).write_set:
            writers.setdefault(item, []).append(places[one])
    for event in reads:
        known = [
            seen._replace(writer=places[seen.writer])
            for seen in event.observed
            if seen.writer in places
        ]
        yield _Read(
            member=stream.member,
            order=order,
            explained=prefixes_that_explain(known, writers),
            strange=tuple(seen for seen in event.observed if seen.writer not in places),
        )


@sometimes(
    of=recorded(EventKind.CERTIFIED, EventKind.READ),
    source="a reader that only sees all or nothing tests little",
)
def member_reader_sees_the_middle(history: History) -> bool:
    """A reader at a member of a group saw some of what it commits and not yet all."""
    return any(
        read.explained.least and read.explained.limit is not None for read in _reads(history)
    )


@always(
    of=recorded(EventKind.CERTIFIED, EventKind.READ),
    source="binlog_order_commits=ON: a member's engine commits in the order of its binary log",
    witness=member_reader_sees_the_middle,
)
def members_show_prefixes_of_their_commits(
    history: History,
) -> tuple[UncommittedShown | MemberNeverWasSo, ...]:
    """Every snapshot at a member is the state after some prefix of what the member committed."""
    found: list[UncommittedShown | MemberNeverWasSo] = []
    for read in _reads(history):
        explained = read.explained
        found += [
            UncommittedShown(member=read.member, transaction=seen.writer, item=seen.item)
            for seen in read.strange[:1]
        ]
        if explained.limit is not None and explained.limit <= explained.least:
            found.append(
                MemberNeverWasSo(
                    member=read.member,
                    seen=read.at(explained.least),
                    seen_item=explained.least_item,
                    missed=read.at(explained.limit),
                    missed_item=explained.limit_item,
                )
            )
    return tuple(found)


def _member_is_read_twice(history: History) -> bool:
    seen: set[str] = set()
    for read in _reads(history):
        if read.strange:
            continue
        if read.member in seen:
            return True
        seen.add(read.member)
    return False


def _reads_without_commit(history: History) -> Iterator[str]:
    """Yield versions whose place in the member's commits is not recorded."""
    for read in _reads(history):
        for seen in read.strange[:1]:
            yield f"no engine_committed of T{seen.writer} at {read.member}"


@always(
    gaps=(_reads_without_commit,),
    of=recorded(EventKind.CERTIFIED, EventKind.READ),
    source="monotonic reads at one member",
    witness=_member_is_read_twice,
)
def member_reads_never_go_back(history: History) -> tuple[MemberReadWentBack, ...]:
    """Of two snapshots of one member the later never shows less, by the member's own commits."""
    reads = list(_reads(history))
    # One read suffices to name places: all reads of a member share its order.
    of_member = {read.member: read for read in reads}
    return tuple(
        MemberReadWentBack(
            member=member,
            missed=of_member[member].at(missed),
            item=explained.limit_item,
            shown_before=of_member[member].at(before),
        )
        for member, explained, missed, before in steps_back(
            (read.member, read.explained) for read in reads
        )
    )
