"""No phantom visibility, and the rest of what semi-synchronous group commit promises.

The source is the first member of the header. A wait that was abandoned (time-out, KILL, switched
off, no replica) frees its transactions from the promise: that list is the precise small print.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from properties.registry import always, sometimes
from properties.semi_sync_breaches import (
    CommitStalled,
    ConfirmedThenLost,
    RecoveredAgainstBinlog,
    ReplicaAhead,
    SeenThenLost,
    SeenUnacknowledged,
    StageOvertaken,
    TransactionPassedOver,
)
from vocabulary.events import Event, EventKind
from vocabulary.history import History
from vocabulary.transactions import TransactionId

PROMOTED = "promoted"
"""The session that reads at a replica which has just become the source."""

STAGES = (EventKind.SYNCED, EventKind.ENGINE_COMMITTED)
"""Stages that must follow the order of the FLUSH stage, which is that of the binary log."""


@dataclass(slots=True)
class _Commits:
    """What happened so far, as the events go by."""

    source: str
    acknowledged: dict[TransactionId, list[str]] = field(default_factory=dict)
    abandoned: set[TransactionId] = field(default_factory=set)
    seen: dict[TransactionId, None] = field(default_factory=dict)
    confirmed: dict[TransactionId, None] = field(default_factory=dict)

    def follow(self, event: Event) -> None:
        """Take one event into account."""
        one = event.transaction
        if event.kind is EventKind.ACKNOWLEDGED and one is not None:
            self.acknowledged.setdefault(one, []).append(event.member)
        elif event.kind is EventKind.WAIT_ABANDONED and one is not None:
            self.abandoned.add(one)
        elif event.kind is EventKind.CLIENT_ACKNOWLEDGED and one is not None:
            self.confirmed[one] = None
        elif event.kind is EventKind.READ and event.member == self.source:
            self.seen.update(dict.fromkeys(o.writer for o in event.observed if o.writer))


def is_semi_sync(history: History) -> bool:
    """Return whether the history is one of a source with commit stages and replicas."""
    return any(event.kind is EventKind.FLUSHED for event in history.events)


def _source(history: History) -> str:
    return history.members[0] if history.members else ""


def _required(history: History) -> int:
    return int(history.header.options.get("acknowledgements", 1))


@sometimes(source="MDEV-162: stage 3 runs beside stages 2 and 4 of other groups")
def commit_stages_overlap(history: History) -> bool:
    """A group was flushed while an earlier one had not yet committed in the engine."""
    pending: dict[TransactionId, int | None] = {}
    for event in history.events:
        if event.member != _source(history):
            continue
        if event.kind is EventKind.CRASHED:
            pending.clear()
        elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            pending.pop(event.transaction, None)
        elif event.kind is EventKind.FLUSHED and event.transaction is not None:
            if any(group != event.group for group in pending.values()):
                return True
            pending[event.transaction] = event.group
    return False


@sometimes(source="MDEV-162, crash scenarios")
def source_recovers_unacknowledged(history: History) -> bool:
    """The source crashed with a synced transaction that no replica had."""
    synced: set[TransactionId] = set()
    having: set[TransactionId] = set()
    for event in history.events:
        if event.kind is EventKind.SYNCED and event.transaction is not None:
            synced.add(event.transaction)
        elif event.kind is EventKind.ACKNOWLEDGED and event.transaction is not None:
            having.add(event.transaction)
        elif event.kind is EventKind.RECOVERED and event.member == _source(history):
            return bool(synced - having)
    return False


@sometimes(source="MDEV-162: if we completely lose the master")
def source_is_lost_after_a_read(history: History) -> bool:
    """Somebody read at the source, the source was lost, and a replica was promoted."""
    return bool(_promoted(history)) and any(
        event.observed for event in history.events_of(EventKind.READ, member=_source(history))
    )


def _reads_at_source(history: History) -> bool:
    return is_semi_sync(history) and any(
        event.observed for event in history.events_of(EventKind.READ, member=_source(history))
    )


@always(source="MDEV-162: a transaction is not visible until at least one slave has it",
        witness=_reads_at_source)  # fmt: skip
def visible_only_after_acknowledgement(history: History) -> tuple[SeenUnacknowledged, ...]:
    """Nobody sees a transaction on the source before enough replicas have it."""
    state, found = _Commits(_source(history)), {}
    for event in history.events if is_semi_sync(history) else ():
        if event.kind is EventKind.READ and event.member == state.source:
            for observation in event.observed:
                having = tuple(dict.fromkeys(state.acknowledged.get(observation.writer, ())))
                enough = len(having) >= _required(history)
                if observation.writer and not enough and observation.writer not in state.abandoned:
                    found[observation.writer] = having
        state.follow(event)
    return tuple(
        SeenUnacknowledged(transaction=one, acknowledged_by=having, required=_required(history))
        for one, having in found.items()
    )


def _promoted(history: History) -> Event | None:
    """Return the first read at the replica that was promoted."""
    reads = history.events_of(EventKind.READ)
    return next((event for event in reads if event.session == PROMOTED), None)


def _lost(history: History) -> Iterator[tuple[str, TransactionId, bool]]:
    """Yield (promoted member, transaction, was only confirmed) of what the fail-over lost."""
    promoted = _promoted(history)
    if promoted is None or not is_semi_sync(history):
        return
    state = _Commits(_source(history))
    for event in history.events:
        state.follow(event)
    kept = {observation.writer for observation in promoted.observed}
    for one in state.seen:
        if one not in kept and one not in state.abandoned:
            yield promoted.member, one, False
    for one in state.confirmed:
        if one not in kept and one not in state.abandoned:
            yield promoted.member, one, True


@always(source="MDEV-162, phantom reads", witness=source_is_lost_after_a_read)
def what_was_seen_survives(history: History) -> tuple[SeenThenLost, ...]:
    """No phantom visibility: what somebody read on the source is on the promoted replica."""
    return tuple(
        SeenThenLost(transaction=one, promoted=member)
        for member, one, is_confirmation in _lost(history)
        if not is_confirmation
    )


def _confirmed_before_the_loss(history: History) -> bool:
    return bool(_promoted(history)) and any(history.events_of(EventKind.CLIENT_ACKNOWLEDGED))


@always(source="MDEV-162", witness=_confirmed_before_the_loss)
def what_was_confirmed_survives(history: History) -> tuple[ConfirmedThenLost, ...]:
    """What a client was told had committed is on the promoted replica."""
    return tuple(
        ConfirmedThenLost(transaction=one, promoted=member)
        for member, one, is_confirmation in _lost(history)
        if is_confirmation
    )


@always(source="MDEV-162: the mutexes must be chained", witness=commit_stages_overlap)
def stages_follow_the_binary_log(history: History) -> tuple[StageOvertaken, ...]:
    """Binlog order, sync order and engine commit order are one."""
    source = _source(history)
    place: dict[TransactionId, int] = {}
    newest = dict.fromkeys(STAGES, -1)
    by_place: dict[int, TransactionId] = {}
    found = []
    for event in history.events_of(EventKind.FLUSHED, *STAGES, member=source):
        one = event.transaction
        if one is None:
            continue
        if event.kind is EventKind.FLUSHED:
            by_place[len(place)] = one
            place[one] = len(place)
        elif one in place:
            last = newest[event.kind]
            if place[one] < last:
                found.append(StageOvertaken(stage=event.kind, earlier=one, later=by_place[last]))
            newest[event.kind] = max(last, place[one])
    return tuple(found)


def _source_recovers(history: History) -> bool:
    return is_semi_sync(history) and any(
        history.events_of(EventKind.RECOVERED, member=_source(history))
    )


@always(source="MDEV-162, crash scenarios; xid recovery", witness=_source_recovers)
def recovery_decides_by_the_binlog(history: History) -> tuple[RecoveredAgainstBinlog, ...]:
    """After a crash the engine has what the binary log has, and nothing else ever."""
    source = _source(history)
    synced: set[TransactionId] = set()
    committed: set[TransactionId] = set()
    found = []
    for event in history.events if is_semi_sync(history) else ():
        if event.member != source:
            continue
        if event.kind is EventKind.SYNCED and event.transaction is not None:
            synced.add(event.transaction)
        elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
            committed.add(event.transaction)
            if event.transaction not in synced:
                found.append(RecoveredAgainstBinlog(transaction=event.transaction, was_kept=True))
        elif event.kind is EventKind.STOPPED:
            found += [
                RecoveredAgainstBinlog(transaction=one, was_kept=False)
                for one in sorted(synced - committed)
            ]
    return tuple(found)


def _something_is_received(history: History) -> bool:
    return is_semi_sync(history) and any(history.events_of(EventKind.ACKNOWLEDGED))


@always(
    source="sync_binlog=1; MDEV-162: it is synced before sending", witness=_something_is_received
)
def replicas_are_never_ahead(history: History) -> tuple[ReplicaAhead, ...]:
    """A replica receives a transaction only after the source has synced it."""
    synced: set[TransactionId] = set()
    found = []
    for event in history.events_of(EventKind.SYNCED, EventKind.ACKNOWLEDGED):
        if event.transaction is None:
            continue
        if event.kind is EventKind.SYNCED:
            synced.add(event.transaction)
        elif event.transaction not in synced:
            found.append(ReplicaAhead(member=event.member, transaction=event.transaction))
    return tuple(found) if is_semi_sync(history) else ()


@always(source="the dump thread's position", witness=_something_is_received)
def replicas_receive_prefixes(history: History) -> tuple[TransactionPassedOver, ...]:
    """What a replica has received is a prefix of the source's binary log."""
    log: list[TransactionId] = []
    having: dict[str, set[TransactionId]] = {}
    found = []
    for event in history.events if is_semi_sync(history) else ():
        if event.kind is EventKind.SYNCED and event.transaction is not None:
            log.append(event.transaction)
        elif event.kind is EventKind.RECOVERED and event.member != _source(history):
            having[event.member] = set(event.transactions)
        elif event.kind is EventKind.ACKNOWLEDGED and event.transaction is not None:
            mine = having.setdefault(event.member, set())
            before = log[: log.index(event.transaction)] if event.transaction in log else []
            found += [
                TransactionPassedOver(
                    member=event.member, transaction=event.transaction, missing=missing
                )
                for missing in before
                if missing not in mine
            ][:1]
            mine.add(event.transaction)
    return tuple(found)


@always(source="MySQL bug 44058, point 5; MDEV-181", witness=is_semi_sync)
def commits_reach_their_end(history: History) -> tuple[CommitStalled, ...]:
    """Every client gets its answer, unless the source is lost."""
    if not is_semi_sync(history) or not history.is_complete:
        return ()
    ended = any(event.kind is EventKind.STOPPED for event in history.events)
    answered = {event.transaction for event in history.events_of(EventKind.CLIENT_ACKNOWLEDGED)}
    waiting = tuple(one.id for one in history.transactions if one.id not in answered)
    return () if ended else (CommitStalled(waiting=waiting),)
