"""One group member's inputs and decisions, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

AT_REST = "at rest"
"""Note of STOPPED where a run ends because nothing more can happen."""
Snapshots = Mapping[TransactionId, frozenset[TransactionId]]
"""Each transaction's origin's executed set when sent."""


def is_rest(event: Event) -> bool:
    """Return whether the member stops because nothing more can happen."""
    return event.kind is EventKind.STOPPED and event.note == AT_REST


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """One transaction as certified by a member or logged by its source.

    ``place`` counts the member's certified transactions from 0. ``timestamp`` is None for local or
    rejected ones.
    """

    place: int
    event_index: int
    transaction: Transaction
    is_positive: bool
    timestamp: LogicalTimestamp | None
    gtid: str
    clock: int = 0
    """Logical clock run; numbers compare only inside one."""
    is_source: bool = False
    """Whether the member logged it as the source."""

    @property
    def is_view_change(self) -> bool:
        """Return whether the transaction logs a view change."""
        return self.transaction.kind is TransactionKind.VIEW_CHANGE

    @property
    def is_fence(self) -> bool:
        """Return whether it has (0, 0): runs alone and resets the applier's counters."""
        return self.timestamp is not None and self.timestamp.is_view_change


@dataclass(slots=True, kw_only=True)
class MemberStream:
    """One member's certified transactions and other events."""

    member: str
    certified: list[Certified] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    committed_at: dict[TransactionId, int] = field(default_factory=dict)
    """Event index of each first commit."""
    clock: int = 0
    """Rotations of the log."""
    elsewhere: list[Certified] = field(default_factory=list)
    """Positive transactions certified in the member's absence."""

    @property
    def remote(self) -> list[Certified]:
        """Return the positive transactions with a timestamp."""
        return [one for one in self.certified if one.timestamp is not None]

    def had_committed(self, transaction: TransactionId, event_index: int) -> bool:
        """Return whether a commit precedes the event."""
        return self.committed_at.get(transaction, event_index) < event_index


_LAST: list[tuple[History, list[MemberStream]]] = []


def member_streams(history: History) -> list[MemberStream]:
    """Return every member's stream; callers only read them."""
    if not _LAST or _LAST[0][0] is not history:
        _LAST[:] = [(history, _streams_of(history))]
    return _LAST[0][1]


def _streams_of(history: History) -> list[MemberStream]:
    streams = {member: MemberStream(member=member) for member in history.members}
    for index, event in enumerate(history.events):
        stream = streams[event.member]
        stream.events.append((index, event))
        if event.kind is EventKind.CERTIFIED and event.transaction is not None:
            stream.certified.append(
                Certified(
                    place=len(stream.certified),
                    event_index=index,
                    transaction=history.transaction(event.transaction),
                    is_positive=event.outcome is Outcome.POSITIVE,
                    timestamp=event.timestamp,
                    gtid=event.gtid,
                    clock=stream.clock,
                )
            )
        elif event.kind is EventKind.FLUSHED and event.timestamp and event.transaction is not None:
            stream.certified.append(
                Certified(
                    place=len(stream.certified),
                    event_index=index,
                    transaction=history.transaction(event.transaction),
                    is_positive=True,
                    timestamp=event.timestamp,
                    gtid=event.gtid,
                    clock=stream.clock,
                    is_source=True,
                )
            )
        elif event.kind is EventKind.RELAY_ROTATED:
            stream.clock += 1
        elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            stream.committed_at.setdefault(event.transaction, index)
        elif event.kind is EventKind.RECOVERED:
            for transaction in event.transactions:
                stream.committed_at.setdefault(transaction, index)
    _share_what_others_certified(list(streams.values()))
    return list(streams.values())


def _share_what_others_certified(streams: list[MemberStream]) -> None:
    positive: dict[TransactionId, Certified] = {}
    for stream in streams:
        for one in stream.certified:
            if one.is_positive:
                positive.setdefault(one.transaction.id, one)
    for stream in streams:
        own = {one.transaction.id for one in stream.certified}
        stream.elsewhere = [positive[one] for one in sorted(positive.keys() - own)]


def snapshots(history: History) -> Snapshots:
    """Return each submission's executed set at its origin."""
    return {
        event.transaction: frozenset(event.transactions)
        for event in history.events_of(EventKind.SUBMITTED)
        if event.transaction is not None
    }


def positive_before(stream: MemberStream, one: Certified) -> Iterator[Certified]:
    """Yield the positive transactions before ``one``, including others' decisions."""
    for other in stream.certified[: one.place]:
        if other.is_positive:
            yield other
    for other in stream.elsewhere:
        if other.transaction.id < one.transaction.id:
            yield other


def items_not_stored(history: History) -> int:
    """Return the number of items from which write sets are not stored.

    This is the threshold of preemptive collection, which several primaries switch off.
    """
    options = history.header.options
    threshold = options.get("preemptive_rows_threshold", 0)
    is_on = isinstance(threshold, int) and threshold > 0 and bool(options.get("single_primary"))
    return threshold if is_on and isinstance(threshold, int) else 2**63


def share_items(a: Transaction, b: Transaction) -> bool:
    """Return whether both wrote a common item."""
    return not a.write_set.isdisjoint(b.write_set)
