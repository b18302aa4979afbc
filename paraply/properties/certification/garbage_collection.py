"""Properties of the purge of certification info."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import (
    Certified,
    MemberStream,
    Snapshots,
    items_not_stored,
    member_streams,
    snapshots,
)
from paraply.properties.registry import Violation, always, sometimes, write_sets
from paraply.properties.start_rule import must_wait
from paraply.properties.vocabularies import certification
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item, WriteSet, format_item, sorted_items


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionChangedByCollection(Violation):
    """A purge lets a conflicting transaction pass."""

    member: str
    transaction: TransactionId
    purged_writer: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} certified T{self.transaction}, having purged the rows of "
            f"T{self.purged_writer} that it wrote without seeing"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstableCalledStable(Violation):
    """A member lacks a stable transaction."""

    member: str
    transaction: TransactionId
    missing_at: str

    def __str__(self) -> str:
        return (
            f"{self.member} takes T{self.transaction} for stable, "
            f"which {self.missing_at} has not executed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededVersionPurged(Violation):
    """A purged version is unseen by a sent transaction."""

    member: str
    writer: TransactionId
    undecided: TransactionId
    items: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.member} purged {', '.join(self.items)} of T{self.writer} before it decided "
            f"T{self.undecided}, which writes there and has not seen T{self.writer}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgedWriterUncovered(Violation):
    """A transaction may overtake a purged row's writer."""

    member: str
    purged_writer: TransactionId
    later: TransactionId
    sequence_number: int
    last_committed: int

    def __str__(self) -> str:
        return (
            f"on {self.member} T{self.later} waits for {self.last_committed}, but the rows of "
            f"T{self.purged_writer} (sequence_number {self.sequence_number}) are forgotten"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeableItemKept(Violation):
    """A collection keeps a stable item."""

    member: str
    writer: TransactionId
    item: str

    def __str__(self) -> str:
        return f"{self.member} keeps {self.item} of T{self.writer}, which is older than stable"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestVersionPurged(Violation):
    """A collection purges a version not older than the stable set."""

    member: str
    writer: TransactionId
    item: str

    def __str__(self) -> str:
        return f"{self.member} purged {self.item} of T{self.writer}, which is not older than stable"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstoredItemPurged(Violation):
    """A collection purges an item that was not stored."""

    member: str
    item: str

    def __str__(self) -> str:
        return f"{self.member} purged {self.item}, which no transaction had stored there"


PREEMPTIVE = "preemptive"
"""Note of a single-primary collection of large certification info."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Collection:
    """``writers`` are the stored items' last positive writers before the purge."""

    stream: MemberStream
    index: int
    event: Event
    writers: dict[Item, Certified]

    def purged(self) -> Iterator[tuple[Item, Certified]]:
        for item in sorted_items(self.event.items):
            if item in self.writers:
                yield item, self.writers[item]


def _collections(history: History) -> Iterator[_Collection]:
    large = items_not_stored(history)
    for stream in member_streams(history):
        certified = {one.event_index: one for one in stream.certified}
        writers: dict[Item, Certified] = {}
        for index, event in stream.events:
            if event.kind is EventKind.STARTED:
                writers.clear()
            elif index in certified and _is_stored(certified[index], large):
                writers.update(
                    dict.fromkeys(certified[index].transaction.write_set, certified[index])
                )
            elif event.kind is EventKind.GARBAGE_COLLECTED:
                yield _Collection(stream=stream, index=index, event=event, writers=dict(writers))
                for item in event.items:
                    writers.pop(item, None)


def _is_stored(one: Certified, large: int) -> bool:
    return one.is_positive and len(one.transaction.write_set) < large


@sometimes(of=certification, source="WL#8440, certification info garbage collection")
def something_is_purged(history: History) -> bool:
    """A collection purges at least one item."""
    return any(event.items for event in history.events_of(EventKind.GARBAGE_COLLECTED))


@sometimes(
    of=certification, source="WL#8440, EX5: 'if a new transaction that touches ws1 is executed'"
)
def a_purged_row_is_written_again(history: History) -> bool:
    """A member certifies a transaction on a row that it purged before."""
    return any(
        not later.transaction.write_set.isdisjoint(collection.event.items)
        for collection in _collections(history)
        for later in _positive_after(collection)
    )


@sometimes(of=certification, source="The Art of Problem-Solving in Software Engineering, 9.1.3")
def a_collection_overtakes_nothing_in_flight(history: History) -> bool:
    """A member collects while a transaction is ordered that it has not yet decided."""
    seen = snapshots(history)
    return any(
        any(True for _ in _undecided(collection, history, seen))
        for collection in _collections(history)
        if collection.event.items
    )


@always(
    needs=(EventKind.SUBMITTED,),
    of=certification,
    source="WL#6833, garbage collection; The Art of Problem-Solving, 9.1.3",
    witness=a_purged_row_is_written_again,
)
def collection_never_changes_a_decision(history: History) -> list[DecisionChangedByCollection]:
    """No transaction is certified only because a version it had not seen was purged."""
    seen = snapshots(history)
    return [
        DecisionChangedByCollection(
            member=collection.stream.member,
            transaction=later.transaction.id,
            purged_writer=writer.transaction.id,
        )
        for collection in _collections(history)
        for later in _positive_after(collection)
        for writer in _distinct(collection)
        if not later.transaction.write_set.isdisjoint(_purged_of(collection, writer))
        and _has_not_seen(later.transaction.id, writer.transaction.id, seen)
    ]


@sometimes(of=certification, source="WL#6833, stable set")
def a_member_collects_after_broadcasts(history: History) -> bool:
    """A member collects on the ground of executed sets that were broadcast."""
    broadcasts = False
    for event in history.events:
        broadcasts = broadcasts or event.kind is EventKind.EXECUTED_SET_BROADCAST
        if broadcasts and event.kind is EventKind.GARBAGE_COLLECTED and event.transactions:
            return True
    return False


@always(
    needs=(
        EventKind.VIEW_INSTALLED,
        EventKind.ONLINE,
    ),
    of=certification,
    source="WL#6833, stable set: executed by all members",
    witness=a_member_collects_after_broadcasts,
)
def stable_set_is_executed_everywhere(history: History) -> list[UnstableCalledStable]:
    """Every member online in the view has executed all that becomes stable.

    So their later snapshots are no older. A later member applies its backlog before it writes, so
    the first report of stability counts. A preemptive collection claims no stability, although its
    member counts what it had certified until then as stable from then on.
    """
    broken: list[UnstableCalledStable] = []
    streams = {stream.member: stream for stream in member_streams(history)}
    stable: set[TransactionId] = set()
    counted: dict[str, set[TransactionId]] = {}
    for collection in sorted(_collections(history), key=lambda one: one.index):
        member_counts = counted.setdefault(collection.stream.member, set())
        if collection.event.note == PREEMPTIVE:
            member_counts.update(collection.event.transactions)
            continue
        became_stable = [
            one
            for one in collection.event.transactions
            if one not in stable and one not in member_counts
        ]
        stable.update(became_stable)
        for member in _members_counted(collection):
            # A member without events has executed nothing.
            stream = streams.get(member, MemberStream(member=member))
            broken += [
                UnstableCalledStable(
                    member=collection.stream.member, transaction=transaction, missing_at=member
                )
                for transaction in became_stable
                if not stream.had_committed(transaction, collection.index)
            ]
    return broken


@always(
    gaps=(write_sets,),
    of=certification,
    source="WL#6833; MySQL comment at Certifier::garbage_collect",
    witness=a_collection_overtakes_nothing_in_flight,
)
def nothing_needed_is_purged(history: History) -> list[NeededVersionPurged]:
    """No version is purged that a transaction still to be decided has not seen."""
    seen = snapshots(history)
    return [
        NeededVersionPurged(
            member=collection.stream.member,
            writer=writer.transaction.id,
            undecided=undecided,
            items=tuple(format_item(item) for item in sorted_items(common)),
        )
        for collection in _collections(history)
        for undecided, write_set in _undecided(collection, history, seen)
        for writer in _distinct(collection)
        if (common := write_set & _purged_of(collection, writer))
        and _has_not_seen(undecided, writer.transaction.id, seen)
    ]


def _numbered_later(history: History) -> Iterator[tuple[bool, PurgedWriterUncovered, bool]]:
    """Yield if a later transaction writes a purged row, its breach, and if it waits instead."""
    for collection in _collections(history):
        numbers = {
            writer.timestamp.sequence_number: writer
            for writer in _distinct(collection)
            if writer.timestamp is not None and not writer.is_fence
        }
        if not numbers:
            continue
        greatest = max(numbers)
        for later in _positive_after(collection):
            if later.timestamp is None:
                continue
            if later.is_fence:
                break
            breach = PurgedWriterUncovered(
                member=collection.stream.member,
                purged_writer=numbers[greatest].transaction.id,
                later=later.transaction.id,
                sequence_number=greatest,
                last_committed=later.timestamp.last_committed,
            )
            writes_again = not later.transaction.write_set.isdisjoint(collection.event.items)
            yield writes_again, breach, must_wait(later.timestamp.last_committed, greatest)


@always(
    of=certification,
    source="WL#8440, EX5 and EX6",
    witness=lambda history: any(again for again, _, _ in _numbered_later(history)),
)
def window_covers_what_was_purged(history: History) -> list[PurgedWriterUncovered]:
    """After a collection every remote transaction waits for the writers of the purged rows."""
    return [breach for _, breach, waits in _numbered_later(history) if not waits]


@always(
    gaps=(write_sets,),
    of=certification,
    source="WL#6833; bug 84773 and its like: certification info grows without bound",
    witness=a_member_collects_after_broadcasts,
    is_safety=False,
)
def certification_info_is_bounded(history: History) -> list[PurgeableItemKept]:
    """After a collection no item is left whose version is strictly older than the stable set."""
    return [
        PurgeableItemKept(
            member=collection.stream.member, writer=writer.transaction.id, item=format_item(item)
        )
        for collection, item, writer, is_older in _stored_at_collections(history)
        if is_older and item not in collection.event.items
    ]


@always(
    needs=(EventKind.SUBMITTED,),
    gaps=(write_sets,),
    of=certification,
    source="WL#8440: 'certification info, except on a clean group start, is never empty'",
    witness=something_is_purged,
    is_safety=False,
)
def only_superseded_versions_are_purged(history: History) -> list[NewestVersionPurged]:
    """Only versions strictly older than the stable set are purged, so the newest one stays.

    Preemptive collection of 8.4 purges everything.
    """
    return [
        NewestVersionPurged(
            member=collection.stream.member, writer=writer.transaction.id, item=format_item(item)
        )
        for collection, item, writer, is_older in _stored_at_collections(history)
        if not is_older and item in collection.event.items and collection.event.note != PREEMPTIVE
    ]


def _purged_where_all_is_known(history: History) -> Iterator[tuple[_Collection, Item]]:
    """Yield items that a member purged; a joiner's donor may have stored some."""
    joined = {event.member for event in history.events_of(EventKind.RECOVERED)}
    for collection in _collections(history):
        if collection.stream.member not in joined:
            for item in sorted_items(collection.event.items):
                yield collection, item


@always(
    needs=(EventKind.CERTIFIED,),
    of=certification,
    source="Certifier::add_item: items of a transaction that is too large are not stored",
    witness=lambda history: sum(1 for _ in _purged_where_all_is_known(history)),
    gaps=(write_sets,),
)
def only_stored_items_are_purged(history: History) -> list[UnstoredItemPurged]:
    """A collection purges only items of transactions that stored theirs, each item once."""
    return [
        UnstoredItemPurged(member=collection.stream.member, item=format_item(item))
        for collection, item in _purged_where_all_is_known(history)
        if item not in collection.writers
    ]


def _stored_at_collections(
    history: History,
) -> Iterator[tuple[_Collection, Item, Certified, bool]]:
    seen = snapshots(history)
    for collection in _collections(history):
        stable = set(collection.event.transactions)
        for item, writer in collection.writers.items():
            version = {*seen.get(writer.transaction.id, ()), writer.transaction.id}
            yield collection, item, writer, version < stable


def _positive_after(collection: _Collection) -> Iterator[Certified]:
    restart = next(
        (
            index
            for index, event in collection.stream.events
            if index > collection.index and event.kind is EventKind.STARTED
        ),
        None,
    )
    for one in collection.stream.certified:
        if one.event_index > collection.index and one.is_positive:
            if restart is not None and one.event_index > restart:
                return
            yield one


def _distinct(collection: _Collection) -> Iterator[Certified]:
    writers = {writer.transaction.id: writer for _, writer in collection.purged()}
    yield from writers.values()


def _purged_of(collection: _Collection, writer: Certified) -> WriteSet:
    return frozenset(
        item for item, one in collection.purged() if one.transaction.id == writer.transaction.id
    )


def _undecided(
    collection: _Collection, history: History, seen: Snapshots
) -> Iterator[tuple[TransactionId, WriteSet]]:
    for one in collection.stream.certified:
        if one.event_index > collection.index and one.transaction.id in seen:
            yield one.transaction.id, one.transaction.write_set


def _has_not_seen(transaction: TransactionId, writer: TransactionId, seen: Snapshots) -> bool:
    return transaction in seen and writer not in seen[transaction]


def _members_counted(collection: _Collection) -> list[str]:
    view: tuple[str, ...] = ()
    online: tuple[str, ...] = ()
    for index, event in collection.stream.events:
        if index > collection.index:
            break
        if event.kind is EventKind.VIEW_INSTALLED:
            view = event.members
        elif event.kind is EventKind.ONLINE:
            online = event.members
    return [member for member in view if member in online]
