"""Commit waits, in microseconds.

A commit waits for its own group's round trip and the rest of the previous one's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import timed_stages
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

MYSQL = "mysql_"
"""Prefix of dialects whose groups queue for each stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitWaitedForOthers(Violation):
    """A commit exceeds two groups' time."""

    transaction: TransactionId
    took_us: int
    bound_us: int

    def __str__(self) -> str:
        return (
            f"T{self.transaction} took {self.took_us:,} us to commit, more than the "
            f"{self.bound_us:,} us of two round trips and the work of two groups"
        )


def _number(history: History, name: str) -> int:
    return int(history.header.options.get(name, 0))


def has_clock(history: History) -> bool:
    """Return whether the round-trip time is stated."""
    return "round_trip_us" in history.header.options


def _bound(history: History) -> int:
    """A group may also wait for a further sync, which holds LOCK_log."""
    work = 2 * _number(history, "sync_us")
    commits = _number(history, "clients") * _number(history, "engine_commit_us")
    return 2 * (_number(history, "round_trip_us") + work + commits)


@sometimes(of=timed_stages, source="MDEV-162: stage 3 runs in parallel with stages 2 and 4")
def round_trips_overlap(history: History) -> bool:
    """A group was synced, and so sent, while an earlier one still waited."""
    waiting: dict[TransactionId, int | None] = {}
    for event in history.events if has_clock(history) else ():
        if event.kind is EventKind.SYNCED and event.transaction is not None:
            if any(group != event.group for group in waiting.values()):
                return True
            waiting[event.transaction] = event.group
        elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            waiting.pop(event.transaction, None)
    return False


def _waits(history: History) -> Iterator[tuple[TransactionId, int]]:
    """Yield the microseconds from each transaction's prepare to its client's confirmation."""
    begun: dict[TransactionId, int] = {}
    for event in history.events_of(EventKind.PREPARED, EventKind.CLIENT_ACKNOWLEDGED):
        if event.transaction is None:
            continue
        if event.kind is EventKind.PREPARED:
            begun[event.transaction] = event.time
        elif event.transaction in begun:
            yield event.transaction, event.time - begun[event.transaction]


def _many_clients_commit(history: History) -> bool:
    clients = min(_number(history, "clients"), len(history.transactions))
    alone = _number(history, "round_trip_us") + _number(history, "sync_us")
    is_long = has_clock(history) and clients * alone > _bound(history)
    return is_long and any(True for _ in _waits(history))


@always(
    of=timed_stages,
    source="MDEV-162: a whole group waits once, and groups overlap",
    witness=_many_clients_commit,
    is_safety=False,
)
def commits_wait_for_two_round_trips(history: History) -> tuple[CommitWaitedForOthers, ...]:
    """A commit takes about two round trips at most, for any number of clients."""
    if not has_clock(history):
        return ()
    bound = _bound(history)
    return tuple(
        CommitWaitedForOthers(transaction=one, took_us=took, bound_us=bound)
        for one, took in _waits(history)
        if took > bound
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTooShort(Violation):
    """A step takes less time than it must."""

    transaction: TransactionId
    step: str
    took_us: int
    least_us: int

    def __str__(self) -> str:
        return (
            f"T{self.transaction} was {self.step} after {self.took_us:,} us; "
            f"it takes {self.least_us:,} us"
        )


def stated_durations(history: History) -> bool:
    """A source on a simulated clock states how long syncs and engine commits take."""
    options = history.header.options
    return timed_stages(history) and {"sync_us", "engine_commit_us"} <= options.keys()


def _steps(history: History) -> Iterator[StepTooShort]:
    """Yield the duration of each sync and engine commit, from the step before it.

    The wait for the replicas is over with the last acknowledgement that it needs.
    """
    needed = _number(history, "acknowledgements") or 1
    heard: Counter[TransactionId] = Counter()
    least = {
        EventKind.SYNCED: _number(history, "sync_us"),
        EventKind.ENGINE_COMMITTED: _number(history, "engine_commit_us"),
    }
    since: dict[TransactionId, int] = {}
    for event in history.events_of(EventKind.FLUSHED, EventKind.ACKNOWLEDGED, *least):
        if event.transaction is None:
            continue
        if event.kind is EventKind.ACKNOWLEDGED:
            heard[event.transaction] += 1
            if heard[event.transaction] != needed:
                continue
        elif event.kind in least and event.transaction in since:
            yield StepTooShort(
                transaction=event.transaction,
                step=event.kind.value,
                took_us=event.time - since[event.transaction],
                least_us=least[event.kind],
            )
        since[event.transaction] = event.time


@always(
    of=stated_durations,
    source="MDEV-162: the sync, and the commit in the engine, take their time for each group",
    witness=lambda history: sum(1 for _ in _steps(history)),
)
def syncs_and_commits_take_their_time(history: History) -> tuple[StepTooShort, ...]:
    """A sync, and an engine commit, last at least as long as is stated."""
    return tuple(one for one in _steps(history) if one.took_us < one.least_us)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftInQueue(Violation):
    """A transaction that is queued for a sync waits for the next one."""

    transaction: TransactionId
    flushed_us: int
    begun_us: int

    def __str__(self) -> str:
        return (
            f"T{self.transaction}, flushed at {self.flushed_us:,} us, was left out of the sync "
            f"that began at {self.begun_us:,} us"
        )


def syncs_of_queues(history: History) -> bool:
    """MySQL's source on a simulated clock: a sync takes all groups that are queued for it."""
    return stated_durations(history) and history.header.dialect.startswith(MYSQL)


def _queued_at_syncs(history: History) -> Iterator[tuple[LeftInQueue, bool]]:
    """Yield each transaction that was queued when a sync began, and whether that sync has it."""
    queued: dict[TransactionId, int] = {}
    for event in history.events_of(EventKind.FLUSHED):
        if event.transaction is not None:
            queued[event.transaction] = event.time
    synced: dict[int, set[TransactionId]] = {}
    for event in history.events_of(EventKind.SYNCED):
        if event.transaction is not None:
            synced.setdefault(event.time, set()).add(event.transaction)
    for end, taken in synced.items():
        begun = end - _number(history, "sync_us")
        for one, flushed in queued.items():
            if flushed < begun:
                left = LeftInQueue(transaction=one, flushed_us=flushed, begun_us=begun)
                yield left, one in taken
        for one in taken:
            queued.pop(one, None)


@always(
    of=syncs_of_queues,
    source="MYSQL_BIN_LOG::ordered_commit: fetch_queue_for, the leader takes the whole queue",
    witness=lambda history: sum(1 for _ in _queued_at_syncs(history)),
    is_safety=False,
)
def syncs_take_the_whole_queue(history: History) -> tuple[LeftInQueue, ...]:
    """MySQL syncs, with the leader's group, all groups that were flushed before the sync began."""
    return tuple(left for left, is_taken in _queued_at_syncs(history) if not is_taken)


def commits_per_second(history: History) -> float:
    """Return commits per simulated second."""
    answered = list(history.events_of(EventKind.CLIENT_ACKNOWLEDGED))
    if not answered or not answered[-1].time:
        return 0.0
    return len(answered) * 1_000_000 / answered[-1].time
