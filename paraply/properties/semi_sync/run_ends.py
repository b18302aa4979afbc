"""The end of a run: what a source that stays up has left undone, and why it comes to no rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import is_rest
from paraply.properties.registry import Violation, always
from paraply.properties.semi_sync.breaches import CommitStalled
from paraply.properties.semi_sync.shutdown import LOST_CLIENTS
from paraply.properties.semi_sync.watch import ReplicaSeen, Watch
from paraply.properties.vocabularies import commit_stages
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

LOCKS_THE_LOG = "dump_takes_lock_log"
"""Option: a group that waits under LOCK_log stops the dump threads."""
WAITS_FOR_REPLICAS = "shutdown_waits"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNotReceived(Violation):
    """A connected replica lacks a transaction, or the source its reply, and nothing follows."""

    member: str
    transaction: TransactionId
    is_received: bool

    def __str__(self) -> str:
        if self.is_received:
            return f"the source never heard that {self.member} had received T{self.transaction}"
        return f"{self.member}, which was connected, never received T{self.transaction}"


class StalledWithoutCause(CommitStalled):
    """A source comes to no rest although no commit waits for a replica."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLeftAtRest(Violation):
    """A source is at rest, and a client's transaction is not."""

    transaction: TransactionId
    is_prepared: bool

    def __str__(self) -> str:
        state = "prepared, and not answered" if self.is_prepared else "not even prepared"
        return f"the source is at rest, and T{self.transaction} is {state}"


@dataclass(slots=True)
class _End:
    """The last state of a source that is up."""

    watch: Watch
    is_at_rest: bool
    recovered: frozenset[TransactionId]
    """What the source found in its log after its last crash."""

    def follows(self, replica: ReplicaSeen) -> bool:
        """Return whether a replica is connected, with nothing that the source lacks."""
        return not replica.is_down and replica.having <= set(self.watch.log)

    def is_excused(self, history: History) -> bool:
        """Return whether a commit, a recovery or a shutdown may wait for replicas."""
        return self.waits_for_diverged(history) or self.lacks_replies()

    def waits_for_diverged(self, history: History) -> bool:
        """Return whether a shutdown waits for a replica with what the source lacks."""
        replicas = self.watch.replicas.values()
        diverges = any(not other.is_down and not self.follows(other) for other in replicas)
        return diverges and bool(history.header.options.get(WAITS_FOR_REPLICAS))

    def lacks_replies(self) -> bool:
        """Return whether a commit or a recovery may wait for replies."""
        watch = self.watch
        left = sum(not other.is_missed for other in watch.replicas.values())
        is_enough = watch.waits_without_replicas or left >= watch.required
        is_awaited = is_enough and not watch.is_off
        return any(
            (one in self.recovered or (is_awaited and one not in watch.abandoned))
            and watch.lacks_replies(one)
            for one in watch.log
        )


def ended_runs(history: History) -> bool:
    """A controlled run of a source goes on until nothing more can happen."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and history.is_complete and commit_stages(history)


def _end(history: History) -> _End | None:
    """Return the state at the end of a run, or nothing if the source is lost or down."""
    watch = Watch.of(history)
    is_up, is_at_rest, recovered = True, False, frozenset[TransactionId]()
    for event in history.events:
        for _ in watch.follow(event):
            pass
        if event.member != watch.source:
            continue
        is_at_rest = is_rest(event)
        if event.kind is EventKind.RECOVERED:
            is_up, recovered = True, frozenset(event.transactions)
        elif event.kind is EventKind.STARTED:
            is_up = True
        elif event.kind in (EventKind.CRASHED, EventKind.STOPPED):
            is_up = is_at_rest
    return _End(watch, is_at_rest, recovered) if is_up and watch.kept is None else None


def _receipts(history: History) -> Iterator[tuple[LogNotReceived, bool]]:
    """Yield what each connected replica should have at the end, and whether it has it."""
    end = _end(history)
    if end is None or (not end.is_at_rest and history.header.options.get(LOCKS_THE_LOG)):
        return
    watch = end.watch
    for name, replica in watch.replicas.items():
        for one in watch.log if end.follows(replica) else ():
            if one in watch.synced or not watch.is_synced:
                is_received = one in replica.having
                yield (
                    LogNotReceived(member=name, transaction=one, is_received=is_received),
                    is_received and one in replica.heard,
                )


@always(
    of=ended_runs,
    source="the dump thread sends up to binlog_end_pos; ReplSemiSyncSlave::slaveReply",
    witness=lambda history: sum(1 for _ in _receipts(history)),
    is_safety=False,
)
def connected_replicas_get_the_log(history: History) -> tuple[LogNotReceived, ...]:
    """Where nothing more can happen, connected replicas have acknowledged all that may be sent."""
    return tuple(lacking for lacking, has_it in _receipts(history) if not has_it)


def _is_without_replies(history: History) -> bool:
    """Return whether a source waits for running replicas, and no reply is recorded at all."""
    end = _end(history)
    if end is None or end.is_at_rest or EventKind.ACKNOWLEDGED in history.kinds:
        return False
    replicas = end.watch.replicas.values()
    is_explained = bool(replicas) and all(replica.is_down for replica in replicas)
    is_awaited = end.lacks_replies() and not end.waits_for_diverged(history)
    return is_awaited and not is_explained


def _unrecorded_replies(history: History) -> Iterator[str]:
    """Yield what lacks, unless the wait for a lock explains that no replica replied."""
    if _is_without_replies(history) and not history.header.options.get(LOCKS_THE_LOG):
        yield "no acknowledged events"


def _judged_end(history: History) -> bool:
    return _end(history) is not None and not _is_without_replies(history)


@always(
    gaps=(_unrecorded_replies,),
    of=ended_runs,
    source="MDEV-162, stage 3; rpl_semi_sync_master_wait_no_slave; MySQL bug 44058, point 5",
    witness=_judged_end,
)
def sources_stall_only_for_replicas(history: History) -> tuple[StalledWithoutCause, ...]:
    """A source at no rest has a commit, or a recovered one, for which too few replicas replied.

    Without wait_no_slave, no commit waits for more replicas than are connected; after a time-out,
    none waits. SHUTDOWN WAIT FOR ALL SLAVES also waits for a replica that has diverged.
    """
    end = _end(history)
    if end is None or end.is_at_rest or end.is_excused(history):
        return ()
    answered = {event.transaction for event in history.events_of(EventKind.CLIENT_ACKNOWLEDGED)}
    waiting = tuple(one.id for one in history.transactions if one.id not in answered)
    return (StalledWithoutCause(waiting=waiting),)


def _clients_at_rest(history: History) -> Iterator[tuple[ClientLeftAtRest, bool]]:
    """Yield the clients of a source that is at rest at the end, and whether each was served."""
    end = _end(history)
    if end is None or not end.is_at_rest:
        return
    prepared: set[TransactionId] = set()
    left: set[TransactionId] = set()
    for event in history.events:
        one = event.transaction
        if event.kind is EventKind.PREPARED and one is not None:
            prepared.add(one)
            left.add(one)
        elif event.kind is EventKind.CLIENT_ACKNOWLEDGED and one is not None:
            left.discard(one)
        elif event.note in LOST_CLIENTS or (
            event.kind is EventKind.CRASHED and event.member == end.watch.source
        ):
            left.clear()
    for one in (transaction.id for transaction in history.transactions):
        is_served = one in prepared and one not in left
        yield ClientLeftAtRest(transaction=one, is_prepared=one in prepared), is_served


@always(
    needs=(EventKind.PREPARED,),
    of=ended_runs,
    source="MDEV-162, stages 1 to 4",
    witness=lambda history: sum(1 for _ in _clients_at_rest(history)),
)
def sources_at_rest_have_served_their_clients(history: History) -> tuple[ClientLeftAtRest, ...]:
    """A source comes to rest when it has taken every client, and answered all it has not lost."""
    return tuple(left for left, is_served in _clients_at_rest(history) if not is_served)
