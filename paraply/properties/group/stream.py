"""The inputs and decisions of one group member, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

Snapshots = Mapping[TransactionId, frozenset[TransactionId]]
"""Transactions that the origin had executed when it sent each one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """One transaction as certified by a member or logged by its source.

    ``place`` counts the member's certified transactions from 0. ``timestamp`` is None for a local
    or rejected transaction.
    """

    place: int
    event_index: int
    transaction: Transaction
    is_positive: bool
    timestamp: LogicalTimestamp | None
    gtid: str
    clock: int = 0
    """Run of the logical clock; numbers compare only inside one."""
    is_source: bool = False
    """Whether the member logged its own transaction as the source."""

    @property
    def is_view_change(self) -> bool:
        """Return whether the transaction logs a view change."""
        return self.transaction.kind is TransactionKind.VIEW_CHANGE

    @property
    def is_fence(self) -> bool:
        """Return whether the timestamp is (0, 0): runs alone and resets the applier's counters."""
        return self.timestamp is not None and self.timestamp.is_view_change


@dataclass(slots=True, kw_only=True)
class MemberStream:
    """One member's certified transactions and other events, by event index."""

    member: str
    certified: list[Certified] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    committed_at: dict[TransactionId, int] = field(default_factory=dict)
    """Event index of the member's first commit of each transaction."""
    clock: int = 0
    """Rotations of the log so far."""
    elsewhere: list[Certified] = field(default_factory=list)
    """Positive transactions certified only by others in the member's absence."""

    @property
    def remote(self) -> list[Certified]:
        """Return the positive transactions with a timestamp of this member."""
        return [one for one in self.certified if one.timestamp is not None]

    def had_committed(self, transaction: TransactionId, event_index: int) -> bool:
        """Return whether the member committed the transaction before an event."""
        return self.committed_at.get(transaction, event_index) < event_index


_LAST: list[tuple[History, list[MemberStream]]] = []


def member_streams(history: History) -> list[MemberStream]:
    """Return the stream of every member, in the order of the history.

    Callers share the streams and only read them.
    """
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
    """Return the executed set of each origin at each submission."""
    return {
        event.transaction: frozenset(event.transactions)
        for event in history.events_of(EventKind.SUBMITTED)
        if event.transaction is not None
    }


def positive_before(stream: MemberStream, one: Certified) -> Iterator[Certified]:
    """Yield the positive transactions before ``one``, including those decided in the member's
    absence.
    """
    for other in stream.certified[: one.place]:
        if other.is_positive:
            yield other
    for other in stream.elsewhere:
        if other.transaction.id < one.transaction.id:
            yield other


def items_not_stored(history: History) -> int:
    """Return the number of items from which a write set is not stored.

    The threshold of preemptive collection; beyond any write set where that is off, as in every
    group with several primaries.
    """
    options = history.header.options
    threshold = options.get("preemptive_rows_threshold", 0)
    is_on = isinstance(threshold, int) and threshold > 0 and bool(options.get("single_primary"))
    return threshold if is_on and isinstance(threshold, int) else 2**63


def share_items(a: Transaction, b: Transaction) -> bool:
    """Return whether both transactions wrote a common item."""
    return not a.write_set.isdisjoint(b.write_set)
