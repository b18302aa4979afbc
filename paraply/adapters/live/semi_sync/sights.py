"""Make a history of what was seen of a source, in the order in which it was seen.

A replica's acknowledgement is seen before the source gets it. What the source sends is seen after
it was synced, a read and an answer after they were made. So what must come before an engine commit
is seen before what shows it. A flush is put right before the first event that needs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from paraply.adapters.live.observed import Tag
from paraply.adapters.live.source_log import SourceLog
from paraply.adapters.live.translation import SOURCE, Run, base_name, commit_groups
from paraply.vocabulary.events import Event, EventKind, Observation
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import TransactionId

REPLICA = "replica1"
_ACK_MAGIC = b"\xef"
_DUMPS = (0x12, 0x1E)
"""COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID."""
_HEAD_BYTES = 4
_POSITION_BYTES = 8
_HEADER_BYTES, _TYPE_AT, _END_AT = 19, 4, 13
"""Of a binary log event."""
_ROTATE = 4
_LOG_FILE = re.compile(rb"[\w-]+\.[0-9]{6}")
_UNTIMED = LogicalTime(0)


class SightKind(Enum):
    """Kinds of sights."""

    SENT = "sent"
    RECEIVED = "received"
    READ = "read"
    ANSWERED = "answered"
    RESTARTED = "restarted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One thing that was seen.

    Attributes:
        tags: of the transactions that a reader sees or a client has an answer for.
        file: the file of the source's binary log that is sent or acknowledged, up to ``offset``;
            of a restart, the last file before it.
    """

    kind: SightKind
    tags: frozenset[Tag] = frozenset()
    file: str = ""
    offset: int = 0
    note: str = ""


@dataclass(slots=True)
class DumpReader:
    """Reads both directions of a connection that a replica receives a binary log on."""

    is_dumping: bool = False
    _file: str = ""
    _rest: dict[bool, bytearray] = field(
        default_factory=lambda: {True: bytearray(), False: bytearray()}
    )

    def take(self, is_replica: bool, data: bytes) -> Iterator[Sight]:
        """Yield what is acknowledged, if the replica speaks, or what is sent."""
        for body in _packets(self._rest[is_replica], data):
            if is_replica and body[:1] and body[0] in _DUMPS:
                self.is_dumping = True
            elif is_replica and self.is_dumping and body[:1] == _ACK_MAGIC:
                offset = int.from_bytes(body[1 : 1 + _POSITION_BYTES], "little")
                file = body[1 + _POSITION_BYTES :].rstrip(b"\0").decode()
                yield Sight(kind=SightKind.RECEIVED, file=file, offset=offset)
            elif not is_replica and self.is_dumping and body[:1] == b"\0":
                yield from self._sent(body[3:] if body[1:2] == _ACK_MAGIC else body[1:])

    def _sent(self, event: bytes) -> Iterator[Sight]:
        if len(event) < _HEADER_BYTES:
            return
        named = _LOG_FILE.search(event, _HEADER_BYTES + _POSITION_BYTES)
        if event[_TYPE_AT] == _ROTATE:
            self._file = named[0].decode() if named else ""
            return
        offset = int.from_bytes(event[_END_AT : _END_AT + 4], "little")
        if offset:
            yield Sight(kind=SightKind.SENT, file=self._file, offset=offset)


def _packets(rest: bytearray, data: bytes) -> Iterator[bytes]:
    rest += data
    while len(rest) >= _HEAD_BYTES:
        end = _HEAD_BYTES + int.from_bytes(rest[:3], "little")
        if len(rest) < end:
            return
        yield bytes(rest[_HEAD_BYTES:end])
        del rest[:end]


def seen_history(
    run: Run, log: SourceLog, logged: Sequence[LoggedTransaction], sights: Iterable[Sight]
) -> History:
    """Return the history of a source whose ``logged`` transactions are those of ``log``."""
    story = _Story(log, logged)
    events = [event for sight in sights for event in story.events(sight)]
    return run.history((SOURCE, REPLICA), log.transactions, events, tier=EvidenceTier.COMMIT_ORDER)


class _Story:
    def __init__(self, log: SourceLog, logged: Sequence[LoggedTransaction]) -> None:
        self.log = log
        self.ids = [one.id for one in log.transactions]
        self.places = {one: place for place, one in enumerate(self.ids)}
        self.ends = [(base_name(one.start.file), one.end_offset) for one in logged]
        self.groups = commit_groups([one.commit_id for one in log.transactions])
        self.flushed = self.received = 0

    def events(self, sight: Sight) -> Iterator[Event]:
        ids = sorted(self.log.tags[tag] for tag in sight.tags if tag in self.log.tags)
        match sight.kind:
            case SightKind.SENT:
                yield from self._flush(self._count(sight))
            case SightKind.RECEIVED:
                count = self._count(sight)
                yield from self._flush(count)
                for one in self.ids[self.received : count]:
                    yield self._event(EventKind.ACKNOWLEDGED, REPLICA, transaction=one)
                self.received = max(self.received, count)
            case SightKind.READ:
                yield from self._flush_all(ids)
                seen = tuple(Observation(f"journal({one})", one) for one in ids)
                if seen:
                    yield self._event(EventKind.READ, session="reader", observed=seen)
            case SightKind.ANSWERED:
                yield from self._flush_all(ids)
                for one in ids:
                    yield self._event(EventKind.CLIENT_ACKNOWLEDGED, transaction=one)
            case SightKind.RESTARTED:
                count = sum(file <= base_name(sight.file) for file, _ in self.ends)
                yield from self._flush(count)
                yield self._event(EventKind.CRASHED)
                kept = tuple(self.ids[:count])
                yield self._event(EventKind.RECOVERED, transactions=kept, note=sight.note)

    def _count(self, sight: Sight) -> int:
        """Return how many transactions end at a place in the log, or before."""
        position = (base_name(sight.file), sight.offset)
        return sum(end <= position for end in self.ends)

    def _flush_all(self, ids: Iterable[TransactionId]) -> Iterator[Event]:
        yield from self._flush(max((self.places[one] + 1 for one in ids), default=0))

    def _flush(self, count: int) -> Iterator[Event]:
        """Flush and sync whole groups until ``count`` transactions are."""
        while self.flushed < count:
            group = self.groups[self.flushed]
            end = self.flushed + self.groups[self.flushed :].count(group)
            for kind in (EventKind.FLUSHED, EventKind.SYNCED):
                for one in self.log.transactions[self.flushed : end]:
                    gtid = one.gtid if kind is EventKind.FLUSHED else ""
                    yield self._event(kind, transaction=one.id, group=group, gtid=gtid)
            self.flushed = end

    def _event(self, kind: EventKind, member: str = SOURCE, **fields: object) -> Event:
        return Event(kind=kind, time=_UNTIMED, member=member, **fields)  # type: ignore[arg-type]
