"""When a source logs, waits and rotates: at which stage of its transactions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.semi_sync.watch import Watch
from paraply.properties.vocabularies import commit_stages
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

AFTER_COMMIT = "after_commit"
"""Dialect: waits follow the engine commit. In all others they come before it."""
ROTATION_WAITS = "rotation_waits"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitMisplaced(Violation):
    """A wait ends before its stage, or after it."""

    transaction: TransactionId
    stage: str

    def __str__(self) -> str:
        return f"a wait of T{self.transaction} was abandoned, which was {self.stage}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedUnprepared(Violation):
    """A source logs what it has not prepared since its last start."""

    transaction: TransactionId

    def __str__(self) -> str:
        return f"the source logged T{self.transaction}, which it had not prepared since its start"


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedBesideCommit(Violation):
    """A rotation does not wait for a logged transaction."""

    transaction: TransactionId

    def __str__(self) -> str:
        return f"the log was rotated before T{self.transaction}, in it, had committed"


@dataclass(slots=True)
class _Progress:
    """What a source has done since its last start."""

    stages: dict[TransactionId, set[EventKind]]

    def follow(self, event: Event) -> None:
        if event.kind in (EventKind.CRASHED, EventKind.STARTED, EventKind.RECOVERED):
            self.stages.clear()
        elif event.transaction is not None:
            self.stages.setdefault(event.transaction, set()).add(event.kind)

    def of(self, event: Event) -> set[EventKind]:
        """Return the stages of an event's transaction before it."""
        one = event.transaction
        return self.stages.get(one, set()) if one is not None else set()


def _steps(history: History, kind: EventKind) -> Iterator[tuple[Event, _Progress]]:
    """Yield a source's events of a kind, and what it has done before."""
    progress, source = _Progress({}), Watch.of(history).source
    for event in history.events:
        if event.member == source:
            if event.kind is kind:
                yield event, progress
            progress.follow(event)


def controlled_sources(history: History) -> bool:
    """A source of a controlled run records its commit stages, from the first one on."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and EventKind.PREPARED in history.kinds and commit_stages(history)


def abandoned_waits(history: History) -> bool:
    """A source of a controlled run, whose dialect tells its wait point, gives waits up."""
    is_told = bool(history.header.dialect) and EventKind.WAIT_ABANDONED in history.kinds
    return is_told and controlled_sources(history)


def _abandoned(history: History) -> Iterator[tuple[TransactionId, str]]:
    """Yield abandoned waits, and the wrong stage of the transaction, if any."""
    is_late = history.header.dialect == AFTER_COMMIT
    is_synced = bool(history.header.options.get("sync_binlog", 1))
    for event, progress in _steps(history, EventKind.WAIT_ABANDONED):
        done = progress.of(event)
        stage = ""
        if (EventKind.ENGINE_COMMITTED in done) is not is_late:
            stage = "not committed" if is_late else "committed"
        elif is_synced and EventKind.SYNCED not in done:
            stage = "not synced"
        if event.transaction is not None:
            yield event.transaction, stage


@always(
    of=abandoned_waits,
    source="rpl_semi_sync_master_wait_point; MDEV-162, stage 3",
    witness=lambda history: sum(1 for _ in _abandoned(history)),
)
def waits_are_abandoned_at_the_wait_point(history: History) -> tuple[WaitMisplaced, ...]:
    """A wait is abandoned between sync and engine commit, or after both with after_commit."""
    return tuple(
        WaitMisplaced(transaction=one, stage=stage) for one, stage in _abandoned(history) if stage
    )


@always(
    of=controlled_sources,
    source="MDEV-162, crash recovery: what is prepared and not logged is rolled back",
    witness=lambda history: sum(1 for _ in _steps(history, EventKind.FLUSHED)),
)
def sources_log_what_they_have_prepared(history: History) -> tuple[LoggedUnprepared, ...]:
    """A source logs only transactions that it has prepared since its last start."""
    return tuple(
        LoggedUnprepared(transaction=event.transaction)
        for event, progress in _steps(history, EventKind.FLUSHED)
        if EventKind.PREPARED not in progress.of(event) and event.transaction is not None
    )


def waiting_rotations(history: History) -> bool:
    """Rotations of a source of a controlled run wait for logged transactions."""
    is_stated = history.header.options.get(ROTATION_WAITS) is True
    return is_stated and EventKind.RELAY_ROTATED in history.kinds and controlled_sources(history)


def _logged_at_rotations(history: History) -> Iterator[tuple[TransactionId, bool]]:
    """Yield what is logged when a source rotates its log, and whether it has committed."""
    for _, progress in _steps(history, EventKind.RELAY_ROTATED):
        for one, done in progress.stages.items():
            if EventKind.FLUSHED in done:
                yield one, EventKind.ENGINE_COMMITTED in done


@always(
    of=waiting_rotations,
    source="MYSQL_BIN_LOG::rotate waits for prepared XIDs; MDEV-181 ends that",
    witness=lambda history: sum(1 for _ in _logged_at_rotations(history)),
)
def rotations_wait_for_logged_commits(history: History) -> tuple[RotatedBesideCommit, ...]:
    """A rotation that waits ends when everything in the log has committed."""
    return tuple(
        RotatedBesideCommit(transaction=one)
        for one, has_committed in _logged_at_rotations(history)
        if not has_committed
    )
