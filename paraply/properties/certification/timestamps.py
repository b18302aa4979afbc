"""Properties of one member's logical timestamps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from paraply.properties.certification.known_writers import compute_last_committed_needed
from paraply.properties.group.stream import (
    Certified,
    MemberStream,
    items_not_stored,
    member_streams,
    share_items,
)
from paraply.properties.registry import Violation, always, sometimes, write_sets
from paraply.properties.start_rule import must_wait
from paraply.properties.vocabularies import (
    controlled_workload,
    given_numbers,
    given_numbers_in_sessions,
)
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampMalformed(Violation):
    """A transaction waits for itself or a later one."""

    member: str
    transaction: TransactionId
    timestamp: LogicalTimestamp

    def __str__(self) -> str:
        return (
            f"{self.member} gave T{self.transaction} last_committed="
            f"{self.timestamp.last_committed}, not below sequence_number="
            f"{self.timestamp.sequence_number}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNumberRepeated(Violation):
    """A sequence number falls without a reset."""

    member: str
    earlier: TransactionId
    later: TransactionId
    numbers: tuple[int, int]

    def __str__(self) -> str:
        return (
            f"in {self.member}'s relay log sequence_number {self.numbers[1]} of T{self.later} "
            f"follows {self.numbers[0]} of T{self.earlier}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyUnordered(Violation):
    """A dependent transaction may start too early."""

    member: str
    earlier: TransactionId
    later: TransactionId
    earlier_timestamp: LogicalTimestamp
    later_timestamp: LogicalTimestamp

    def __str__(self) -> str:
        return (
            f"on {self.member} T{self.later} (last_committed "
            f"{self.later_timestamp.last_committed}) may start before T{self.earlier} "
            f"(sequence_number {self.earlier_timestamp.sequence_number}) has committed"
        )


class BarrierUnordered(DependencyUnordered):
    """A transaction without write set may overlap."""

    __slots__ = ()


class SessionReordered(DependencyUnordered):
    """Two transactions of one session may overlap."""

    __slots__ = ()


BreachT = TypeVar("BreachT", bound=DependencyUnordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionHeldBack(Violation):
    """A transaction waits without a dependency."""

    member: str
    transaction: TransactionId
    last_committed: int
    needed: int

    def __str__(self) -> str:
        return (
            f"{self.member} makes T{self.transaction} wait for {self.last_committed}; "
            f"it depends on nothing past {self.needed}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNumberSkipped(Violation):
    """A gap in the numbers drains the applier."""

    member: str
    transaction: TransactionId
    numbers: tuple[int, int]

    def __str__(self) -> str:
        return (
            f"{self.member} numbers T{self.transaction} {self.numbers[1]} after {self.numbers[0]}"
        )


@sometimes(of=given_numbers, source="WL#8440, EX3")
def conflicting_transactions_follow_each_other(history: History) -> bool:
    """A member gives timestamps to two transactions that wrote a common item."""
    return any(
        share_items(earlier.transaction, later.transaction)
        for _, earlier, later in _ordered_pairs(history)
    )


@sometimes(of=given_numbers, source="WL#8440, EX4")
def a_barrier_meets_another_transaction(history: History) -> bool:
    """A member gives timestamps to a transaction without write set and to another."""
    return any(_has_barrier(earlier, later) for _, earlier, later in _ordered_pairs(history))


@sometimes(of=given_numbers, source="WL#8440, EX3: 'T1 and T2 can be applied in parallel'")
def independent_transactions_may_overlap(history: History) -> bool:
    """A member lets two transactions overlap."""
    return any(_may_overlap(earlier, later) for _, earlier, later in _ordered_pairs(history))


@sometimes(of=given_numbers, source="server golden result gr_parallel_applier_indexes, server1")
def a_local_writer_comes_between(history: History) -> bool:
    """A member certifies a local transaction between two remote ones that share its items."""
    return any(
        between.is_positive
        and between.timestamp is None
        and share_items(between.transaction, earlier.transaction)
        and share_items(between.transaction, later.transaction)
        for stream, earlier, later in _ordered_pairs(history)
        for between in stream.certified[earlier.place + 1 : later.place]
    )


def _timestamps_are_given(history: History) -> bool:
    return any(len(stream.remote) > 1 for stream in member_streams(history))


@always(
    of=given_numbers,
    source="WL#8440, trx.LC; server assertion in update_transaction_dependency_timestamps",
    witness=_timestamps_are_given,
)
def last_committed_is_below_sequence_number(history: History) -> list[TimestampMalformed]:
    """Each timestamp has last_committed < sequence_number, or is (0, 0)."""
    return [
        TimestampMalformed(
            member=stream.member, transaction=one.transaction.id, timestamp=one.timestamp
        )
        for stream in member_streams(history)
        for one in stream.remote
        if one.timestamp is not None and not one.timestamp.is_well_formed
    ]


@always(
    of=given_numbers,
    source="WL#8440, trx.SN: 'monotonically incremented'",
    witness=_timestamps_are_given,
)
def sequence_numbers_increase(history: History) -> list[SequenceNumberRepeated]:
    """In each member's relay log the sequence numbers rise, and only (0, 0) starts them again."""
    return [
        SequenceNumberRepeated(
            member=stream.member,
            earlier=earlier.transaction.id,
            later=later.transaction.id,
            numbers=numbers,
        )
        for stream, earlier, later, numbers in _neighbours(history)
        if numbers[1] <= numbers[0]
    ]


@always(
    of=given_numbers,
    source="WL#8440, EX2, EX3, EX5 and EX6",
    witness=conflicting_transactions_follow_each_other,
)
def conflicting_transactions_are_ordered(history: History) -> list[DependencyUnordered]:
    """The later of two transactions with a common item waits for the earlier one.

    Exceptions: a fence (0, 0) or rotation between them, or an earlier one committed before the
    later's certification.
    """
    return [
        _unordered(DependencyUnordered, stream, earlier, later)
        for stream, earlier, later in _unordered_pairs(history)
        if share_items(earlier.transaction, later.transaction)
    ]


@always(
    of=given_numbers,
    source="WL#8440, no write set case, EX4",
    witness=a_barrier_meets_another_transaction,
)
def barriers_are_ordered_with_all(history: History) -> list[BarrierUnordered]:
    """A transaction without write set, or CREATE TABLE ... SELECT, overlaps with nothing."""
    return [
        _unordered(BarrierUnordered, stream, earlier, later)
        for stream, earlier, later in _unordered_pairs(history)
        if _has_barrier(earlier, later)
    ]


@always(
    gaps=(write_sets,),
    of=given_numbers,
    source="WL#8440, trx.LC; server function update_transaction_dependency_timestamps",
    witness=independent_transactions_may_overlap,
    is_safety=False,
)
def last_committed_is_minimal(history: History) -> list[TransactionHeldBack]:
    """No transaction waits for more than its items, barriers and collections require."""
    return [
        TransactionHeldBack(
            member=stream.member,
            transaction=one.transaction.id,
            last_committed=one.timestamp.last_committed,
            needed=needed,
        )
        for stream in member_streams(history)
        for one, needed in compute_last_committed_needed(stream, items_not_stored(history))
        if one.timestamp is not None and one.timestamp.last_committed > needed
    ]


@always(
    of=given_numbers,
    source="servers after 8.3: no gap when certification garbage is collected",
    witness=_timestamps_are_given,
    is_safety=False,
)
def sequence_numbers_are_contiguous(history: History) -> list[SequenceNumberSkipped]:
    """Sequence numbers leave no gap: at a gap the applier waits for all its workers.

    Those of each of a source's files begin with 1.
    """
    return [
        SequenceNumberSkipped(member=stream.member, transaction=one.transaction.id, numbers=numbers)
        for stream, one, numbers in (*_later_numbers(history), *_first_numbers(history))
        if numbers[1] > numbers[0] + 1
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedBesideCollections(SequenceNumberSkipped):
    """More numbers are skipped than collections occur."""

    collections: int

    def __str__(self) -> str:
        return f"{SequenceNumberSkipped.__str__(self)}, with {self.collections} collections between"


def _numbers_beside_collections(history: History) -> Iterator[SkippedBesideCollections]:
    """Yield neighbouring numbers of members that collect, and the collections between."""
    for stream, earlier, later, numbers in _neighbours(history):
        yield SkippedBesideCollections(
            member=stream.member,
            transaction=later.transaction.id,
            numbers=numbers,
            collections=sum(
                event.kind is EventKind.GARBAGE_COLLECTED
                for index, event in stream.events
                if earlier.event_index < index < later.event_index
            ),
        )


def collecting_members(history: History) -> bool:
    """Members of a controlled run give numbers, and collect garbage."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and given_numbers(history) and EventKind.GARBAGE_COLLECTED in history.kinds


@always(
    of=collecting_members,
    source="certifier.cc until 8.3: a collection increments parallel_applier_sequence_number once",
    witness=_timestamps_are_given,
    is_safety=False,
)
def collections_skip_at_most_one_number(history: History) -> list[SkippedBesideCollections]:
    """Sequence numbers leave at most one gap of one number for each collection between."""
    return [
        one
        for one in _numbers_beside_collections(history)
        if one.numbers[1] > one.numbers[0] + 1 + one.collections
    ]


def _later_numbers(history: History) -> Iterator[tuple[MemberStream, Certified, tuple[int, int]]]:
    return ((stream, later, numbers) for stream, _, later, numbers in _neighbours(history))


def _first_numbers(history: History) -> Iterator[tuple[MemberStream, Certified, tuple[int, int]]]:
    if history.header.tier is not EvidenceTier.CONTROLLED_RUN:
        return
    is_whole = controlled_workload(history)
    for stream in member_streams(history):
        firsts: dict[int, Certified] = {}
        for one in stream.remote:
            # A record that does not state its whole workload may begin within the first file.
            is_first = (one.clock > 0 or is_whole) and one.clock not in firsts
            if one.is_source and one.timestamp is not None and is_first:
                firsts[one.clock] = one
                yield stream, one, (0, one.timestamp.sequence_number)


@sometimes(
    of=given_numbers_in_sessions, source="MySQL manual, binlog_transaction_dependency_tracking"
)
def a_session_logs_two_transactions(history: History) -> bool:
    """A source logs two transactions of one session."""
    return any(True for _ in _session_pairs(history))


@always(
    of=given_numbers_in_sessions,
    source="MySQL manual, WRITESET_SESSION; WL#8440, session commit order",
    witness=a_session_logs_two_transactions,
)
def timestamps_keep_session_order(history: History) -> list[SessionReordered]:
    """The timestamps keep the transactions of one session in their order.

    COMMIT_ORDER and WRITESET_SESSION promise this; WRITESET relies on
    replica_preserve_commit_order.
    """
    return [
        _unordered(SessionReordered, stream, earlier, later)
        for stream, earlier, later in _session_pairs(history)
        if _may_overlap(earlier, later)
    ]


def _session_pairs(history: History) -> Iterator[tuple[MemberStream, Certified, Certified]]:
    for stream, earlier, later in _ordered_pairs(history):
        if later.is_source and earlier.transaction.session == later.transaction.session != "":
            yield stream, earlier, later


def _neighbours(
    history: History,
) -> Iterator[tuple[MemberStream, Certified, Certified, tuple[int, int]]]:
    for stream in member_streams(history):
        previous: Certified | None = None
        for one in stream.remote:
            if one.is_fence:
                previous = None
                continue
            if previous is not None and previous.clock != one.clock:
                previous = None
            if previous is not None and previous.timestamp and one.timestamp:
                numbers = (previous.timestamp.sequence_number, one.timestamp.sequence_number)
                yield stream, previous, one, numbers
            previous = one


def _ordered_pairs(history: History) -> Iterator[tuple[MemberStream, Certified, Certified]]:
    for stream in member_streams(history):
        since_fence: list[Certified] = []
        for one in stream.remote:
            if one.is_fence:
                since_fence.clear()
                continue
            if since_fence and since_fence[-1].clock != one.clock:
                since_fence.clear()
            for earlier in since_fence:
                yield stream, earlier, one
            since_fence.append(one)


def _unordered_pairs(history: History) -> Iterator[tuple[MemberStream, Certified, Certified]]:
    for stream, earlier, later in _ordered_pairs(history):
        if _may_overlap(earlier, later) and (
            later.is_source or not stream.had_committed(earlier.transaction.id, later.event_index)
        ):
            yield stream, earlier, later


def _may_overlap(earlier: Certified, later: Certified) -> bool:
    """Return whether MySQL's coordinator may start ``later`` first.

    last_committed 0 waits for all workers: an older binary log's dependency (WL#7165), or a view
    change.
    """
    before, after = earlier.timestamp, later.timestamp
    if before is None or after is None or before.is_view_change or not after.last_committed:
        return False
    return not must_wait(after.last_committed, before.sequence_number)


def _has_barrier(earlier: Certified, later: Certified) -> bool:
    return earlier.transaction.is_barrier or later.transaction.is_barrier


def _unordered(
    kind: type[BreachT], stream: MemberStream, earlier: Certified, later: Certified
) -> BreachT:
    assert earlier.timestamp is not None
    assert later.timestamp is not None
    return kind(
        member=stream.member,
        earlier=earlier.transaction.id,
        later=later.transaction.id,
        earlier_timestamp=earlier.timestamp,
        later_timestamp=later.timestamp,
    )
