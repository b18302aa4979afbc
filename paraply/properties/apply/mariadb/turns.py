"""MariaDB's turns: workers of a domain, and transactions that wait for one row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.mariadb.speculation import (
    NONE,
    ONE_ORDER,
    controlled_attempts,
    undone_next,
)
from paraply.properties.apply.stream import ENDS, apply_streams
from paraply.properties.registry import Violation, always
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item

_RESTARTS = frozenset({EventKind.STARTED, EventKind.CRASHED, EventKind.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedTooSoon(Violation):
    """A transaction waits behind another one though it is another worker's turn."""

    member: str
    worker: int
    before: TransactionId
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} was given to worker {self.worker} behind "
            f"T{self.before} before each worker of its domain had its turn"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedOutOfTurn(Violation):
    """A transaction gets a row for which another one waits longer."""

    member: str
    item: Item
    waiting: TransactionId
    served: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.served} got {self.item} before T{self.waiting}, which had "
            "waited for it longer"
        )


def rotating_workers(history: History) -> bool:
    """A controlled MariaDB replica has several workers."""
    options = history.header.options
    is_parallel = not history.header.dialect.startswith(NONE)
    return is_parallel and bool(options.get("workers")) and controlled_attempts(history)


def _slots(history: History) -> int:
    options = history.header.options
    workers = int(options["workers"])
    return min(int(options.get("domain_workers", 0)) or workers, workers)


def _queued(history: History) -> Iterator[tuple[str, Event, TransactionId, int]]:
    """Yield what is given to a busy worker, its predecessor there, and how far that is before."""
    has_one_order = history.header.dialect.startswith(ONE_ORDER)
    for stream in apply_streams(history):
        given: dict[int | None, list[TransactionId]] = {}
        last: dict[int, TransactionId] = {}
        ended: set[TransactionId] = set()
        for _, event in stream.events:
            one, worker = event.transaction, event.worker
            if event.kind in _RESTARTS:
                given, last, ended = {}, {}, set()
            elif one is None or worker is None:
                continue
            elif event.kind is EventKind.ENGINE_COMMITTED:
                ended.add(one)
            elif event.kind is EventKind.SCHEDULED:
                order = None if has_one_order else history.transaction(one).domain
                row = given.setdefault(order, [])
                before = last.get(worker)
                if before in row and before not in ended:
                    assert before is not None
                    yield stream.member, event, before, len(row) - row.index(before)
                row.append(one)
                last[worker] = one


@always(
    of=rotating_workers,
    source="rpl_parallel_entry::choose_thread: the domain's threads in turn",
    witness=lambda history: sum(1 for _ in _queued(history)),
    is_safety=False,
)
def workers_of_a_domain_take_turns(history: History) -> tuple[QueuedTooSoon, ...]:
    """A transaction is queued behind one of its domain when each worker of that had its turn."""
    return tuple(
        QueuedTooSoon(
            member=member, worker=event.worker or 0, before=before, transaction=event.transaction
        )
        for member, event, before, distance in _queued(history)
        if distance < _slots(history) and event.transaction is not None
    )


def _served(history: History) -> Iterator[tuple[str, Event, Item, TransactionId | None]]:
    """Yield each change of a row that others wait for, and who waits for it longer.

    An attempt that is rolled back next may have left its queue.
    """
    for stream in apply_streams(history):
        leaving = undone_next(stream)
        waiting: dict[TransactionId, tuple[int, frozenset[Item]]] = {}
        for place, event in stream.events:
            one = event.transaction
            if event.kind in _RESTARTS - {EventKind.FAILED}:
                waiting.clear()
            elif one is None:
                continue
            elif event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.LOCK_WAIT:
                if place not in leaving:
                    waiting[one] = place, event.items
            elif event.kind is EventKind.ROW_APPLIED:
                since, _ = waiting.pop(one, (place, frozenset()))
                for item in event.items:
                    others = {x: at for x, (at, items) in waiting.items() if item in items}
                    if others:
                        first = min(others, key=others.__getitem__)
                        yield stream.member, event, item, first if others[first] < since else None
            elif event.kind in ENDS:
                waiting.pop(one, None)


@always(
    of=controlled_attempts,
    source="InnoDB: lock_rec_dequeue_from_page: first come, first served",
    witness=lambda history: sum(1 for _ in _served(history)),
    is_safety=False,
)
def rows_are_granted_in_turn(history: History) -> tuple[ServedOutOfTurn, ...]:
    """Of the transactions that wait for a row, the first to wait gets it first."""
    return tuple(
        ServedOutOfTurn(member=member, item=item, waiting=first, served=event.transaction)
        for member, event, item, first in _served(history)
        if first is not None and event.transaction is not None
    )
