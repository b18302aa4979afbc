"""Translate each member's log and snapshots into events in its own order.

Logs lack commit times; the binary log has the order. A transaction's snapshot is its origin's
executed set at sending time. The origin had committed this set, and all that precedes it in its
log, before certification. The journal places reads (``paraply.adapters.live.translation``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from paraply.adapters.live.observed import Member, Snapshot
from paraply.adapters.live.source_log import Keys, SourceLog, numbered_log
from paraply.adapters.live.translation import MemberStory
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.group_trace import MemberUuid, TransactionDelivered
from paraply.vocabulary.gtid_set import Gtid, GtidSet
from paraply.vocabulary.gtid_set_text import parse_gtid
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item, WriteSet


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSeen:
    """Observations of the members beside deliveries."""

    statements: Sequence[str] = ()
    witness: MemberUuid = ""
    """A member that never left."""
    logs: Mapping[MemberUuid, Sequence[LoggedTransaction]] = field(default_factory=dict)
    snapshots: Mapping[MemberUuid, Sequence[Snapshot]] = field(default_factory=dict)
    finals: Mapping[MemberUuid, Snapshot] = field(default_factory=dict)


NOTHING_SEEN = GroupSeen()
"""Without logs and snapshots."""


class _OwnOrder(MemberStory):
    @cached_property
    def reads(self) -> Mapping[int, Sequence[Event]]:
        return self._by_place()

    @cached_property
    def _tagged(self) -> list[TransactionId]:
        return [one for one in self.order if one in self.log.tag_of]

    def commit(self, place: int) -> Iterator[Event]:
        yield from self._engine_commit(place, {})


class MemberCommits:
    """One member's commits and snapshots, as late as possible."""

    def __init__(self, name: str, story: _OwnOrder | None) -> None:
        self._name = name
        self._story = story
        self._told = 0
        self._has_begun = False
        self._pending: dict[Gtid, TransactionId] = {}
        order = [] if story is None else story.order
        self._places = {one: place for place, one in enumerate(order)}
        self._order = order

    def decide(self, gtid: Gtid, transaction: TransactionId) -> None:
        """Record a certified transaction."""
        self._pending[gtid] = transaction

    def executed(self, executed: GtidSet) -> Iterator[Event]:
        """Yield an executed set's commits."""
        seen = [gtid for gtid in self._pending if gtid in executed]
        found = [self._pending.pop(gtid) for gtid in seen]
        if self._story is not None:
            yield from self._until(max((self._places.get(one, -1) for one in found), default=-1))
            return
        for one in found:
            yield Event(
                kind=EventKind.ENGINE_COMMITTED,
                time=LogicalTime(0),
                member=self._name,
                transaction=one,
            )

    def rest(self) -> Iterator[Event]:
        """Yield the remaining events."""
        yield from self._until(len(self._order) - 1)

    def _until(self, last: int) -> Iterator[Event]:
        if self._story is None:
            return
        if not self._has_begun:
            self._has_begun = True
            yield from self._story.reads.get(0, ())
        while self._told <= last:
            yield from self._story.commit(self._told)
            self._told += 1
            yield from self._story.reads.get(self._told, ())


class GroupRows:
    """A group's written rows and members' stories."""

    def __init__(self, seen: GroupSeen, delivered: Sequence[TransactionDelivered]) -> None:
        self._seen = seen
        self._ids = {
            decision.gtid: TransactionId(number)
            for number, step in enumerate(delivered, 1)
            for decision in step.decided.values()
        }
        self._keys = Keys(seen.statements)
        log = [one for one in seen.logs.get(seen.witness, ()) if one.gtid]
        found = ((self._ids.get(parse_gtid(one.gtid)), one) for one in log)
        known = [(number, one) for number, one in found if number is not None]
        # The certification order gives the writers of a row in order at every member.
        self._log = numbered_log(sorted(known, key=lambda each: each[0]), self._keys, origin="")
        _forget_set_up(self._log)
        self._rows: dict[TransactionId, set[Item]] = {}
        for item, versions in self._log.writers.items():
            for writer, _ in versions:
                self._rows.setdefault(writer, set()).add(item)
        self._stories: dict[MemberUuid, _OwnOrder] = {}

    def rows_of(self, transaction: TransactionId) -> WriteSet:
        """Return a transaction's keyed rows."""
        return frozenset(self._rows.get(transaction, ()))

    def story_of(self, uuid: MemberUuid, name: str) -> _OwnOrder | None:
        """Return a member's story, None without log."""
        if uuid not in self._seen.logs:
            return None
        member = Member(
            name=name,
            log=self._seen.logs[uuid],
            snapshots=list(self._seen.snapshots.get(uuid, ())),
        )
        return self._stories.setdefault(uuid, _OwnOrder(self._log, member, self._keys))

    def final_read(self, uuid: MemberUuid) -> Iterator[Event]:
        """Yield a resting member's snapshot, if any."""
        if uuid in self._seen.finals and uuid in self._stories:
            yield self._stories[uuid].read(self._seen.finals[uuid], lambda _: True)


def _forget_set_up(log: SourceLog) -> None:
    """Untagged rows are the initial state."""
    for item, versions in log.writers.items():
        if versions[0][0] not in log.tag_of:
            log.inserted_first.discard(item)
        versions[:] = [version for version in versions if version[0] in log.tag_of]
