"""Where a former source starts when it follows its own replica."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.gtid.histories import domain_of, entries_of
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import named_sources
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBehindItsLog(Violation):
    """A former source asks for what it wrote itself."""

    member: str
    source: str
    asked: str
    last: str

    def __str__(self) -> str:
        return (
            f"{self.member}, which follows its former replica {self.source}, asks for what "
            f"follows {self.asked or 'nothing'}, and its log ends with {self.last}"
        )


def source_and_replica(history: History) -> bool:
    """One replica with MariaDB GTIDs names its source.

    In a ring, a server's own transactions come back to it and are passed over.
    """
    return len(history.members) == 2 and named_sources(history)


def _switches(history: History) -> Iterator[tuple[Event, dict[int, str]]]:
    """Yield starts of former sources at a former replica, and their logs' ends by domain."""
    followed: dict[str, set[str]] = {}
    ends: dict[str, dict[int, str]] = {}
    for event in history.events:
        if event.kind is EventKind.FLUSHED and (domain := domain_of(event.gtid)) is not None:
            ends.setdefault(event.member, {})[domain] = event.gtid
        elif event.kind is EventKind.STARTED and event.members:
            was_source = any(event.member in followed.get(one, ()) for one in event.members)
            if was_source and event.member not in followed:
                yield event, dict(ends.get(event.member, {}))
            followed.setdefault(event.member, set()).update(event.members)


@always(
    needs=(EventKind.FLUSHED,),
    of=source_and_replica,
    source="CHANGE MASTER TO master_use_gtid=current_pos",
    is_safety=False,
    witness=lambda history: sum(1 for _ in _switches(history)),
)
def switched_sources_ask_from_their_logs_end(history: History) -> tuple[AskedBehindItsLog, ...]:
    """A source that comes to follow its own replica asks for what follows its own log."""
    return tuple(
        AskedBehindItsLog(
            member=event.member, source=event.members[0], asked=event.gtid_set, last=last
        )
        for event, ends in _switches(history)
        for last in ends.values()
        if last not in entries_of(event.gtid_set)
    )
