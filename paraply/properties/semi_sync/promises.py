"""No phantom visibility, and the other guarantees of semi-sync group commit.

The header's first member is the source. An abandoned wait releases its transactions. One pass finds
all: ``paraply.properties.semi_sync.watch.Watch``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from paraply.properties.registry import Violation, always, fields, sometimes
from paraply.properties.semi_sync.breaches import (
    AbandonedWithoutCause,
    CommitStalled,
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
from paraply.properties.semi_sync.watch import PROMOTED, REFUSED, REJOINS, Watch, breaches
from paraply.properties.vocabularies import commit_stages, prepared_commits, timed_stages
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

NOT_AT_REST = ("shutdown", REFUSED)
"""Notes of stops before the end."""

ViolationT = TypeVar("ViolationT", bound=Violation)


def is_semi_sync(history: History) -> bool:
    """Return whether a source records commit stages."""
    return any(event.kind is EventKind.FLUSHED for event in history.events)


def _found(history: History, *kinds: type[ViolationT]) -> tuple[ViolationT, ...]:
    if not is_semi_sync(history):
        return ()
    return tuple(breach for breach in breaches(history) if type(breach) in kinds)  # type: ignore[misc]


def _source(history: History) -> str:
    return history.members[0] if history.members else ""


# Situations.


@sometimes(of=commit_stages, source="MDEV-162: stage 3 runs beside stages 2 and 4 of other groups")
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


@sometimes(of=commit_stages, source="MDEV-162, crash scenarios")
def source_recovers_unacknowledged(history: History) -> bool:
    """The source crashed with a synced transaction that no replica had."""
    is_found = False
    synced: set[TransactionId] = set()
    having: set[TransactionId] = set()
    for event in history.events:
        if event.kind is EventKind.SYNCED and event.transaction is not None:
            synced.add(event.transaction)
        elif event.kind in (EventKind.DELIVERED, EventKind.ACKNOWLEDGED) and event.transaction:
            having.add(event.transaction)
        elif event.kind is EventKind.RECOVERED and event.member == _source(history):
            is_found = is_found or bool(synced - having)
    return is_found


@sometimes(of=commit_stages, source="MDEV-162: if we completely lose the master")
def source_is_lost_after_a_read(history: History) -> bool:
    """A reader read at the source, the source was lost, and a replica was promoted."""
    return bool(_promoted(history)) and any(
        event.observed for event in history.events_of(EventKind.READ, member=_source(history))
    )


def _promoted(history: History) -> Event | None:
    reads = history.events_of(EventKind.READ)
    return next((event for event in reads if event.session == PROMOTED), None)


def _reads_at_source(history: History) -> bool:
    return is_semi_sync(history) and any(
        event.observed for event in history.events_of(EventKind.READ, member=_source(history))
    )


def _confirmed_before_the_loss(history: History) -> bool:
    return bool(_promoted(history)) and any(history.events_of(EventKind.CLIENT_ACKNOWLEDGED))


def _reads_between_commits(history: History) -> bool:
    pending = 0
    for event in history.events:
        if event.member != _source(history):
            continue
        pending += event.kind is EventKind.FLUSHED
        pending -= event.kind is EventKind.ENGINE_COMMITTED
        if event.kind is EventKind.READ and event.observed and pending > 0:
            return True
    return False


def _source_recovers(history: History) -> bool:
    return is_semi_sync(history) and any(
        history.events_of(EventKind.RECOVERED, member=_source(history))
    )


def _something_is_received(history: History) -> bool:
    return is_semi_sync(history) and any(
        history.events_of(EventKind.DELIVERED, EventKind.ACKNOWLEDGED)
    )


def _something_is_delivered(history: History) -> bool:
    return is_semi_sync(history) and any(history.events_of(EventKind.DELIVERED))


def _source_returns(history: History) -> bool:
    return any(
        event.note in (REJOINS, REFUSED)
        for event in history.events_of(EventKind.RECOVERED, EventKind.STOPPED)
    )


def _source_was_ahead(history: History) -> bool:
    promoted = _promoted(history)
    if promoted is None or not _source_returns(history):
        return False
    kept = {observation.writer for observation in promoted.observed}
    flushed = {event.transaction for event in history.events_of(EventKind.FLUSHED)}
    return not flushed <= kept


def _waits_are_abandoned(history: History) -> bool:
    return any(history.events_of(EventKind.WAIT_ABANDONED))


@sometimes(of=commit_stages, source="ReplSemiSyncMaster::try_switch_on")
def semi_sync_comes_back_on(history: History) -> bool:
    """Semi-sync went off, came back on when a replica had caught up, and another group came."""
    if not is_semi_sync(history):
        return False
    watch = Watch.of(history)
    is_back = False
    for event in history.events:
        was_off = watch.is_off
        for _ in watch.follow(event):
            pass
        is_back = is_back or (was_off and event.kind is EventKind.ACKNOWLEDGED and not watch.is_off)
        if is_back and event.kind is EventKind.FLUSHED:
            return True
    return False


# What must be true.


@always(
    of=commit_stages,
    source="MDEV-162: a transaction is not visible until at least one slave has it",
    witness=_reads_at_source,
)
def visible_only_after_acknowledgement(history: History) -> tuple[SeenUnacknowledged, ...]:
    """No reader sees a transaction on the source before enough replicas have it."""
    return _found(history, SeenUnacknowledged)


def _confirmed(history: History) -> bool:
    return is_semi_sync(history) and any(history.events_of(EventKind.CLIENT_ACKNOWLEDGED))


@always(of=commit_stages, source="MDEV-162; AFTER_COMMIT promises this much", witness=_confirmed)
def confirmed_only_after_acknowledgement(history: History) -> tuple[ConfirmedUnacknowledged, ...]:
    """No commit is confirmed to a client before enough replicas have the transaction."""
    return _found(history, ConfirmedUnacknowledged)


@always(of=commit_stages, source="MDEV-162, phantom reads", witness=source_is_lost_after_a_read)
def what_was_seen_survives(history: History) -> tuple[SeenThenLost, ...]:
    """No phantom visibility: every transaction read on the source is on the promoted replica."""
    return _found(history, SeenThenLost)


@always(of=commit_stages, source="MDEV-162", witness=_confirmed_before_the_loss)
def what_was_confirmed_survives(history: History) -> tuple[ConfirmedThenLost, ...]:
    """Every transaction confirmed to a client is on the promoted replica."""
    return _found(history, ConfirmedThenLost)


@always(
    of=commit_stages,
    source="MDEV-162; ReplSemiSyncMaster::commitTrx, switch_off, try_switch_on",
    witness=_waits_are_abandoned,
)
def waits_are_abandoned_only_for_cause(history: History) -> tuple[AbandonedWithoutCause, ...]:
    """A wait is given up for a reason on the list, and only where that reason applies."""
    return _found(history, AbandonedWithoutCause)


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=commit_stages,
    source="MDEV-162: the mutexes must be chained; binlog_order_commits",
    witness=commit_stages_overlap,
)
def stages_follow_the_binary_log(history: History) -> tuple[StageOvertaken, ...]:
    """Binlog order, sync order and engine commit order are one."""
    return _found(history, StageOvertaken)


@always(
    of=commit_stages,
    source="MDEV-162: correct ordering; binlog_order_commits",
    witness=_reads_between_commits,
)
def readers_at_the_source_see_prefixes(history: History) -> tuple[GapSeen, ...]:
    """What a reader sees on the source is a prefix of its binary log: some replica's state."""
    return _found(history, GapSeen)


@always(
    of=commit_stages,
    source="START TRANSACTION WITH CONSISTENT SNAPSHOT; MDEV-7310",
    witness=_reads_at_source,
)
def snapshots_know_their_place(history: History) -> tuple[SnapshotMisplaced, ...]:
    """The binlog position that a snapshot is given is that of what it shows."""
    return _found(history, SnapshotMisplaced)


@always(
    of=commit_stages, source="MDEV-162, crash scenarios; xid recovery", witness=_source_recovers
)
def recovery_decides_by_the_binlog(history: History) -> tuple[RecoveredAgainstBinlog, ...]:
    """After a crash the engine has what the binary log has, and nothing else ever."""
    return _found(history, RecoveredAgainstBinlog)


@always(
    needs=(EventKind.DELIVERED,),
    of=commit_stages,
    source="sync_binlog=1; MDEV-162: it is synced before sending",
    witness=_something_is_received,
)
def replicas_are_never_ahead(history: History) -> tuple[Violation, ...]:
    """A replica receives only what the source has synced, and no recovery takes that back."""
    return _found(history, ReplicaAhead, ReplicaLeftAhead)


_RECEIPTS = (EventKind.DELIVERED, EventKind.ACKNOWLEDGED)


def _received_and_not_logged(history: History) -> Iterator[str]:
    """Yield what replicas receive that has no place in the source's log."""
    source = _source(history)
    log: set[TransactionId | None] = set()
    for event in history.events_of(EventKind.FLUSHED, EventKind.RECOVERED, *_RECEIPTS):
        if event.kind is EventKind.FLUSHED and event.member == source:
            log.add(event.transaction)
        elif event.kind is EventKind.RECOVERED and event.member == source:
            log = set(event.transactions)
        elif event.kind in _RECEIPTS and event.transaction not in log:
            yield f"no flushed of T{event.transaction} at {source}"


@always(
    gaps=(_received_and_not_logged,),
    of=commit_stages,
    source="the dump thread's position",
    witness=_something_is_received,
)
def replicas_receive_prefixes(history: History) -> tuple[TransactionPassedOver, ...]:
    """What a replica has received is a prefix of the source's binary log."""
    return _found(history, TransactionPassedOver)


@always(
    gaps=(fields(EventKind.FLUSHED, "gtid"),),
    of=commit_stages,
    source="MySQL bug 113489",
    witness=is_semi_sync,
)
def gtids_are_not_given_twice(history: History) -> tuple[GtidReused, ...]:
    """No GTID is given to a second transaction while a server has the first."""
    return _found(history, GtidReused)


@always(of=commit_stages, source="MDEV-21117; MySQL bug 99370", witness=_source_returns)
def returned_sources_have_nothing_extra(history: History) -> tuple[ExtraTransaction, ...]:
    """An old source that rejoins as a replica has no transaction that the new source lacks."""
    return _found(history, ExtraTransaction)


@always(
    of=commit_stages,
    source="MDEV-21117, MDEV-33465: init-rpl-role=SLAVE",
    witness=_source_was_ahead,
)
def source_is_refused_only_with_reason(history: History) -> tuple[RefusedWithoutReason, ...]:
    """The new source accepts a truncated old source, unless its engine has more."""
    return _found(history, RefusedWithoutReason)


def _something_is_prepared(history: History) -> bool:
    return bool({EventKind.PREPARED, EventKind.FLUSHED} & history.kinds)


@always(
    of=prepared_commits,
    source="MySQL bug 44058, point 5; MDEV-181",
    witness=_something_is_prepared,
)
def commits_reach_their_end(history: History) -> tuple[CommitStalled, ...]:
    """Every client gets its answer, unless the source is lost.

    On a simulated clock nothing is lost, and a stop does not excuse.
    """
    if not _something_is_prepared(history) or not history.is_complete:
        return ()
    stops = history.events_of(EventKind.STOPPED)
    ended = any(event.note not in NOT_AT_REST for event in stops)
    answered = {event.transaction for event in history.events_of(EventKind.CLIENT_ACKNOWLEDGED)}
    waiting = tuple(one.id for one in history.transactions if one.id not in answered)
    is_excused = ended and not (waiting and timed_stages(history))
    return () if is_excused else (CommitStalled(waiting=waiting),)


@always(
    of=commit_stages, source="MDEV-162, stages 1 to 4; MDEV-4698", witness=_something_is_delivered
)
def steps_run_out(history: History) -> tuple[StepTakenAgain, ...]:
    """No transaction is written, synced, received by a replica or committed twice.

    So every commit ends.
    """
    return _found(history, StepTakenAgain)
