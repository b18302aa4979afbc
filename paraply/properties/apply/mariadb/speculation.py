"""Speculation of MariaDB's optimistic and aggressive modes stops for a reason only.

A rollback needs a row otherwise than logged, a transaction that waits for a row of the attempt and
may end it, an earlier error of its domain, or a cause from outside. A begin waits for marks, DDL
and the worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.parallel_apply import SPECULATIVE
from paraply.properties.apply.stream import (
    FROM_OUTSIDE,
    LOCK_WAIT_TIMEOUT,
    ApplyStream,
    apply_streams,
)
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import (
    ALLOW_PARALLEL,
    TRANSACTIONAL,
    WAITED,
    attempts_of_workers,
    parallel_flags,
)
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

DDL_FLAG = "ddl"
DEADLOCK_KILL = "deadlock kill"
"""Note of a ROLLED_BACK event."""
AGGRESSIVE = "aggressive"
"""Prefix of dialects that ignore marks."""
NONE = "none"
"""Dialect in which one thread applies."""
ONE_ORDER = ("minimal", NONE)
"""Prefixes of dialects in which all domains have one order."""
_OUTSIDE = frozenset({FROM_OUTSIDE, LOCK_WAIT_TIMEOUT})
_NOT_AS_LOGGED = frozenset(
    {Outcome.MISSING_BEFORE_IMAGE, Outcome.DUPLICATE_KEY, Outcome.MISSING_PARENT}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBackNeedlessly(Violation):
    """An attempt is undone without conflict or error."""

    member: str
    transaction: TransactionId
    attempt: int

    def __str__(self) -> str:
        return (
            f"{self.member} rolled attempt {self.attempt} of T{self.transaction} back: its rows "
            "were as logged, it had to yield to nothing, and nothing before it had failed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunLate(Violation):
    """A transaction that may run beside others is kept back."""

    member: str
    transaction: TransactionId
    meanwhile: str

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} may run beside all before it and was first in its "
            f"worker's queue, but {self.meanwhile} came before its begin"
        )


def controlled_attempts(history: History) -> bool:
    """Workers of a controlled MariaDB replica record attempts, waits and rollbacks."""
    return parallel_flags(history) and attempts_of_workers(history)


@dataclass(slots=True)
class _Attempts:
    """Rows, waits and errors of the attempts under way."""

    items: dict[TransactionId, set[Item]] = field(default_factory=dict)
    """Transaction -> rows that its attempt changed or asked for."""
    waits: dict[TransactionId, Event] = field(default_factory=dict)
    """Transaction -> its unfinished wait for a row."""
    orders: dict[TransactionId, int | None] = field(default_factory=dict)
    """Transaction -> the order in which it commits: its domain, or None for the only one."""
    disturbed: set[TransactionId] = field(default_factory=set)
    """Attempts that found a row otherwise, or that a waiting transaction asks to yield."""
    failed: dict[int | None, TransactionId] = field(default_factory=dict)
    """Order -> first transaction that failed since the start."""

    def follow(self, event: Event, transaction: Transaction, order: int | None) -> None:
        """Apply a transaction's event."""
        one = transaction.id
        self.orders[one] = order
        if event.kind in (EventKind.BEGUN, EventKind.ROLLED_BACK, EventKind.ENGINE_COMMITTED):
            self.items[one] = set()
            self.waits.pop(one, None)
            self.disturbed.discard(one)
        elif event.kind is EventKind.FAILED:
            self.waits.pop(one, None)
            self.failed[order] = min(one, self.failed.get(order, one))
        elif event.kind is EventKind.ROW_APPLIED:
            self.waits.pop(one, None)
            self.items.setdefault(one, set()).update(event.items)
            if event.outcome in _NOT_AS_LOGGED:
                self.disturbed.add(one)
            elif event.outcome is Outcome.LOCK_WAIT:
                self.waits[one] = event
                if event.other is not None and self.must_yield(event.other, one):
                    self.disturbed.add(event.other)
        # A row that is granted in turn has a new holder, for whom others wait on.
        for waiter, wait in self.waits.items():
            self.disturbed.update(
                holder
                for holder, items in self.items.items()
                if self.must_yield(holder, waiter) and not items.isdisjoint(wait.items)
            )

    def must_yield(self, holder: TransactionId, waiter: TransactionId) -> bool:
        """Return whether a waiting transaction may end the attempt of the row's holder."""
        return waiter < holder or self.orders.get(holder) != self.orders[waiter]

    def has_reason(
        self, event: Event, transaction: Transaction, order: int | None, *, may_speculate: bool
    ) -> bool:
        """Return whether an attempt may be rolled back now.

        A transaction of another domain kills only what speculates.
        """
        is_trusted = event.attempt > 1 or not may_speculate
        is_apart = event.other is not None and self.orders.get(event.other, order) != order
        if event.note == DEADLOCK_KILL and is_trusted and is_apart:
            return False
        failed = self.failed.get(order)
        return (
            event.note in _OUTSIDE
            or transaction.id in self.disturbed
            or (failed is not None and failed < transaction.id)
        )


def _rollbacks(history: History) -> Iterator[RolledBackNeedlessly | None]:
    """Yield each rollback's breach, or None."""
    has_one_order = history.header.dialect.startswith(ONE_ORDER)
    may_speculate = history.header.dialect.startswith(SPECULATIVE)
    for stream in apply_streams(history):
        attempts = _Attempts()
        for _, event in stream.events:
            if event.kind in (EventKind.STARTED, EventKind.CRASHED):
                attempts = _Attempts()
            if event.transaction is None:
                continue
            transaction = history.transaction(event.transaction)
            order = None if has_one_order else transaction.domain
            if event.kind is EventKind.ROLLED_BACK:
                has_reason = attempts.has_reason(
                    event, transaction, order, may_speculate=may_speculate
                )
                yield (
                    None
                    if has_reason
                    else RolledBackNeedlessly(
                        member=stream.member, transaction=transaction.id, attempt=event.attempt
                    )
                )
            attempts.follow(event, transaction, order)


@always(
    of=controlled_attempts,
    source="thd_rpl_deadlock_check; retry_event_group; SPECULATE_OPTIMISTIC",
    witness=lambda history: sum(1 for _ in _rollbacks(history)),
    is_safety=False,
)
def rollbacks_have_a_reason(history: History) -> tuple[RolledBackNeedlessly, ...]:
    """An attempt is rolled back only for a conflict, an earlier error, or a cause from outside.

    A conflict is a row otherwise than logged, or a transaction that waits for a row of the attempt;
    of another domain, if the attempt speculates or both wait for each other.
    """
    return tuple(breach for breach in _rollbacks(history) if breach is not None)


def eager_workers(history: History) -> bool:
    """Workers of a controlled MariaDB replica do without delay what they may do."""
    options = history.header.options
    is_eager = bool(options.get("eager")) and bool(options.get("workers"))
    return is_eager and controlled_attempts(history)


def eager_speculation(history: History) -> bool:
    """Workers of a speculative mode begin without delay what they may begin."""
    return history.header.dialect.startswith(SPECULATIVE) and eager_workers(history)


def undone_next(stream: ApplyStream) -> set[int]:
    """Return the places of events that a rollback or nothing of the same transaction follows."""
    found = set[int]()
    following: dict[TransactionId, Event] = {}
    for place, event in reversed(stream.events):
        if event.transaction is not None:
            after = following.get(event.transaction)
            if after is None or after.kind in (EventKind.ROLLED_BACK, EventKind.FAILED):
                found.add(place)
            following[event.transaction] = event
    return found


def _may_run_ahead(one: Transaction, dialect: str) -> bool:
    is_marked = WAITED in one.flags or ALLOW_PARALLEL not in one.flags
    return TRANSACTIONAL in one.flags and (not is_marked or dialect.startswith(AGGRESSIVE))


def _is_ddl(one: Transaction) -> bool:
    return one.kind is TransactionKind.DDL or DDL_FLAG in one.flags


def is_of_one_group(one: Transaction, other: Transaction) -> bool:
    """Return whether a run of the source committed two transactions as one group."""
    has_number = one.commit_id is not None
    return has_number and (one.clock, one.commit_id) == (other.clock, other.commit_id)


@dataclass(slots=True)
class _Queues:
    """Transactions given to workers since the last start."""

    given: dict[TransactionId, int | None] = field(default_factory=dict)
    """Transaction -> worker, without those that have ended."""
    begun: set[TransactionId] = field(default_factory=set)
    committing: set[TransactionId] = field(default_factory=set)
    """Those that have started to commit, and will."""

    def follow(self, event: Event, transaction: Transaction | None, *, is_undone: bool) -> None:
        """Apply an event; ``is_undone`` if a rollback of the transaction comes next."""
        if event.kind is EventKind.STARTED:
            self.given, self.begun, self.committing = {}, set(), set()
        elif transaction is None:
            return
        elif event.kind is EventKind.SCHEDULED:
            self.given[transaction.id] = event.worker
        elif event.kind is EventKind.BEGUN:
            self.begun.add(transaction.id)
        elif event.kind is EventKind.PREPARED and not is_undone:
            self.committing.add(transaction.id)
        elif event.kind is EventKind.ENGINE_COMMITTED and ends_at_commit(transaction):
            self.given.pop(transaction.id, None)

    def may_begin(self, history: History, one: Transaction) -> bool:
        """Return whether a worker may begin a transaction that it has not begun."""
        dialect = history.header.dialect
        before = [other for other in self.given if other < one.id]
        if one.id not in self.given or _is_ddl(one):
            return False
        if any(self.given[other] == self.given[one.id] for other in before):
            return False
        has_one_order = dialect.startswith(ONE_ORDER)
        of_domain = [
            other
            for other in map(history.transaction, before)
            if has_one_order or other.domain == one.domain
        ]
        if dialect.startswith(SPECULATIVE):
            # What follows a DDL waits for it, and it waits for all before it.
            return not any(map(_is_ddl, of_domain)) and _may_run_ahead(one, dialect)
        return all(
            other.id in self.committing or (not has_one_order and is_of_one_group(other, one))
            for other in of_domain
        )


def ends_at_commit(one: Transaction) -> bool:
    """Return whether a transaction leaves its worker's queue when the engine commits it."""
    return one.kind is TransactionKind.DDL or TRANSACTIONAL in one.flags


def begins_beside_others(history: History) -> Iterator[BegunLate | None]:
    """Yield each begin of a transaction that may run beside earlier ones, or its breach."""
    for stream in apply_streams(history):
        undone = undone_next(stream)
        queues, late = _Queues(), dict[TransactionId, Event]()
        for at, (place, event) in enumerate(stream.events):
            one = None if event.transaction is None else history.transaction(event.transaction)
            if event.kind is EventKind.STARTED:
                late.clear()
            if event.kind is EventKind.BEGUN and one is not None and one.id not in queues.begun:
                meanwhile = late.get(one.id)
                if meanwhile is not None:
                    named = meanwhile.transaction
                    yield BegunLate(
                        member=stream.member,
                        transaction=one.id,
                        meanwhile=meanwhile.kind.value + (f" of T{named}" if named else ""),
                    )
                elif queues.may_begin(history, one) and any(x < one.id for x in queues.given):
                    yield None
            queues.follow(event, one, is_undone=place in undone)
            following = stream.events[at + 1 : at + 2]
            if following and following[0][1].time != event.time:
                for waiting in queues.given.keys() - queues.begun - late.keys():
                    if queues.may_begin(history, history.transaction(waiting)):
                        late[waiting] = following[0][1]


@always(
    of=eager_speculation,
    source="slave_parallel_mode=optimistic: any transactional DML may run in parallel",
    witness=lambda history: sum(1 for _ in begins_beside_others(history)),
    is_safety=False,
)
def speculation_begins_at_once(history: History) -> tuple[BegunLate, ...]:
    """An eager worker begins an unmarked transaction at once, whatever is uncommitted before it.

    It waits only for its worker's queue and for DDL of its domain. ``aggressive`` ignores marks.
    """
    return tuple(breach for breach in begins_beside_others(history) if breach is not None)
