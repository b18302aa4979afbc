"""The size of a replica's state: MariaDB's positions, MySQL's sets.

A position has one entry per domain; a GTID set has one per server, and an interval per hole. A
history without domains counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.gtid.histories import domain_of, entries_of, executed_set
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import (
    executed_sets,
    followed_sources,
    logged_executed_sets,
    states_of_writers,
)
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, GtidSet
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

REQUESTED_PURGED = "1236"
PURGE = "purge"


def is_purge(event: Event) -> bool:
    """Return whether a server purges binary logs."""
    return event.kind is EventKind.RELAY_ROTATED and event.note == PURGE


@dataclass(frozen=True, slots=True, kw_only=True)
class StateOutgrewDomains(Violation):
    """A state has more entries than domains."""

    member: str
    state: str
    domains: int

    def __str__(self) -> str:
        return f"{self.member} needs {self.state} to say how far it is in {self.domains} domain(s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class HoleLeft(Violation):
    """A replica at rest has a hole."""

    member: str
    executed: str

    def __str__(self) -> str:
        return f"{self.member} has nothing left to do and executed {self.executed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentAgain(Violation):
    """A replica receives a skipped transaction."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} was sent T{self.transaction}, which it filters out, once more"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedPurged(Violation):
    """A replica requests purged transactions of its source."""

    member: str
    source: str
    executed: str

    def __str__(self) -> str:
        return f"{self.source} has purged what {self.member} lacks, having executed {self.executed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgedUnnoticed(Violation):
    """A source lets a replica start without what it has purged, or refuses one that has it."""

    member: str
    source: str
    lacking: str

    def __str__(self) -> str:
        if not self.lacking:
            return f"{self.source} refused {self.member}, which has all that it has purged"
        return f"{self.source} let {self.member} start without {self.lacking}, which it has purged"


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeMisplaced(Violation):
    """A purge removes what a server lacks, or leaves what all have."""

    member: str
    purged: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.member} has purged ({self.purged}); all servers have passed ({self.expected}) "
            "of its log"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaRestless(Violation):
    """A replica has started and does not come to rest."""

    member: str
    source: str

    def __str__(self) -> str:
        return f"{self.member} started after {self.source} and never came to rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedUnlogged(Violation):
    """A server's executed set is not what it has logged."""

    member: str
    executed: str
    logged: str

    def __str__(self) -> str:
        return (
            f"{self.member} says that it has executed {self.executed}, and has logged {self.logged}"
        )


def _states(history: History) -> Iterator[Event]:
    kinds = (EventKind.STOPPED, EventKind.RECOVERED, EventKind.STARTED, EventKind.POSITION_SAVED)
    return (event for event in history.events_of(*kinds) if event.gtid_set)


def is_executed_set(text: str) -> bool:
    """Return whether a state is a MySQL GTID set."""
    return bool(text) and all(
        domain_of(entry) is None and ":" in entry for entry in entries_of(text)
    )


def has_hole(executed: str) -> bool:
    """Return whether a server's numbers have a hole."""
    return any(
        entry.count(":") != 1 or entry.split(":")[1].split("-")[0] != "1"
        for entry in entries_of(executed)
    )


def _several_servers_wrote(history: History) -> bool:
    return len({one.origin for one in history.transactions}) > 1 and any(_states(history))


@sometimes(of=executed_sets, source="On holes; facts on MySQL: gtid_executed")
def executed_set_has_a_hole(history: History) -> bool:
    """A replica's executed set had a hole at some time."""
    return any(is_executed_set(e.gtid_set) and has_hole(e.gtid_set) for e in _states(history))


@always(
    of=states_of_writers,
    source="the size of the replication state is fixed: one GTID per replication domain",
    witness=_several_servers_wrote,
)
def state_has_one_entry_per_domain(history: History) -> tuple[StateOutgrewDomains, ...]:
    """A replica's state has no more entries than there are domains, for any number of writers."""
    domains = len({one.domain for one in history.transactions}) or 1
    return tuple(
        StateOutgrewDomains(member=event.member, state=event.gtid_set, domains=domains)
        for event in _states(history)
        if len(entries_of(event.gtid_set)) > domains
    )


def _ends_with_executed_set(history: History) -> bool:
    return any(
        event.kind is EventKind.STOPPED and is_executed_set(event.gtid_set)
        for event in _states(history)
    )


@always(
    of=executed_sets,
    source="If a hole ever turns up, you will be stuck with it literally forever",
    witness=_ends_with_executed_set,
)
def executed_sets_close_their_holes(history: History) -> tuple[HoleLeft, ...]:
    """When all is at rest, no executed set has a hole."""
    return tuple(
        HoleLeft(member=event.member, executed=event.gtid_set)
        for event in _states(history)
        if event.kind is EventKind.STOPPED
        and is_executed_set(event.gtid_set)
        and has_hole(event.gtid_set)
        and history.is_complete
    )


def _logged_and_stated(history: History) -> Iterator[tuple[Event, GtidSet, GtidSet]]:
    """Yield where servers state executed sets, these, and what they have logged."""
    logged: dict[str, GtidSet] = {}
    kinds = (EventKind.FLUSHED, EventKind.STARTED, EventKind.STOPPED)
    for event in history.events_of(*kinds):
        mine = logged.get(event.member, EMPTY_GTID_SET)
        if event.kind is EventKind.FLUSHED:
            logged[event.member] = mine | (executed_set(event.gtid) or EMPTY_GTID_SET)
        elif stated := executed_set(event.gtid_set):
            yield event, stated, mine


@always(
    of=logged_executed_sets,
    source="MySQL manual, gtid_executed: with log_replica_updates, what the binary log has",
    witness=lambda history: sum(1 for _ in _logged_and_stated(history)),
)
def executed_sets_name_what_is_logged(history: History) -> tuple[ExecutedUnlogged, ...]:
    """Where a server starts or stops, its executed set has what it has logged, and nothing else."""
    return tuple(
        ExecutedUnlogged(member=event.member, executed=str(stated), logged=str(logged) or "nothing")
        for event, stated, logged in _logged_and_stated(history)
        if stated != logged
    )


def _something_is_filtered(history: History) -> bool:
    return _has_executed_sets(history) and any(history.events_of(EventKind.SKIPPED))


def _has_executed_sets(history: History) -> bool:
    return any(is_executed_set(event.gtid_set) for event in _states(history))


@always(
    needs=(EventKind.DELIVERED,),
    of=executed_sets,
    source="a dummy event is used to replace the filtered event",
    witness=_something_is_filtered,
)
def nothing_is_sent_again(history: History) -> tuple[SentAgain, ...]:
    """What a replica with an executed set has passed over is not sent to it again."""
    skipped: set[tuple[str, TransactionId | None]] = set()
    found = []
    kinds = (EventKind.SKIPPED, EventKind.DELIVERED) if _has_executed_sets(history) else ()
    for event in history.events_of(*kinds):
        key = (event.member, event.transaction)
        if event.kind is EventKind.SKIPPED:
            skipped.add(key)
        elif key in skipped and event.transaction is not None:
            found.append(SentAgain(member=event.member, transaction=event.transaction))
    return tuple(found)


def _follows_a_source_that_purged(history: History) -> bool:
    purged = False
    for event in history.events_of(EventKind.RELAY_ROTATED, EventKind.STARTED):
        purged = purged or event.kind is EventKind.RELAY_ROTATED
        if purged and event.kind is EventKind.STARTED and is_executed_set(event.gtid_set):
            return True
    return False


@always(
    of=executed_sets,
    source="If a hole ever turns up; purged GTIDs and error 1236",
    witness=_follows_a_source_that_purged,
)
def auto_position_finds_what_it_asks(history: History) -> tuple[RequestedPurged, ...]:
    """Whatever a replica asks for, having executed all else, its source still has."""
    return tuple(
        RequestedPurged(member=event.member, source=source, executed=event.gtid_set)
        for event in history.events_of(EventKind.STARTED)
        for source in event.members
        if event.note.startswith(REQUESTED_PURGED) and is_executed_set(event.gtid_set)
    )


def _asked_after_purges(history: History) -> Iterator[tuple[Event, str, GtidSet]]:
    """Yield each request, its source, and what the replica lacks of what that has purged."""
    purged: dict[str, GtidSet] = {}
    for event in history.events_of(EventKind.RELAY_ROTATED, EventKind.STARTED):
        if event.kind is EventKind.RELAY_ROTATED:
            purged[event.member] = executed_set(event.gtid_set) or EMPTY_GTID_SET
            continue
        for source in event.members:
            executed = executed_set(event.gtid_set) or EMPTY_GTID_SET
            yield event, source, purged.get(source, EMPTY_GTID_SET) - executed


@always(
    of=executed_sets,
    source="MySQL error 1236: the source has purged binary logs that the replica requires",
    witness=_follows_a_source_that_purged,
)
def sources_refuse_where_they_have_purged(history: History) -> tuple[PurgedUnnoticed, ...]:
    """A source refuses a replica that lacks what it has purged, and no other one."""
    return tuple(
        PurgedUnnoticed(member=event.member, source=source, lacking=str(lacking))
        for event, source, lacking in _asked_after_purges(history)
        if event.note.startswith(REQUESTED_PURGED) is not bool(lacking)
    )


def _purges(history: History) -> Iterator[tuple[Event, GtidSet]]:
    """Yield each purge of a log, and what every server that is not lost has passed of that."""
    logs: dict[str, list[Event]] = {}
    passed: dict[str, set[TransactionId | None]] = {}
    for event in history.events:
        mine = passed.setdefault(event.member, set())
        if event.kind is EventKind.CRASHED:
            del passed[event.member]
        elif event.kind is EventKind.FLUSHED:
            logs.setdefault(event.member, []).append(event)
            mine.add(event.transaction)
        elif event.kind is EventKind.SKIPPED:
            mine.add(event.transaction)
        elif is_purge(event):
            expected = EMPTY_GTID_SET
            for one in logs.get(event.member, ()):
                if not all(one.transaction in other for other in passed.values()):
                    break
                expected |= executed_set(one.gtid) or EMPTY_GTID_SET
            yield event, expected


@always(
    of=executed_sets,
    source="MySQL manual, PURGE BINARY LOGS: up to the log that the slowest replica reads",
    witness=lambda history: sum(1 for _ in _purges(history)),
)
def purges_stop_at_the_slowest_server(history: History) -> tuple[PurgeMisplaced, ...]:
    """A purge removes from a log what every server that is up has passed, and nothing else."""
    return tuple(
        PurgeMisplaced(member=event.member, purged=event.gtid_set, expected=str(expected))
        for event, expected in _purges(history)
        if (executed_set(event.gtid_set) or EMPTY_GTID_SET) != expected
    )


def _followers(history: History) -> dict[str, tuple[str, bool]]:
    """Return each replica's last source, and whether the replica ends after its start."""
    found: dict[str, tuple[str, bool]] = {}
    for event in history.events:
        if event.kind is EventKind.STARTED and event.members:
            found[event.member] = event.members[0], False
        elif event.kind in _ENDS and event.member in found:
            found[event.member] = found[event.member][0], True
    return found


_ENDS = (EventKind.STOPPED, EventKind.FAILED, EventKind.CRASHED)


@always(
    of=followed_sources,
    source="MySQL manual, GTID auto-positioning: a replica asks once, and then receives",
    witness=lambda history: len(_followers(history)),
)
def replicas_come_to_rest(history: History) -> tuple[ReplicaRestless, ...]:
    """A replica that follows a source is at rest in the end, or fails or crashes."""
    return tuple(
        ReplicaRestless(member=member, source=source)
        for member, (source, is_over) in _followers(history).items()
        if history.is_complete and not is_over
    )
