"""The parallel modes of MariaDB, per domain.

``flags`` are those of the GTID event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.commit_order import engine_commits_follow_the_log
from paraply.properties.apply.mariadb.domains import domain_streams
from paraply.properties.apply.mariadb.speculation import (
    NONE,
    ONE_ORDER,
    BegunLate,
    begins_beside_others,
    controlled_attempts,
    eager_workers,
    is_of_one_group,
)
from paraply.properties.apply.parallel_apply import SPECULATIVE
from paraply.properties.apply.stream import ApplyStream, Attempt, apply_streams
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import (
    ALLOW_PARALLEL,
    TRANSACTIONAL,
    WAITED,
    parallel_flags,
)
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchesOverlapped(Violation):
    """A transaction begins before another group's changes."""

    member: str
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.later} began before T{self.earlier}, of another commit group, "
            "had made all its changes"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunTooEarly(Violation):
    """A transaction begins before a required commit."""

    member: str
    earlier: TransactionId
    later: TransactionId
    why: str

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.later}, {self.why}, began before T{self.earlier} had committed"
        )


def _last_change(attempt: Attempt) -> int:
    return max(attempt.touched.values(), default=attempt.committed_at or 0)


def _of_two_groups(history: History) -> bool:
    return any(
        len({(one.transaction.commit_id or -one.transaction.id) for one in stream.surviving}) > 1
        for _, stream in domain_streams(history)
    )


@always(
    of=parallel_flags,
    source="slave_parallel_mode=conservative; rpl_parallel: GCO",
    witness=_of_two_groups,
    is_safety=False,
)
def commit_groups_never_overlap(history: History) -> tuple[BatchesOverlapped, ...]:
    """A transaction begins when all before it, of other commit groups, have made their changes.

    Speculative modes break this by design.
    """
    found = []
    for _, stream in domain_streams(history):
        surviving = sorted(stream.surviving, key=lambda one: one.transaction.id)
        for place, later in enumerate(surviving):
            for earlier in surviving[:place]:
                is_other = not is_of_one_group(earlier.transaction, later.transaction)
                if is_other and _last_change(earlier) > later.begun_at:
                    found.append(
                        BatchesOverlapped(
                            member=stream.member,
                            earlier=earlier.transaction.id,
                            later=later.transaction.id,
                        )
                    )
    return tuple(found)


def eager_batches(history: History) -> bool:
    """Workers of a mode without speculation begin without delay what they may begin."""
    return not history.header.dialect.startswith((*SPECULATIVE, NONE)) and eager_workers(history)


@always(
    of=eager_batches,
    source="rpl_parallel: a GCO begins when all before it have started to commit",
    witness=lambda history: sum(1 for _ in begins_beside_others(history)),
    is_safety=False,
)
def batches_begin_at_once(history: History) -> tuple[BegunLate, ...]:
    """An eager worker begins a transaction when all before its commit group start to commit.

    It waits for no member of its group; ``minimal`` knows no groups.
    """
    return tuple(breach for breach in begins_beside_others(history) if breach is not None)


class AppliedAtOnce(BatchesOverlapped):
    """A transaction begins before an earlier one's changes, in a mode without that."""

    __slots__ = ()

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.later} began before T{self.earlier} had made all its changes, "
            "in a mode that applies one at a time"
        )


def serial_modes(history: History) -> bool:
    """MariaDB replicas apply one transaction at a time."""
    return history.header.dialect.startswith(ONE_ORDER) and parallel_flags(history)


@always(
    of=serial_modes,
    source="slave_parallel_mode=minimal: only the commit step is parallel; facts on MariaDB 1.1",
    witness=lambda history: any(len(stream.surviving) > 1 for stream in apply_streams(history)),
)
def serial_modes_have_one_order(history: History) -> tuple[Violation, ...]:
    """In ``minimal`` and ``none``, each transaction follows all before it, in all domains.

    It begins when they have made their changes, and commits after them.
    """
    found: list[Violation] = list(engine_commits_follow_the_log(history))
    for stream in apply_streams(history):
        surviving = sorted(stream.surviving, key=lambda one: one.transaction.id)
        found += [
            AppliedAtOnce(
                member=stream.member, earlier=earlier.transaction.id, later=later.transaction.id
            )
            for place, later in enumerate(surviving)
            for earlier in surviving[:place]
            if _last_change(earlier) > later.begun_at
        ]
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenBeforeDrained(Violation):
    """A transaction is given to a worker while some of another run of the source are under way."""

    member: str
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.later}, the source's first since its restart, was given to a "
            f"worker before T{self.earlier} had ended"
        )


def _given(history: History) -> Iterator[tuple[str, TransactionId, list[TransactionId]]]:
    """Yield what is given to workers, and what of other runs of the source is not committed."""
    for stream in apply_streams(history):
        given: dict[TransactionId, int] = {}
        for _, event in stream.events:
            one = event.transaction
            if event.kind in (EventKind.STARTED, EventKind.CRASHED):
                given.clear()
            elif one is None:
                continue
            elif event.kind is EventKind.SCHEDULED:
                run = history.transaction(one).clock
                others = [other for other, its_run in given.items() if its_run != run]
                yield stream.member, one, others
                given[one] = run
            elif event.kind is EventKind.ENGINE_COMMITTED:
                given.pop(one, None)


def restarted_sources(history: History) -> bool:
    """Replicas apply MariaDB's log of a source that restarted."""
    return parallel_flags(history) and len({one.clock for one in history.transactions}) > 1


@always(
    of=restarted_sources,
    source="rpl_parallel::do_event: a format description event waits for all workers",
    witness=lambda history: sum(1 for _ in _given(history)),
)
def source_restarts_drain_the_workers(history: History) -> tuple[GivenBeforeDrained, ...]:
    """What a source logged after its restart is given to workers when all before has ended.

    Commit ids may repeat after a restart.
    """
    return tuple(
        GivenBeforeDrained(member=member, earlier=min(others), later=one)
        for member, one, others in _given(history)
        if others
    )


def _too_early(
    history: History, stream: ApplyStream, reasons: dict[TransactionId, str]
) -> Iterator[BegunTooEarly]:
    for attempt in stream.attempts:
        later = attempt.transaction.id
        if later not in reasons:
            continue
        for earlier in history.transactions:
            if earlier.id >= later:
                break
            if not stream.had_committed(earlier.id, attempt.begun_at):
                yield BegunTooEarly(
                    member=stream.member, earlier=earlier.id, later=later, why=reasons[later]
                )


def _irreversible(history: History) -> dict[TransactionId, str]:
    reasons = {}
    for one in history.transactions:
        if one.kind is TransactionKind.DDL:
            reasons[one.id] = "a DDL"
        elif one.domain is not None and TRANSACTIONAL not in one.flags:
            reasons[one.id] = "of a table without transactions"
    return reasons


def _has_begun_after_others(history: History, reasons: dict[TransactionId, str]) -> bool:
    return any(
        attempt.transaction.id in reasons and attempt.transaction.id > domain.transactions[0].id
        for domain, stream in domain_streams(history)
        for attempt in stream.attempts
    )


@always(
    of=parallel_flags,
    source="rpl_parallel: SPECULATE_WAIT, FL_DDL; MDEV-27365, MDEV-29621",
    witness=lambda history: _has_begun_after_others(history, _irreversible(history)),
)
def irreversible_changes_wait_for_all_before(history: History) -> tuple[BegunTooEarly, ...]:
    """What cannot be rolled back begins when all before it in its domain have committed."""
    reasons = _irreversible(history)
    return tuple(
        breach
        for domain, stream in domain_streams(history)
        for breach in _too_early(domain, stream, reasons)
    )


def _marked(history: History) -> dict[TransactionId, str]:
    reasons: dict[TransactionId, str] = {}
    before: dict[int | None, Transaction] = {}
    for one in history.transactions:
        is_plain = TRANSACTIONAL in one.flags and one.domain is not None
        leader = before.get(one.domain)
        is_follower = leader is not None and is_of_one_group(leader, one)
        if is_plain and not is_follower:
            if WAITED in one.flags:
                reasons[one.id] = "which had waited on the source"
            elif ALLOW_PARALLEL not in one.flags:
                reasons[one.id] = "set not to be applied in parallel"
        before[one.domain] = one
    return reasons


@always(
    of=parallel_flags,
    source="FL_WAITED, skip_parallel_replication; slave_parallel_mode=optimistic",
    witness=lambda history: _has_begun_after_others(history, _marked(history)),
    is_safety=False,
)
def marked_transactions_wait_for_all_before(history: History) -> tuple[BegunTooEarly, ...]:
    """What the source marked as likely to conflict begins when all before it have committed."""
    reasons = _marked(history)
    return tuple(
        breach
        for domain, stream in domain_streams(history)
        for breach in _too_early(domain, stream, reasons)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenTooEarly(Violation):
    """An applier of one thread takes a transaction before it ends another."""

    member: str
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return f"{self.member} took T{self.later} up before T{self.earlier} had ended"


def single_threads(history: History) -> bool:
    """A MariaDB replica of a controlled run applies with one thread."""
    return history.header.dialect.startswith(NONE) and controlled_attempts(history)


def _taken(history: History) -> Iterator[TakenTooEarly | None]:
    """Yield what a single thread takes up after another transaction, or its breach."""
    taken: dict[str, TransactionId] = {}
    for event in history.events:
        one = event.transaction
        if event.kind in (EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED):
            taken.pop(event.member, None)
        elif one is None:
            continue
        elif event.kind is EventKind.SCHEDULED:
            before = taken.get(event.member)
            taken[event.member] = one
            breach = TakenTooEarly(member=event.member, earlier=before or one, later=one)
            yield breach if before else None
        elif event.kind is EventKind.ENGINE_COMMITTED and taken.get(event.member) == one:
            del taken[event.member]


@always(
    of=single_threads,
    source="slave_parallel_mode=none; slave_parallel_threads=0: the SQL thread applies",
    witness=lambda history: sum(1 for _ in _taken(history)),
)
def single_threads_end_what_they_took_up(history: History) -> tuple[TakenTooEarly, ...]:
    """With slave_parallel_mode=none, a transaction is taken up when the one before has ended."""
    return tuple(breach for breach in _taken(history) if breach is not None)
