"""Threads that sleep until another thread signals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.start_rule import must_wait
from paraply.properties.vocabularies import recorded
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class WokenWithoutCause(Violation):
    """A thread is woken that does not sleep, or too early."""

    member: str
    worker: int
    transaction: TransactionId | None
    missing: TransactionId | None

    def __str__(self) -> str:
        if self.transaction is None:
            return f"{self.member}: thread {self.worker} was woken, and did not sleep"
        return (
            f"{self.member}: thread {self.worker}, asleep before T{self.transaction}, was woken "
            f"before T{self.missing} had committed"
        )


@sometimes(
    of=recorded(EventKind.SLEPT), source="Mts_submode_logical_clock::wait_for_last_committed_trx"
)
def a_sleeping_coordinator_is_woken(history: History) -> bool:
    """The coordinator slept until the low-water mark was reached, and a worker woke it."""
    return any(history.events_of(EventKind.WOKEN))


def _wake_ups(history: History) -> Iterator[tuple[WokenWithoutCause, bool]]:
    """Yield wake-ups of threads, and whether each has a cause."""
    asleep: dict[tuple[str, int], TransactionId] = {}
    done: dict[str, set[TransactionId]] = {}
    for event in history.events:
        key = event.member, event.worker or 0
        if event.kind is EventKind.SLEPT and event.transaction is not None:
            asleep[key] = event.transaction
        elif event.kind is EventKind.CRASHED:
            asleep = {one: what for one, what in asleep.items() if one[0] != event.member}
        elif event.kind in (EventKind.ENGINE_COMMITTED, EventKind.SKIPPED) and event.transaction:
            done.setdefault(event.member, set()).add(event.transaction)
        elif event.kind is EventKind.WOKEN:
            sleeper = asleep.pop(key, None)
            missing = next(_awaited(history, sleeper, done.get(event.member, set())), None)
            found = WokenWithoutCause(
                member=event.member, worker=key[1], transaction=sleeper, missing=missing
            )
            yield found, sleeper is not None and missing is None


def _awaited(
    history: History, sleeper: TransactionId | None, done: set[TransactionId]
) -> Iterator[TransactionId]:
    """Yield uncommitted transactions up to the sleeper's last_committed in its file of the log."""
    later = history.transaction(sleeper) if sleeper is not None else None
    if later is None or later.timestamp is None:
        return
    for one in history.transactions:
        if one.id == later.id:
            break
        if one.timestamp is None or one.timestamp.is_view_change or one.clock != later.clock:
            continue
        is_awaited = must_wait(later.timestamp.last_committed, one.timestamp.sequence_number)
        if is_awaited and one.id not in done:
            yield one.id


@always(
    of=recorded(EventKind.SLEPT),
    source="Slave_worker::slave_worker_ends_group: signals if min_waited <= low-water mark",
    witness=lambda history: sum(1 for _ in _wake_ups(history)),
)
def sleepers_are_woken_for_cause(history: History) -> tuple[WokenWithoutCause, ...]:
    """A thread is woken only if it sleeps, and what it waits for has committed."""
    return tuple(found for found, has_cause in _wake_ups(history) if not has_cause)
