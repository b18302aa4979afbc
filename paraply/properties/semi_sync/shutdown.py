"""Shutdowns of a source, which wait for the replicas or end waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.semi_sync.watch import Watch
from paraply.properties.vocabularies import commit_stages
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

WAITS, SHUTDOWN = "shutdown_waits", "shutdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedBeforeReceipt(Violation):
    """A source stops although a connected replica lacks a transaction."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"the source stopped before {self.member}, which was connected, had received "
            f"T{self.transaction}"
        )


def shutdowns_wait(history: History) -> bool:
    """SHUTDOWN WAIT FOR ALL SLAVES, in a controlled run."""
    header = history.header
    return (
        header.tier is EvidenceTier.CONTROLLED_RUN
        and header.options.get(WAITS) is True
        and commit_stages(history)
    )


def _at_stops(history: History) -> Iterator[tuple[str, TransactionId, bool]]:
    """Yield connected replicas and logged transactions at a stop, and whether each has it."""
    if not shutdowns_wait(history):
        return
    watch = Watch.of(history)
    for event in history.events:
        is_stop = event.kind is EventKind.STOPPED and event.member == watch.source
        if is_stop and event.note == SHUTDOWN:
            logged = frozenset(watch.log)
            for name, replica in watch.replicas.items():
                if not (replica.is_down or replica.is_missed) and replica.having <= logged:
                    for one in watch.log:
                        yield name, one, one in replica.having
        for _ in watch.follow(event):
            pass


@always(
    of=shutdowns_wait,
    source="MariaDB: SHUTDOWN WAIT FOR ALL SLAVES",
    witness=lambda history: sum(1 for _ in _at_stops(history)),
)
def waiting_shutdowns_send_everything(history: History) -> tuple[StoppedBeforeReceipt, ...]:
    """A source that waits at its shutdown stops when connected replicas have its whole log."""
    return tuple(
        StoppedBeforeReceipt(member=member, transaction=one)
        for member, one, has_it in _at_stops(history)
        if not has_it
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedWithoutShutdown(Violation):
    """A wait ends by a shutdown that does not take place, or that waits."""

    transaction: TransactionId
    step: str

    def __str__(self) -> str:
        return f"a shutdown ended the wait of T{self.transaction}, and then {self.step}"


_AFTER = (EventKind.PREPARED, EventKind.FLUSHED, EventKind.STOPPED, EventKind.CRASHED)


def _ended_by_shutdown(history: History) -> Iterator[tuple[TransactionId, Event | None]]:
    """Yield transactions whose wait a shutdown ended, and what the source does next."""
    source = Watch.of(history).source
    events = list(history.events_of(EventKind.WAIT_ABANDONED, *_AFTER, member=source))
    following: Event | None = None
    for event in reversed(events):
        if event.kind is not EventKind.WAIT_ABANDONED:
            following = event
        elif event.note == SHUTDOWN and event.transaction is not None:
            yield event.transaction, following


def ended_waits(history: History) -> bool:
    """A shutdown of a source of a controlled run ends waits."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and commit_stages(history) and any(_ended_by_shutdown(history))


@always(
    of=ended_waits,
    source="ReplSemiSyncMaster::commitTrx: abort_loop; SHUTDOWN WAIT FOR ALL SLAVES",
    witness=lambda history: sum(1 for _ in _ended_by_shutdown(history)),
)
def shutdowns_that_end_waits_take_place(history: History) -> tuple[EndedWithoutShutdown, ...]:
    """A shutdown that ends a wait takes no further client, and stops, unless the source crashes.

    SHUTDOWN WAIT FOR ALL SLAVES ends no wait.
    """
    found = []
    for one, following in _ended_by_shutdown(history):
        if history.header.options.get(WAITS) is True:
            found.append(EndedWithoutShutdown(transaction=one, step="waits for the replicas"))
        elif following is None and history.is_complete:
            found.append(EndedWithoutShutdown(transaction=one, step="the source goes on"))
        elif following and following.kind in (EventKind.PREPARED, EventKind.FLUSHED):
            step = f"T{following.transaction} was {following.kind.value}"
            found.append(EndedWithoutShutdown(transaction=one, step=step))
    return tuple(found)
