"""Commit groups: they stay together, and meet only in the queues of the design."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.semi_sync.pace import MYSQL, UNORDERED
from paraply.properties.semi_sync.watch import Watch
from paraply.properties.vocabularies import commit_stages
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

_STAGES = (
    EventKind.FLUSHED,
    EventKind.SYNCED,
    EventKind.ENGINE_COMMITTED,
    EventKind.CLIENT_ACKNOWLEDGED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChanged(Violation):
    """A transaction is in another group than those with which it came to a stage."""

    transaction: TransactionId
    stage: EventKind
    group: int
    expected: int

    def __str__(self) -> str:
        return (
            f"T{self.transaction} was {self.stage.value} in group {self.group}; it came there in "
            f"group {self.expected}"
        )


def numbered_groups(history: History) -> bool:
    """A controlled source of a known design numbers its commit groups."""
    return (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and bool(history.header.dialect)
        and commit_stages(history)
        and any(event.group is not None for event in history.events_of(EventKind.FLUSHED))
    )


def _merging_stages(history: History) -> frozenset[EventKind]:
    """Return the stages before which the groups of the history's design queue."""
    if not history.header.dialect.startswith(MYSQL):
        return frozenset()
    queues = {EventKind.SYNCED, EventKind.ENGINE_COMMITTED}
    is_synced = EventKind.SYNCED in history.kinds
    if history.header.dialect == UNORDERED and is_synced:
        queues.discard(EventKind.ENGINE_COMMITTED)
    return frozenset(queues)


def _passages(history: History) -> Iterator[GroupChanged]:
    """Yield each transaction's group at a stage, and the one that is expected.

    Groups that come to one stage by a queue may be one there, by the leader's number.
    """
    merging = _merging_stages(history)
    last: dict[TransactionId, int] = {}
    leaders: dict[tuple[EventKind, int], int] = {}
    for event in history.events_of(*_STAGES, member=Watch.of(history).source):
        one, group = event.transaction, event.group
        if one is None or group is None:
            continue
        before = last.get(one)
        last[one] = group
        if before is not None:
            is_queue = event.kind in merging
            # Who came in one group stays in one group.
            expected = leaders.setdefault((event.kind, before), group) if is_queue else before
            yield GroupChanged(transaction=one, stage=event.kind, group=group, expected=expected)


def _without_flush(history: History) -> Iterator[str]:
    """Yield transactions that come to a later stage in a group that is not recorded."""
    known: set[TransactionId] = set()
    for event in history.events_of(*_STAGES, member=Watch.of(history).source):
        one = event.transaction
        if one is not None and event.group is not None:
            if one not in known and event.kind is not EventKind.FLUSHED:
                yield f"no flushed of T{one} in a group"
            known.add(one)


@always(
    gaps=(_without_flush,),
    of=numbered_groups,
    source="MDEV-162: a whole group waits once; MYSQL_BIN_LOG::ordered_commit: "
    "opt_binlog_order_commits",
    witness=lambda history: sum(1 for _ in _passages(history)),
)
def commit_groups_meet_only_in_queues(history: History) -> tuple[GroupChanged, ...]:
    """Transactions of a group stay together, and groups become one only where they queue.

    MySQL's groups queue for the sync, and for the engine commit if binlog_order_commits is ON.
    """
    return tuple(one for one in _passages(history) if one.group != one.expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedUnasked(Violation):
    """A source syncs its log although sync_binlog=0."""

    transaction: TransactionId

    def __str__(self) -> str:
        return f"the source synced T{self.transaction}, and sync_binlog is 0"


def unsynced_logs(history: History) -> bool:
    """A controlled source leaves the sync of its log to the operating system."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and commit_stages(history) and not Watch.of(history).is_synced


@always(
    of=unsynced_logs,
    source="sync_binlog=0: the server does not sync its binary log",
    witness=lambda history: sum(1 for _ in history.events_of(EventKind.FLUSHED)),
    is_safety=False,
)
def logs_are_synced_only_if_configured(history: History) -> tuple[SyncedUnasked, ...]:
    """With sync_binlog=0 a source does not sync what it writes to its binary log."""
    return tuple(
        SyncedUnasked(transaction=event.transaction)
        for event in history.events_of(EventKind.SYNCED, member=Watch.of(history).source)
        if event.transaction is not None
    )
