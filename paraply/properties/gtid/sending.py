"""What a source with domains sends: the groups after the position that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import LOST
from paraply.properties.gtid.failover import PROMOTED
from paraply.properties.gtid.histories import domain_of, entries_of, has_domains
from paraply.properties.registry import Exemption, Violation, always
from paraply.properties.vocabularies import followed_sources, log_goes_back, named_sources
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredSent(Violation):
    """A source sends what the position covers that a replica asked for."""

    member: str
    source: str
    transaction: TransactionId
    position: str

    def __str__(self) -> str:
        return (
            f"{self.source} sent T{self.transaction} to {self.member}, which had started at "
            f"{self.position} after it"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SentOutOfOrder(Violation):
    """A source sends a group after one that follows it in the log."""

    member: str
    source: str
    transaction: TransactionId
    before: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.source} sent T{self.transaction} to {self.member} after T{self.before}, which "
            "does not come before it in the log"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAcrossCrash(Violation):
    """A replica goes on after a crash with what it had received before."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} crashed, and received or began T{self.transaction} before it asked a "
            "source again"
        )


def sent_groups(history: History) -> bool:
    """A controlled run records the sources of replicas, and what they receive."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and EventKind.DELIVERED in history.kinds
        and named_sources(history)
    )


def _sent(history: History) -> Iterator[tuple[Event, Event, bool | None]]:
    """Yield starts, what the replica receives then, and whether its position covers that.

    What the source's log does not have is not decided.
    Replicas of several sources are left out: what they receive does not tell its source.
    """
    sources: dict[str, set[str]] = {}
    for event in history.events_of(EventKind.STARTED) if has_domains(history) else ():
        sources.setdefault(event.member, set()).update(event.members)
    logs: dict[str, list[tuple[TransactionId, str]]] = {}
    starts: dict[str, tuple[Event, frozenset[TransactionId]]] = {}
    for event in history.events:
        member, one = event.member, event.transaction
        if event.kind is EventKind.FLUSHED and one is not None:
            logs.setdefault(member, []).append((one, event.gtid))
        elif event.kind is EventKind.STARTED and len(sources.get(member, ())) == 1:
            if event.note or not event.members:
                starts.pop(member, None)
            else:
                log = logs.get(event.members[0], [])
                starts[member] = event, frozenset(covered_part(log, event.gtid_set))
        elif event.kind is EventKind.DELIVERED and member in starts and one is not None:
            start, covered = starts[member]
            if start.gtid_set:
                is_logged = any(one == logged for logged, _ in logs.get(start.members[0], ()))
                yield start, event, one in covered if is_logged else None


def covered_part(log: list[tuple[TransactionId, str]], position: str) -> Iterator[TransactionId]:
    """Yield what a log has of each domain up to the position's GTID, if it has that once."""
    for gtid in entries_of(position):
        of_domain = [(one, name) for one, name in log if domain_of(name) == domain_of(gtid)]
        places = [place for place, (_, name) in enumerate(of_domain) if name == gtid]
        if len(places) == 1:
            yield from (one for one, _ in of_domain[: places[0] + 1])


def _sent_and_not_logged(history: History) -> Iterator[str]:
    for start, event, is_covered in _sent(history):
        if is_covered is None:
            yield f"no flushed of T{event.transaction} at {start.members[0]}"


@always(
    gaps=(_sent_and_not_logged,),
    of=sent_groups,
    source="On CHANGE MASTER TO: the dump thread skips up to the position, in each domain",
    witness=lambda history: sum(known is not None for _, _, known in _sent(history)),
    exemptions=(
        Exemption(
            applies=log_goes_back,
            because="the dump thread compares numbers, which fall without strict mode",
        ),
    ),
    is_safety=False,
)
def sources_send_what_follows_the_position(history: History) -> tuple[CoveredSent, ...]:
    """A source sends nothing that the position covers at which its replica started."""
    return tuple(
        CoveredSent(
            member=event.member,
            source=start.members[0],
            transaction=event.transaction,
            position=start.gtid_set,
        )
        for start, event, is_covered in _sent(history)
        if is_covered and event.transaction is not None
    )


def _deliveries(history: History) -> Iterator[tuple[Event, Event, list[TransactionId]]]:
    """Yield starts at a source, what the replica receives then, and all until then.

    Replicas of several sources at once are left out.
    """
    sources: dict[str, set[str]] = {}
    starts: dict[str, tuple[Event, list[TransactionId]]] = {}
    for event in history.events:
        member, one = event.member, event.transaction
        if event.kind is EventKind.STARTED and event.note in PROMOTED:
            sources.clear()
            starts.clear()
        elif event.kind is EventKind.STARTED:
            starts.pop(member, None)
            mine = sources.setdefault(member, set())
            mine.update(event.members)
            if len(event.members) == len(mine) == 1 and not event.note:
                starts[member] = event, []
        elif event.kind is EventKind.CRASHED:
            starts.pop(member, None)
            if event.note.startswith(LOST):
                for mine in sources.values():
                    mine.discard(member)
        elif event.kind is EventKind.DELIVERED and member in starts and one is not None:
            start, received = starts[member]
            received.append(one)
            yield start, event, received


def delivered_groups(history: History) -> bool:
    """Replicas of a controlled run name their source, and record what they receive."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and EventKind.DELIVERED in history.kinds
        and followed_sources(history)
    )


def _in_log_order(history: History) -> Iterator[tuple[Event, Event, TransactionId | None]]:
    """Yield starts, what is received, and what came before and is not before it in the log."""
    logs: dict[str, list[TransactionId]] = {}
    for event in history.events_of(EventKind.FLUSHED):
        if event.transaction is not None:
            logs.setdefault(event.member, []).append(event.transaction)
    for start, event, received in _deliveries(history):
        log = logs.get(start.members[0], [])
        if len(received) < 2:
            continue
        before, one = received[-2:]
        if log.count(before) != 1 or log.count(one) != 1:
            continue  # Without strict mode a circling transaction is logged again.
        is_after = log.index(before) < log.index(one)
        yield start, event, None if is_after else before


@always(
    of=delivered_groups,
    source="a dump thread reads the binary log from a place on; MySQL manual, auto-positioning",
    witness=lambda history: sum(1 for _ in _in_log_order(history)),
)
def sources_send_in_the_order_of_their_log(history: History) -> tuple[SentOutOfOrder, ...]:
    """From one start on, a replica receives groups in the order of its source's log."""
    return tuple(
        SentOutOfOrder(
            member=event.member,
            source=start.members[0],
            transaction=event.transaction,
            before=before,
        )
        for start, event, before in _in_log_order(history)
        if before is not None and event.transaction is not None
    )


def _after_crashes(history: History) -> Iterator[tuple[Event, bool]]:
    """Yield what replicas receive or begin after a crash, and whether they had asked again."""
    has_asked: dict[str, bool] = {}
    for event in history.events:
        if event.kind is EventKind.CRASHED:
            has_asked[event.member] = False
        elif event.member not in has_asked:
            continue
        elif event.kind is EventKind.STARTED and event.members:
            has_asked[event.member] = True
        elif event.kind in (EventKind.DELIVERED, EventKind.BEGUN):
            yield event, has_asked[event.member]


@always(
    of=sent_groups,
    source="MDEV-4698: a restarted replica discards its relay log",
    witness=lambda history: sum(1 for _ in _after_crashes(history)),
)
def crashed_replicas_ask_again(history: History) -> tuple[KeptAcrossCrash, ...]:
    """After a crash a replica receives and begins nothing before it asks a source again."""
    return tuple(
        KeptAcrossCrash(member=event.member, transaction=event.transaction)
        for event, has_asked in _after_crashes(history)
        if not has_asked and event.transaction is not None
    )
