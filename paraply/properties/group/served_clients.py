"""Clients of several servers are served as long as one may take writes, and not too many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import LOST
from paraply.properties.group.stream import is_rest
from paraply.properties.gtid.failover import PROMOTED, PURGED, REFUSED
from paraply.properties.gtid.replication_state import is_purge
from paraply.properties.registry import Exemption, Violation, always
from paraply.properties.vocabularies import (
    applied,
    certification,
    controlled_workload,
    log_goes_back,
    named_sources,
    views_with_members,
)
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId, TransactionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientsNotServed(Violation):
    """A run ends before all clients are served."""

    served: int
    wanted: int

    def __str__(self) -> str:
        return f"only {self.served} of the clients' {self.wanted} transactions were ever begun"


def several_servers(history: History) -> bool:
    """A controlled group, or replicas that name their source, have a stated workload."""
    is_group = any(event.members for event in history.events_of(EventKind.VIEW_INSTALLED))
    return controlled_workload(history) and (is_group or named_sources(history))


def one_source(history: History) -> bool:
    """A source alone serves the sessions of a stated workload."""
    sessions = history.header.options.get("sessions")
    return (
        controlled_workload(history)
        and len(history.members) == 1
        and type(sessions) is int
        and sessions > 0
        and EventKind.STARTED in history.kinds
        and not applied(history)
        and not certification(history)
    )


def serving_servers(history: History) -> bool:
    """Servers of a controlled run have a stated workload: a group, replicas or a source alone."""
    return several_servers(history) or one_source(history)


def _has_no_clients(history: History) -> bool:
    return history.header.options.get("sessions") == 0


def _may_be_broken_off(history: History) -> bool:
    """Return whether a transaction with locks, not yet sent, may have met an applier or a crash."""
    met = (EventKind.SUBMITTED, EventKind.CRASHED, EventKind.STOPPED)
    is_composed = "acknowledgements" in history.header.options
    return is_composed and any(
        event.kind is EventKind.SUBMITTED or not is_rest(event) for event in history.events_of(*met)
    )


def _clients_fail(history: History) -> bool:
    return "failures" in history.header.options and not certification(history)


def _is_cut_off(history: History) -> bool:
    return any(map(is_purge, history.events)) and any(
        event.note.startswith(REFUSED) and PURGED in event.note
        for event in history.events_of(EventKind.STARTED)
    )


def _waits_for_a_refused_server(history: History) -> bool:
    """Return whether a survivor was last refused, and nobody was promoted since a loss."""
    is_vacant, refused = False, set[str]()
    for event in history.events_of(EventKind.CRASHED, EventKind.STARTED):
        if event.kind is EventKind.CRASHED:
            is_vacant |= event.note.startswith(LOST)
        elif event.note in PROMOTED:
            is_vacant = False
        elif event.note.startswith(REFUSED):
            refused.add(event.member)
        else:
            refused.discard(event.member)
    return is_vacant and bool(refused)


@always(
    of=serving_servers,
    source="MySQL manual, group replication: online members take writes; facts on MariaDB 1.6",
    witness=lambda history: history.is_complete,
    exemptions=(
        Exemption(applies=_has_no_clients, because="members without sessions only follow"),
        Exemption(
            applies=_may_be_broken_off,
            because="an applier or a crash rolls back what a client has not yet sent, of which "
            "nothing is recorded",
        ),
        Exemption(applies=_clients_fail, because="transactions that fail leave no trace"),
        Exemption(
            applies=log_goes_back,
            because="an operator who compares numbers that fall may wait for ever",
        ),
        Exemption(
            applies=_is_cut_off,
            because="a fail-over waits for a replica that lacks what is purged",
        ),
        Exemption(
            applies=_waits_for_a_refused_server,
            because="a fail-over waits for a server whose position another does not know",
        ),
    ),
)
def clients_are_served_to_the_end(history: History) -> tuple[ClientsNotServed, ...]:
    """When nothing more can happen, some server has taken each transaction of the workload.

    After a loss, the survivors elect one that takes writes.
    """
    wanted = int(history.header.options["transactions"])
    served = sum(one.kind is not TransactionKind.VIEW_CHANGE for one in history.transactions)
    if served >= wanted or not history.is_complete:
        return ()
    return (ClientsNotServed(served=served, wanted=wanted),)


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyClients(Violation):
    """A member serves more clients than it is configured for."""

    member: str
    transaction: TransactionId
    clients: int
    greatest: int

    def __str__(self) -> str:
        return (
            f"{self.member} took T{self.transaction} as the transaction of client {self.clients}; "
            f"at most {self.greatest} are configured"
        )


def configured_clients(history: History) -> bool:
    """Members of a controlled group state how many clients they serve at a time."""
    return (
        several_servers(history)
        and certification(history)
        and type(history.header.options.get("sessions")) is int
        and EventKind.SUBMITTED in history.kinds
    )


def _clients(history: History) -> Iterator[tuple[Event, int]]:
    """Yield submissions, and how many transactions of clients are open at the member then.

    One is open until its client is answered or, where no answers are recorded, until it commits.
    """
    kinds = history.kinds
    answered = EventKind.CLIENT_ACKNOWLEDGED
    ends = {answered if answered in kinds else EventKind.ENGINE_COMMITTED, EventKind.ROLLED_BACK}
    clients: dict[str, set[TransactionId]] = {}
    for event in history.events:
        left = clients.setdefault(event.member, set())
        if event.kind in (EventKind.STARTED, EventKind.CRASHED, EventKind.STOPPED):
            left.clear()
        elif event.kind is EventKind.SUBMITTED and event.transaction is not None:
            left.add(event.transaction)
            yield event, len(left)
        elif event.kind in ends and event.transaction is not None:
            left.discard(event.transaction)


@always(
    of=configured_clients,
    source="MySQL manual, max_connections: a client has one transaction at a time",
    witness=lambda history: sum(1 for _ in _clients(history)),
)
def members_serve_the_configured_clients(history: History) -> tuple[TooManyClients, ...]:
    """A member has at most as many open transactions as it has clients."""
    greatest = int(history.header.options.get("sessions", len(history.transactions)))
    return tuple(
        TooManyClients(
            member=event.member,
            transaction=event.transaction,
            clients=clients,
            greatest=greatest,
        )
        for event, clients in _clients(history)
        if clients > greatest and event.transaction is not None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOpen(Violation):
    """A client's transaction has no end at the server that took it."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} took T{self.transaction} from a client, and neither logged, committed "
            "nor rolled it back"
        )


def servers_with_clients(history: History) -> bool:
    """Servers of a controlled run, perhaps of a group, have transactions of their own clients."""
    is_stated = controlled_workload(history) and any(one.origin for one in history.transactions)
    return is_stated and (views_with_members(history) or not certification(history))


_ENDS = (
    EventKind.FLUSHED,
    EventKind.ENGINE_COMMITTED,
    EventKind.ROLLED_BACK,
    EventKind.FAILED,
)


def _taken(history: History) -> Iterator[LeftOpen]:
    """Yield transactions of servers that record events, to the end of a complete run."""
    if not history.is_complete:
        return
    gone = {event.member for event in history.events_of(EventKind.CRASHED)}
    if certification(history):
        stops = history.events_of(EventKind.STOPPED)
        gone |= {event.member for event in stops if not is_rest(event)}
    staying = {event.member for event in history.events} - gone
    for one in history.transactions:
        if one.origin in staying and one.kind is not TransactionKind.VIEW_CHANGE:
            yield LeftOpen(member=one.origin, transaction=one.id)


@always(
    of=servers_with_clients,
    source="MySQL manual, COMMIT and ROLLBACK: each transaction ends with one of them",
    witness=lambda history: sum(1 for _ in _taken(history)),
)
def transactions_end_where_they_began(history: History) -> tuple[LeftOpen, ...]:
    """A server logs, commits or rolls back what it takes from a client, unless it is gone."""
    ended = {(event.member, event.transaction) for event in history.events_of(*_ENDS)}
    return tuple(one for one in _taken(history) if (one.member, one.transaction) not in ended)
