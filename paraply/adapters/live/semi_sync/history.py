"""Translate a semi-synchronous run into a history.

Receipts are observable, acknowledgement times are not. The acknowledgement is placed right after
the flush, so that every received transaction counts as acknowledged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from paraply.adapters.live.observed import Tag
from paraply.adapters.live.source_log import SourceLog
from paraply.adapters.live.translation import SOURCE, Run, base_name
from paraply.vocabulary.events import Event, EventKind, Observation
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import TransactionId

PROMOTED = "promoted"
LOST = "lost"


class MomentKind(Enum):
    """Kinds of moments."""

    READ = "read"
    CONFIRMED = "confirmed"
    ABANDONED = "abandoned"
    RESTARTED = "restarted"
    LOST = "lost"
    PROMOTED = "promoted"
    REPLICA_CRASHED = "replica_crashed"
    REPLICA_BACK = "replica_back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One observation or action."""

    kind: MomentKind
    tags: frozenset[Tag] = frozenset()
    """The journal's for a read or promotion."""
    file: str = ""
    offset: int = 0
    """In the source's binary log."""
    executed: str = ""
    """The source's set just before a read."""
    note: str = ""
    member: str = SOURCE


def semi_sync_history(
    run: Run,
    log: SourceLog,
    logged: Sequence[LoggedTransaction],
    moments: Sequence[Moment],
    received: dict[str, frozenset[Tag]],
) -> History:
    """Return the history; ``received`` has each replica's relay log."""
    events = list(_flushed(log, received))
    events += _Story(log, logged).events(moments)
    return run.history(
        (SOURCE, *received), log.transactions, events, tier=EvidenceTier.COMMIT_ORDER
    )


def _flushed(log: SourceLog, received: dict[str, frozenset[Tag]]) -> Iterator[Event]:
    untimed = LogicalTime(0)
    for one in log.transactions:
        for kind in (EventKind.FLUSHED, EventKind.SYNCED):
            gtid = one.gtid if kind is EventKind.FLUSHED else ""
            yield Event(kind=kind, time=untimed, member=SOURCE, transaction=one.id, gtid=gtid)
        for replica, tags in received.items():
            if log.tag_of.get(one.id) in tags:
                yield Event(
                    kind=EventKind.ACKNOWLEDGED, time=untimed, member=replica, transaction=one.id
                )


class _Story:
    def __init__(self, log: SourceLog, logged: Sequence[LoggedTransaction]) -> None:
        self.log = log
        self.ends = [(base_name(one.start.file), one.end_offset) for one in logged]
        self.committed: set[TransactionId] = set()

    def events(self, moments: Sequence[Moment]) -> Iterator[Event]:
        for moment in moments:
            yield from self._moment(moment)

    def _moment(self, moment: Moment) -> Iterator[Event]:
        untimed = LogicalTime(0)
        ids = sorted(self.log.tags[tag] for tag in moment.tags if tag in self.log.tags)
        match moment.kind:
            case MomentKind.READ | MomentKind.PROMOTED:
                is_promoted = moment.kind is MomentKind.PROMOTED
                if not is_promoted:
                    yield from self._seen(ids)
                yield Event(
                    kind=EventKind.READ,
                    time=untimed,
                    member=moment.member,
                    session=PROMOTED if is_promoted else "reader",
                    observed=tuple(Observation(f"journal({one})", one) for one in ids),
                    position=str(self._place(moment)) if moment.file else "",
                    gtid_set=moment.executed,
                )
            case MomentKind.CONFIRMED | MomentKind.ABANDONED:
                kind = (
                    EventKind.CLIENT_ACKNOWLEDGED
                    if moment.kind is MomentKind.CONFIRMED
                    else EventKind.WAIT_ABANDONED
                )
                for one in ids:
                    yield Event(
                        kind=kind, time=untimed, member=SOURCE, transaction=one, note=moment.note
                    )
            case MomentKind.RESTARTED:
                everything = tuple(one.id for one in self.log.transactions)
                yield Event(kind=EventKind.CRASHED, time=untimed, member=SOURCE)
                yield Event(
                    kind=EventKind.RECOVERED, time=untimed, member=SOURCE, transactions=everything
                )
            case MomentKind.REPLICA_CRASHED:
                yield Event(kind=EventKind.CRASHED, time=untimed, member=moment.member)
            case MomentKind.REPLICA_BACK:
                yield Event(
                    kind=EventKind.RECOVERED,
                    time=untimed,
                    member=moment.member,
                    transactions=tuple(ids),
                )
            case MomentKind.LOST:
                yield Event(kind=EventKind.CRASHED, time=untimed, member=SOURCE, note=LOST)

    def _seen(self, ids: Sequence[TransactionId]) -> Iterator[Event]:
        for one in ids:
            if one not in self.committed:
                self.committed.add(one)
                yield Event(
                    kind=EventKind.ENGINE_COMMITTED,
                    time=LogicalTime(0),
                    member=SOURCE,
                    transaction=one,
                )

    def _place(self, moment: Moment) -> int:
        position = (base_name(moment.file), moment.offset)
        return sum(end <= position for end in self.ends)
