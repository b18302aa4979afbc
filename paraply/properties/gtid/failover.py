"""A replica finds its place in any source's log if all logs have one order.

STARTED names source (``members``) and position; its ``note`` begins with 1236 after a rejection.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.apply.stream import LOST
from paraply.properties.gtid.histories import (
    domain_of,
    entries_of,
    has_domains,
    last_of_domains,
    sequence_of,
)
from paraply.properties.gtid.replication_state import is_purge
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import LISTS_GO_BACK, named_sources
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

REFUSED = "1236"
PURGED = "purged"
ELECTED, RESTORED = "elected", "restored"
PROMOTED = frozenset({ELECTED, RESTORED})
"""Notes of a promoted server's STARTED: by election, or as a backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSinglePosition(Violation):
    """Every start position loses or repeats a transaction."""

    member: str
    source: str
    domain: int | None
    missing: TransactionId
    applied: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} has T{self.applied} and not T{self.missing}, and {self.source} logged "
            f"T{self.missing} first, both in domain {self.domain}: no position is right"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogsDisagree(Violation):
    """Two logs order a domain differently."""

    member: str
    other_member: str
    first: TransactionId
    second: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} logged T{self.first} before T{self.second}, {self.other_member} after"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownStartRefused(Violation):
    """A source rejects a position it has logged, or whose domains it does not know."""

    member: str
    source: str
    position: str

    def __str__(self) -> str:
        return (
            f"{self.source} refused {self.member} at {self.position}, all of which it has logged, "
            "or whose domains are not in its log"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownStartAccepted(Violation):
    """A source accepts a missing GTID."""

    member: str
    source: str
    gtid: str

    def __str__(self) -> str:
        return f"{self.source} let {self.member} start at {self.gtid}, which it does not have"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupMisjudged(Violation):
    """A server from a backup refuses what follows the backup, or accepts what precedes it."""

    member: str
    source: str
    position: str
    backup: str
    is_refused: bool

    def __str__(self) -> str:
        done = "refused" if self.is_refused else "accepted"
        return (
            f"{self.source}, whose log follows ({self.backup}), {done} {self.member} at "
            f"{self.position or 'the empty position'}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectedWithout(Violation):
    """A promoted server lacks a survivor's transaction."""

    member: str
    survivor: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} was elected without T{self.transaction}, which {self.survivor} has"


@dataclass(slots=True)
class _Servers:
    logs: dict[str, list[tuple[TransactionId, str]]] = field(default_factory=dict)
    data: dict[str, set[TransactionId]] = field(default_factory=dict)
    restored: dict[str, set[str]] = field(default_factory=dict)
    """GTIDs from a restore or crash recovery."""
    greatest: dict[tuple[str, str], int] = field(default_factory=dict)

    def follow(self, event: Event) -> None:
        data = self.data.setdefault(event.member, set())
        if event.kind is EventKind.RECOVERED:
            data.update(event.transactions)
            self.restored.setdefault(event.member, set()).update(entries_of(event.gtid_set))
        if event.transaction is None:
            return
        if event.kind is EventKind.FLUSHED:
            self.logs.setdefault(event.member, []).append((event.transaction, event.gtid))
        elif event.kind is EventKind.ENGINE_COMMITTED:
            data.add(event.transaction)

    def gtids(self, member: str) -> set[str]:
        return {gtid for _, gtid in self.logs.get(member, [])} | self.restored.get(member, set())

    def domains(self, member: str) -> set[int | None]:
        return {domain_of(gtid) for _, gtid in self.logs.get(member, [])}

    def has_to_accept(self, member: str, position: str) -> bool:
        """Return whether a source has each GTID of a position, or nothing of its domain."""
        known = self.gtids(member)
        domains = {domain_of(gtid) for gtid in known}
        return all(gtid in known or domain_of(gtid) not in domains for gtid in entries_of(position))


def _starts(history: History) -> Iterator[tuple[Event, str, _Servers]]:
    servers = _Servers()
    for event in history.events if has_domains(history) else ():
        if event.kind is EventKind.STARTED:
            for source in event.members:
                yield event, source, servers
        servers.follow(event)


@sometimes(of=named_sources, source="changing to a new master")
def a_replica_changes_its_source(history: History) -> bool:
    """A replica that had followed one source started at another, at a position not empty."""
    followed: dict[str, str] = {}
    for event, source, _ in _starts(history):
        if followed.get(event.member, source) != source and event.gtid_set and not event.note:
            return True
        if not event.note:
            followed.setdefault(event.member, source)
    return False


def _starts_at_a_position(history: History) -> bool:
    return any(event.gtid_set and not event.note for event, _, _ in _starts(history))


@always(
    of=named_sources,
    source="there will not in general be a single place from which to start replication",
    witness=_starts_at_a_position,
)
def a_single_position_exists(history: History) -> tuple[NoSinglePosition, ...]:
    """What a starting replica has of its source's log is, in each domain, a prefix of it."""
    found = []
    for event, source, servers in _starts(history):
        if event.note:
            continue
        data = servers.data.get(event.member, set())
        missing: dict[int | None, TransactionId] = {}
        for transaction, gtid in servers.logs.get(source, []):
            domain = domain_of(gtid)
            if history.transaction(transaction).origin == event.member:
                continue  # Its own are passed over wherever it starts.
            if transaction not in data:
                missing.setdefault(domain, transaction)
            elif domain in missing:
                found.append(
                    NoSinglePosition(
                        member=event.member,
                        source=source,
                        domain=domain,
                        missing=missing[domain],
                        applied=transaction,
                    )
                )
                break
    return tuple(found)


def _share_two(history: History) -> bool:
    logged: dict[str, set[TransactionId]] = {}
    for event in history.events_of(EventKind.FLUSHED) if has_domains(history) else ():
        if event.transaction is not None:
            logged.setdefault(event.member, set()).add(event.transaction)
    sets = list(logged.values())
    return any(len(a & b) > 1 for n, a in enumerate(sets) for b in sets[:n])


@always(
    of=named_sources,
    source="binlog order is always the same within one replication domain",
    witness=_share_two,
)
def logs_agree_within_a_domain(history: History) -> tuple[LogsDisagree, ...]:
    """Any two logs have the transactions that they share in one order, domain by domain."""
    places: dict[str, dict[TransactionId, int]] = {}
    for event in history.events_of(EventKind.FLUSHED) if has_domains(history) else ():
        if event.transaction is not None:
            mine = places.setdefault(event.member, {})
            mine.setdefault(event.transaction, len(mine))
    found = []
    members = list(places)
    for number, member in enumerate(members):
        for other in members[:number]:
            last: dict[int | None, TransactionId] = {}
            for one in (one for one in places[member] if one in places[other]):
                domain = history.transaction(one).domain
                before = last.get(domain)
                if before is not None and places[other][before] > places[other][one]:
                    found.append(
                        LogsDisagree(member=member, other_member=other, first=before, second=one)
                    )
                last[domain] = one
    return tuple(found)


def _asks_for_what_is_known(history: History) -> bool:
    return any(
        event.gtid_set and servers.has_to_accept(source, event.gtid_set)
        for event, source, servers in _starts(history)
    )


@always(
    of=named_sources,
    source="it is easily possible to locate any given global transaction ID",
    witness=_asks_for_what_is_known,
)
def known_positions_are_accepted(history: History) -> tuple[KnownStartRefused, ...]:
    """A source that has logged all GTIDs of a position lets replicas start, unless it purged files.

    It accepts what lies in domains that its log does not have.
    """
    return tuple(
        KnownStartRefused(member=event.member, source=source, position=event.gtid_set)
        for event, source, servers in _starts(history)
        if event.note.startswith(REFUSED)
        and PURGED not in event.note
        and servers.has_to_accept(source, event.gtid_set)
    )


def _asks_for_what_is_unknown(history: History) -> bool:
    return any(any(_unknown(event, source, servers)) for event, source, servers in _starts(history))


def _unknown(event: Event, source: str, servers: _Servers) -> Iterator[str]:
    """Yield requested GTIDs that the source lacks in a logged domain.

    A number below one of the same server may be an undetectable hole.
    """
    known = servers.gtids(source)
    for gtid in entries_of(event.gtid_set):
        writer = gtid.rpartition("-")[0]
        is_below = any(
            other.rpartition("-")[0] == writer and sequence_of(other) > sequence_of(gtid)
            for other in known
        )
        if gtid not in known and not is_below and domain_of(gtid) in servers.domains(source):
            yield gtid


@always(
    of=named_sources,
    source="MDEV-4820; or determine that such global transaction ID is not present",
    witness=_asks_for_what_is_unknown,
)
def unknown_positions_are_refused(history: History) -> tuple[UnknownStartAccepted, ...]:
    """A source rejects a position with a GTID that it lacks in a domain of its log."""
    return tuple(
        UnknownStartAccepted(member=event.member, source=source, gtid=gtid)
        for event, source, servers in _starts(history)
        if not event.note
        for gtid in _unknown(event, source, servers)
    )


def _asked_after_backups(history: History) -> Iterator[tuple[BackupMisjudged, bool, bool]]:
    """Yield each request, whether it lies in the source's log, and whether before a backup.

    After a purge, ``sources_have_what_follows_their_purge`` judges the source. Who refuses for
    another reason says nothing about its backup.
    """
    servers = _Servers()
    backups: dict[str, dict[int | None, str]] = {}
    crashed: set[str] = set()
    purged: set[str] = set()
    for event in history.events if has_domains(history) else ():
        if event.kind is EventKind.CRASHED:
            crashed.add(event.member)
        elif event.kind is EventKind.RECOVERED and event.member not in crashed:
            backups[event.member] = last_of_domains(event.gtid_set)
        elif event.kind is EventKind.RECOVERED:
            crashed.discard(event.member)
        elif is_purge(event):
            purged.add(event.member)
        is_refused = PURGED in event.note
        is_answer = event.kind is EventKind.STARTED and (
            is_refused or not event.note.startswith(REFUSED)
        )
        for source in event.members if is_answer else ():
            if source in purged:
                continue
            backup = backups.get(source, {})
            asked = last_of_domains(event.gtid_set)
            logged = {gtid for _, gtid in servers.logs.get(source, [])}
            ends = [(asked.get(domain, ""), gtid) for domain, gtid in backup.items()]
            breach = BackupMisjudged(
                member=event.member,
                source=source,
                position=event.gtid_set,
                backup=",".join(backup.values()),
                is_refused=is_refused,
            )
            yield (
                breach,
                all(mine in {its, *logged} for mine, its in ends),
                any(_is_before(mine, its) for mine, its in ends),
            )
        servers.follow(event)


def _is_before(gtid: str, other: str) -> bool:
    is_of_server = gtid.rpartition("-")[0] == other.rpartition("-")[0]
    return not gtid or (is_of_server and sequence_of(gtid) < sequence_of(other))


@always(
    of=named_sources,
    source="MariaDB error 1236: start position not found in the binary log; Gtid_list_log_event",
    witness=lambda history: sum(1 for _ in _asked_after_backups(history)),
    exemptions=(LISTS_GO_BACK,),
)
def sources_have_what_follows_their_backup(history: History) -> tuple[BackupMisjudged, ...]:
    """A source refuses as purged what lies before the backup that it began with, and no more."""
    return tuple(
        breach
        for breach, is_in_log, is_before in _asked_after_backups(history)
        if (is_in_log if breach.is_refused else is_before)
    )


def _elections(history: History) -> Iterator[tuple[str, dict[str, set[TransactionId]]]]:
    servers = _Servers()
    lost: set[str] = set()
    at_loss: dict[str, set[TransactionId]] = {}
    for event in history.events if has_domains(history) else ():
        if event.kind is EventKind.CRASHED and event.note.startswith(LOST):
            lost.add(event.member)
            at_loss = {m: set(data) for m, data in servers.data.items() if m not in lost}
        elif event.kind is EventKind.STARTED and event.note == ELECTED:
            others = {m: data for m, data in at_loss.items() if m != event.member}
            mine = servers.data.get(event.member, set())
            yield event.member, {m: has - mine for m, has in others.items()}
        servers.follow(event)


@sometimes(of=named_sources, source="in each domain another survivor may have come furthest")
def survivors_differ_at_an_election(history: History) -> bool:
    """When a source was lost, a survivor had something that the one elected later had not."""
    servers = _Servers()
    data: dict[str, set[TransactionId]] = {}
    for event in history.events if has_domains(history) else ():
        if event.kind is EventKind.CRASHED and event.note.startswith(LOST):
            data = {m: set(has) for m, has in servers.data.items() if m != event.member}
        elif event.kind is EventKind.STARTED and event.note == ELECTED:
            mine = data.get(event.member, set())
            if any(has - mine for has in data.values()):
                return True
        servers.follow(event)
    return False


@always(
    of=named_sources,
    source="facts on MariaDB 1.6; mutual catch-up before a promotion",
    witness=survivors_differ_at_an_election,
)
def elected_source_has_what_survivors_have(history: History) -> tuple[ElectedWithout, ...]:
    """A server that replaces a lost source has all that any survivor had at the loss."""
    return tuple(
        ElectedWithout(member=member, survivor=survivor, transaction=min(missing))
        for member, others in _elections(history)
        for survivor, missing in others.items()
        if missing
    )
