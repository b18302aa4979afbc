"""When the coordinator of LOGICAL_CLOCK may hand out a transaction at the earliest.

It reads the log in order and needs an idle worker. A transaction waits for all before it where its
numbers are unusable, leave a gap, or begin a file; otherwise for its last_committed and for the
first transaction of its run of numbers, before which there is no low-water mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.stream import ApplyStream, apply_streams
from paraply.properties.registry import Violation, always
from paraply.properties.start_rule import must_wait
from paraply.properties.vocabularies import logged_numbers, recorded
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId

PROMPT = "prompt_"
"""Prefix of dialects whose coordinator takes each step as soon as it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedLate(Violation):
    """The coordinator keeps a transaction back that may start."""

    member: str
    transaction: TransactionId
    meanwhile: str

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} could start with an idle worker, but "
            f"{self.meanwhile} came first"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SleptNeedlessly(Violation):
    """The coordinator sleeps for a low-water mark that is reached."""

    member: str
    transaction: TransactionId
    last_committed: int

    def __str__(self) -> str:
        return (
            f"{self.member}: the coordinator slept before T{self.transaction}, though all up to "
            f"its last_committed={self.last_committed} had committed and reported"
        )


@dataclass(slots=True)
class _Coordinator:
    """What a coordinator has handed out since its last run of numbers began."""

    last_number: int = 0
    """0 where no number came before: at a start, and in a new file."""
    run: list[tuple[TransactionId, int]] = field(default_factory=list)
    """Transactions with their numbers, in log order."""
    open: dict[TransactionId, int | None] = field(default_factory=dict)
    """Handed out and not known to be done -> worker."""
    committed: set[TransactionId] = field(default_factory=set)

    def numbers_of(self, transaction: Transaction) -> tuple[int, int]:
        """Return the usable last_committed and sequence_number, or zeros."""
        timestamp = transaction.timestamp
        if timestamp is None:
            return 0, 0
        earliest, number = timestamp.last_committed, timestamp.sequence_number
        falls = bool(number) and number <= self.last_number
        depends_on_itself = bool(earliest) and number <= earliest
        return (0, 0) if self.last_number and (falls or depends_on_itself) else (earliest, number)

    def begins_run(self, transaction: Transaction) -> bool:
        """Return whether the transaction must wait for all before it."""
        last_committed, number = self.numbers_of(transaction)
        is_numbered = last_committed > 0 and number > 0 and self.last_number > 0
        return not is_numbered or number - self.last_number > 1

    def must_wait_for(self, transaction: Transaction, one: TransactionId, number: int) -> bool:
        """Return whether the transaction waits for one of its run."""
        last_committed, _ = self.numbers_of(transaction)
        return one == self.run[0][0] or must_wait(last_committed, number)

    def may_start(self, transaction: Transaction) -> bool:
        """Return whether nothing that is open keeps the transaction back."""
        if self.begins_run(transaction):
            return not self.open
        return not any(
            one in self.open and self.must_wait_for(transaction, one, number)
            for one, number in self.run
        )

    def follow(self, event: Event, history: History) -> None:
        """Apply an event."""
        if event.kind in (EventKind.STARTED, EventKind.CRASHED):
            self.last_number = 0
            self.run, self.open = [], {}
            self.committed.clear()
        elif event.kind is EventKind.RELAY_ROTATED:
            self.last_number, self.run = 0, []
        elif event.transaction is None:
            return
        elif event.kind in (EventKind.SCHEDULED, EventKind.SKIPPED):
            self.hand_out(history.transaction(event.transaction), event)
        elif event.kind is EventKind.ENGINE_COMMITTED:
            self.committed.add(event.transaction)

    def hand_out(self, transaction: Transaction, event: Event) -> None:
        """Add the log's next transaction."""
        _, number = self.numbers_of(transaction)
        if self.begins_run(transaction):
            self.run = []
        self.run.append((transaction.id, number))
        self.last_number = number
        if event.kind is EventKind.SCHEDULED:
            self.open[transaction.id] = event.worker

    def close_committed(self) -> None:
        """Count what has committed as done, and its workers as idle."""
        self.open = {one: who for one, who in self.open.items() if one not in self.committed}

    def close_reported(self, worker: int | None) -> None:
        """Count as done what a worker committed before it took its next transaction."""
        self.open = {
            one: who for one, who in self.open.items() if who != worker or one not in self.committed
        }


def prompt_coordinators(history: History) -> bool:
    """Coordinators take each step as soon as they can, and do not sleep."""
    header = history.header
    is_prompt = header.dialect.startswith(PROMPT) and not header.options.get("sleeps")
    return is_prompt and logged_numbers(history)


def _starts(history: History) -> Iterator[StartedLate | None]:
    """Yield each start beside another transaction as None, or its breach."""
    workers = int(history.header.options.get("workers", 0))
    for stream in apply_streams(history):
        coordinator = _Coordinator()
        upcoming = _next_handed_out(stream)
        last: TransactionId | None = None
        for place, (_, event) in enumerate(stream.events[:-1]):
            coordinator.follow(event, history)
            coordinator.close_committed()
            _, after = stream.events[place + 1]
            following = upcoming[place]
            if after.time == event.time or following is None or following.transaction is None:
                continue
            awaited = history.transaction(following.transaction)
            is_free = len(coordinator.open) < workers
            if awaited.id == last or not is_free or not coordinator.may_start(awaited):
                continue
            last = awaited.id
            if after is following and coordinator.open:
                yield None
            elif after is not following:
                named = f" of T{after.transaction}" if after.transaction is not None else ""
                yield StartedLate(
                    member=stream.member,
                    transaction=awaited.id,
                    meanwhile=f"{after.kind.value}{named}",
                )


def _next_handed_out(stream: ApplyStream) -> list[Event | None]:
    """Return the coordinator's next step after each event, if it hands out a transaction."""
    found: list[Event | None] = []
    following: Event | None = None
    for _, event in reversed(stream.events):
        found.append(following)
        if event.kind is EventKind.SCHEDULED:
            following = event
        elif event.kind in (EventKind.SKIPPED, EventKind.RELAY_ROTATED, EventKind.CRASHED):
            following = None
    return found[::-1]


@always(
    needs=(EventKind.SCHEDULED, EventKind.ENGINE_COMMITTED),
    of=prompt_coordinators,
    source="Mts_submode_logical_clock::schedule_next_event: wait_for_last_committed_trx",
    witness=lambda history: sum(1 for _ in _starts(history)),
    is_safety=False,
)
def transactions_start_as_soon_as_they_may(history: History) -> tuple[StartedLate, ...]:
    """A prompt coordinator hands out a transaction before anything else happens, once it may.

    It may with an idle worker, when all up to last_committed have committed.
    """
    return tuple(breach for breach in _starts(history) if breach is not None)


def _sleeps(history: History) -> Iterator[SleptNeedlessly | None]:
    """Yield each sleep's breach, or None."""
    for stream in apply_streams(history):
        coordinator = _Coordinator()
        for _, event in stream.events:
            if event.kind is EventKind.SCHEDULED:
                # A worker reports a commit before it takes its next transaction.
                coordinator.close_reported(event.worker)
            coordinator.follow(event, history)
            if event.kind is not EventKind.SLEPT or event.transaction is None:
                continue
            transaction = history.transaction(event.transaction)
            is_late = coordinator.may_start(transaction)
            last_committed, _ = coordinator.numbers_of(transaction)
            yield (
                SleptNeedlessly(
                    member=stream.member, transaction=transaction.id, last_committed=last_committed
                )
                if is_late
                else None
            )


@always(
    needs=(EventKind.SCHEDULED, EventKind.ENGINE_COMMITTED),
    of=recorded(EventKind.SLEPT),
    source="Mts_submode_logical_clock::wait_for_last_committed_trx: sleeps below the mark only",
    witness=lambda history: sum(1 for _ in _sleeps(history)),
    is_safety=False,
)
def coordinators_sleep_below_the_mark_only(history: History) -> tuple[SleptNeedlessly, ...]:
    """A coordinator sleeps only until a transaction up to last_committed has committed.

    A commit counts once its worker has reported it and taken another transaction.
    """
    return tuple(breach for breach in _sleeps(history) if breach is not None)
