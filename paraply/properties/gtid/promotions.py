"""A server takes the place of a source: what it waits for, and who follows it then.

The STARTED event of a promoted server has the note ``elected``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import LOST
from paraply.properties.gtid.failover import PROMOTED, REFUSED, RESTORED
from paraply.properties.gtid.histories import has_domains
from paraply.properties.gtid.sending import covered_part
from paraply.properties.registry import Exemption, Violation, always
from paraply.properties.vocabularies import followed_sources, log_goes_back, named_sources
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowsItself(Violation):
    """A server is its own source."""

    member: str

    def __str__(self) -> str:
        return f"{self.member} follows itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFollowed(Violation):
    """A server does not follow the promoted one."""

    member: str
    elected: str

    def __str__(self) -> str:
        return f"{self.elected} was promoted, and {self.member} never asked it for anything"


@dataclass(frozen=True, slots=True, kw_only=True)
class WroteBeside(Violation):
    """A server writes though another one has its place."""

    member: str
    elected: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} wrote T{self.transaction} although {self.elected} had taken over"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedInVain(Violation):
    """A group is received and not applied when a server takes over."""

    member: str
    elected: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.elected} took over while {self.member} had received T{self.transaction} and "
            "not applied it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TookOverFromNobody(Violation):
    """A restored backup takes over though no source is lost."""

    member: str

    def __str__(self) -> str:
        return f"{self.member} took over from its backup, and no server was lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupIncomplete(Violation):
    """A server is restored with other data than the position of its backup covers."""

    member: str
    position: str
    transaction: TransactionId
    is_missing: bool

    def __str__(self) -> str:
        found = "without" if self.is_missing else "with"
        return (
            f"{self.member} was restored {found} T{self.transaction} at "
            f"{self.position or 'the empty position'}"
        )


def promotions(history: History) -> bool:
    """A server of a controlled run takes over."""
    return history.header.tier is EvidenceTier.CONTROLLED_RUN and any(_promoted(history))


def _promoted(history: History) -> Iterator[Event]:
    return (event for event in history.events_of(EventKind.STARTED) if event.note in PROMOTED)


@always(
    of=followed_sources,
    source="MariaDB error 1593: source and replica have equal server ids",
    witness=lambda history: sum(bool(e.members) for e in history.events_of(EventKind.STARTED)),
)
def replicas_follow_others(history: History) -> tuple[FollowsItself, ...]:
    """No server is its own source."""
    return tuple(
        FollowsItself(member=event.member)
        for event in history.events_of(EventKind.STARTED)
        if event.member in event.members
    )


def _survivors(history: History) -> Iterator[tuple[str, str, bool]]:
    """Yield the last promoted server, each other survivor, and whether that asked it."""
    elected, asked, lost = "", set[str](), set[str]()
    for event in history.events:
        if event.kind is EventKind.CRASHED and event.note.startswith(LOST):
            lost.add(event.member)
        elif event.kind is EventKind.STARTED and event.note in PROMOTED:
            elected, asked = event.member, set()
        elif event.kind is EventKind.STARTED and elected in event.members:
            asked.add(event.member)
    for member in history.members if elected and history.is_complete else ():
        if member not in lost and member != elected:
            yield elected, member, member in asked


@always(
    of=promotions,
    source="More on global transaction ID: all slaves change to the new master",
    witness=lambda history: sum(1 for _ in _survivors(history)),
)
def survivors_follow_the_promoted_server(history: History) -> tuple[NotFollowed, ...]:
    """When a server has taken over, each other survivor comes to it for what follows."""
    return tuple(
        NotFollowed(member=member, elected=elected)
        for elected, member, has_asked in _survivors(history)
        if not has_asked
    )


def _writes_after(history: History) -> Iterator[tuple[str, Event, TransactionId]]:
    """Yield the promoted server, and each later write of a client."""
    elected = ""
    for event in history.events_of(EventKind.STARTED, EventKind.FLUSHED):
        if event.kind is EventKind.STARTED:
            elected = event.member if event.note in PROMOTED else elected
            continue
        one = event.transaction
        if elected and one is not None and history.transaction(one).origin == event.member:
            yield elected, event, one


@always(
    of=promotions,
    source="More on global transaction ID: one master at a time in a domain",
    witness=lambda history: sum(1 for _ in _writes_after(history)),
)
def promoted_servers_write_alone(history: History) -> tuple[WroteBeside, ...]:
    """When a server has taken over, no other one takes writes of clients."""
    return tuple(
        WroteBeside(member=event.member, elected=elected, transaction=one)
        for elected, event, one in _writes_after(history)
        if event.member != elected
    )


def restored_servers(history: History) -> bool:
    """A server that was restored from a backup takes over in a controlled run."""
    return promotions(history) and any(event.note == RESTORED for event in _promoted(history))


def _restored(history: History) -> Iterator[tuple[str, bool]]:
    """Yield each restored server that takes over, and whether a server was lost before."""
    is_lost = False
    for event in history.events_of(EventKind.CRASHED, EventKind.STARTED):
        if event.kind is EventKind.CRASHED:
            is_lost = is_lost or event.note.startswith(LOST)
        elif event.note == RESTORED:
            yield event.member, is_lost


@always(
    of=restored_servers,
    source="More on global transaction ID: a new master from a backup, when the old one is lost",
    witness=lambda history: sum(1 for _ in _restored(history)),
)
def backups_take_over_from_lost_servers(history: History) -> tuple[TookOverFromNobody, ...]:
    """A server that was restored from a backup takes over only when one is lost."""
    return tuple(
        TookOverFromNobody(member=member) for member, is_lost in _restored(history) if not is_lost
    )


def _backups(history: History) -> Iterator[tuple[Event, frozenset[TransactionId]]]:
    """Yield each restore from a backup, and what its position covers of the logs until then."""
    logs: dict[str, list[tuple[TransactionId, str]]] = {}
    crashed: set[str] = set()
    for event in history.events if has_domains(history) else ():
        if event.kind is EventKind.FLUSHED and event.transaction is not None:
            logs.setdefault(event.member, []).append((event.transaction, event.gtid))
        elif event.kind is EventKind.CRASHED:
            crashed.add(event.member)
        elif event.kind is EventKind.RECOVERED and event.member in crashed:
            crashed.discard(event.member)
        elif event.kind is EventKind.RECOVERED:
            yield (
                event,
                frozenset(
                    one for log in logs.values() for one in covered_part(log, event.gtid_set)
                ),
            )


def restored_backups(history: History) -> bool:
    """Servers with MariaDB GTIDs name their sources, and one is restored from a backup."""
    return named_sources(history) and any(True for _ in _backups(history))


@always(
    of=restored_backups,
    source="mysqldump --master-data, mariadb-backup: a backup has data and their GTID position",
    witness=lambda history: sum(bool(has) for _, has in _backups(history)),
    exemptions=(Exemption(applies=log_goes_back, because="logs may have one GTID twice"),),
)
def backups_have_what_their_position_covers(history: History) -> tuple[BackupIncomplete, ...]:
    """A server that is restored has what the position of its backup covers, and no more."""
    return tuple(
        BackupIncomplete(
            member=event.member,
            position=event.gtid_set,
            transaction=one,
            is_missing=one in has,
        )
        for event, has in _backups(history)
        for one in sorted(has.symmetric_difference(event.transactions))[:1]
    )


_ENDS = frozenset(
    {EventKind.ENGINE_COMMITTED, EventKind.SKIPPED, EventKind.FLUSHED, EventKind.ROLLED_BACK}
)


def _waiting(history: History) -> Iterator[tuple[str, list[tuple[str, TransactionId]]]]:
    """Yield each promoted server, and what servers have received and not applied then.

    A crash or a refusal takes what is received; a failed replica stops.
    """
    received: dict[tuple[str, TransactionId], None] = {}
    for event in history.events:
        is_refused = event.kind is EventKind.STARTED and event.note.startswith(REFUSED)
        if event.kind is EventKind.STARTED and event.note in PROMOTED:
            yield event.member, list(received)
        elif event.kind in (EventKind.CRASHED, EventKind.FAILED) or is_refused:
            received = {key: None for key in received if key[0] != event.member}
        elif event.transaction is None:
            continue
        elif event.kind is EventKind.DELIVERED:
            received[event.member, event.transaction] = None
        elif event.kind in _ENDS:
            received.pop((event.member, event.transaction), None)


@always(
    needs=(EventKind.DELIVERED,),
    of=promotions,
    source="facts on MariaDB 1.6; MySQL manual: all replicas process their relay logs first",
    witness=lambda history: sum(1 for _ in _promoted(history)),
    exemptions=(
        Exemption(
            applies=log_goes_back,
            because="an operator who compares numbers that fall takes no more to be missing",
        ),
    ),
)
def received_groups_are_applied_before_a_promotion(
    history: History,
) -> tuple[ReceivedInVain, ...]:
    """No server takes over while another one, or itself, has yet to apply what it received."""
    return tuple(
        ReceivedInVain(member=member, elected=elected, transaction=one)
        for elected, left in _waiting(history)
        for member, one in left
    )
