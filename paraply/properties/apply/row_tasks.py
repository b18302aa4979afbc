"""Rows that a coordinator gives one by one to workers, and what follows when one fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.row_errors import ERRORS
from paraply.properties.apply.stream import RESTARTS
from paraply.properties.registry import Violation, always, sometimes
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

_COMMITS = frozenset({EventKind.VISIBLE, EventKind.ENGINE_COMMITTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelOverfull(Violation):
    """A worker is given a row before it has executed the last one."""

    member: str
    transaction: TransactionId
    worker: int | None

    def __str__(self) -> str:
        return (
            f"{self.member}: worker {self.worker} was given a row of T{self.transaction} while "
            "its channel held another"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAfterError(Violation):
    """A row is given out although one of its transaction has failed."""

    member: str
    transaction: TransactionId
    worker: int | None

    def __str__(self) -> str:
        return (
            f"{self.member}: worker {self.worker} was given a row of T{self.transaction} after "
            "another row of it had failed"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCancelled(Violation):
    """A row fails, and another worker's part is committed or left."""

    member: str
    transaction: TransactionId
    worker: int | None

    def __str__(self) -> str:
        return (
            f"{self.member}: worker {self.worker} did not cancel its part of T{self.transaction}, "
            "of which a row had failed"
        )


@dataclass(slots=True)
class _Parts:
    """One transaction's parts since it began."""

    workers: set[int | None] = field(default_factory=set)
    """They were given rows, and have not rolled back."""
    full: set[int | None] = field(default_factory=set)
    """They have not executed their last row."""
    failed: set[int | None] = field(default_factory=set)


def _followed(history: History) -> Iterator[tuple[Event, _Parts]]:
    """Yield each event of a transaction whose rows are given out, and its parts before."""
    parts: dict[tuple[str, TransactionId], _Parts] = {}
    for event in history.events:
        if event.kind in RESTARTS:
            parts = {key: one for key, one in parts.items() if key[0] != event.member}
        if event.transaction is None:
            continue
        key = event.member, event.transaction
        if event.kind is EventKind.BEGUN or key not in parts:
            parts[key] = _Parts()
        mine = parts[key]
        yield event, mine
        if _is_given(event):
            mine.workers.add(event.worker)
            mine.full.add(event.worker)
        elif event.kind is EventKind.ROW_APPLIED and event.outcome is not Outcome.LOCK_WAIT:
            mine.full.discard(event.worker)
            if event.outcome in ERRORS:
                mine.failed.add(event.worker)
        elif event.kind is EventKind.ROLLED_BACK:
            mine.workers.discard(event.worker)


def _is_given(event: Event) -> bool:
    return event.kind is EventKind.SCHEDULED and event.row is not None


def row_tasks(history: History) -> bool:
    """A coordinator gives out rows one by one."""
    return any(map(_is_given, history.events))


def _given(history: History) -> Iterator[tuple[Event, _Parts]]:
    return ((event, parts) for event, parts in _followed(history) if _is_given(event))


@always(
    of=row_tasks,
    source="WL#4648, P3: the channel state is binary, and a table instance holds one row",
    witness=lambda history: sum(1 for _ in _given(history)),
)
def channels_hold_one_row(history: History) -> list[ChannelOverfull]:
    """A worker is given a row of a transaction when it has executed the one before."""
    return [
        ChannelOverfull(member=event.member, transaction=event.transaction, worker=event.worker)
        for event, parts in _given(history)
        if event.worker in parts.full and event.transaction is not None
    ]


def failing_row_tasks(history: History) -> bool:
    """A row that a coordinator gave out fails."""
    return row_tasks(history) and any(parts.failed for _, parts in _followed(history))


@always(
    of=failing_row_tasks,
    source="WL#4648, P3: check the last row applying by workers status is okay",
    witness=lambda history: sum(bool(parts.failed) for _, parts in _followed(history)),
)
def no_row_is_given_out_after_an_error(history: History) -> list[GivenAfterError]:
    """When a row has failed, the coordinator gives out no other row of the transaction."""
    return [
        GivenAfterError(member=event.member, transaction=event.transaction, worker=event.worker)
        for event, parts in _given(history)
        if parts.failed and event.transaction is not None
    ]


def _emergencies(history: History) -> Iterator[tuple[Event, set[int | None]]]:
    """Yield ends of transactions with a failed row, and workers whose part is not cancelled."""
    for event, parts in _followed(history):
        if parts.failed and event.kind is EventKind.FAILED:
            yield event, parts.workers - {event.worker}
        elif parts.failed and event.kind in _COMMITS:
            yield event, {event.worker}


@sometimes(of=failing_row_tasks, source="WL#4648, P3: emergency signal to the worker")
def another_workers_part_is_cancelled(history: History) -> bool:
    """A worker rolled its part back because another worker's row had failed."""
    return any(
        event.kind is EventKind.ROLLED_BACK and parts.failed - {event.worker}
        for event, parts in _followed(history)
    )


@always(
    of=failing_row_tasks,
    source="WL#4648, P3: emergency signal to the worker to cancel the current group exec",
    witness=lambda history: sum(1 for _ in _emergencies(history)),
)
def errors_cancel_every_part(history: History) -> list[NotCancelled]:
    """When a row has failed, every worker with a part of the transaction rolls it back."""
    return [
        NotCancelled(member=event.member, transaction=event.transaction, worker=worker)
        for event, left in _emergencies(history)
        for worker in sorted(left, key=str)
        if event.transaction is not None
    ]
