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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedUnanswered(Violation):
    """A source stops although a client waits for its answer."""

    transaction: TransactionId

    def __str__(self) -> str:
        return f"the source stopped, and the client of T{self.transaction} has no answer"


LOST_CLIENTS = ("KILL CONNECTION", SHUTDOWN)
"""Reasons of abandoned waits whose clients get no answer."""


def shutdowns(history: History) -> bool:
    """A source of a controlled run shuts down."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and any(event.note == SHUTDOWN for event in history.events_of(EventKind.STOPPED))
        and commit_stages(history)
    )


def _clients_at_shutdowns(history: History) -> Iterator[tuple[TransactionId, bool]]:
    """Yield what a source has committed for clients until a shutdown, and who has no answer."""
    source = Watch.of(history).source
    clients: dict[TransactionId, bool] = {}
    commits: dict[TransactionId, int | None] = {}
    lost: set[int | None] = set()
    for event in history.events:
        one = event.transaction
        if event.member != source:
            continue
        if event.kind is EventKind.STOPPED and event.note == SHUTDOWN:
            for client, group in commits.items():
                yield client, group not in lost and not clients[client]
        if event.kind in (EventKind.STOPPED, EventKind.CRASHED):
            clients.clear()
            commits.clear()
            lost.clear()
        elif one is None:
            continue
        elif event.kind is EventKind.PREPARED:
            clients[one] = False
        elif event.kind is EventKind.WAIT_ABANDONED and event.note in LOST_CLIENTS:
            lost.add(event.group)
        elif event.kind is EventKind.ENGINE_COMMITTED and one in clients:
            commits[one] = event.group
        elif event.kind is EventKind.CLIENT_ACKNOWLEDGED:
            clients[one] = True


@always(
    of=shutdowns,
    source="MySQL manual, SHUTDOWN; close_connections: it lets committing clients end",
    witness=lambda history: sum(1 for _ in _clients_at_shutdowns(history)),
)
def shutdowns_answer_their_clients(history: History) -> tuple[StoppedUnanswered, ...]:
    """A source that shuts down has answered each client that committed, or ended its wait."""
    return tuple(
        StoppedUnanswered(transaction=one)
        for one, is_left in _clients_at_shutdowns(history)
        if is_left
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneUnordered(Violation):
    """A server rotates its log or stops more often than ordered."""

    what: str
    number: int
    ordered: int

    def __str__(self) -> str:
        return f"{self.number} {self.what}, and {self.ordered} were ordered"


_ORDERS = {
    "rotations": lambda event: event.kind is EventKind.RELAY_ROTATED,
    "shutdowns": lambda event: event.kind is EventKind.STOPPED and event.note == SHUTDOWN,
}
"""Options of sources: what they are ordered to do, at most."""


def ordered_steps(history: History) -> bool:
    """A controlled run states how often a source is ordered to rotate its log and to stop."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    options = history.header.options
    return is_exact and all(type(options.get(name)) is int for name in _ORDERS)


def _done(history: History) -> Iterator[DoneUnordered]:
    for name, is_one in _ORDERS.items() if ordered_steps(history) else ():
        number = sum(map(is_one, history.events))
        if number:
            yield DoneUnordered(what=name, number=number, ordered=int(history.header.options[name]))


@always(
    of=ordered_steps,
    source="FLUSH BINARY LOGS; SHUTDOWN: a crash forgets orders, and makes none",
    witness=lambda history: sum(1 for _ in _done(history)),
)
def sources_rotate_and_stop_when_ordered(history: History) -> tuple[DoneUnordered, ...]:
    """A source rotates its log and shuts down no more often than it is ordered to."""
    return tuple(one for one in _done(history) if one.number > one.ordered)
