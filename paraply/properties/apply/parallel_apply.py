"""No conflicting parallel apply, and what it rests on: when a transaction may start.

In an optimistic applier conflicting attempts do overlap and the loser rolls back, so only attempts
that survived are judged, and by when they touched a row, not by when they began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import ApplyStream, Attempt, apply_streams, overlapping_pairs
from paraply.properties.registry import Violation, always, sometimes
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item, sorted_items


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictingApplyOverlapped(Violation):
    """A transaction changed a row before an earlier writer of the row had committed."""

    member: str
    earlier: TransactionId
    later: TransactionId
    item: Item | None
    """The shared row; None where one of the two is a barrier."""

    def __str__(self) -> str:
        what = "began" if self.item is None else f"changed {self.item}"
        return f"{self.member}: T{self.later} {what} before T{self.earlier} had committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedTooEarly(Violation):
    """A transaction began although one that its last_committed covers had not committed."""

    member: str
    transaction: TransactionId
    last_committed: int
    missing: TransactionId
    missing_number: int

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} has last_committed={self.last_committed} and "
            f"began before T{self.missing} (sequence_number={self.missing_number}) had committed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RowApplyFailed(Violation):
    """A row change did not find the row as the source had it."""

    member: str
    transaction: TransactionId
    outcome: Outcome
    items: tuple[Item, ...]

    def __str__(self) -> str:
        what = self.outcome.value.replace("_", " ")
        return (
            f"{self.member}: T{self.transaction} met a {what} on {', '.join(map(str, self.items))}"
        )


@sometimes(source="decision 0002: a scheduler that serialises all passes every safety property")
def two_transactions_overlap(history: History) -> bool:
    """Two transactions that survived were under way at once."""
    return any(next(overlapping_pairs(stream), None) for stream in apply_streams(history))


@sometimes(source="WL#8440, trx.LC")
def conflicting_transactions_are_applied(history: History) -> bool:
    """Two transactions that conflict were both applied, while some others overlapped."""
    if not two_transactions_overlap(history):
        return False
    for stream in apply_streams(history):
        writers: set[Item] = set()
        for attempt in stream.surviving:
            items = attempt.transaction.write_set
            if attempt.transaction.is_barrier or writers & items:
                return True
            writers |= items
    return False


@always(
    source="WL#8440, EX2, EX3; MDEV-8302 for attempts that do not survive",
    witness=conflicting_transactions_are_applied,
)
def no_conflicting_parallel_apply(history: History) -> tuple[ConflictingApplyOverlapped, ...]:
    """A surviving attempt changes a row only after every earlier writer of it has committed."""
    return tuple(
        breach for stream in apply_streams(history) for breach in _overlaps(history, stream)
    )


def _overlaps(history: History, stream: ApplyStream) -> Iterator[ConflictingApplyOverlapped]:
    surviving = {attempt.transaction.id: attempt for attempt in stream.surviving}
    last_writer: dict[Item, TransactionId] = {}
    last_barrier: TransactionId | None = None
    earlier: list[TransactionId] = []
    # The transactions stand in the source's order. The last writer before suffices: whoever wrote
    # before that one is judged against it.
    for transaction in history.transactions:
        attempt = surviving.get(transaction.id)
        if attempt is not None:
            for other, item in _must_precede(transaction, last_writer, last_barrier, earlier):
                if other in attempt.job:
                    continue
                touched = attempt.begun_at if item is None else attempt.touched.get(item)
                if touched is not None and not stream.had_committed(other, touched):
                    yield ConflictingApplyOverlapped(
                        member=stream.member, earlier=other, later=transaction.id, item=item
                    )
        if transaction.is_barrier:
            last_barrier = transaction.id
        last_writer.update(dict.fromkeys(transaction.write_set, transaction.id))
        earlier.append(transaction.id)


def _must_precede(
    transaction: Transaction,
    last_writer: dict[Item, TransactionId],
    last_barrier: TransactionId | None,
    earlier: list[TransactionId],
) -> Iterator[tuple[TransactionId, Item | None]]:
    """Yield what must have committed, with the row because of which; None for a barrier."""
    if transaction.is_barrier:
        yield from ((other, None) for other in earlier)
        return
    if last_barrier is not None:
        yield last_barrier, None
    for item in sorted_items(transaction.write_set):
        if item in last_writer:
            yield last_writer[item], item


def _numbered(attempt: Attempt) -> LogicalTimestamp | None:
    timestamp = attempt.transaction.timestamp
    return None if timestamp is None or not timestamp.sequence_number else timestamp


def _waits_for_something(history: History) -> bool:
    """Return whether some transaction with a last_committed began while another was under way."""
    return any(
        (timestamp := _numbered(later)) is not None and timestamp.last_committed > 0
        for stream in apply_streams(history)
        for _, later in overlapping_pairs(stream)
    )


@always(
    source="WL#7165; Mts_submode_logical_clock::wait_for_last_committed_trx",
    witness=_waits_for_something,
)
def starts_respect_last_committed(history: History) -> tuple[StartedTooEarly, ...]:
    """A transaction begins only when every transaction up to its last_committed has committed."""
    return tuple(
        breach for stream in apply_streams(history) for breach in _early_starts(history, stream)
    )


def _early_starts(history: History, stream: ApplyStream) -> Iterator[StartedTooEarly]:
    for attempt in stream.attempts:
        timestamp = _numbered(attempt)
        if timestamp is None:
            continue
        for other in history.transactions:
            if other.id >= attempt.transaction.id:
                break
            if other.clock != attempt.transaction.clock or other.timestamp is None:
                continue
            number = other.timestamp.sequence_number
            covered = 0 < number <= timestamp.last_committed
            if covered and not stream.had_committed(other.id, attempt.begun_at):
                yield StartedTooEarly(
                    member=stream.member,
                    transaction=attempt.transaction.id,
                    last_committed=timestamp.last_committed,
                    missing=other.id,
                    missing_number=number,
                )


def rows_are_applied(history: History) -> bool:
    """Return whether some row was changed."""
    return any(
        event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.OK
        for event in history.events
    )


@always(source="HA_ERR_KEY_NOT_FOUND, HA_ERR_FOUND_DUPP_KEY", witness=rows_are_applied)
def rows_apply_as_logged(history: History) -> tuple[RowApplyFailed, ...]:
    """Every row change finds the row as the source had it: its before image, or a free key."""
    wrong = (Outcome.MISSING_BEFORE_IMAGE, Outcome.DUPLICATE_KEY, Outcome.MISSING_PARENT)
    return tuple(
        RowApplyFailed(
            member=event.member,
            transaction=event.transaction,
            outcome=event.outcome,
            items=tuple(sorted_items(event.items)),
        )
        for event in history.events_of(EventKind.ROW_APPLIED)
        if event.outcome in wrong and event.transaction is not None and event.outcome is not None
    )
