"""What a replica writes to its own binary log (log_replica_updates)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import RESTARTS
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import attempts_of_workers, relay_log
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

WITHOUT_LOG = "without_binlog"
"""End of dialects whose replicas write no binary log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotLogged(Violation):
    """A replica that logs leaves a transaction out."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} committed T{self.transaction} and went on without logging it"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedUnasked(Violation):
    """A replica without a binary log writes one."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} logged T{self.transaction}, and is to write no log"


def logging_replicas(history: History) -> bool:
    """Workers of a controlled run's replicas commit, and log or are stated not to."""
    is_stated = EventKind.FLUSHED in history.kinds or _is_without_log(history)
    return is_stated and attempts_of_workers(history) and relay_log(history)


def _is_without_log(history: History) -> bool:
    return history.header.dialect.endswith(WITHOUT_LOG)


def _left_out(history: History) -> Iterator[tuple[str, TransactionId, bool]]:
    """Yield each commit whose worker goes on, and whether it is logged.

    A crash or an error may come between the commit of what cannot be rolled back and the log.
    """
    logged: set[tuple[str, TransactionId]] = set()
    ended: dict[tuple[str, int], TransactionId] = {}
    for event in history.events:
        member, worker, one = event.member, event.worker, event.transaction
        if event.kind in RESTARTS:
            ended = {key: left for key, left in ended.items() if key[0] != member}
        elif event.kind is EventKind.STOPPED:
            for key in [key for key in ended if key[0] == member]:
                yield member, ended[key], (member, ended.pop(key)) in logged
        elif one is None:
            continue
        elif event.kind is EventKind.FLUSHED:
            logged.add((member, one))
        elif worker is not None and event.kind is EventKind.FAILED:
            ended.pop((member, worker), None)
        elif worker is not None and event.kind is EventKind.ENGINE_COMMITTED:
            ended[member, worker] = one
        elif worker is not None and event.kind is EventKind.BEGUN and (member, worker) in ended:
            left = ended.pop((member, worker))
            yield member, left, (member, left) in logged


@always(
    of=logging_replicas,
    source="log_slave_updates; log_replica_updates",
    witness=lambda history: sum(1 for _ in _left_out(history)),
)
def replicas_log_what_they_commit(history: History) -> tuple[Violation, ...]:
    """A replica logs each transaction before its worker goes on, or none if it keeps no log."""
    if _is_without_log(history):
        return tuple(
            LoggedUnasked(member=event.member, transaction=event.transaction)
            for event in history.events_of(EventKind.FLUSHED)
            if event.transaction is not None
        )
    return tuple(
        NotLogged(member=member, transaction=one)
        for member, one, is_logged in _left_out(history)
        if not is_logged
    )


UNSYNCED = "unsynced"
"""Part of dialects whose replicas do not sync their binary log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedUnasked(Violation):
    """A replica syncs a log that it is to leave to the operating system."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} synced T{self.transaction} to its log, and is to sync nothing"


def unsynced_logs(history: History) -> bool:
    """Replicas of a controlled run log, and are stated to sync nothing."""
    return UNSYNCED in history.header.dialect and logging_replicas(history)


@always(
    of=unsynced_logs,
    source="sync_binlog=0",
    witness=lambda history: sum(1 for _ in history.events_of(EventKind.FLUSHED)),
    is_safety=False,
)
def unsynced_logs_cost_no_sync(history: History) -> tuple[SyncedUnasked, ...]:
    """With sync_binlog=0 no commit waits for a sync of the log."""
    return tuple(
        SyncedUnasked(member=event.member, transaction=event.transaction)
        for event in history.events_of(EventKind.SYNCED)
        if event.transaction is not None
    )
