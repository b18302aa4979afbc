"""Eager MariaDB replicas queue and retry at once: the other side of what both must wait for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.configured import QUEUED
from paraply.properties.apply.mariadb.speculation import (
    DEADLOCK_KILL,
    NONE,
    ONE_ORDER,
    eager_workers,
    ends_at_commit,
)
from paraply.properties.apply.stream import ApplyStream, apply_streams
from paraply.properties.registry import Violation, always
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId

_PERIODS = frozenset({EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedLate(Violation):
    """The driver keeps a transaction back for which a worker has room."""

    member: str
    transaction: TransactionId
    meanwhile: str

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} was next in the log and its worker had room, but "
            f"{self.meanwhile} came first"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriedLate(Violation):
    """A transaction is not tried again though all before it has committed."""

    member: str
    transaction: TransactionId
    meanwhile: str

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} could be tried again, as all before it in its "
            f"domain had committed, but {self.meanwhile} came first"
        )


@dataclass(slots=True)
class _Driver:
    """Queues and turns of workers since the last start."""

    history: History
    queues: dict[int, list[TransactionId]] = field(default_factory=dict)
    slots: dict[int | None, list[int | None]] = field(default_factory=dict)
    turns: dict[int | None, int] = field(default_factory=dict)
    run: int = 0
    """Which run of the source logged what was queued last."""

    def __post_init__(self) -> None:
        workers = int(self.history.header.options["workers"])
        self.queues = {number: [] for number in range(1, workers + 1)}

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is under way."""
        return not any(self.queues.values())

    @property
    def has_one_order(self) -> bool:
        """Return whether all domains share one order."""
        return self.history.header.dialect.startswith(ONE_ORDER)

    def order_of(self, one: Transaction) -> int | None:
        """Return the domain, or None where all share one order."""
        return None if self.has_one_order else one.domain

    def slots_of(self, order: int | None) -> list[int | None]:
        """Return the workers of a domain by turn, None for those that have run out of work."""
        workers = len(self.queues)
        limit = int(self.history.header.options.get("domain_workers", 0)) or workers
        return self.slots.setdefault(order, [None] * min(limit, workers))

    def may_queue(self, one: Transaction) -> bool:
        """Return whether the log's next transaction may go to a worker."""
        is_serial = self.history.header.dialect.startswith(NONE)
        if not self.is_idle and (is_serial or one.clock != self.run):
            return False
        order = self.order_of(one)
        slots = self.slots_of(order)
        worker = slots[self.turns.get(order, 0) % len(slots)]
        if worker is None:
            return not all(self.queues.values())
        return len(self.queues[worker]) < int(self.history.header.options[QUEUED])

    def follow(self, event: Event) -> None:
        """Apply an event."""
        one, worker = event.transaction, event.worker
        if event.kind in _PERIODS:
            self.queues = {number: [] for number in self.queues}
            self.slots, self.turns = {}, {}
        elif one is None or worker not in self.queues:
            return
        elif event.kind is EventKind.SCHEDULED:
            transaction = self.history.transaction(one)
            order = self.order_of(transaction)
            slots, turn = self.slots_of(order), self.turns.get(order, 0)
            slots[turn % len(slots)] = worker
            self.turns[order], self.run = turn + 1, transaction.clock
            self.queues[worker].append(one)
        elif event.kind is EventKind.BEGUN and one in self.queues[worker]:
            # What cannot be rolled back commits some time before it leaves its queue.
            del self.queues[worker][: self.queues[worker].index(one)]
        elif event.kind is EventKind.ENGINE_COMMITTED and one in self.queues[worker]:
            if ends_at_commit(self.history.transaction(one)):
                self.queues[worker].remove(one)
            if not self.queues[worker]:
                # It leaves its domain.
                for slots in self.slots.values():
                    slots[:] = [None if other == worker else other for other in slots]


def _following(stream: ApplyStream, kind: EventKind) -> list[dict[TransactionId, Event]]:
    """Return the events of a kind that follow each event up to the next stop or start."""
    found: list[dict[TransactionId, Event]] = []
    following: dict[TransactionId, Event] = {}
    for _, event in reversed(stream.events):
        found.append(following)
        if event.kind in _PERIODS:
            following = {}
        elif event.kind is kind and event.transaction is not None:
            one = event.transaction
            later = {other: its for other, its in following.items() if other != one}
            following = {one: event, **later}
    return found[::-1]


def _meanwhile(event: Event) -> str:
    of = "" if event.transaction is None else f" of T{event.transaction}"
    return f"{event.kind.value}{of}"


def _queued(history: History) -> Iterator[QueuedLate | None]:
    """Yield each transaction that is queued beside others, or its breach."""
    for stream in apply_streams(history) if eager_queues(history) else ():
        driver, last = _Driver(history), None
        upcoming = _following(stream, EventKind.SCHEDULED)
        for place, (_, event) in enumerate(stream.events[:-1]):
            if event.kind is EventKind.SCHEDULED and not driver.is_idle:
                yield None
            driver.follow(event)
            after = stream.events[place + 1][1]
            following = next(iter(upcoming[place].values()), None)
            if after.time == event.time or following is None or after is following:
                continue
            one = history.transaction(following.transaction or TransactionId(0))
            if following is not last and driver.may_queue(one):
                last = following
                yield QueuedLate(
                    member=stream.member, transaction=one.id, meanwhile=_meanwhile(after)
                )


def eager_queues(history: History) -> bool:
    """An eager MariaDB replica states how much may wait for a worker."""
    return type(history.header.options.get(QUEUED)) is int and eager_workers(history)


@always(
    needs=(EventKind.SCHEDULED, EventKind.ENGINE_COMMITTED),
    of=eager_queues,
    source="rpl_parallel::do_event, choose_thread: waits for room in the queue only",
    witness=lambda history: sum(one is None for one in _queued(history)),
    is_safety=False,
)
def transactions_are_queued_at_once(history: History) -> tuple[QueuedLate, ...]:
    """An eager driver queues the log's next transaction when the worker whose turn it is has room.

    Only what a source logged after its restart waits until all before has ended.
    """
    return tuple(breach for breach in _queued(history) if breach is not None)


@dataclass(slots=True)
class _Undone:
    """Attempts, who waited for rows meanwhile, and what is to be tried again."""

    driver: _Driver
    waiting: set[TransactionId] = field(default_factory=set)
    askers: dict[TransactionId, set[TransactionId]] = field(default_factory=dict)
    """Attempt -> who waited for a row meanwhile, and may have asked for its end."""
    ready: set[TransactionId] = field(default_factory=set)
    """Undone, and no request for that end is left."""

    def follow(self, event: Event) -> None:
        """Apply an event."""
        self.driver.follow(event)
        one = event.transaction
        if event.kind in _PERIODS:
            self.waiting, self.askers, self.ready = set(), {}, set()
            return
        if one is None:
            return
        self.waiting.discard(one)
        if event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.LOCK_WAIT:
            self.waiting.add(one)
            for asked in self.askers.values():
                asked.add(one)
        elif event.kind is EventKind.BEGUN:
            self.askers[one] = set(self.waiting)
        elif event.kind is EventKind.ROLLED_BACK:
            delivered = int(event.note == DEADLOCK_KILL)
            if len(self.askers.pop(one, set()) - {one}) <= delivered:
                self.ready.add(one)
        elif event.kind is EventKind.RETRIED:
            self.ready.discard(one)

    def may_retry(self, one: TransactionId) -> bool:
        """Return whether nothing before a transaction that is ready is under way."""
        history, driver = self.driver.history, self.driver
        order = driver.order_of(history.transaction(one))
        return one in self.ready and not any(
            other < one and driver.order_of(history.transaction(other)) == order
            for queue in driver.queues.values()
            for other in queue
        )


def _retried(history: History) -> Iterator[RetriedLate | None]:
    """Yield each retry that waits for no kill, or its breach."""
    for stream in apply_streams(history) if eager_workers(history) else ():
        undone, late = _Undone(_Driver(history)), set[int]()
        upcoming = _following(stream, EventKind.RETRIED)
        for place, (_, event) in enumerate(stream.events[:-1]):
            if event.kind is EventKind.RETRIED and event.transaction in undone.ready:
                yield None
            undone.follow(event)
            after = stream.events[place + 1][1]
            if after.time == event.time:
                continue
            for one, following in upcoming[place].items():
                if after is not following and id(following) not in late and undone.may_retry(one):
                    late.add(id(following))
                    yield RetriedLate(
                        member=stream.member, transaction=one, meanwhile=_meanwhile(after)
                    )


@always(
    needs=(EventKind.SCHEDULED, EventKind.ENGINE_COMMITTED),
    of=eager_workers,
    source="retry_event_group: wait for all prior commits of the domain, and for no others",
    witness=lambda history: sum(one is None for one in _retried(history)),
    is_safety=False,
)
def retries_begin_at_once(history: History) -> tuple[RetriedLate, ...]:
    """An eager worker tries a transaction again when all before it in its domain have committed.

    Attempts that several transactions may have asked to end are not judged: each request must
    arrive first.
    """
    return tuple(breach for breach in _retried(history) if breach is not None)
