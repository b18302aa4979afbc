"""Commit waits, in microseconds.

A commit waits for its own group's round trip and the rest of the previous one's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.semi_sync.watch import Watch
from paraply.properties.vocabularies import timed_stages
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

MYSQL = "mysql_"
"""Prefix of dialects whose groups queue for each stage."""
ORDERED, UNORDERED = "mysql_ordered", "mysql_unordered"
"""Dialects with binlog_order_commits ON and OFF."""


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

    The wait for the replicas is over with the last acknowledgement that it needs. A group's
    transactions commit one after another.
    """
    needed = _number(history, "acknowledgements") or 1
    heard: Counter[TransactionId] = Counter()
    least = {
        EventKind.SYNCED: _number(history, "sync_us"),
        EventKind.ENGINE_COMMITTED: _number(history, "engine_commit_us"),
    }
    since: dict[TransactionId, int] = {}
    of_group: dict[int | None, int] = {}
    for event in history.events_of(EventKind.FLUSHED, EventKind.ACKNOWLEDGED, *least):
        if event.transaction is None:
            continue
        if event.kind is EventKind.ENGINE_COMMITTED and history.header.dialect != UNORDERED:
            before = since.get(event.transaction, 0)
            since[event.transaction] = max(before, of_group.get(event.group, 0))
            of_group[event.group] = event.time
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
    """A transaction that is queued for a stage waits for the next leader."""

    transaction: TransactionId
    since_us: int
    begun_us: int

    def __str__(self) -> str:
        return (
            f"T{self.transaction}, queued at {self.since_us:,} us, was left out of the stage that "
            f"began at {self.begun_us:,} us"
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
                left = LeftInQueue(transaction=one, since_us=flushed, begun_us=begun)
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


def ordered_commits_on_a_clock(history: History) -> bool:
    """MySQL's source on a simulated clock, with binlog_order_commits."""
    return stated_durations(history) and history.header.dialect == ORDERED


def _times(history: History, kind: EventKind) -> dict[TransactionId, int]:
    events = history.events_of(kind, member=Watch.of(history).source)
    return {one.transaction: one.time for one in events if one.transaction is not None}


def _queued_at_commits(history: History) -> Iterator[tuple[LeftInQueue, bool]]:
    """Yield what was synced when a leader took LOCK_commit, and whether its group has it."""
    synced = _times(history, EventKind.SYNCED)
    groups: dict[int | None, list[tuple[TransactionId, int]]] = {}
    for event in history.events_of(EventKind.ENGINE_COMMITTED, member=Watch.of(history).source):
        if event.transaction in synced:
            groups.setdefault(event.group, []).append((event.transaction, event.time))
    left, free = dict(synced), 0
    for group in groups.values():
        led = max(free, min(synced[one] for one, _ in group))
        free = group[-1][1]
        taken = {one for one, _ in group}
        for one, time in left.items():
            if time < led:
                yield LeftInQueue(transaction=one, since_us=time, begun_us=led), one in taken
        for one in taken:
            left.pop(one, None)


@always(
    needs=(EventKind.SYNCED, EventKind.ENGINE_COMMITTED),
    of=ordered_commits_on_a_clock,
    source="MYSQL_BIN_LOG::ordered_commit: the leader of the commit stage takes the whole queue",
    witness=lambda history: sum(1 for _ in _queued_at_commits(history)),
    is_safety=False,
)
def commits_take_the_whole_queue(history: History) -> tuple[LeftInQueue, ...]:
    """MySQL commits, with the leader's group, all that were synced when the stage became free."""
    return tuple(left for left, is_taken in _queued_at_commits(history) if not is_taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOutOfTime(Violation):
    """A client begins or is answered at another time than stated."""

    transaction: TransactionId
    step: str
    at_us: int
    expected_us: int | None

    def __str__(self) -> str:
        expected = "an answer" if self.expected_us is None else f"{self.expected_us:,} us"
        return f"T{self.transaction} is {self.step} at {self.at_us:,} us, not at {expected}"


def _answers(history: History) -> Iterator[ClientOutOfTime]:
    """Yield answers; each is due when the last transaction of its group has committed."""
    last: dict[int | None, int] = {}
    for event in history.events_of(EventKind.ENGINE_COMMITTED, EventKind.CLIENT_ACKNOWLEDGED):
        if event.kind is EventKind.ENGINE_COMMITTED:
            last[event.group] = event.time
        elif event.transaction is not None:
            yield ClientOutOfTime(
                transaction=event.transaction,
                step="answered",
                at_us=event.time,
                expected_us=last.get(event.group),
            )


@always(
    of=stated_durations,
    source="MDEV-162, stage 4: the transaction returns to its client",
    witness=lambda history: sum(1 for _ in _answers(history)),
    is_safety=False,
)
def clients_are_answered_at_once(history: History) -> tuple[ClientOutOfTime, ...]:
    """Clients are answered when the last transaction of their group has committed."""
    return tuple(one for one in _answers(history) if one.at_us != one.expected_us)


def staggered_clients(history: History) -> bool:
    """Clients on a simulated clock begin one after another, as is stated."""
    return stated_durations(history) and {"clients", "stagger_us"} <= history.header.options.keys()


def _beginnings(history: History) -> Iterator[ClientOutOfTime]:
    """Yield first and further transactions of clients; a further one is due with an answer."""
    stagger, clients = _number(history, "stagger_us"), _number(history, "clients")
    places = {one.id: place for place, one in enumerate(history.transactions)}
    for one, time in _times(history, EventKind.PREPARED).items():
        due = places[one] * stagger if places[one] < clients else None
        yield ClientOutOfTime(transaction=one, step="prepared", at_us=time, expected_us=due)


@always(
    of=staggered_clients,
    source="MDEV-162: clients that commit at once; options clients and stagger_us",
    witness=lambda history: sum(1 for _ in _beginnings(history)),
)
def clients_begin_as_stated(history: History) -> tuple[ClientOutOfTime, ...]:
    """Clients begin one after another as stated, and again as soon as a client is answered."""
    answered = {event.time for event in history.events_of(EventKind.CLIENT_ACKNOWLEDGED)}
    return tuple(
        one
        for one in _beginnings(history)
        if (one.at_us not in answered if one.expected_us is None else one.at_us != one.expected_us)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushedLate(Violation):
    """A group is written to the log at another time than LOCK_log allows."""

    transaction: TransactionId
    at_us: int
    due_us: int

    def __str__(self) -> str:
        return (
            f"T{self.transaction} is flushed at {self.at_us:,} us; it was queued, and LOCK_log "
            f"free, at {self.due_us:,} us"
        )


CHAINED, MUTEX = "chained", "global_mutex"
"""Dialects whose groups hold LOCK_log until the next mutex is free, and until the answer."""


def flushes_on_a_clock(history: History) -> bool:
    """A source on a simulated clock states its locks, and how long their holders take."""
    dialect = history.header.dialect
    return stated_durations(history) and dialect in (CHAINED, MUTEX, ORDERED, UNORDERED)


def _flushes(history: History) -> Iterator[FlushedLate]:
    """Yield each group's flush, and when it is due, as long as LOCK_log's releases are recorded."""
    prepared = _times(history, EventKind.PREPARED)
    groups: dict[int | None, list[TransactionId]] = {}
    flushed = _times(history, EventKind.FLUSHED)
    for event in history.events_of(EventKind.FLUSHED, member=Watch.of(history).source):
        if event.transaction in prepared:
            groups.setdefault(event.group, []).append(event.transaction)
    releases = _Releases.of(history)
    free: int | None = 0
    before: list[TransactionId] = []
    for group in groups.values():
        if free is None:
            return
        due = max(free, min(prepared[one] for one in group))
        yield FlushedLate(transaction=group[0], at_us=flushed[group[0]], due_us=due)
        free = releases.of_log(group, before)
        before = group


@dataclass(frozen=True, slots=True)
class _Releases:
    """When groups release their mutexes."""

    dialect: str
    engine_commit_us: int
    synced: dict[TransactionId, int]
    committed: dict[TransactionId, int]
    answered: dict[TransactionId, int]

    @classmethod
    def of(cls, history: History) -> _Releases:
        return cls(
            history.header.dialect,
            _number(history, "engine_commit_us"),
            _times(history, EventKind.SYNCED),
            _times(history, EventKind.ENGINE_COMMITTED),
            _times(history, EventKind.CLIENT_ACKNOWLEDGED),
        )

    def of_log(self, group: list[TransactionId], before: list[TransactionId]) -> int | None:
        """Return when LOCK_log is free after a group, or None if that is not recorded.

        MySQL holds it for the flush only. A chained group waits in it for the next mutex, which
        the group before holds until its commits in the engine begin.
        """
        if self.dialect == MUTEX:
            return self.answered.get(group[0])
        if self.dialect != CHAINED:
            return 0
        synced = self.synced.get(group[0])
        if synced is None or not before:
            return synced
        begun = self.committed.get(before[0])
        return None if begun is None else max(synced, begun - self.engine_commit_us)


@always(
    needs=(EventKind.PREPARED, EventKind.FLUSHED),
    of=flushes_on_a_clock,
    source="MDEV-162, stages 1 to 4; MYSQL_BIN_LOG::ordered_commit: LOCK_log in the flush stage",
    witness=lambda history: sum(1 for _ in _flushes(history)),
    is_safety=False,
)
def groups_are_flushed_at_once(history: History) -> tuple[FlushedLate, ...]:
    """A queued group is written to the log as soon as LOCK_log is free, and no earlier.

    MySQL holds LOCK_log for the flush, chained mutexes until the next one is free, and one mutex
    for all stages until the answer.
    """
    return tuple(one for one in _flushes(history) if one.at_us != one.due_us)


def commits_per_second(history: History) -> float:
    """Return commits per simulated second."""
    answered = list(history.events_of(EventKind.CLIENT_ACKNOWLEDGED))
    if not answered or not answered[-1].time:
        return 0.0
    return len(answered) * 1_000_000 / answered[-1].time
