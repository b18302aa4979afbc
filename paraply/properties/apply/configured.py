"""Limits that an applier is configured with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import ENDS
from paraply.properties.registry import Violation, Vocabulary, always, sometimes
from paraply.properties.vocabularies import applied
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

WORKERS, RETRIES, MERGED, QUEUED = "workers", "retries_max", "merged", "queued_max"
"""Options of appliers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitExceeded(Violation):
    """An applier uses more than it is configured with."""

    member: str
    transaction: TransactionId
    what: str
    number: int
    greatest: int

    def __str__(self) -> str:
        limit = f"at most {self.greatest} are configured" if self.number else "numbers begin with 1"
        return f"{self.member}: T{self.transaction} is {self.what} {self.number}, and {limit}"


def configured(option: str) -> Vocabulary:
    """Return the vocabulary of appliers with a configured number."""

    def states_it(history: History) -> bool:
        return type(history.header.options.get(option)) is int and applied(history)

    return states_it


def _limit(history: History, option: str) -> int:
    return int(history.header.options[option])


def _breaches(
    events: Iterator[tuple[Event, int]], what: str, greatest: int, least: int = 0
) -> list[LimitExceeded]:
    return [
        LimitExceeded(
            member=event.member,
            transaction=event.transaction,
            what=what,
            number=number,
            greatest=greatest,
        )
        for event, number in events
        if not least <= number <= greatest and event.transaction is not None
    ]


def _workers(history: History) -> Iterator[tuple[Event, int]]:
    """Yield what workers are given, begin and commit; a coordinator, 0, commits nothing."""
    kinds = (EventKind.SCHEDULED, EventKind.BEGUN, EventKind.ENGINE_COMMITTED)
    for event in history.events_of(*kinds):
        if event.worker or (event.worker == 0 and event.kind is EventKind.ENGINE_COMMITTED):
            yield event, event.worker


def _attempts(history: History) -> Iterator[tuple[Event, int]]:
    for event in history.events_of(EventKind.BEGUN):
        yield event, event.attempt


_CLEARS = frozenset({EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED})


def _queued(history: History) -> Iterator[tuple[Event, int]]:
    """Yield transactions given to a worker, and how many there it has not begun."""
    queues: dict[tuple[str, int], set[TransactionId]] = {}
    for event in history.events:
        if event.kind in _CLEARS:
            queues = {key: queue for key, queue in queues.items() if key[0] != event.member}
        if event.transaction is None or event.worker is None:
            continue
        queue = queues.setdefault((event.member, event.worker), set())
        if event.kind is EventKind.SCHEDULED:
            queue.add(event.transaction)
            yield event, len(queue)
        else:
            queue.discard(event.transaction)


def _jobs(history: History) -> Iterator[tuple[Event, int]]:
    for event in history.events_of(EventKind.BEGUN):
        yield event, max(1, len(event.transactions))


def configured_workers(history: History) -> bool:
    """A configured number of numbered workers applies."""
    return configured(WORKERS)(history) and any(True for _ in _workers(history))


@always(
    of=configured_workers,
    source="replica_parallel_workers; slave_parallel_threads; WL#4648, |W|",
    witness=lambda history: sum(1 for _ in _workers(history)),
)
def workers_are_those_configured(history: History) -> list[LimitExceeded]:
    """Transactions go to workers with numbers from 1 up to the configured number of workers.

    With no workers, one thread applies.
    """
    limit = _limit(history, WORKERS)
    return _breaches(_workers(history), "given to worker", max(1, limit), min(1, limit))


def _busy(history: History) -> Iterator[int]:
    """Yield how many workers of a member are busy after each begin."""
    busy: dict[tuple[str, int], TransactionId] = {}
    for event in history.events:
        if event.kind in _CLEARS:
            busy = {key: one for key, one in busy.items() if key[0] != event.member}
        elif event.worker and event.transaction is not None:
            key = event.member, event.worker
            if event.kind is EventKind.BEGUN:
                busy[key] = event.transaction
                yield sum(member == event.member for member, _ in busy)
            elif event.kind in ENDS and busy.get(key) == event.transaction:
                del busy[key]


def several_workers(history: History) -> bool:
    """A configured number of workers, two or more, applies."""
    return configured_workers(history) and _limit(history, WORKERS) > 1


@sometimes(of=several_workers, source="replica_parallel_workers; slave_parallel_threads")
def all_configured_workers_are_busy(history: History) -> bool:
    """As many workers as are configured applied transactions at once."""
    return max(_busy(history), default=0) >= _limit(history, WORKERS)


@sometimes(of=configured(QUEUED), source="MariaDB: slave_parallel_max_queued")
def a_transaction_waits_for_its_worker(history: History) -> bool:
    """A transaction was given to a worker that had not begun the one before it."""
    return any(number > 1 for _, number in _queued(history))


@always(
    of=configured(RETRIES),
    source="replica_transaction_retries; slave_transaction_retries",
    witness=lambda history: sum(1 for _ in _attempts(history)),
)
def attempts_end_with_the_configured_retries(history: History) -> list[LimitExceeded]:
    """After its first attempt, a transaction begins at most the configured number of retries."""
    return _breaches(_attempts(history), "begun in attempt", _limit(history, RETRIES) + 1)


@always(
    of=configured(MERGED),
    source="WL#4648, C4: a number of small transactions is merged",
    witness=lambda history: sum(1 for _ in _jobs(history)),
)
def jobs_have_at_most_the_configured_transactions(history: History) -> list[LimitExceeded]:
    """A job merges at most the configured number of transactions."""
    return _breaches(_jobs(history), "begun in a job of", _limit(history, MERGED))


@always(
    of=configured(QUEUED),
    source="MariaDB: slave_parallel_max_queued limits what waits for a worker",
    witness=lambda history: sum(1 for _ in _queued(history)),
)
def queues_have_at_most_the_configured_groups(history: History) -> list[LimitExceeded]:
    """At most the configured number of transactions wait for one worker."""
    return _breaches(_queued(history), "in a worker's queue as number", _limit(history, QUEUED))


AHEAD = 3
"""Transactions per worker: two wait in the list of jobs, and one is applied."""


def _distributed(history: History) -> Iterator[tuple[Event, int]]:
    """Yield what a coordinator distributes in parts, and how many it has under way then."""
    under_way: dict[str, set[TransactionId]] = {}
    for event in history.events:
        mine, one = under_way.setdefault(event.member, set()), event.transaction
        if event.kind in _CLEARS:
            mine.clear()
        elif one is None:
            continue
        elif event.kind is EventKind.SCHEDULED and event.worker == 0:
            mine.add(one)
            yield event, len(mine)
        elif event.kind is EventKind.ENGINE_COMMITTED:
            mine.discard(one)


def distributing_coordinators(history: History) -> bool:
    """A coordinator distributes parts of transactions to a configured number of workers."""
    has_workers = configured(WORKERS)(history) and _limit(history, WORKERS) > 0
    return has_workers and any(True for _ in _distributed(history))


@always(
    of=distributing_coordinators,
    source="WL#4648, internal requirement 2: the list of jobs has at most two for each worker",
    witness=lambda history: sum(1 for _ in _distributed(history)),
)
def coordinators_run_ahead_within_their_limit(history: History) -> list[LimitExceeded]:
    """A coordinator has at most three transactions for each worker under way."""
    limit = AHEAD * max(1, _limit(history, WORKERS))
    return _breaches(_distributed(history), "under way as number", limit)


def logs_for_full_lists(history: History) -> bool:
    """A coordinator distributes a log of two transactions or more for each worker."""
    least = 2 * _limit(history, WORKERS) if configured(WORKERS)(history) else 0
    return len(history.transactions) >= least and distributing_coordinators(history)


@sometimes(
    of=logs_for_full_lists,
    source="WL#4648, internal requirement 2: the list of jobs has at least one for each worker",
)
def a_coordinator_runs_ahead_of_its_workers(history: History) -> bool:
    """A coordinator had two transactions for each worker under way: one applied, one waiting."""
    least = 2 * _limit(history, WORKERS)
    return max((number for _, number in _distributed(history)), default=0) >= least
