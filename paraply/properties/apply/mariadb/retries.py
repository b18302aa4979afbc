"""Speculation, kills, retries, errors and group commit of a MariaDB replica.

Only surviving speculative attempts count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.commit_order import ApplierStalled
from paraply.properties.apply.mariadb.domains import domain_streams
from paraply.properties.apply.mariadb.speculation import (
    DEADLOCK_KILL,
    ONE_ORDER,
    controlled_attempts,
)
from paraply.properties.apply.parallel_apply import RowApplyFailed, rows_are_applied
from paraply.properties.apply.stream import apply_streams, own_failures
from paraply.properties.registry import Violation, always, fields, sometimes
from paraply.properties.vocabularies import (
    failure_in_a_domain,
    failure_of_a_replica,
    parallel_flags,
    relay_log,
    several_domains,
    started_appliers,
)
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import sorted_items

_NOT_AS_LOGGED = (Outcome.MISSING_BEFORE_IMAGE, Outcome.DUPLICATE_KEY, Outcome.MISSING_PARENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundLogFailed(Violation):
    """The replica rejects a sound log."""

    member: str
    transaction: TransactionId
    note: str

    def __str__(self) -> str:
        return f"{self.member}: T{self.transaction} failed ({self.note}); it was not to"


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedPastError(Violation):
    """A transaction commits after a failure in its domain."""

    member: str
    failed: TransactionId
    applied: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: T{self.applied} committed although T{self.failed} had failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneWithoutError(Violation):
    """An error elsewhere undoes a transaction."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} was rolled back and not tried again, although "
            "neither it nor one before it in its domain had failed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierKilled(Violation):
    """A transaction is killed for a later one."""

    member: str
    victim: TransactionId
    waiter: TransactionId

    def __str__(self) -> str:
        return f"{self.member}: T{self.victim} was killed for T{self.waiter}, which comes after it"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriedTooEarly(Violation):
    """A retry begins before earlier commits of its domain."""

    member: str
    transaction: TransactionId
    earlier: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} was tried again before T{self.earlier} had "
            "committed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCommitMissed(Violation):
    """A transaction that waited is synced later."""

    member: str
    transaction: TransactionId
    before: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} waited for T{self.before} in its commit, and was "
            "not in its commit group"
        )


def _is_kill(event: Event) -> bool:
    return event.note == DEADLOCK_KILL


# Situations.


@sometimes(of=parallel_flags, source="rpl_parallel: retry_event_group")
def transaction_is_retried(history: History) -> bool:
    """An attempt was rolled back, and its transaction committed in a later one."""
    return any(event.attempt > 1 for event in history.events_of(EventKind.ENGINE_COMMITTED))


@sometimes(of=parallel_flags, source="thd_rpl_deadlock_check, MDEV-5914")
def attempt_is_killed_for_an_earlier_one(history: History) -> bool:
    """An attempt was rolled back because an earlier transaction waited for its row."""
    return any(event.note == DEADLOCK_KILL for event in history.events_of(EventKind.ROLLED_BACK))


@sometimes(
    of=parallel_flags, source="facts on MariaDB 1.1: commit-started may be revoked; MDEV-7458"
)
def commit_start_is_revoked(history: History) -> bool:
    """An attempt had started to commit, and was rolled back and tried again."""
    started: set[tuple[str, TransactionId | None, int]] = set()
    for event in history.events_of(EventKind.PREPARED, EventKind.ROLLED_BACK):
        key = (event.member, event.transaction, event.attempt)
        if event.kind is EventKind.PREPARED:
            started.add(key)
        elif key in started and event.note != "prior commit failed":
            return True
    return False


@sometimes(of=parallel_flags, source="SPECULATE_OPTIMISTIC: any error becomes a temporary one")
def speculation_meets_a_conflict(history: History) -> bool:
    """An attempt found a row otherwise than logged, and was rolled back."""
    return any(
        event.outcome in _NOT_AS_LOGGED for event in history.events_of(EventKind.ROW_APPLIED)
    ) and any(history.events_of(EventKind.RETRIED))


@sometimes(
    of=parallel_flags, source="facts on MariaDB 1.7: groups after the failed one skip or fail"
)
def error_meets_later_transactions(history: History) -> bool:
    """A transaction failed when later ones of its domain had been given to workers."""
    return any(True for _ in _failures_with_followers(history))


def _failures_with_followers(history: History) -> Iterator[TransactionId]:
    for _, stream in domain_streams(history):
        under_way: set[TransactionId] = set()
        for _, event in stream.events:
            one = event.transaction
            if event.kind is EventKind.STARTED:
                under_way.clear()
            elif one is None:
                continue
            elif event.kind is EventKind.SCHEDULED:
                under_way.add(one)
            elif event.kind is EventKind.ENGINE_COMMITTED:
                under_way.discard(one)
            elif event.kind is EventKind.FAILED and any(other > one for other in under_way):
                yield one


# Errors.


@always(
    of=relay_log,
    source="conservative apply is free of conflicts; MDEV-8302: duplicate key in production",
    witness=lambda history: any(history.events_of(EventKind.ENGINE_COMMITTED)),
)
def sound_log_never_fails(history: History) -> tuple[SoundLogFailed, ...]:
    """A replica that began as its source did never stops for a reason that lies in the log."""
    return tuple(
        SoundLogFailed(member=event.member, transaction=transaction, note=event.note)
        for event, transaction in own_failures(history)
    )


def _failed_rows(history: History) -> Iterator[RowApplyFailed]:
    failures: dict[tuple[str, TransactionId], list[RowApplyFailed]] = {}
    for event in history.events:
        if event.transaction is None:
            continue
        key = (event.member, event.transaction)
        if event.kind is EventKind.BEGUN:
            failures[key] = []
        elif event.kind is EventKind.ROW_APPLIED and event.outcome in _NOT_AS_LOGGED:
            assert event.outcome is not None
            failures.setdefault(key, []).append(
                RowApplyFailed(
                    member=event.member,
                    transaction=event.transaction,
                    outcome=event.outcome,
                    items=tuple(sorted_items(event.items)),
                )
            )
        elif event.kind is EventKind.ENGINE_COMMITTED:
            yield from failures.pop(key, ())


@always(
    of=relay_log,
    source="Judge surviving attempts; slave_exec_mode=IDEMPOTENT hides it",
    witness=rows_are_applied,
)
def surviving_rows_apply_as_logged(history: History) -> tuple[RowApplyFailed, ...]:
    """An attempt that committed found every row as the source had it."""
    return tuple(_failed_rows(history))


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=failure_of_a_replica,
    source="MDEV-5921, MDEV-20645, MDEV-20707",
    witness=error_meets_later_transactions,
)
def nothing_after_an_error_is_applied(history: History) -> tuple[AppliedPastError, ...]:
    """When a transaction has failed, no later one of its domain commits before a new start."""
    found = []
    for _, stream in domain_streams(history):
        failed: TransactionId | None = None
        for _, event in stream.events:
            if event.kind is EventKind.STARTED:
                failed = None
            elif event.kind is EventKind.FAILED and event.transaction is not None:
                failed = min(event.transaction, failed or event.transaction)
            elif (
                event.kind is EventKind.ENGINE_COMMITTED
                and event.transaction is not None
                and failed is not None
                and event.transaction > failed
            ):
                found.append(
                    AppliedPastError(member=stream.member, failed=failed, applied=event.transaction)
                )
    return tuple(found)


def _stops_after_errors(history: History) -> Iterator[tuple[str, list[TransactionId]]]:
    """Yield each stop after an error, and what was undone for good that no error concerns."""
    for stream in apply_streams(history):
        undone: dict[TransactionId, None] = {}
        failed: dict[int | None, TransactionId] = {}
        for _, event in stream.events:
            one = event.transaction
            if event.kind in (EventKind.STARTED, EventKind.CRASHED):
                undone.clear()
                failed.clear()
            elif event.kind is EventKind.STOPPED and failed:
                first = {one: failed.get(history.transaction(one).domain) for one in undone}
                yield stream.member, [one for one in undone if one < (first[one] or one + 1)]
            elif one is None:
                continue
            elif event.kind is EventKind.ROLLED_BACK:
                undone[one] = None
            elif event.kind in (EventKind.RETRIED, EventKind.ENGINE_COMMITTED):
                undone.pop(one, None)
            elif event.kind is EventKind.FAILED:
                domain = history.transaction(one).domain
                failed[domain] = min(one, failed.get(domain, one))


@always(
    of=failure_in_a_domain,
    source="facts on MariaDB 1.7: the groups before the failed one complete; MDEV-20645",
    witness=lambda history: sum(1 for _ in _stops_after_errors(history)),
    is_safety=False,
)
def errors_undo_only_what_follows(history: History) -> tuple[UndoneWithoutError, ...]:
    """At a stop after an error, only the failed and later ones of its domain stay rolled back."""
    return tuple(
        UndoneWithoutError(member=member, transaction=one)
        for member, undone in _stops_after_errors(history)
        for one in undone
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunPastError(Violation):
    """A transaction begins after an error of another domain, though no worker was at it."""

    member: str
    transaction: TransactionId
    failed: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} was begun after T{self.failed}, of another "
            "domain, had failed; no worker was at it, or at one after it in its domain"
        )


def _begun_after_errors(history: History) -> Iterator[tuple[BegunPastError, bool]]:
    """Yield each first begin after an error of another domain, and whether a worker was at it."""
    for stream in apply_streams(history):
        queues: dict[int | None, dict[TransactionId, None]] = {}
        begun: set[TransactionId] = set()
        failed: TransactionId | None = None
        last: dict[int | None, TransactionId] = {}
        for _, event in stream.events:
            one = event.transaction
            if event.kind in (EventKind.STARTED, EventKind.CRASHED):
                queues, begun, failed, last = {}, set(), None, {}
            elif one is None:
                continue
            elif event.kind is EventKind.SCHEDULED:
                queues.setdefault(event.worker, {})[one] = None
            elif event.kind is EventKind.ENGINE_COMMITTED:
                queues.get(event.worker, {}).pop(one, None)
            elif event.kind is EventKind.FAILED and failed is None:
                failed = one
                heads = {next(iter(queue)) for queue in queues.values() if queue}
                for other in begun | heads:
                    domain = history.transaction(other).domain
                    last[domain] = max(other, last.get(domain, other))
            elif event.kind is EventKind.BEGUN and one not in begun:
                begun.add(one)
                domain = history.transaction(one).domain
                if failed is not None and domain != history.transaction(failed).domain:
                    breach = BegunPastError(member=stream.member, transaction=one, failed=failed)
                    yield breach, one <= last.get(domain, 0)


def failures_of_workers(history: History) -> bool:
    """Workers of a controlled MariaDB replica apply several domains, and one fails."""
    has_failed = EventKind.FAILED in history.kinds and several_domains(history)
    has_one_order = history.header.dialect.startswith(ONE_ORDER)
    return has_failed and not has_one_order and controlled_attempts(history)


@always(
    of=failures_of_workers,
    source="facts on MariaDB 1.7: STOP SLAVE completes what has begun, and all before it",
    witness=lambda history: sum(1 for _ in _begun_after_errors(history)),
)
def errors_let_nothing_new_begin(history: History) -> tuple[BegunPastError, ...]:
    """After an error, another domain begins only what comes before what a worker was at.

    A worker is at the first transaction of its queue. An error is a stop for the other domains.
    """
    return tuple(breach for breach, was_at_it in _begun_after_errors(history) if not was_at_it)


_ENDS = frozenset({EventKind.STOPPED, EventKind.FAILED, EventKind.CRASHED})


@always(
    of=started_appliers,
    source="MDEV-7825, MDEV-31448, MDEV-5914, MDEV-33798",
    witness=lambda history: bool(apply_streams(history)),
)
def replica_never_stalls(history: History) -> tuple[ApplierStalled, ...]:
    """After each start the replica stops in good order, reports why it stopped, or crashes."""
    found = []
    for stream in apply_streams(history) if history.is_complete else ():
        given: dict[TransactionId, None] = {}
        has_ended = False
        for _, event in stream.events:
            if event.kind is EventKind.STARTED:
                given, has_ended = {}, False
            elif event.kind is EventKind.RECOVERED:
                has_ended = False
            elif event.kind in _ENDS:
                has_ended = True
            elif event.kind is EventKind.SCHEDULED and event.transaction is not None:
                given[event.transaction] = None
        if not has_ended and not stream.is_lost:
            waiting = tuple(one for one in given if one not in stream.first_commit)
            found.append(ApplierStalled(member=stream.member, waiting=waiting))
    return tuple(found)


# Kills and retries.


@always(
    gaps=(fields(EventKind.ROLLED_BACK, "other", where=_is_kill),),
    of=parallel_flags,
    source="thd_rpl_deadlock_check: waiter.sub_id < holder.sub_id; MDEV-5914",
    witness=attempt_is_killed_for_an_earlier_one,
)
def only_later_transactions_are_killed(history: History) -> tuple[EarlierKilled, ...]:
    """Within a domain, a transaction is killed only for one that must commit before it."""
    return tuple(
        EarlierKilled(member=stream.member, victim=event.transaction, waiter=event.other)
        for _, stream in domain_streams(history)
        for _, event in stream.events
        if event.kind is EventKind.ROLLED_BACK
        and event.note == DEADLOCK_KILL
        and event.transaction is not None
        and event.other is not None
        and event.other > event.transaction
    )


def _retries(history: History) -> Iterator[tuple[RetriedTooEarly, bool]]:
    """Yield each retry with each transaction before it, and whether that had committed."""
    for domain, stream in domain_streams(history):
        for index, event in stream.events:
            if event.kind is not EventKind.RETRIED or event.transaction is None:
                continue
            for one in domain.transactions:
                if one.id < event.transaction:
                    breach = RetriedTooEarly(
                        member=stream.member, transaction=event.transaction, earlier=one.id
                    )
                    yield breach, stream.had_committed(one.id, index)


@always(
    of=parallel_flags,
    source="retry_event_group: wait for all prior commits; MDEV-12746",
    witness=lambda history: any(True for _ in _retries(history)),
)
def retries_wait_for_all_before(history: History) -> tuple[RetriedTooEarly, ...]:
    """A transaction is tried again when all before it in its domain have committed."""
    return tuple(breach for breach, had_committed in _retries(history) if not had_committed)


# Group commit.


def _waiting_pairs(history: History) -> Iterator[tuple[str, Event, Event]]:
    for domain, stream in domain_streams(history):
        started: dict[tuple[TransactionId, int], int] = {}
        flushed: dict[TransactionId, Event] = {}
        for index, event in stream.events:
            if event.transaction is None:
                continue
            if event.kind is EventKind.PREPARED:
                started[event.transaction, event.attempt] = index
            elif event.kind is EventKind.FLUSHED:
                flushed.setdefault(event.transaction, event)
        for before, one in zip(domain.transactions, domain.transactions[1:], strict=False):
            first, second = flushed.get(before.id), flushed.get(one.id)
            if first is None or second is None:
                continue
            moments = [
                started.get((e.transaction, e.attempt))
                for e in (first, second)
                if e.transaction is not None
            ]
            if None not in moments and moments[1] < moments[0]:  # type: ignore[operator]
                yield stream.member, first, second


@sometimes(
    of=parallel_flags,
    source="T2 has to wait in commit for T1: we can commit T1 and T2 at the same time",
)
def waiting_transaction_joins_the_group(history: History) -> bool:
    """A transaction waited in its commit for the one before it, and both went in one group."""
    return any(
        first.group is not None and first.group == second.group
        for _, first, second in _waiting_pairs(history)
    )


@always(
    gaps=(fields(EventKind.FLUSHED, "group"),),
    of=parallel_flags,
    source="queue_for_group_commit: a predecessor pulls in who waits for it",
    is_safety=False,
    witness=lambda history: any(True for _ in _waiting_pairs(history)),
)
def waiting_costs_no_sync(history: History) -> tuple[GroupCommitMissed, ...]:
    """A transaction that waits in its commit for the one before is written and synced with it."""
    return tuple(
        GroupCommitMissed(member=member, transaction=second.transaction, before=first.transaction)
        for member, first, second in _waiting_pairs(history)
        if first.group != second.group
        and first.transaction is not None
        and second.transaction is not None
    )
