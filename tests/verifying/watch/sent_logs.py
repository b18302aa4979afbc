"""A server's log as a stream of events: from a file, with broken connections on demand."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from paraply.adapters.binlog.events import GtidEvent, MariadbGtidEvent
from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.live_events import EventBlock
from paraply.adapters.binlog.reading import read_events
from paraply.adapters.binlog.source import open_source
from paraply.adapters.servers.binlog_dump import LogPlace
from paraply.adapters.servers.errors import DUMP_REFUSED
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_names import GtidNames

_HEARTBEAT = 27
_CONTROL = (15, 35, 163, 4, 3, 161)
"""Format description, sets of GTIDs, ROTATE, STOP and checkpoints."""


class SentLog:
    """Sends a log's events from a GTID set on, as a server does.

    ``breaks_after`` events a connection breaks. ``tables`` are what the server says of itself.
    ``block_bytes`` of events are sent at once, as whole events.
    """

    def __init__(
        self,
        *paths: Path,
        name: str,
        identity: str = "",
        is_mariadb: bool = True,
        breaks_after: Callable[[], int | None] = lambda: None,
        tables: Mapping[str, str] | None = None,
        block_bytes: int = 0,
    ) -> None:
        self._block_bytes = block_bytes
        self.name = name
        self._identity = identity or name
        self._is_mariadb = is_mariadb
        self._breaks_after = breaks_after
        self.connections = 0
        self.held_back = threading.Event()
        """Set: the log sends nothing."""
        self._closed = threading.Event()
        self._tables = tables
        self._files: list[tuple[str, list[tuple[str, bytes]]]] = []
        for number, path in enumerate(paths, start=1):
            data, names = path.read_bytes(), _names(path)
            events: list[tuple[str, bytes]] = []
            at, current = 4, ""
            while at < len(data):
                code = data[at + 4]
                (size,) = struct.unpack_from("<I", data, at + 9)
                current = "" if code in _CONTROL else names.get(at, current)
                events.append((current, data[at : at + size]))
                at += size
            self._end = LogPlace(file=f"bin.{number:06}", offset=at)
            self._files.append((self._end.file, events))
        self.gtids = {name for _, events in self._files for name, _ in events if name}

    def identity(self) -> str:
        return self._identity

    def is_mariadb(self) -> bool:
        return self._is_mariadb

    def start(self) -> tuple[GtidNames, GtidNames]:
        return GtidNames(), GtidNames()

    def has(self, name: str) -> bool:
        return name in self.gtids

    def log_end(self) -> LogPlace:
        return self._end

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        if self._tables is not None:
            return answered(self._tables, statement)
        raise ParaplyError(DUMP_REFUSED, where=self.name, reason=f"no answer to {statement}")

    def close(self) -> None:
        self._closed.set()

    def events(self, after: GtidNames) -> Iterator[tuple[str | None, bytes]]:
        events = self._events(after)
        return blocks_of(events, self._block_bytes) if self._block_bytes else events

    def _heartbeat(self) -> tuple[None, bytes]:
        return None, struct.pack("<IBIIIH", 0, _HEARTBEAT, 1, 19, self._end.offset, 0)

    def _events(
        self, after: GtidNames, *, is_endless: bool = True
    ) -> Iterator[tuple[str | None, bytes]]:
        self.connections += 1
        self._closed.clear()
        left = self._breaks_after()
        after = after.copy()  # The reader adds to it what it gets.
        for file, events in self._files:
            if all(name in after for name, _ in events if name) and file != self._end.file:
                continue
            yield file, b""
            asked, is_known = "", False
            for name, event in events:
                if name != asked:
                    asked, is_known = name, bool(name) and name in after
                if is_known:
                    continue
                while self.held_back.is_set() and not self._closed.wait(0.01):
                    pass
                if left is not None:
                    left -= 1
                    if left < 0:
                        reason = "broken on purpose"
                        raise ParaplyError(DUMP_REFUSED, where=self.name, reason=reason)
                yield None, event
        while is_endless:
            yield self._heartbeat()
            is_endless = not self._closed.wait(0.02)


def blocks_of(
    events: Iterator[tuple[str | None, bytes]], size: int
) -> Iterator[tuple[str | None, bytes]]:
    """Join events to blocks of at least ``size`` bytes; what ends or breaks a log ends a block."""
    waiting: list[bytes] = []
    try:
        for file, event in events:
            is_idle = file is None and event[4] == _HEARTBEAT
            if file is None and not is_idle:
                waiting.append(event)
            if waiting and (file is not None or is_idle or sum(map(len, waiting)) >= size):
                yield None, EventBlock(b"".join(waiting))
                waiting.clear()
            if file is not None or is_idle:
                yield file, event
    except ParaplyError:
        if waiting:
            yield None, EventBlock(b"".join(waiting))
        raise


def answered(tables: Mapping[str, str], statement: str) -> list[tuple[Any, ...]]:
    """Answer what is asked of a server with these CREATE TABLE statements, by ``schema.table``."""
    if statement.startswith("SHOW GLOBAL"):
        return [("version", "8.4.1"), ("lower_case_table_names", "0")]
    if statement.startswith("SELECT"):
        return [(*name.split("."), "BASE TABLE") for name in tables]
    if statement.startswith("SHOW CREATE DATABASE"):
        name = statement.split(" ", 3)[3]
        return [(name, f"CREATE DATABASE {name} /*!40100 DEFAULT CHARACTER SET utf8mb4 */")]
    found = next(sql for sql in tables.values() if statement.split(" ", 3)[3] in sql)
    return [("name", found)]


def _names(path: Path) -> dict[int, str]:
    """Return GTIDs by the offset of their events."""
    with open_source(str(path)) as source:
        return {
            event.header.offset: event.gtid
            for event in read_events(BinlogReader(source))
            if isinstance(event, GtidEvent | MariadbGtidEvent)
        }
