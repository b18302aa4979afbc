"""A log as a source sends it: files cut into groups, from any start that a client names."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from paraply.adapters.binlog.framing import HEADER
from paraply.adapters.binlog.rewriting import (
    FORMAT_DESCRIPTION,
    RawEvent,
    raw_events,
    repacked,
)

_IN_USE, _ARTIFICIAL = 1, 0x20
_STANDALONE = 1
_FLAGS_AT = 12
_DO_NOT_WAIT = 1


class _Type(IntEnum):
    QUERY = 2
    ROTATE = 4
    XID = 16
    GTID = 33
    MARIADB_GTID = 162


@dataclass(frozen=True, slots=True)
class Group:
    """The events of one transaction, after the unrelated events before it.

    Attributes:
        number: from 1.
        gtid: ``uuid:n`` or ``domain-server-n``.
        start: file and offset of its GTID event.
    """

    number: int
    gtid: str
    start: tuple[str, int]
    before: tuple[bytes, ...]
    events: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file's description event and the name."""

    name: str
    size: int
    description: RawEvent


@dataclass(slots=True)
class ServedLog:
    """A log of whole files."""

    files: list[LogFile] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    trailing: tuple[bytes, ...] = ()
    """Events after the last group."""

    @classmethod
    def of_files(cls, files: Sequence[tuple[str, bytes]]) -> ServedLog:
        """Cut the files, given as name and content."""
        log = cls()
        between: list[bytes] = []
        open_group: list[bytes] = []
        gtid, start, is_alone = "", ("", 0), False
        for position, (name, data) in enumerate(files):
            for event in raw_events(data):
                if event.code == FORMAT_DESCRIPTION:
                    log.files.append(LogFile(name, len(data), event))
                    if position:
                        between += [artificial_rotate(event, name, 4), sent_description(event)]
                    continue
                found = gtid_of(event)
                if found:
                    gtid, start = found, (name, event.start)
                    is_alone = is_standalone(event)
                    open_group = [event.raw]
                elif open_group:
                    open_group.append(event.raw)
                    if ends_group(event, is_standalone=is_alone):
                        number = len(log.groups) + 1
                        group = Group(number, gtid, start, tuple(between), tuple(open_group))
                        log.groups.append(group)
                        between, open_group = [], []
                else:
                    between.append(event.raw)
        log.trailing = tuple(between)
        return log

    def file(self, name: str) -> LogFile:
        """Return a file by name, or the first."""
        return next((file for file in self.files if file.name == name), self.files[0])


@dataclass(slots=True)
class Dump:
    """A client's request for the log.

    Attributes:
        waits: the client waits at the end; otherwise the log ends with EOF.
        next_group: index of the next group to send.
    """

    log: ServedLog
    waits: bool
    next_group: int
    opening: list[bytes]
    skipped: frozenset[int] = frozenset()
    has_ended: bool = False

    @property
    def remaining(self) -> list[Group]:
        """Return the groups still to send."""
        return [g for g in self.log.groups[self.next_group :] if g.number not in self.skipped]

    def take(self) -> list[bytes]:
        """Return the events of the next group, with all events before it."""
        events: list[bytes] = []
        while True:
            group = self.log.groups[self.next_group]
            self.next_group += 1
            events += group.before
            if group.number not in self.skipped:
                return [*events, *group.events]

    def ending(self) -> list[bytes]:
        """Return the events after the last group."""
        self.has_ended = True
        events: list[bytes] = []
        for group in self.log.groups[self.next_group :]:
            events += group.before
        self.next_group = len(self.log.groups)
        return [*events, *self.log.trailing]


def dump_by_place(log: ServedLog, payload: bytes, executed: str | None = None) -> Dump:
    """Return the dump of COM_BINLOG_DUMP.

    ``executed`` is the connect state of a MariaDB replica with GTIDs, which overrides the place.
    """
    offset, flags = struct.unpack_from("<IH", payload, 1)
    name = payload[11:].split(b"\0")[0].decode("utf-8", "replace")
    waits = not flags & _DO_NOT_WAIT
    if executed is not None or not name:
        return _dump_from(log, log.files[0].name, 4, waits, _mariadb_skipped(log, executed or ""))
    return _dump_from(log, name, offset, waits, frozenset())


def dump_by_gtids(log: ServedLog, payload: bytes) -> Dump:
    """Return the dump of COM_BINLOG_DUMP_GTID."""
    flags, _, name_bytes = struct.unpack_from("<HII", payload, 1)
    at = 11 + name_bytes + 8
    (size,) = struct.unpack_from("<I", payload, at)
    executed = set(_gtids_in(payload[at + 4 : at + 4 + size], log))
    skipped = frozenset(group.number for group in log.groups if group.gtid in executed)
    return _dump_from(log, log.files[0].name, 4, not flags & _DO_NOT_WAIT, skipped)


def _dump_from(
    log: ServedLog, name: str, offset: int, waits: bool, skipped: frozenset[int]
) -> Dump:
    file = log.file(name)
    names = [one.name for one in log.files]
    place = (names.index(file.name), max(offset, 4))
    first = 0
    for group in log.groups:
        if (names.index(group.start[0]), group.start[1]) >= place:
            break
        first += 1
    opening = [
        artificial_rotate(file.description, file.name, max(offset, 4)),
        sent_description(file.description, repeated=offset > 4),
    ]
    if first and first < len(log.groups) and offset > 4:
        start = log.groups[first].start
        if start[0] == file.name:  # What precedes it in this file was passed by its offset.
            log = ServedLog(log.files, [*log.groups], log.trailing)
            group = log.groups[first]
            log.groups[first] = Group(group.number, group.gtid, group.start, (), group.events)
    return Dump(log, waits, first, opening, skipped)


def artificial_rotate(description: RawEvent, name: str, offset: int) -> bytes:
    """Return the event that announces a file, which no file contains."""
    _, _, server_id, _, _, _ = HEADER.unpack_from(description.raw)
    checks = description.raw[-5] == 1
    header = HEADER.pack(0, _Type.ROTATE, server_id, 0, 0, _ARTIFICIAL)
    event = RawEvent(_Type.ROTATE, _ARTIFICIAL, 0, header, b"", checks)
    return repacked(event, struct.pack("<Q", offset) + name.encode(), 0, end=0)


def sent_description(event: RawEvent, *, repeated: bool = False) -> bytes:
    """Return a description event as sent: not in use, without position if repeated."""
    time_s, code, server_id, size, end, flags = HEADER.unpack_from(event.raw)
    if repeated:
        end = 0
    raw = HEADER.pack(time_s, code, server_id, size, end, flags & ~_IN_USE)
    return repacked(event._replace(raw=raw), event.body, event.start, end=end)


def gtid_of(event: RawEvent) -> str:
    """Return the GTID of the event that begins a group; empty for others."""
    if event.code == _Type.GTID:
        (number,) = struct.unpack_from("<q", event.body, 17)
        return f"{event.body[1:17].hex()}:{number}"
    if event.code == _Type.MARIADB_GTID:
        number, domain = struct.unpack_from("<QI", event.body)
        _, _, server_id, _, _, _ = HEADER.unpack_from(event.raw)
        return f"{domain}-{server_id}-{number}"
    return ""


def is_standalone(event: RawEvent) -> bool:
    """Return whether MariaDB's group has no COMMIT."""
    return event.code == _Type.MARIADB_GTID and bool(event.body[_FLAGS_AT] & _STANDALONE)


def ends_group(event: RawEvent, *, is_standalone: bool) -> bool:
    """Return whether a group ends with this event."""
    if event.code == _Type.XID:
        return True
    if event.code != _Type.QUERY:
        return False
    schema_bytes, _, status_bytes = struct.unpack_from("<BHH", event.body, 8)
    text = event.body[13 + status_bytes + schema_bytes + 1 :].upper()
    return is_standalone or not text.startswith((b"BEGIN", b"SAVEPOINT", b"XA START"))


def _gtids_in(data: bytes, log: ServedLog) -> Iterator[str]:
    """Yield the log's GTIDs that are in an encoded set."""
    (sources,) = struct.unpack_from("<Q", data) if len(data) >= 8 else (0,)
    at = 8
    for _ in range(sources):
        source = data[at : at + 16].hex()
        (intervals,) = struct.unpack_from("<Q", data, at + 16)
        at += 24
        for _ in range(intervals):
            first, end = struct.unpack_from("<qq", data, at)
            at += 16
            for group in log.groups:
                name, _, number = group.gtid.partition(":")
                if name == source and first <= int(number) < end:
                    yield group.gtid


def _mariadb_skipped(log: ServedLog, state: str) -> frozenset[int]:
    reached: dict[str, int] = {}
    for domain, number in re.findall(r"(\d+)-\d+-(\d+)", state):
        reached[domain] = int(number)
    skipped = set()
    for group in log.groups:
        domain, _, number = group.gtid.split("-")
        if int(number) <= reached.get(domain, 0):
            skipped.add(group.number)
    return frozenset(skipped)
