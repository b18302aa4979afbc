"""Who takes writes in a group with a single primary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.membership import controlled_members
from paraply.properties.group.stream import member_streams
from paraply.properties.registry import Violation, always
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class WroteBesideThePrimary(Violation):
    """A member takes a write, and another one is the primary."""

    member: str
    transaction: TransactionId
    primary: str

    def __str__(self) -> str:
        primary = f"{self.primary} was its primary" if self.primary else "it had no primary"
        return f"{self.member} took T{self.transaction} from a client when {primary}"


def writes_at_a_single_primary(history: History) -> bool:
    """Members of a controlled run take writes, of which one at a time may, as stated."""
    is_stated = bool(history.header.options.get("single_primary"))
    return is_stated and controlled_members(history) and EventKind.SUBMITTED in history.kinds


def _writes(history: History) -> Iterator[tuple[str, TransactionId, str]]:
    """Yield a member, a transaction that it takes, and its primary by the rule."""
    for stream in member_streams(history):
        members: tuple[str, ...] = ()
        online: frozenset[str] = frozenset()
        primary = ""
        for _, event in stream.events:
            if event.kind in (EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED):
                members, online, primary = (), frozenset(), ""
            elif event.kind is EventKind.VIEW_INSTALLED:
                members = event.members
            elif event.kind is EventKind.ONLINE:
                online = frozenset(event.members)
            elif event.kind is EventKind.SUBMITTED and event.transaction is not None:
                yield stream.member, event.transaction, primary
            candidates = [one for one in members if one in online]
            if primary not in candidates:
                primary = candidates[0] if candidates else ""


@always(
    of=writes_at_a_single_primary,
    source="MySQL manual, group replication, single-primary mode: election",
    witness=lambda history: sum(1 for _ in _writes(history)),
)
def only_the_primary_takes_writes(history: History) -> list[WroteBesideThePrimary]:
    """With a single primary, a member takes writes only while it is the primary.

    A primary stays as long as the view has it. The first online member of the view follows it.
    """
    return [
        WroteBesideThePrimary(member=member, transaction=transaction, primary=primary)
        for member, transaction, primary in _writes(history)
        if member != primary
    ]
