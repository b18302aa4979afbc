"""What a member that crashed takes from its own binary log, before others give it the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import recorded
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedNotRecovered(Violation):
    """A member goes on without a transaction that it had synced before a crash."""

    member: str
    transaction: TransactionId
    instead: str

    def __str__(self) -> str:
        return (
            f"{self.member} had T{self.transaction} next in its synced binary log when it crashed, "
            f"and {self.instead} without it"
        )


def _recovered(history: History) -> Iterator[SyncedNotRecovered | None]:
    """Yield each transaction that a crash left synced and uncommitted, as its breach if lost.

    A breach ends the recovery: what follows in the log is not judged again.
    """
    synced: dict[str, list[TransactionId]] = {}
    crashed: set[str] = set()
    for event in history.events:
        member, one = event.member, event.transaction
        mine = synced.setdefault(member, [])
        if event.kind is EventKind.CRASHED:
            crashed.add(member)
        elif event.kind is EventKind.SYNCED and one is not None:
            mine.append(one)
        elif event.kind is EventKind.ENGINE_COMMITTED and one is not None:
            if member in crashed and mine and mine[0] != one:
                yield _without(member, mine, f"committed T{one}")
            elif one in mine:
                mine.remove(one)
                if member in crashed:
                    yield None
        elif event.kind in (EventKind.RECOVERED, EventKind.ONLINE, EventKind.STOPPED):
            if member in crashed and mine:
                yield _without(member, mine, "ended its recovery")
            crashed.discard(member)


def _without(member: str, synced: list[TransactionId], instead: str) -> SyncedNotRecovered:
    first = synced[0]
    synced.clear()
    return SyncedNotRecovered(member=member, transaction=first, instead=instead)


@always(
    of=recorded(EventKind.SYNCED, EventKind.CRASHED, EventKind.VIEW_INSTALLED),
    source="XA recovery by the binary log: MYSQL_BIN_LOG::recover; MDEV-162, crash scenarios",
    witness=lambda history: sum(1 for _ in _recovered(history)),
)
def members_recover_what_they_synced(history: History) -> list[SyncedNotRecovered]:
    """After a crash a member first commits what its synced binary log has, in that order.

    Only then it takes from a donor what is missing.
    """
    return [breach for breach in _recovered(history) if breach is not None]
