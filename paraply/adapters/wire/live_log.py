"""The log of a running server as it flows through the gate to a program.

The transactions of a case are held group by group, with the case's timestamps. All other events
pass in their place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paraply.adapters.binlog.rewriting import FORMAT_DESCRIPTION, RawEvent, raw_event, repacked
from paraply.adapters.conformance.source import EntryKind, SourceLog
from paraply.adapters.wire.case_logs import clock_of, with_clock, with_commit_id
from paraply.adapters.wire.served_log import Group, ends_group, gtid_of, is_standalone
from paraply.vocabulary.transactions import Transaction

_TABLE_MAP = 19
_NAMES_AT = 8


@dataclass(frozen=True, slots=True)
class _Stamped:
    file: int
    transaction: Transaction


@dataclass(slots=True)
class LiveLog:
    """Which groups of a server's log are the case's, and their timestamps.

    Attributes:
        tables: source tables of the case; a group that changes one is held.
        seen: groups of the case that some dump received.
    """

    tables: frozenset[str]
    _stamps: list[_Stamped] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _sequence_numbers: list[int] = field(default_factory=list)

    @classmethod
    def of_case(cls, log: SourceLog) -> LiveLog:
        """Return the live log of a case that is to run on the server."""
        found, file = [], 0
        for entry in log.entries:
            file += entry.kind is EntryKind.ROTATE
            if entry.transaction is not None:
                found.append(_Stamped(file, entry.transaction))
        tables = frozenset(row.table for one in found for row in one.transaction.rows)
        return cls(tables, found)

    @property
    def seen(self) -> int:
        """Return the number of groups that a dump has received."""
        return len(self._numbers)

    @property
    def length(self) -> int:
        """Return the number of the case's transactions."""
        return len(self._stamps)

    def number_of(self, gtid: str, first: RawEvent) -> int:
        """Return a group's place in the case, from 1."""
        if gtid not in self._numbers:
            self._numbers[gtid] = len(self._numbers) + 1
            self._sequence_numbers.append(clock_of(first)[1])
        return self._numbers[gtid]

    def stamped(self, number: int, event: RawEvent) -> bytes:
        """Return the group's first event with the case's timestamp, translated to this log.

        The case's last_committed names a transaction of the case; that transaction's number in this
        log replaces it.
        """
        if number > len(self._stamps):
            return event.raw
        mine = self._stamps[number - 1]
        wanted = mine.transaction
        body = event.body
        if wanted.timestamp is not None:
            body = with_clock(event, self._last_committed(number), clock_of(event)[1])
        elif wanted.commit_id is not None:
            body = with_commit_id(event, wanted.commit_id)
        end = int.from_bytes(event.raw[13:17], "little")
        return repacked(event, body, 0, end=end)

    def _last_committed(self, number: int) -> int:
        mine = self._stamps[number - 1]
        assert mine.transaction.timestamp is not None
        upto = mine.transaction.timestamp.last_committed
        first = None
        for at, one in enumerate(self._stamps[:number]):
            if one.file != mine.file or one.transaction.timestamp is None:
                continue
            if first is None:
                first = self._sequence_numbers[at] - 1
            if one.transaction.timestamp.sequence_number <= upto:
                first = self._sequence_numbers[at]
        return first or 0


class FlowingDump:
    """One program's dump: events that the gate received from the server and holds or sends."""

    waits = True

    def __init__(self, log: LiveLog) -> None:
        self._log = log
        self._held: deque[Group | bytes] = deque()
        self._open: list[RawEvent] = []
        self._gtid = ""
        self._has_checksums = False

    @property
    def remaining(self) -> Sequence[Group]:
        """Return the groups that wait for the schedule."""
        return [one for one in self._held if isinstance(one, Group)]

    def feed(self, raw: bytes) -> list[bytes]:
        """Take an event of the server; return the events that may be sent at once."""
        if raw[4] == FORMAT_DESCRIPTION:
            self._has_checksums = raw[-5] == 1
        event = raw_event(raw, 0, has_checksums=self._has_checksums)
        gtid = gtid_of(event)
        if gtid:
            self._gtid, self._open = gtid, [event]
        elif self._open:
            self._open.append(event)
            if ends_group(event, is_standalone=is_standalone(self._open[0])):
                self._close_group()
        else:
            self._held.append(raw)
        return self._passing()

    def take(self) -> list[bytes]:
        """Return the first group's events and the events that follow it at once."""
        group = self._held.popleft()
        assert isinstance(group, Group)
        return [*group.events, *self._passing()]

    def ending(self) -> list[bytes]:
        """Return no event, because the server's log goes on."""
        return []

    def _close_group(self) -> None:
        events, self._open = self._open, []
        if not any(_table_of(event) in self._log.tables for event in events):
            self._held.extend(event.raw for event in events)
            return
        number = self._log.number_of(self._gtid, events[0])
        first = self._log.stamped(number, events[0])
        raw = (first, *(event.raw for event in events[1:]))
        self._held.append(Group(number, self._gtid, ("", 0), (), raw))

    def _passing(self) -> list[bytes]:
        return list(self._pop_loose())

    def _pop_loose(self) -> Iterable[bytes]:
        while self._held and isinstance(self._held[0], bytes):
            yield self._held.popleft()  # type: ignore[misc]


def _table_of(event: RawEvent) -> str:
    if event.code != _TABLE_MAP:
        return ""
    at, names = _NAMES_AT, []
    for _ in range(2):
        size = event.body[at]
        names.append(event.body[at + 1 : at + 1 + size].decode("utf-8", "replace"))
        at += size + 2
    return ".".join(names)
