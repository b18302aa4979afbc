"""From whom a replica receives, and what it does with that until it rests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.stream import LOST
from paraply.properties.gtid.failover import PROMOTED, REFUSED
from paraply.properties.gtid.histories import has_domains
from paraply.properties.gtid.sending import delivered_groups
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import followed_sources
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import Transaction, TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedUnasked(Violation):
    """A replica receives a group and no source has accepted it."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} received T{self.transaction}, and no source had accepted it"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInvented(Violation):
    """A server names a source that it does not follow."""

    member: str
    source: str

    def __str__(self) -> str:
        return (
            f"{self.member} states that it follows {self.source}, which has not accepted it, or at "
            "whose group it failed since"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverApplied(Violation):
    """A replica at rest has neither applied nor passed over what it received."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} came to rest with T{self.transaction} received and not applied"


_ENDS = frozenset({EventKind.ENGINE_COMMITTED, EventKind.SKIPPED, EventKind.ROLLED_BACK})


@dataclass(slots=True)
class _Connections:
    sources: dict[str, set[str]] = field(default_factory=dict)
    """Replica -> the sources that accepted it."""
    received: dict[str, dict[TransactionId, None]] = field(default_factory=dict)
    """Replica -> what it has yet to apply."""

    def follow(self, event: Event) -> None:
        mine = self.sources.setdefault(event.member, set())
        received = self.received.setdefault(event.member, {})
        match event.kind:
            case EventKind.STARTED if event.note in PROMOTED:
                self.sources.clear()
                self.received.clear()
            case EventKind.STARTED if event.note.startswith(REFUSED):
                mine.difference_update(event.members)
                received.clear()
            case EventKind.STARTED:
                mine.update(event.members)
            case EventKind.CRASHED if event.note.startswith(LOST):
                for sources in self.sources.values():
                    sources.discard(event.member)
                self.received.clear()
            case EventKind.CRASHED:
                mine.clear()
                received.clear()
            case EventKind.FAILED:
                # With several sources, it is not recorded at whose group the replica failed.
                if len(mine) == 1:
                    mine.clear()
                received.clear()
            case EventKind.DELIVERED if event.transaction is not None:
                received[event.transaction] = None
            case kind if kind in _ENDS and event.transaction is not None:
                received.pop(event.transaction, None)


def _moments(history: History, *kinds: EventKind) -> Iterator[tuple[Event, _Connections]]:
    """Yield the events of some kinds, each with the connections before it."""
    connections = _Connections()
    for event in history.events:
        if event.kind in kinds:
            yield event, connections
        connections.follow(event)


@always(
    of=delivered_groups,
    source="MySQL and MariaDB error 1236: the dump thread ends when it refuses a position",
    witness=lambda history: sum(1 for _ in history.events_of(EventKind.DELIVERED)),
)
def replicas_receive_from_who_accepted_them(history: History) -> tuple[ReceivedUnasked, ...]:
    """A replica receives only while a source has accepted it.

    A refusal, a crash and an error at a group end that.
    """
    return tuple(
        ReceivedUnasked(member=event.member, transaction=event.transaction)
        for event, connections in _moments(history, EventKind.DELIVERED)
        if event.transaction is not None and not connections.sources.get(event.member)
    )


def _stated(history: History) -> Iterator[tuple[Event, str, bool]]:
    """Yield each source that a stopping replica names, and whether that accepted it."""
    for event, connections in _moments(history, EventKind.STOPPED):
        for source in event.members:
            yield event, source, source in connections.sources.get(event.member, ())


@always(
    of=followed_sources,
    source="SHOW REPLICA STATUS: Replica_IO_Running, Source_Host",
    witness=lambda history: sum(1 for _ in _stated(history)),
)
def stopped_replicas_name_who_accepted_them(history: History) -> tuple[SourceInvented, ...]:
    """A replica that stops names only sources that have accepted it, and whose groups it applies.

    After a failure, a crash or a promotion it has to ask again.
    """
    return tuple(
        SourceInvented(member=event.member, source=source)
        for event, source, is_followed in _stated(history)
        if not is_followed
    )


def _at_rest(history: History) -> Iterator[tuple[str, list[TransactionId]]]:
    """Yield replicas that rest and follow a source, and what they received and did not end."""
    for event, connections in _moments(history, EventKind.STOPPED):
        if event.members:
            yield event.member, list(connections.received.get(event.member, ()))


@always(
    of=delivered_groups,
    source="relay log: a replica applies, or passes over, all that it has received",
    witness=lambda history: sum(1 for _ in _at_rest(history)),
)
def received_groups_are_applied_or_passed_over(history: History) -> tuple[NeverApplied, ...]:
    """A replica at rest that follows a source has applied or passed over all that it received."""
    return tuple(
        NeverApplied(member=member, transaction=one)
        for member, left in _at_rest(history)
        for one in left
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverConnected(Violation):
    """A replica ends without its source, which did not refuse it."""

    member: str

    def __str__(self) -> str:
        return f"{self.member} came to rest without a connection, and no source had refused it"


UNCONNECTED = "not connected"
"""Note of STOPPED: a replica that has a source to follow ends without a connection to it."""


def _unconnected(history: History) -> Iterator[tuple[str, bool]]:
    """Yield replicas that end unconnected, and whether a source refused their last request."""
    refused: dict[str, bool] = {}
    for event in history.events_of(EventKind.STARTED, EventKind.STOPPED):
        if event.kind is EventKind.STARTED:
            refused[event.member] = event.note.startswith(REFUSED)
        elif event.note == UNCONNECTED:
            yield event.member, refused.get(event.member, False)


def unconnected_ends(history: History) -> bool:
    """Replicas of a controlled run start, and state that they end without a connection."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and any(True for _ in _unconnected(history))


@always(
    needs=(EventKind.STARTED,),
    of=unconnected_ends,
    source="Replica_IO_Running: a replica connects, and tries again, until it is refused (1236)",
    witness=lambda history: sum(1 for _ in _unconnected(history)),
)
def replicas_connect_unless_refused(history: History) -> tuple[NeverConnected, ...]:
    """A replica that ends without a connection was refused by the source that it asked last."""
    return tuple(
        NeverConnected(member=member)
        for member, is_refused in _unconnected(history)
        if not is_refused
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunBeforeReceived(Violation):
    """A replica begins or passes over a group before one of its domain that it received first."""

    member: str
    transaction: TransactionId
    before: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} went on to T{self.transaction} before T{self.before}, of its domain, "
            "which it had received first"
        )


def begun_groups(history: History) -> bool:
    """Replicas of domains record what they receive, and what they begin."""
    return EventKind.BEGUN in history.kinds and has_domains(history) and delivered_groups(history)


def _in_turn(
    history: History, part: Callable[[Transaction], object]
) -> Iterator[BegunBeforeReceived | None]:
    """Yield what replicas of one source begin or pass over, or its breach within its part."""
    for event, connections in _moments(history, EventKind.BEGUN, EventKind.SKIPPED):
        one = event.transaction
        received = connections.received.get(event.member, {})
        if one is not None and one in received and len(connections.sources[event.member]) == 1:
            mine = part(history.transaction(one))
            ahead = next(x for x in received if part(history.transaction(x)) == mine)
            breach = BegunBeforeReceived(member=event.member, transaction=one, before=ahead)
            yield None if ahead == one else breach


def _domain(transaction: Transaction) -> object:
    return transaction.domain


def _schema(transaction: Transaction) -> object:
    return transaction.domain, {str(x).partition(".")[0] for x in transaction.write_set}


@always(
    of=begun_groups,
    source="In-order: a replica applies each domain in the order of its relay log",
    witness=lambda history: sum(1 for _ in _in_turn(history, _domain)),
)
def domains_are_applied_as_received(history: History) -> tuple[BegunBeforeReceived, ...]:
    """A replica of one source goes through each domain in the order in which it received that."""
    return tuple(breach for breach in _in_turn(history, _domain) if breach is not None)


@always(
    of=begun_groups,
    source="MySQL 5.6, the text: each database is applied in the order of the relay log",
    witness=lambda history: sum(1 for _ in _in_turn(history, _schema)),
)
def schemas_are_applied_as_received(history: History) -> tuple[BegunBeforeReceived, ...]:
    """Even a replica that reorders a domain goes through each schema of it as it received that."""
    return tuple(breach for breach in _in_turn(history, _schema) if breach is not None)
