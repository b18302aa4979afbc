"""Commit order, exactly-once apply, sessions and positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from paraply.properties.apply.parallel_apply import two_transactions_overlap
from paraply.properties.apply.stream import ApplyStream, apply_streams, overlapping_pairs
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import (
    BETWEEN_DOMAINS,
    crash_of_a_replica,
    logged_sessions,
    relay_log,
    saved_sets,
    started_appliers,
)
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

HALF = "half a transaction"
"""Note of a ROLLED_BACK event: the log ends within the transaction, and has it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOrderInverted(Violation):
    """A transaction commits before an earlier logged one."""

    member: str
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: T{self.later} committed before T{self.earlier}, which comes first"


class SessionOrderInverted(CommitOrderInverted):
    """A session's transactions commit out of order."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedTwice(Violation):
    """A transaction commits in the engine twice."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: T{self.transaction} committed twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionLost(Violation):
    """The applier stops normally but lacks a transaction."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: T{self.transaction} was never applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionAheadOfData(Violation):
    """A saved position covers an uncommitted transaction."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: the position saved covers T{self.transaction}, not yet committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplierStalled(Violation):
    """Transactions remain, but no step is possible."""

    member: str
    waiting: tuple[TransactionId, ...]

    def __str__(self) -> str:
        held = ", ".join(f"T{one}" for one in self.waiting) or "the coordinator"
        return f"{self.member}: nothing can move; {held} waits for ever"


@always(
    exemptions=(BETWEEN_DOMAINS,),
    of=relay_log,
    source="WL#8440, session commit order; slave_preserve_commit_order=ON",
    witness=two_transactions_overlap,
)
def engine_commits_follow_the_log(history: History) -> tuple[CommitOrderInverted, ...]:
    """Transactions commit in the engine in the order of the source's log."""
    return tuple(
        CommitOrderInverted(member=stream.member, earlier=second, later=first)
        for stream in apply_streams(history)
        for first, second in _inversions(stream)
    )


def _inversions(stream: ApplyStream) -> Iterator[tuple[TransactionId, TransactionId]]:
    commits = [one for index, one in stream.engine_commits if stream.first_commit[one] == index]
    for first, second in pairwise(commits):
        if first > second:
            yield first, second


def _one_session_overlaps(history: History) -> bool:
    return any(
        first.transaction.session and first.transaction.session == second.transaction.session
        for stream in apply_streams(history)
        for first, second in overlapping_pairs(stream)
    )


@always(of=logged_sessions, source="WL#8440, session commit order", witness=_one_session_overlaps)
def sessions_keep_their_order(history: History) -> tuple[SessionOrderInverted, ...]:
    """What one client session did becomes visible on the replica in the order it did it."""
    found = []
    for stream in apply_streams(history):
        newest: dict[str, TransactionId] = {}
        for index, transaction_id in stream.engine_commits:
            session = history.transaction(transaction_id).session
            if not session or stream.first_commit[transaction_id] != index:
                continue
            if newest.get(session, transaction_id) > transaction_id:
                found.append(
                    SessionOrderInverted(
                        member=stream.member, earlier=transaction_id, later=newest[session]
                    )
                )
            newest[session] = max(transaction_id, newest.get(session, transaction_id))
    return tuple(found)


@sometimes(of=crash_of_a_replica, source="WL#8440, applier recovery")
def replica_crashes_midway(history: History) -> bool:
    """A replica crashed during a transaction, after others had committed."""
    for stream in apply_streams(history):
        begun: set[TransactionId] = set()
        committed: set[TransactionId] = set()
        for _, event in stream.events:
            if event.kind is EventKind.BEGUN and event.transaction is not None:
                begun.add(event.transaction)
            elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
                committed.add(event.transaction)
            elif event.kind is EventKind.CRASHED and committed and begun - committed:
                return True
    return False


def halves(history: History) -> bool:
    """A replica rolls back half a transaction, which its log has again."""
    return relay_log(history) and any(
        event.note == HALF for event in history.events_of(EventKind.ROLLED_BACK)
    )


@sometimes(of=halves, source="WL#8440, WL#7165 applier recovery: scenarios 3 and 4")
def half_a_transaction_comes_again(history: History) -> bool:
    """A replica rolled back half a transaction, and then committed the whole."""
    half: set[tuple[str, TransactionId | None]] = set()
    for event in history.events_of(EventKind.ROLLED_BACK, EventKind.ENGINE_COMMITTED):
        key = event.member, event.transaction
        if event.note == HALF:
            half.add(key)
        elif event.kind is EventKind.ENGINE_COMMITTED and key in half:
            return True
    return False


def _all_is_applied(history: History) -> bool:
    return any(stream.has_stopped for stream in apply_streams(history))


@always(
    of=relay_log, source="WL#8440, applier recovery, EX7; GTID auto-skip", witness=_all_is_applied
)
def applied_exactly_once(history: History) -> tuple[AppliedTwice | TransactionLost, ...]:
    """Every transaction of the log commits once, whatever crashed in between."""
    found: list[AppliedTwice | TransactionLost] = []
    for stream in apply_streams(history):
        found += [
            AppliedTwice(member=stream.member, transaction=one)
            for index, one in stream.engine_commits
            if stream.first_commit[one] != index
        ]
        if stream.has_stopped and history.is_complete:
            found += [
                TransactionLost(member=stream.member, transaction=one.id)
                for one in history.transactions
                if one.id not in stream.first_commit
            ]
    return tuple(found)


def _position_is_saved(history: History) -> bool:
    return any(event.transactions for event in history.events_of(EventKind.POSITION_SAVED))


@always(
    of=saved_sets,
    source="WL#4648, internal requirements; mts_recovery_groups",
    witness=_position_is_saved,
)
def saved_positions_are_executed(history: History) -> tuple[PositionAheadOfData, ...]:
    """A saved position covers only transactions that have committed."""
    return tuple(
        PositionAheadOfData(member=stream.member, transaction=covered)
        for stream in apply_streams(history)
        for index, event in stream.events
        if event.kind is EventKind.POSITION_SAVED
        for covered in event.transactions
        if not stream.had_committed(covered, index)
    )


@always(
    of=started_appliers,
    source="MySQL bugs 87796, 103636, 120281; percona PS-9018",
    witness=lambda history: bool(apply_streams(history)),
)
def applier_reaches_the_end(history: History) -> tuple[ApplierStalled, ...]:
    """The applier always moves until its log is applied, or it reports why it stopped."""
    found = []
    for stream in apply_streams(history):
        if history.is_complete and not _has_ended(stream) and not stream.is_lost:
            given = dict.fromkeys(_given(stream))
            waiting = tuple(one for one in given if one not in stream.first_commit)
            found.append(ApplierStalled(member=stream.member, waiting=waiting))
    return tuple(found)


_ENDS = (EventKind.STOPPED, EventKind.FAILED)


def _has_ended(stream: ApplyStream) -> bool:
    """Return whether the applier ended after its last start.

    A group goes on without a crashed member, which need not join again.
    """
    is_member = any(event.kind is EventKind.VIEW_INSTALLED for _, event in stream.events)
    ends = (*_ENDS, EventKind.CRASHED) if is_member else _ENDS
    kinds = [event.kind for _, event in stream.events]
    last_start = max((i for i, kind in enumerate(kinds) if kind is EventKind.STARTED), default=0)
    return any(kind in ends for kind in kinds[last_start:])


def _given(stream: ApplyStream) -> Iterator[TransactionId]:
    for _, event in stream.events:
        if event.kind is EventKind.SCHEDULED and event.transaction is not None:
            yield event.transaction
