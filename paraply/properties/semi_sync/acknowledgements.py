"""What a semi-sync source may hear, and when, and when it takes clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.group.stream import is_rest
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.semi_sync.watch import REJOINS, Watch
from paraply.properties.vocabularies import commit_stages, timed_stages
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

ASYNCHRONOUS, SHUTDOWN, TOO_FEW = "asynchronous", "shutdown", "too few replicas"
"""Reasons to end a wait where it begins, or however semi-sync is."""
BARRED = "barred"
"""Recovery note: the source takes clients only when all it recovered is acknowledged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardWithoutReceipt(Violation):
    """A source counts a reply that no connected replica can have sent."""

    member: str
    transaction: TransactionId
    why: str

    def __str__(self) -> str:
        return f"the source heard {self.member} acknowledge T{self.transaction}, {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedBehindTheBar(Violation):
    """A source takes clients before its recovered transactions are acknowledged."""

    step: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"the source {self.step} for a client when too few replicas had acknowledged "
            f"T{self.transaction}, which it had recovered"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardTooSoon(Violation):
    """An acknowledgement takes less than a round trip."""

    member: str
    transaction: TransactionId
    took_us: int
    round_trip_us: int

    def __str__(self) -> str:
        return (
            f"{self.member} acknowledged T{self.transaction} {self.took_us:,} us after its sync; "
            f"a round trip takes {self.round_trip_us:,} us"
        )


def heard_receipts(history: History) -> bool:
    """A controlled source records receipts and replies."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and commit_stages(history)
        and {EventKind.DELIVERED, EventKind.ACKNOWLEDGED} <= history.kinds
    )


@dataclass(slots=True)
class _Servers:
    """Which servers are up, and what each has."""

    source: str
    log: set[TransactionId] = field(default_factory=set)
    having: dict[str, set[TransactionId]] = field(default_factory=dict)
    down: set[str] = field(default_factory=set)

    def follow(self, event: Event) -> None:
        """Apply an event."""
        one, member = event.transaction, event.member
        match event.kind:
            case EventKind.FLUSHED if member == self.source and one is not None:
                self.log.add(one)
            case EventKind.DELIVERED if one is not None:
                self.having.setdefault(member, set()).add(one)
            case EventKind.CRASHED | EventKind.STOPPED:
                self.down.add(member)
            case EventKind.STARTED:
                self.down.discard(member)
            case EventKind.RECOVERED:
                if event.note != REJOINS:
                    self.down.discard(member)
                if member == self.source:
                    self.log = set(event.transactions)
                else:
                    self.having[member] = set(event.transactions)
            case _:
                pass

    def objection(self, event: Event) -> str:
        """Return why the source cannot hear an acknowledgement, or nothing."""
        having = self.having.get(event.member, set())
        if self.source in self.down:
            return "and was down"
        if event.member in self.down:
            return "which was down"
        if event.transaction not in having:
            return "which had not received it"
        return "" if having <= self.log else "which has transactions that the source lacks"


def _source(history: History) -> str:
    return history.members[0] if history.members else ""


def _replies(history: History) -> int:
    return sum(1 for _ in history.events_of(EventKind.ACKNOWLEDGED))


@always(
    of=heard_receipts,
    source="ReplSemiSyncMaster::reportReplyBinlog; the dump thread's start position",
    witness=_replies,
)
def acknowledgements_follow_receipt(history: History) -> tuple[HeardWithoutReceipt, ...]:
    """A running source hears a transaction acknowledged by a connected replica that has it.

    A replica with transactions that the source lacks is not connected.
    """
    servers = _Servers(_source(history))
    found = []
    for event in history.events:
        if event.kind is EventKind.ACKNOWLEDGED and event.transaction is not None:
            why = servers.objection(event)
            if why:
                found.append(
                    HeardWithoutReceipt(member=event.member, transaction=event.transaction, why=why)
                )
        servers.follow(event)
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptUnheard(Violation):
    """A source at rest has not heard of a receipt."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"the source is at rest and has not heard that {self.member} received "
            f"T{self.transaction}"
        )


def _receipts_at_rest(history: History) -> Iterator[tuple[ReceiptUnheard, bool]]:
    """Yield the last receipts of connected replicas, and whether the source heard of each."""
    servers = _Servers(_source(history))
    heard: dict[tuple[str, TransactionId | None], bool] = {}
    for event in history.events:
        if event.kind in (EventKind.DELIVERED, EventKind.ACKNOWLEDGED):
            heard[event.member, event.transaction] = event.kind is EventKind.ACKNOWLEDGED
        if is_rest(event) and event.member == servers.source:
            for (member, one), is_heard in heard.items():
                having = servers.having.get(member, set())
                if one in having and member not in servers.down and having <= servers.log:
                    assert one is not None
                    yield ReceiptUnheard(member=member, transaction=one), is_heard
        servers.follow(event)


def heard_receipts_at_rest(history: History) -> bool:
    """A controlled source records receipts and replies, and comes to rest."""
    return heard_receipts(history) and any(map(is_rest, history.events_of(EventKind.STOPPED)))


@always(
    of=heard_receipts_at_rest,
    source="ReplSemiSyncSlave::slaveReply; MDEV-4698: what is sent again is acknowledged again",
    witness=lambda history: sum(1 for _ in _receipts_at_rest(history)),
    is_safety=False,
)
def receipts_are_heard(history: History) -> tuple[ReceiptUnheard, ...]:
    """A source at rest has heard of every receipt of a connected replica, also of a second one."""
    return tuple(unheard for unheard, is_heard in _receipts_at_rest(history) if not is_heard)


def barred_recoveries(history: History) -> bool:
    """A recovered source is closed until all is acknowledged."""
    return commit_stages(history) and any(
        event.note == BARRED for event in history.events_of(EventKind.RECOVERED)
    )


def _recovered_with_log(history: History) -> bool:
    return any(
        event.note == BARRED and event.transactions
        for event in history.events_of(EventKind.RECOVERED)
    )


@always(of=barred_recoveries, source="MDEV-162, second remedy", witness=_recovered_with_log)
def barred_sources_take_no_clients(history: History) -> tuple[AdmittedBehindTheBar, ...]:
    """A source that commits what it recovers takes clients when enough replicas have it all."""
    return tuple(_behind_the_bar(history))


def _behind_the_bar(history: History) -> Iterator[AdmittedBehindTheBar]:
    required = int(history.header.options.get("acknowledgements", 1))
    source = _source(history)
    last: TransactionId | None = None
    heard: set[str] = set()
    for event in history.events:
        is_at_source = event.member == source
        if event.kind is EventKind.RECOVERED and is_at_source:
            is_barred = event.note == BARRED and event.transactions
            last = event.transactions[-1] if is_barred else None
            heard = set()
        elif event.kind is EventKind.ACKNOWLEDGED and event.transaction == last:
            heard.add(event.member)
        elif event.kind is EventKind.CRASHED and is_at_source:
            last = None
        is_client = event.kind in (EventKind.PREPARED, EventKind.READ) and is_at_source
        if is_client and last is not None and len(heard) < required:
            yield AdmittedBehindTheBar(step=event.kind.value, transaction=last)


def _timed_replies(history: History) -> Iterator[tuple[Event, TransactionId, int | None]]:
    """Yield replies with their transaction, and the time of its sync, if recorded."""
    synced: dict[TransactionId, int] = {}
    for event in history.events_of(EventKind.SYNCED, EventKind.ACKNOWLEDGED):
        one = event.transaction
        if one is None:
            continue
        if event.kind is EventKind.SYNCED:
            synced[one] = event.time
        else:
            yield event, one, synced.get(one)


def _replies_without_sync(history: History) -> Iterator[str]:
    for _, one, synced_at in _timed_replies(history):
        if synced_at is None:
            yield f"no synced of T{one}"


@always(
    gaps=(_replies_without_sync,),
    of=timed_stages,
    source="MDEV-162: the reply of a replica needs a round trip",
    witness=lambda history: sum(at is not None for _, _, at in _timed_replies(history)),
)
def acknowledgements_take_a_round_trip(history: History) -> tuple[HeardTooSoon, ...]:
    """A reply arrives a whole round trip after the sync, at the earliest."""
    round_trip = 2 * (int(history.header.options.get("round_trip_us", 0)) // 2)
    return tuple(
        HeardTooSoon(
            member=event.member,
            transaction=one,
            took_us=event.time - synced_at,
            round_trip_us=round_trip,
        )
        for event, one, synced_at in _timed_replies(history)
        if synced_at is not None and event.time - synced_at < round_trip
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitedThoughOff(Violation):
    """A wait ends for a client or a clock while semi-sync was off already."""

    transaction: TransactionId
    reason: str

    def __str__(self) -> str:
        return f"T{self.transaction} waited until {self.reason}, though semi-sync was off"


def _waits_without_semi_sync(history: History) -> Iterator[tuple[Event, bool]]:
    """Yield waits that ended while semi-sync was off, and whether they had begun."""
    watch = Watch.of(history)
    off_since: int | None = None
    for event in history.events:
        # A time-out ends all waits in one step.
        was_off = off_since is not None and event.time > off_since
        if event.kind is EventKind.WAIT_ABANDONED and was_off:
            yield event, event.note not in (ASYNCHRONOUS, SHUTDOWN, TOO_FEW)
        for _ in watch.follow(event):
            pass
        off_since = None if not watch.is_off else event.time if off_since is None else off_since


@sometimes(of=commit_stages, source="ReplSemiSyncMaster::commitTrx: is_on()")
def a_commit_waits_for_nothing(history: History) -> bool:
    """A transaction committed without a wait, because semi-sync was off."""
    return any(event.note == ASYNCHRONOUS for event in history.events_of(EventKind.WAIT_ABANDONED))


@always(
    of=commit_stages,
    source="ReplSemiSyncMaster::commitTrx: is_on()",
    witness=lambda history: sum(1 for _ in _waits_without_semi_sync(history)),
    is_safety=False,
)
def nothing_waits_while_semi_sync_is_off(history: History) -> tuple[WaitedThoughOff, ...]:
    """Once semi-sync is off, a commit waits for nothing until it is on again."""
    if history.header.tier is not EvidenceTier.CONTROLLED_RUN:
        return ()
    return tuple(
        WaitedThoughOff(transaction=event.transaction, reason=event.note)
        for event, has_waited in _waits_without_semi_sync(history)
        if has_waited and event.transaction is not None
    )
