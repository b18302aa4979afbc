"""When a source that numbers its transactions commits them, and when it begins the next file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import numbering_sources
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

_STEPS = (EventKind.FLUSHED, EventKind.ENGINE_COMMITTED, EventKind.RELAY_ROTATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOvertakes(Violation):
    """A source commits a transaction before one that it has logged earlier."""

    member: str
    transaction: TransactionId
    earlier: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} committed T{self.transaction} before T{self.earlier}, which comes "
            "first in its log"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEndsBeforeCommit(Violation):
    """A source begins a file while a transaction of the one before is uncommitted."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} began the next file of its log before it committed T{self.transaction}"
        )


def _pending(
    history: History, kind: EventKind
) -> Iterator[tuple[str, TransactionId | None, list[TransactionId]]]:
    """Yield a member's steps of a kind, each with what is logged and uncommitted before it."""
    pending: dict[str, list[TransactionId]] = {}
    for event in history.events_of(*_STEPS):
        left = pending.setdefault(event.member, [])
        if event.kind is kind:
            yield event.member, event.transaction, list(left)
        if event.kind is EventKind.FLUSHED and event.transaction is not None:
            left.append(event.transaction)
        elif event.kind is EventKind.ENGINE_COMMITTED and event.transaction in left:
            left.remove(event.transaction)


def _commits_beside_others(history: History) -> int:
    return sum(len(left) > 1 for _, _, left in _pending(history, EventKind.ENGINE_COMMITTED))


def numbered_commits(history: History) -> bool:
    """Sources of a controlled run number what they log, and commit one of several of it."""
    return numbering_sources(history) and _commits_beside_others(history) > 0


def numbered_files(history: History) -> bool:
    """Sources of a controlled run number what they log, and begin files."""
    return numbering_sources(history) and EventKind.RELAY_ROTATED in history.kinds


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=numbered_commits,
    source="MySQL manual, binlog_order_commits=ON; MYSQL_BIN_LOG::ordered_commit",
    witness=_commits_beside_others,
)
def numbering_sources_commit_in_log_order(history: History) -> tuple[CommitOvertakes, ...]:
    """A source that numbers its transactions commits them in the order of its log."""
    return tuple(
        CommitOvertakes(member=member, transaction=one, earlier=left[0])
        for member, one, left in _pending(history, EventKind.ENGINE_COMMITTED)
        if one is not None and one in left[1:]
    )


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=numbered_files,
    source="MYSQL_BIN_LOG::new_file_impl: waits for prepared XIDs, as recovery reads one file only",
    witness=lambda history: sum(1 for _ in _pending(history, EventKind.RELAY_ROTATED)),
)
def files_end_with_committed_transactions(history: History) -> tuple[FileEndsBeforeCommit, ...]:
    """A source that numbers its transactions begins a file when all in the one before committed."""
    return tuple(
        FileEndsBeforeCommit(member=member, transaction=left[0])
        for member, _, left in _pending(history, EventKind.RELAY_ROTATED)
        if left
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedNotCommitted(Violation):
    """A source that is up has logged a transaction, and never commits it."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} logged T{self.transaction} and never committed it in the engine"


def _logged(history: History) -> Iterator[tuple[LoggedNotCommitted, bool]]:
    """Yield what a source that is up at the end has logged, and whether it has committed that."""
    down: set[str] = set()
    logged: dict[tuple[str, TransactionId], bool] = {}
    for event in history.events if history.is_complete else ():
        one = event.transaction
        if event.kind is EventKind.CRASHED:
            down.add(event.member)
        elif one is not None and event.kind is EventKind.FLUSHED:
            logged[event.member, one] = False
        elif one is not None and event.kind is EventKind.ENGINE_COMMITTED:
            logged[event.member, one] = True
    for (member, one), is_committed in logged.items():
        if member not in down:
            yield LoggedNotCommitted(member=member, transaction=one), is_committed


def ended_sources(history: History) -> bool:
    """A controlled run of sources that number what they log has come to its end."""
    return numbering_sources(history) and history.is_complete


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=ended_sources,
    source="MYSQL_BIN_LOG::ordered_commit: the flush stage, then the commit stage",
    witness=lambda history: sum(1 for _ in _logged(history)),
)
def numbering_sources_commit_what_they_log(history: History) -> tuple[LoggedNotCommitted, ...]:
    """Where nothing more can happen, a source that did not crash has committed all it logged."""
    return tuple(lacking for lacking, is_committed in _logged(history) if not is_committed)


def several_sessions(history: History) -> bool:
    """Sources of a controlled run number what several sessions log."""
    sessions = {one.session for one in history.transactions}
    return len(sessions) > 1 and numbering_sources(history)


@sometimes(
    of=several_sessions,
    source="MYSQL_BIN_LOG::ordered_commit: a session may log while others commit",
)
def a_source_logs_beside_an_uncommitted_one(history: History) -> bool:
    """A source logged a transaction when it had not committed another one that it had logged."""
    return any(left for _, _, left in _pending(history, EventKind.FLUSHED))


def ordered_rotations(history: History) -> bool:
    """Sources of a controlled run number several transactions, and may begin files."""
    may_rotate = bool(history.header.options.get("rotations"))
    return may_rotate and len(history.transactions) > 1 and numbering_sources(history)


@sometimes(of=ordered_rotations, source="FLUSH BINARY LOGS; max_binlog_size")
def a_source_begins_a_file(history: History) -> bool:
    """A source began the next file of its log, though sessions went on."""
    steps = list(history.events_of(EventKind.FLUSHED, EventKind.RELAY_ROTATED))
    kinds = [event.kind for event in steps]
    return (EventKind.RELAY_ROTATED, EventKind.FLUSHED) in pairwise(kinds)
