"""Clients that lose their connection while their commit waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import commit_stages
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

DISCONNECTING = ("KILL CONNECTION", "shutdown")
"""Reasons that end a wait and the client's connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredWithoutConnection(Violation):
    """A client is answered after its connection ended."""

    transaction: TransactionId
    reason: str

    def __str__(self) -> str:
        return (
            f"the client of T{self.transaction} was told that it committed, though {self.reason} "
            "had ended its connection"
        )


def _disconnected(history: History) -> Iterator[Event]:
    events = history.events_of(EventKind.WAIT_ABANDONED)
    return (event for event in events if event.note in DISCONNECTING)


@always(
    of=commit_stages,
    source="MySQL manual, KILL CONNECTION; ReplSemiSyncMaster::commitTrx: thd_killed",
    witness=lambda history: sum(1 for _ in _disconnected(history)),
)
def lost_clients_get_no_answer(history: History) -> tuple[AnsweredWithoutConnection, ...]:
    """A client whose connection ended while its commit waited is not told that it committed."""
    answered = {event.transaction for event in history.events_of(EventKind.CLIENT_ACKNOWLEDGED)}
    return tuple(
        AnsweredWithoutConnection(transaction=event.transaction, reason=event.note)
        for event in _disconnected(history)
        if event.transaction is not None and event.transaction in answered
    )
