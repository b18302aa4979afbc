"""A MariaDB replica's commit queue: who goes with the leader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from paraply.properties.apply.commit_groups import counted_groups
from paraply.properties.apply.mariadb.speculation import ONE_ORDER, eager_workers, undone_next
from paraply.properties.apply.stream import ApplyStream, apply_streams
from paraply.properties.gtid.histories import has_domains
from paraply.properties.registry import Violation, always
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId, TransactionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind(Violation):
    """A leader writes without a transaction whose turn it is."""

    member: str
    transaction: TransactionId
    written: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member}: T{self.transaction} had started to commit, all before it was "
            f"written, and the leader wrote T{self.written} without it"
        )


@dataclass(slots=True)
class _Queue:
    """What has started to commit since the last start, and what is written."""

    before: dict[TransactionId, TransactionId | None] = field(default_factory=dict)
    """Transaction -> the one before it in its order, if any since the start."""
    last: dict[int | None, TransactionId] = field(default_factory=dict)
    started: set[TransactionId] = field(default_factory=set)
    written: set[TransactionId] = field(default_factory=set)

    def left_behind(self) -> list[TransactionId]:
        """Return what has started to commit, and only waits for what is written."""
        return sorted(
            one
            for one in self.started - self.written
            if one in self.before and self.before[one] in {None, *self.written}
        )


def _writes(history: History) -> Iterator[tuple[ApplyStream, Event, list[TransactionId]]]:
    """Yield what leaders write beside what else has started to commit, and what is left behind."""
    has_one_order = history.header.dialect.startswith(ONE_ORDER)
    given = EventKind.SCHEDULED if EventKind.SCHEDULED in history.kinds else EventKind.BEGUN
    for stream in apply_streams(history):
        undone, queue = undone_next(stream), _Queue()
        for (kind, _), events in groupby(stream.events, key=lambda one: (one[1].kind, one[1].time)):
            is_beside = bool(queue.started - queue.written)
            for place, event in events:
                one = event.transaction
                if kind in (EventKind.STARTED, EventKind.CRASHED):
                    queue = _Queue()
                elif one is None:
                    continue
                elif kind is given and event.attempt == 1:
                    order = None if has_one_order else history.transaction(one).domain
                    queue.before[one] = queue.last.get(order)
                    queue.last[order] = one
                elif kind is EventKind.PREPARED and place not in undone:
                    queue.started.add(one)
                elif kind is EventKind.FLUSHED:
                    queue.written.add(one)
            # A DDL writes itself.
            is_leader = history.transaction(one).kind is not TransactionKind.DDL if one else False
            if kind is EventKind.FLUSHED and is_beside and is_leader:
                yield stream, event, queue.left_behind()


def eager_leaders(history: History) -> bool:
    """Leaders of a controlled MariaDB replica write without delay what they may write."""
    return eager_workers(history) or (
        history.header.tier is EvidenceTier.CONTROLLED_RUN
        and has_domains(history)
        and counted_groups(history)
        and EventKind.SCHEDULED not in history.kinds
    )


@always(
    of=eager_leaders,
    source="queue_for_group_commit; wait_for_prior_commit: a predecessor in the queue is enough",
    witness=lambda history: sum(1 for _ in _writes(history)),
    is_safety=False,
)
def leaders_take_all_that_wait(history: History) -> tuple[LeftBehind, ...]:
    """A leader writes all that has started to commit, if what is before it is written with it.

    The one before may also be written already; it need not have committed in the engine.
    """
    return tuple(
        LeftBehind(member=stream.member, transaction=one, written=event.transaction)
        for stream, event, left in _writes(history)
        for one in left
        if event.transaction is not None
    )
