"""How far a saved position may stay behind what has committed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import ApplyStream, apply_streams
from paraply.properties.registry import Exemption, Violation, always
from paraply.properties.vocabularies import applied
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionStays(Violation):
    """A saved position lacks long committed transactions."""

    member: str
    covered: int
    committed: int
    slack: int

    def __str__(self) -> str:
        return (
            f"{self.member} saved a position of {self.covered} transactions when all up to the "
            f"{self.committed}th had committed; it may lack {self.slack}"
        )


def saves_sets(history: History) -> bool:
    """Appliers of a controlled run save sets of transactions, which may be empty."""
    saved = list(history.events_of(EventKind.POSITION_SAVED))
    is_set = all(not event.gtid_set and not event.position for event in saved)
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return bool(saved) and is_set and is_exact and applied(history)


def _job_size(history: History) -> int:
    """Return how many transactions the largest job merges."""
    return max((len(one.transactions) for one in history.events_of(EventKind.BEGUN)), default=0)


def _counts_jobs(history: History) -> bool:
    return _job_size(history) > 1 and history.header.options.get("watermark") != "exact"


def _positions_follow(history: History) -> int:
    return sum(_slack(history) < committed for _, _, committed in _saved(history))


def _slack(history: History) -> int:
    """Return how many committed transactions may count as open: one job for each worker."""
    return _workers(history) * max(1, _job_size(history))


def _workers(history: History) -> int:
    # Without workers the coordinator is one.
    return max(1, int(history.header.options.get("workers", 0)))


def _saved(history: History) -> Iterator[tuple[ApplyStream, int, int]]:
    """Yield transactions saved and committed without a hole, before any crash."""
    log = [one.id for one in history.transactions]
    for stream in apply_streams(history):
        committed: set[TransactionId] = set()
        prefix = 0
        for _, event in stream.events:
            if event.kind is EventKind.CRASHED:
                break
            if event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
                committed.add(event.transaction)
                while prefix < len(log) and log[prefix] in committed:
                    prefix += 1
            elif event.kind is EventKind.POSITION_SAVED:
                yield stream, len(event.transactions), prefix


@always(
    of=saves_sets,
    source="WL#4648, internal requirements: rli info is updated; mts_checkpoint_routine",
    witness=_positions_follow,
    exemptions=(
        Exemption(
            applies=_counts_jobs,
            because="the pseudo-code of WL#4648 counts jobs, and C4 merges transactions into them",
        ),
    ),
    is_safety=False,
)
def saved_positions_keep_up(history: History) -> tuple[PositionStays, ...]:
    """A saved position lacks at most one committed transaction, or merged job, per worker.

    It counts those before which all have committed. Otherwise a restart repeats them.
    """
    slack = _slack(history)
    return tuple(
        PositionStays(member=stream.member, covered=covered, committed=committed, slack=slack)
        for stream, covered, committed in _saved(history)
        if covered < committed - slack
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTooEarly(Violation):
    """A position is saved when too few commits are new."""

    member: str
    new: int
    least: int

    def __str__(self) -> str:
        return f"{self.member} saved a position after {self.new} new commits; {self.least} are due"


def has_watermark(history: History) -> bool:
    """Appliers save the exact commit watermark."""
    return history.header.options.get("watermark") == "exact" and saves_sets(history)


def _new_commits(history: History) -> Iterator[SavedTooEarly]:
    """Yield how many commits each position is saved after, before any crash."""
    for stream in apply_streams(history):
        committed: set[TransactionId] = set()
        covered = 0
        for _, event in stream.events:
            if event.kind is EventKind.CRASHED:
                break
            if event.kind is EventKind.ENGINE_COMMITTED and event.transaction is not None:
                committed.add(event.transaction)
            elif event.kind is EventKind.POSITION_SAVED:
                new = len(committed) - covered
                yield SavedTooEarly(member=stream.member, new=new, least=_workers(history))
                covered = len(event.transactions)


@always(
    of=has_watermark,
    source="WL#4648, internal requirements: rli info is updated each |W| commits",
    witness=lambda history: sum(1 for _ in _new_commits(history)),
    is_safety=False,
)
def positions_are_saved_when_due(history: History) -> tuple[SavedTooEarly, ...]:
    """A position is saved when one commit per worker is not in the last one."""
    return tuple(one for one in _new_commits(history) if one.new < one.least)


_READS = frozenset({EventKind.SCHEDULED, EventKind.SKIPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAgain(Violation):
    """A restart reads a transaction that the saved position covers."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} read T{self.transaction} again, which its saved position covers"


def resumes_at_positions(history: History) -> bool:
    """Appliers of a controlled run resume at the position that they saved."""
    return history.header.options.get("recovery") == "positions" and saves_sets(history)


def _read_after_crashes(history: History) -> Iterator[tuple[ApplyStream, TransactionId, bool]]:
    """Yield transactions read after a crash, and whether the saved position covers them."""
    if not resumes_at_positions(history):
        return
    for stream in apply_streams(history):
        saved: frozenset[TransactionId] = frozenset()
        covered: frozenset[TransactionId] | None = None
        for _, event in stream.events:
            if event.kind is EventKind.POSITION_SAVED:
                saved = frozenset(event.transactions)
            elif event.kind is EventKind.CRASHED:
                covered = saved
            elif event.kind in _READS and covered and event.transaction is not None:
                yield stream, event.transaction, event.transaction in covered


@always(
    of=resumes_at_positions,
    source="mts_recovery_groups: recovery begins at the checkpoint",
    witness=lambda history: sum(1 for _ in _read_after_crashes(history)),
    is_safety=False,
)
def restarts_begin_after_the_saved_position(history: History) -> tuple[ReadAgain, ...]:
    """After a crash, an applier that resumes at positions reads nothing that they cover."""
    return tuple(
        ReadAgain(member=stream.member, transaction=one)
        for stream, one, is_covered in _read_after_crashes(history)
        if is_covered
    )
