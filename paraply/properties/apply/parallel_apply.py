"""No conflicting parallel apply, and when a transaction may start.

Optimistic appliers roll back conflict losers, so only surviving attempts count, by their row
changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import (
    ApplyStream,
    Attempt,
    apply_streams,
    commits_without_begin,
    overlapping_pairs,
)
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.start_rule import must_wait
from paraply.properties.vocabularies import BETWEEN_DOMAINS, logged_numbers, relay_log
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction, TransactionId
from paraply.vocabulary.write_set import Item, sorted_items

SPECULATIVE = ("optimistic", "aggressive")
"""Prefixes of dialects with optimistic begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictingApplyOverlapped(Violation):
    """A row changes before an earlier writer commits."""

    member: str
    earlier: TransactionId
    later: TransactionId
    item: Item | None
    """The shared row; None for a barrier."""
    is_by_window: bool = False
    """Whether begin and commit decide, without row changes."""

    def __str__(self) -> str:
        what = "began" if self.item is None or self.is_by_window else f"changed {self.item}"
        both = f"; both write {self.item}" if self.is_by_window and self.item is not None else ""
        return f"{self.member}: T{self.later} {what} before T{self.earlier} had committed{both}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedTooEarly(Violation):
    """A transaction begins before its last_committed permits."""

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
    """A row change finds an unexpected row."""

    member: str
    transaction: TransactionId
    outcome: Outcome
    items: tuple[Item, ...]

    def __str__(self) -> str:
        what = self.outcome.value.replace("_", " ")
        return (
            f"{self.member}: T{self.transaction} met a {what} on {', '.join(map(str, self.items))}"
        )


@sometimes(
    of=relay_log,
    source="decision 0002: a scheduler that serialises all passes every safety property",
)
def two_transactions_overlap(history: History) -> bool:
    """Two surviving transactions overlapped."""
    return any(next(overlapping_pairs(stream), None) for stream in apply_streams(history))


@sometimes(of=relay_log, source="WL#8440, trx.LC")
def conflicting_transactions_are_applied(history: History) -> bool:
    """Two transactions that conflict were both applied, while some others overlapped."""
    if not two_transactions_overlap(history):
        return False
    for stream in apply_streams(history):
        writers: dict[Item, TransactionId] = {}
        for attempt in stream.surviving:
            one = attempt.transaction
            if one.is_barrier or any(writers.get(item, one.id) != one.id for item in one.write_set):
                return True
            writers.update(dict.fromkeys(one.write_set, one.id))
    return False


def _decided_pairs(history: History) -> int:
    return (
        sum(not pair.missing for pair in _pairs(history))
        if two_transactions_overlap(history)
        else 0
    )


def _undecided_pairs(history: History) -> list[str]:
    return [pair.missing for pair in _pairs(history) if pair.missing]


@always(
    of=relay_log,
    exemptions=(BETWEEN_DOMAINS,),
    source="WL#8440, EX2, EX3; MDEV-8302 for attempts that do not survive",
    witness=_decided_pairs,
    gaps=(_undecided_pairs,),
)
def no_conflicting_parallel_apply(history: History) -> tuple[ConflictingApplyOverlapped, ...]:
    """A surviving attempt changes a row only after every earlier writer of it has committed.

    Without recorded row changes, the begin counts.
    """
    return tuple(pair.breach for pair in _pairs(history) if pair.breach is not None)


@dataclass(frozen=True, slots=True)
class _Pair:
    breach: ConflictingApplyOverlapped | None = None
    missing: str = ""


_PAIRS: list[tuple[History, tuple[_Pair, ...]]] = []


def _pairs(history: History) -> tuple[_Pair, ...]:
    if not _PAIRS or _PAIRS[0][0] is not history:
        pairs = (pair for one in apply_streams(history) for pair in _pairs_of(history, one))
        _PAIRS[:] = [(history, tuple(pairs))]
    return _PAIRS[0][1]


def _pairs_of(history: History, stream: ApplyStream) -> Iterator[_Pair]:
    surviving = {attempt.transaction.id: attempt for attempt in stream.surviving}
    last_writer: dict[Item, TransactionId] = {}
    last_barrier: TransactionId | None = None
    earlier: list[TransactionId] = []
    # Transactions are in source order, so comparing with the last writer suffices.
    for transaction in history.transactions:
        attempt = surviving.get(transaction.id)
        is_applied = attempt is not None or transaction.origin != stream.member
        if is_applied and transaction.id in stream.first_commit:
            for other, item in _must_precede(transaction, last_writer, last_barrier, earlier):
                if attempt is None:
                    yield _pair_without_begin(stream, other, transaction.id, item)
                elif other not in attempt.job:
                    yield _pair(history, stream, attempt, other, item)
        if transaction.is_barrier:
            last_barrier = transaction.id
        last_writer.update(dict.fromkeys(transaction.write_set, transaction.id))
        earlier.append(transaction.id)


def _pair(
    history: History,
    stream: ApplyStream,
    later: Attempt,
    earlier: TransactionId,
    item: Item | None,
) -> _Pair:
    touched = later.begun_at if item is None else later.touched.get(item)
    number, is_by_window = later.transaction.id, touched is None
    if stream.had_committed(earlier, later.begun_at if touched is None else touched):
        return _Pair()
    is_inverted = not stream.had_committed(earlier, later.committed_at or 0)
    if is_by_window and not is_inverted and (stream.has_rows or _may_wait_for_rows(history)):
        # The later attempt may have waited for the row.
        return _Pair(missing=f"no row_applied of T{number} on {item}")
    return _Pair(
        ConflictingApplyOverlapped(
            member=stream.member,
            earlier=earlier,
            later=number,
            item=item,
            is_by_window=is_by_window,
        )
    )


def _pair_without_begin(
    stream: ApplyStream, earlier: TransactionId, later: TransactionId, item: Item | None
) -> _Pair:
    """Decide a pair from commits alone: only an inverted order is a breach."""
    if stream.had_committed(earlier, stream.first_commit[later]):
        return _Pair(missing=f"no begun of T{later}")
    return _Pair(
        ConflictingApplyOverlapped(
            member=stream.member, earlier=earlier, later=later, item=item, is_by_window=True
        )
    )


def _may_wait_for_rows(history: History) -> bool:
    undone = {EventKind.ROLLED_BACK, EventKind.RETRIED}
    return history.header.dialect.startswith(SPECULATIVE) or bool(undone & history.kinds)


def _must_precede(
    transaction: Transaction,
    last_writer: dict[Item, TransactionId],
    last_barrier: TransactionId | None,
    earlier: list[TransactionId],
) -> Iterator[tuple[TransactionId, Item | None]]:
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


def _waits_for_something(history: History) -> int:
    return sum(
        (timestamp := _numbered(later)) is not None and timestamp.last_committed > 0
        for stream in apply_streams(history)
        for _, later in overlapping_pairs(stream)
    )


@always(
    of=logged_numbers,
    source="WL#7165; Mts_submode_logical_clock::wait_for_last_committed_trx",
    witness=_waits_for_something,
    gaps=(commits_without_begin,),
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
            covered = number > 0 and must_wait(timestamp.last_committed, number)
            if covered and not stream.had_committed(other.id, attempt.begun_at):
                yield StartedTooEarly(
                    member=stream.member,
                    transaction=attempt.transaction.id,
                    last_committed=timestamp.last_committed,
                    missing=other.id,
                    missing_number=number,
                )


def rows_are_applied(history: History) -> bool:
    """Return whether the history records a row change."""
    return any(
        event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.OK
        for event in history.events
    )


@always(
    of=relay_log, source="HA_ERR_KEY_NOT_FOUND, HA_ERR_FOUND_DUPP_KEY", witness=rows_are_applied
)
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
