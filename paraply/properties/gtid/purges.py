"""What a source purges from its log, and who may then start.

A purge is RELAY_ROTATED with the note ``purge`` and the GTID list of the first file that is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.gtid.failover import PROMOTED, PURGED, REFUSED
from paraply.properties.gtid.gtid_lists import logging
from paraply.properties.gtid.histories import (
    domain_of,
    entries_of,
    last_of_domains,
    sequence_of,
)
from paraply.properties.gtid.replication_state import is_purge
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import LISTS_GO_BACK, listed_files
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.mariadb_gtid import MariadbBinlogState


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeMisjudged(Violation):
    """A source refuses as purged what it still has, or accepts what it has purged."""

    member: str
    source: str
    position: str
    listed: str
    is_refused: bool

    def __str__(self) -> str:
        done = "refused as purged" if self.is_refused else "accepted"
        return (
            f"{self.source}, whose first file has the GTID list ({self.listed}), {done} "
            f"{self.member} at {self.position or 'the empty position'}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgedInUse(Violation):
    """A purge removes what a connected replica has yet to receive."""

    member: str
    source: str
    gtid: str

    def __str__(self) -> str:
        return f"{self.source} purged {self.gtid}, which {self.member} had yet to receive"


@dataclass(slots=True)
class _Log:
    """A server's log, behind the backup that it began with."""

    gtids: list[str] = field(default_factory=list)
    first: int = 0
    """How many are purged."""
    listed: str | None = None
    """The GTID list of the first file, if there was a purge."""

    def purge(self, listed: str) -> None:
        """Drop what was logged before the file with this list; without one, nothing is known."""
        state = MariadbBinlogState()
        self.listed = None
        for number, gtid in enumerate(["", *self.gtids]):
            state = logging(state, [gtid])
            if str(state) == listed:
                self.first, self.listed = number, listed
                return

    def lacks(self, gtid: str, domain: int | None) -> bool | None:
        """Return whether a purged group of a domain follows a GTID; None if that is unknown."""
        purged = [one for one in self.gtids[: self.first] if domain_of(one) == domain]
        if not purged or gtid == purged[-1]:
            return False
        if not gtid or gtid in purged:
            return True
        writer = gtid.rpartition("-")[0]
        if any(
            one.rpartition("-")[0] == writer and sequence_of(gtid) < sequence_of(one)
            for one in purged
        ):
            return True
        return False if gtid in self.gtids else None


@dataclass(slots=True)
class _Logs:
    """Logs by server; each connection by replica and source, with position and received GTIDs."""

    logs: dict[str, _Log] = field(default_factory=dict)
    connections: dict[tuple[str, str], tuple[dict[int | None, str], set[str]]] = field(
        default_factory=dict
    )

    def follow(self, event: Event, history: History) -> None:
        log = self.logs.setdefault(event.member, _Log())
        match event.kind:
            case EventKind.FLUSHED:
                log.gtids.append(event.gtid)
            case EventKind.RECOVERED if not log.gtids:
                last = entries_of(event.gtid_set)
                gtids = [history.transaction(one).gtid for one in event.transactions]
                log.gtids = [*(one for one in gtids if one not in last), *last]
            case EventKind.RELAY_ROTATED if is_purge(event):
                log.purge(event.gtid_set)
            case EventKind.DELIVERED:
                for (member, _), (_, received) in self.connections.items():
                    if member == event.member:
                        received.add(event.gtid)
            case EventKind.STARTED if event.note in PROMOTED:
                self.connections.clear()
            case EventKind.STARTED:
                self.connect(event)
            case EventKind.CRASHED | EventKind.FAILED:
                for pair in [pair for pair in self.connections if event.member in pair]:
                    del self.connections[pair]

    def connect(self, event: Event) -> None:
        for source in event.members:
            self.connections.pop((event.member, source), None)
            if not event.note.startswith(REFUSED):
                asked = last_of_domains(event.gtid_set)
                self.connections[event.member, source] = asked, set()


def _moments(history: History, kind: EventKind) -> Iterator[tuple[Event, _Logs]]:
    logs = _Logs()
    for event in history.events:
        if event.kind is kind:
            yield event, logs
        logs.follow(event, history)


def _asked_after_purges(history: History) -> Iterator[tuple[PurgeMisjudged, bool]]:
    """Yield each answer that is decided, and whether what follows the position is purged."""
    for event, logs in _moments(history, EventKind.STARTED):
        asked = last_of_domains(event.gtid_set)
        is_refused = event.note.startswith(REFUSED)
        for source in event.members if PURGED in event.note or not is_refused else ():
            log = logs.logs.get(source, _Log())
            if log.listed is None:
                continue
            domains = {domain_of(one) for one in log.gtids[: log.first]}
            lacking = [log.lacks(asked.get(domain, ""), domain) for domain in domains]
            if None in lacking and not any(lacking):
                continue
            answer = PurgeMisjudged(
                member=event.member, source=source, position=event.gtid_set, listed=log.listed,
                is_refused=is_refused,
            )  # fmt: skip
            yield answer, any(lacking)


@always(
    of=listed_files,
    source="MariaDB error 1236: required binlog files have been purged; Gtid_list_log_event",
    witness=lambda history: sum(1 for _ in _asked_after_purges(history)),
    exemptions=(LISTS_GO_BACK,),
)
def sources_have_what_follows_their_purge(history: History) -> tuple[PurgeMisjudged, ...]:
    """A source refuses as purged a position that a purged group follows, and no other one."""
    return tuple(
        answer
        for answer, is_purged in _asked_after_purges(history)
        if answer.is_refused is not is_purged
    )


def _purged_under_replicas(history: History) -> Iterator[list[PurgedInUse]]:
    """Yield what each purge takes from each connected replica."""
    for event, logs in _moments(history, EventKind.RELAY_ROTATED):
        if not is_purge(event):
            continue
        log = logs.logs.get(event.member, _Log())
        log.purge(event.gtid_set)
        for (member, source), (asked, received) in logs.connections.items():
            if source == event.member and log.listed is not None:
                yield [
                    PurgedInUse(member=member, source=source, gtid=gtid)
                    for place, gtid in enumerate(log.gtids[: log.first])
                    if gtid not in received and _follows(log, place, asked)
                ]


def _follows(log: _Log, place: int, asked: dict[int | None, str]) -> bool:
    gtid = asked.get(domain_of(log.gtids[place]), "")
    return not gtid or (gtid in log.gtids and gtid not in log.gtids[place:])


@always(
    of=listed_files,
    source="PURGE BINARY LOGS: it stops at a file that a connected replica reads",
    witness=lambda history: sum(1 for _ in _purged_under_replicas(history)),
    exemptions=(LISTS_GO_BACK,),
)
def purges_leave_what_replicas_read(history: History) -> tuple[PurgedInUse, ...]:
    """A purge removes nothing that a connected replica has yet to receive."""
    return tuple(breach for taken in _purged_under_replicas(history) for breach in taken[:1])
