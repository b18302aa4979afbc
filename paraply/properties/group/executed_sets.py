"""Executed sets that members broadcast."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.properties.group.stream import member_streams
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import recorded
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastLacksExecuted(Violation):
    """A broadcast lacks an executed transaction."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} broadcast an executed set without T{self.transaction}, which it has"


def _a_busy_member_broadcasts(history: History) -> bool:
    committed: set[str] = set()
    for event in history.events:
        if event.kind is EventKind.ENGINE_COMMITTED:
            committed.add(event.member)
        elif event.kind is EventKind.EXECUTED_SET_BROADCAST and event.member in committed:
            return True
    return False


@always(
    of=recorded(EventKind.EXECUTED_SET_BROADCAST),
    source="certifier.cc: a cloned member reported the GTID_EXECUTED that it had started with",
    witness=_a_busy_member_broadcasts,
)
def broadcasts_tell_what_is_executed(history: History) -> list[BroadcastLacksExecuted]:
    """A member broadcasts every transaction that it has executed.

    Otherwise the stable set stops growing.
    """
    streams = {stream.member: stream for stream in member_streams(history)}
    return [
        BroadcastLacksExecuted(member=event.member, transaction=transaction.id)
        for index, event in enumerate(history.events)
        if event.kind is EventKind.EXECUTED_SET_BROADCAST and event.member in streams
        for transaction in history.transactions
        if transaction.id not in event.transactions
        and streams[event.member].had_committed(transaction.id, index)
    ]
