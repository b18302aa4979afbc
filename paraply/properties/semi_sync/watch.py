"""A semi-sync source and its replicas, event by event, and each breach.

One pass serves :mod:`paraply.properties.semi_sync.promises`. Enumerations fork and name watches.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Self

from paraply.properties.registry import Violation
from paraply.properties.semi_sync.breaches import (
    AbandonedWithoutCause,
    ConfirmedThenLost,
    ConfirmedUnacknowledged,
    ExtraTransaction,
    GapSeen,
    GtidReused,
    RecoveredAgainstBinlog,
    RefusedWithoutReason,
    ReplicaAhead,
    ReplicaLeftAhead,
    SeenThenLost,
    SeenUnacknowledged,
    SnapshotMisplaced,
    StageOvertaken,
    StepTakenAgain,
    TransactionPassedOver,
)
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

PROMOTED = "promoted"
"""The session at a newly promoted replica."""
REJOINS = "rejoins"
"""Recovery note of an accepted old source."""
REFUSED = "refused"
"""Stop note of a rejected old source."""
LOST = "lost"
"""Crash note of a permanently lost server."""
UNNOTICED = "without a word"
"""Crash note: the connection stays open."""

TURNS_OFF = ("time-out", "switched off")
ABANDON_REASONS = (
    *TURNS_OFF, "asynchronous", "too few replicas", "KILL QUERY", "KILL CONNECTION", "shutdown",
)  # fmt: skip
"""All reasons that end a wait without acknowledgement."""


@dataclass(slots=True)
class ReplicaSeen:
    """The observed state of one replica."""

    having: set[TransactionId] = field(default_factory=set)
    """The current relay log."""
    had: set[TransactionId] = field(default_factory=set)
    """All received transactions."""
    heard: set[TransactionId] = field(default_factory=set)
    """Acknowledgements of what it has that the source read since its last start."""
    is_missed: bool = False
    is_down: bool = False

    def fork(self) -> Self:
        """Return an independent copy."""
        return type(self)(
            self.having.copy(), self.had.copy(), self.heard.copy(), self.is_missed, self.is_down
        )

    def name(self) -> Hashable:
        """Return a hashable state."""
        return (
            frozenset(self.having),
            frozenset(self.had),
            frozenset(self.heard),
            self.is_missed,
            self.is_down,
        )


@dataclass(slots=True)
class Watch:
    """The state after the events so far."""

    source: str
    required: int = 1
    is_synced: bool = True
    """Whether sync_binlog=1."""
    waits_without_replicas: bool = True
    truncates: bool = True
    replicas: dict[str, ReplicaSeen] = field(default_factory=dict)
    log: list[TransactionId] = field(default_factory=list)
    synced: set[TransactionId] = field(default_factory=set)
    stages: dict[EventKind, int] = field(default_factory=dict)
    """Stage -> highest log position past it."""
    committed: set[TransactionId] = field(default_factory=set)
    abandoned: set[TransactionId] = field(default_factory=set)
    seen: dict[TransactionId, None] = field(default_factory=dict)
    confirmed: dict[TransactionId, None] = field(default_factory=dict)
    is_off: bool = False
    is_switched_off: bool = False
    """Switched off manually: stays off."""
    lost_replicas: int = 0
    kept: set[TransactionId] | None = None
    gtids: dict[str, TransactionId] = field(default_factory=dict)

    @classmethod
    def of(cls, history: History) -> Self:
        """Return a watch before any event."""
        options = history.header.options
        members = history.members
        return cls(
            source=members[0] if members else "",
            replicas={name: ReplicaSeen() for name in members[1:]},
            required=int(options.get("acknowledgements", 1)),
            is_synced=bool(options.get("sync_binlog", 1)),
            waits_without_replicas=bool(options.get("waits_without_replicas", True)),
            truncates=bool(options.get("truncates", True)),
        )

    def follow(self, event: Event) -> Iterator[Violation]:
        """Apply one event; yield its breaches."""
        at_source = event.member == self.source
        one = event.transaction
        match event.kind:
            case EventKind.FLUSHED if at_source and one is not None:
                yield from self.again(event, self.log)
                self.log.append(one)
                yield from self.number(one, event.gtid)
            case EventKind.SYNCED if at_source and one is not None:
                yield from self.again(event, self.synced)
                self.synced.add(one)
                yield from self.overtaking(event.kind, one)
            case EventKind.ENGINE_COMMITTED if at_source and one is not None:
                yield from self.again(event, self.committed)
                yield from self.engine_commit(one)
            case EventKind.DELIVERED if one is not None:
                yield from self.again(event, self.replica(event.member).had)
                yield from self.receive(event.member, one)
            case EventKind.ACKNOWLEDGED if one is not None:
                # A real server's log may not separate the receipt from the acknowledgement.
                yield from self.receive(event.member, one)
                self.replica(event.member).heard.add(one)
                self.is_off = self.is_switched_off or (self.is_off and not self.is_caught_up())
            case EventKind.WAIT_ABANDONED if one is not None:
                yield from self.abandon(one, event.note)
            case EventKind.CLIENT_ACKNOWLEDGED if one is not None:
                yield from self.unacknowledged(one, ConfirmedUnacknowledged)
                self.confirmed[one] = None
            case EventKind.READ:
                yield from self.read_at_source(event) if at_source else self.promote(event)
            case EventKind.CRASHED if not at_source:
                replica = self.replica(event.member)
                replica.is_down, replica.is_missed = True, event.note != UNNOTICED
                self.lost_replicas += event.note == LOST
            case EventKind.RECOVERED | EventKind.STARTED | EventKind.STOPPED:
                yield from self.start_or_stop(event, at_source=at_source)

    def start_or_stop(self, event: Event, *, at_source: bool) -> Iterator[Violation]:
        """Apply a start or stop."""
        if event.kind is EventKind.STOPPED:
            if event.note == REFUSED:
                yield from self.refuse()
            elif at_source and event.note != "shutdown":
                for one in sorted(self.synced - self.committed):
                    yield RecoveredAgainstBinlog(transaction=one, was_kept=False)
        elif at_source:
            self.is_off = self.is_switched_off = False
            for replica in self.replicas.values():
                # Connections and replies begin anew.
                replica.is_missed = replica.is_down
                replica.heard.clear()
            if event.kind is EventKind.RECOVERED:
                yield from self.recover(event)
        elif event.kind is EventKind.RECOVERED:
            replica = self.replica(event.member)
            replica.is_down = replica.is_missed = False
            replica.having = set(event.transactions)
            replica.heard &= replica.having

    def again(self, event: Event, done: Container[TransactionId]) -> Iterator[Violation]:
        """Report a repeated step."""
        if event.transaction is not None and event.transaction in done:
            yield StepTakenAgain(
                transaction=event.transaction, member=event.member, step=event.kind
            )

    # The source's commits.

    def number(self, one: TransactionId, gtid: str) -> Iterator[Violation]:
        """Apply a new GTID."""
        earlier = self.gtids.get(gtid) if gtid else None
        if earlier is not None and (earlier in self.log or self.having(earlier)):
            yield GtidReused(gtid=gtid, earlier=earlier, later=one)
        if gtid:
            self.gtids[gtid] = one

    def overtaking(self, stage: EventKind, one: TransactionId) -> Iterator[Violation]:
        """Apply a stage."""
        if one not in self.log:
            return
        place, last = self.log.index(one), self.stages.get(stage, -1)
        if place < last:
            yield StageOvertaken(stage=stage, earlier=one, later=self.log[last])
        self.stages[stage] = max(place, last)

    def engine_commit(self, one: TransactionId) -> Iterator[Violation]:
        """Apply an engine commit."""
        if one not in self.log or (self.is_synced and one not in self.synced):
            yield RecoveredAgainstBinlog(transaction=one, was_kept=True)
        self.committed.add(one)
        yield from self.overtaking(EventKind.ENGINE_COMMITTED, one)

    def recover(self, event: Event) -> Iterator[Violation]:
        """Apply a recovery; after a promotion, as a replica."""
        log = list(event.transactions)
        if event.note == REJOINS:
            for one in log:
                if one not in (self.kept or ()):
                    yield ExtraTransaction(transaction=one)
            for one in sorted(self.committed - set(log)):
                yield RecoveredAgainstBinlog(transaction=one, was_kept=True)
            return
        for one in sorted(self.synced - set(log)):
            yield RecoveredAgainstBinlog(transaction=one, was_kept=False)
        for one in log:
            if one not in self.log:
                yield RecoveredAgainstBinlog(transaction=one, was_kept=True)
        for member, replica in sorted(self.replicas.items()):
            for one in sorted(replica.having - set(log)):
                yield ReplicaLeftAhead(member=member, transaction=one)
        self.log = log
        self.synced = set(log)
        self.stages = {
            EventKind.SYNCED: len(log) - 1,
            EventKind.ENGINE_COMMITTED: max(
                (place for place, one in enumerate(log) if one in self.committed), default=-1
            ),
        }

    # Replicas.

    def replica(self, member: str) -> ReplicaSeen:
        """Return a replica's state, even if unlisted."""
        return self.replicas.setdefault(member, ReplicaSeen())

    def having(self, one: TransactionId) -> tuple[str, ...]:
        """Return the replicas that ever received it."""
        return tuple(name for name, replica in self.replicas.items() if one in replica.had)

    def receive(self, member: str, one: TransactionId) -> Iterator[Violation]:
        """Apply a receipt."""
        replica = self.replica(member)
        if one in replica.having:
            return
        if one not in self.synced:
            yield ReplicaAhead(member=member, transaction=one)
        before = self.log[: self.log.index(one)] if one in self.log else []
        missing = next((other for other in before if other not in replica.having), None)
        if missing is not None:
            yield TransactionPassedOver(member=member, transaction=one, missing=missing)
        replica.having.add(one)
        replica.had.add(one)

    def heard(self, one: TransactionId) -> int:
        """Return the count of acknowledgements."""
        return sum(one in replica.heard for replica in self.replicas.values())

    def lacks_replies(self, one: TransactionId) -> bool:
        """Return whether fewer replicas than required have it and are known to."""
        return self.heard(one) < self.required

    def is_caught_up(self) -> bool:
        """Return whether the whole log is acknowledged."""
        return bool(self.log) and self.heard(self.log[-1]) >= self.required

    def abandon(self, one: TransactionId, reason: str) -> Iterator[Violation]:
        """Apply the end of a wait."""
        has_cause = reason in ABANDON_REASONS
        if reason == "asynchronous":
            has_cause = self.is_off
        elif reason == "too few replicas":
            left = sum(not replica.is_missed for replica in self.replicas.values())
            has_cause = not self.waits_without_replicas and left < self.required
        if not (has_cause and self.lacks_replies(one)):
            yield AbandonedWithoutCause(transaction=one, reason=reason)
        self.is_off = self.is_off or reason in TURNS_OFF
        self.is_switched_off = self.is_switched_off or reason == "switched off"
        self.abandoned.add(one)

    # Readers, loss and return.

    def read_at_source(self, event: Event) -> Iterator[Violation]:
        """Apply a read at the source."""
        observed = {observation.writer for observation in event.observed} - {0}
        for one in sorted(observed):
            if one not in self.seen:
                yield from self.unacknowledged(one, SeenUnacknowledged)
            self.seen[one] = None
        places = [place for place, one in enumerate(self.log) if one in observed]
        for one in self.log[: max(places, default=0)]:
            if one not in observed:
                yield GapSeen(transaction=self.log[max(places)], missing=one)
        if event.position and event.position != str(len(places)):
            yield SnapshotMisplaced(position=event.position, seen=len(places))

    def unacknowledged(
        self, one: TransactionId, breach: type[SeenUnacknowledged]
    ) -> Iterator[Violation]:
        """Report insufficient acknowledgements."""
        having = self.having(one)
        if len(having) < self.required and one not in self.abandoned:
            yield breach(transaction=one, acknowledged_by=having, required=self.required)

    def promote(self, event: Event) -> Iterator[Violation]:
        """Apply the promotion of a replica."""
        if event.session != PROMOTED or self.kept is not None:
            return
        self.kept = {observation.writer for observation in event.observed}
        # The guarantee ends with the loss of as many replicas as must acknowledge.
        if self.lost_replicas >= self.required:
            return
        for lost, breach in ((self.seen, SeenThenLost), (self.confirmed, ConfirmedThenLost)):
            for one in lost:
                if one not in self.kept and one not in self.abandoned:
                    yield breach(transaction=one, promoted=event.member)

    def refuse(self) -> Iterator[Violation]:
        """Apply the rejection of the old source."""
        if self.truncates and self.committed <= (self.kept or set()):
            yield RefusedWithoutReason()

    # States as such.

    def fork(self) -> Self:
        """Return an independent copy."""
        twin = copy(self)
        twin.replicas = {name: replica.fork() for name, replica in self.replicas.items()}
        twin.log, twin.synced = self.log.copy(), self.synced.copy()
        twin.stages, twin.committed = self.stages.copy(), self.committed.copy()
        twin.abandoned, twin.gtids = self.abandoned.copy(), self.gtids.copy()
        twin.seen, twin.confirmed = self.seen.copy(), self.confirmed.copy()
        return twin

    def name(self) -> Hashable:
        """Return a hashable state, without replicas."""
        return (
            tuple(self.log), frozenset(self.synced), frozenset(self.stages.items()),
            frozenset(self.committed), frozenset(self.abandoned), frozenset(self.seen),
            frozenset(self.confirmed), frozenset(self.gtids.items()), self.is_off,
            self.is_switched_off, self.lost_replicas,
            None if self.kept is None else frozenset(self.kept),
        )  # fmt: skip


_judged_last: list[tuple[History, tuple[Violation, ...]]] = []


def breaches(history: History) -> tuple[Violation, ...]:
    """Return each breach once, in order."""
    for last, found_last in _judged_last:
        if last is history:
            return found_last
    watch = Watch.of(history)
    found: dict[Violation, None] = {}
    for event in history.events:
        found.update(dict.fromkeys(watch.follow(event)))
    _judged_last[:] = [(history, tuple(found))]
    return tuple(found)
