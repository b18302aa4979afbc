"""Transactions of a log that a server sends; rows are decoded when something reads them.

A scanner finds plain transactions in blocks of events and counts their rows. All others go the
readable way (:class:`ReadableEvents`), event by event, and so do plain ones whose rows are read.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.errors import CHECKSUM_MISMATCH, MALFORMED_EVENT
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.format_description import (
    CHECKSUM_BYTES,
    HEADER_BYTES,
    Checksum,
    FormatDescription,
    parse_format_description,
)
from paraply.adapters.binlog.framing import HEADER, MAGIC, EventHeader, RawEvent
from paraply.adapters.binlog.report import FileReport, LogReport
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.transaction_stream import TransactionStream
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedKind, LoggedTransaction
from paraply.vocabulary.schema import TableSchema

REST_BYTES_MAX = 1 << 18
"""A larger transaction that is not whole yet goes the readable way."""
_HEARTBEATS = frozenset({EventType.HEARTBEAT, EventType.HEARTBEAT_V2})
_LENGTH_AT = 9

Decoded = tuple[LoggedTransaction, dict[str, TableSchema]]
"""A transaction, and the definitions of its changed tables by name."""


class EventBlock(bytes):
    """Whole events, one after the other; each is as long as its header says."""


class SentTransaction:
    """A transaction and its events as sent.

    ``row_tables`` are the tables of its ``row_count`` rows. ``head`` is magic and format
    description: with ``events`` it is a binary log.
    """

    __slots__ = (
        "_clock", "_decoded", "_file", "_ordinal", "_rereader", "complete", "domain", "events",
        "gtid", "head", "kind", "row_count", "row_tables",
    )  # fmt: skip

    def __init__(
        self, gtid: str, domain: int | None, kind: LoggedKind, complete: bool,
        row_count: int, row_tables: frozenset[str], events: bytes, head: bytes,
        decoded: Decoded | None, rereader: _Rereader | None = None, file: str = "",
        ordinal: int = 0, clock: int = 0,
    ) -> None:  # fmt: skip
        self.gtid = gtid
        self.domain = domain
        self.kind = kind
        self.complete = complete
        self.row_count = row_count
        self.row_tables = row_tables
        self.events = events
        self.head = head
        self._decoded = decoded
        self._rereader = rereader
        self._file = file
        self._ordinal = ordinal
        self._clock = clock

    @property
    def transaction(self) -> LoggedTransaction:
        """Return the transaction with its rows."""
        return self._read()[0]

    @property
    def tables(self) -> dict[str, TableSchema]:
        """Return the definitions of the changed tables, by name."""
        return self._read()[1]

    def _read(self) -> Decoded:
        if self._decoded is None:
            assert self._rereader is not None
            self._decoded = self._rereader.decode(
                self.events, self._file, self._ordinal, self._clock
            )
        return self._decoded

    def has_same_content(self, other: SentTransaction) -> bool:
        """Return whether the rows are known to be equal without decoding them."""
        mine, theirs = self._rereader, other._rereader
        if mine is None or theirs is None or self.row_count != other.row_count:
            return False
        return mine.has_same_content(theirs, self.events, other.events)


def _sent(
    transaction: LoggedTransaction, tables: dict[str, TableSchema], events: bytes, head: bytes
) -> SentTransaction:
    rows = transaction.lasting_rows
    return SentTransaction(
        transaction.gtid, transaction.domain, transaction.kind, transaction.complete,
        len(rows), frozenset(row.table for row in rows), events, head, (transaction, tables),
    )  # fmt: skip


@cache
def _scanning() -> ModuleType | None:
    """Return the scanner's module, if its libraries are installed."""
    try:
        from paraply.adapters.binlog.compiled.sent import scanner
    except ImportError:
        return None
    return scanner


def _bounds(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    while at < len(data):
        end = at + int.from_bytes(data[at + _LENGTH_AT : at + _LENGTH_AT + 4], "little")
        yield at, end
        at = end


class SentEvents:
    """Turns one connection's events into transactions, in bounded memory.

    ``file`` and ``offset`` are the place in the server's log after the last event. ``decodes``:
    all transactions go the readable way.
    """

    def __init__(self, *, row_bytes_max: int | None = None, decodes: bool = False) -> None:
        self._readable = ReadableEvents(row_bytes_max=row_bytes_max)
        self._scanning = None if decodes else _scanning()
        self._rereader: _Rereader | None = None
        self._head = b""
        self._rest = b""

    @property
    def file(self) -> str:
        """Return the name of the file."""
        return self._readable.file

    @property
    def offset(self) -> int:
        """Return the place after the last event."""
        return self._readable.offset

    @property
    def is_inside(self) -> bool:
        """Return whether a transaction is open."""
        return bool(self._rest) or self._readable.is_inside

    def on_file(self, name: str) -> None:
        """Take the next events as those of another file."""
        for _ in self._flush():
            raise AssertionError("the scanner left a whole transaction")
        self._readable.on_file(name)

    def take(self, data: bytes) -> Iterator[SentTransaction]:
        """Take an event with its checksum, or a block of them; yield what ends.

        Raises ``ParaplyError`` P105 (checksum), P107 (malformed).
        """
        if self._scanning is None or not _is_framed(data):
            yield from self._flush()
            for event in _split(data) if isinstance(data, EventBlock) else (data,):
                yield from self._read(event)
            return
        if self._rest:
            data, self._rest = self._rest + data, b""
        at = 0
        while at < len(data):
            if self._rereader is not None and not self._readable.is_inside:
                scanner = self._rereader.scanner
                if scanner is not None:
                    for found in scanner.scan(data, at):
                        yield self._outlined(found, data)
                    at = scanner.position
                    if scanner.needs_more and len(data) - at <= REST_BYTES_MAX:
                        self._rest = data[at:]
                        return
            begin, at = next(_bounds(data, at))
            yield from self._read(data[begin:at])

    def _flush(self) -> Iterator[SentTransaction]:
        rest, self._rest = self._rest, b""
        for event in _split(rest):
            yield from self._read(event)

    def _read(self, event: bytes) -> Iterator[SentTransaction]:
        yield from self._readable.take(event)
        if self._readable.head != self._head and self._scanning is not None:
            self._head = self._readable.head
            self._rereader = _Rereader(
                self._scanning, self._head, self._readable.stream.row_bytes_max
            )

    def _outlined(self, found: Any, data: bytes) -> SentTransaction:
        gtid, domain, committed, sequence, start, end, offset, rows, tables = found
        readable, stream = self._readable, self._readable.stream
        if offset:
            readable.offset = offset
        stream.ordinal += 1
        clock = (
            stream.clock.of_unnumbered()
            if sequence is None
            else stream.clock.of(committed, sequence)
        )
        return SentTransaction(
            gtid, domain, LoggedKind.ROWS if rows else LoggedKind.EMPTY, True, rows, tables,
            data[start:end], self._head, None, self._rereader, readable.file, stream.ordinal,
            clock,
        )  # fmt: skip


def _is_framed(data: bytes) -> bool:
    if isinstance(data, EventBlock):
        return True
    return len(data) >= HEADER_BYTES and next(_bounds(data, 0))[1] == len(data)


def _split(data: bytes) -> Iterator[bytes]:
    for at, end in _bounds(data, 0):
        yield data[at:end]


class _Rereader:
    """Decodes plain transactions of one format, in any order and from any thread."""

    def __init__(self, scanning: ModuleType, head: bytes, row_bytes_max: int) -> None:
        self._has_same_content = scanning.has_same_content
        self._lock = threading.Lock()
        self._events = ReadableEvents(row_bytes_max=row_bytes_max)
        for _ in self._events.take(head[len(MAGIC) :]):
            raise AssertionError("a format description ends no transaction")
        description = self._events.description
        assert description is not None
        self._is_mariadb = description.is_mariadb
        self._trailer = CHECKSUM_BYTES if description.checksum is Checksum.CRC32 else 0
        self.scanner = scanning.scanner_of(description, row_bytes_max)

    def decode(self, data: bytes, file: str, ordinal: int, clock: int) -> Decoded:
        """Return a transaction as a connection gave it."""
        with self._lock:
            self._events.on_file(file)
            self._events.stream.ordinal = ordinal - 1
            (sent,) = (sent for event in _split(data) for sent in self._events.take(event))
        sent.transaction.clock = clock
        return sent.transaction, sent.tables

    def has_same_content(self, other: _Rereader, mine: bytes, theirs: bytes) -> bool:
        """Return whether both transactions have the same table maps and rows."""
        return self._is_mariadb == other._is_mariadb and self._has_same_content(
            mine, theirs, self._trailer, other._trailer
        )


class ReadableEvents:
    """Decodes all transactions of one connection, event by event.

    ``file`` and ``offset`` are the place in the server's log after the last event.
    """

    def __init__(self, *, row_bytes_max: int | None = None) -> None:
        self.file = ""
        self.offset = 0
        self.head = b""
        self._schemas: dict[str, TableSchema] = {}
        self._events: list[bytes] = []
        self.description: FormatDescription | None = None
        self.stream = TransactionStream(
            report=LogReport(),
            on_table_map=self._on_table_map,
            on_rows=None,
            row_bytes_max=row_bytes_max,
        )

    @property
    def is_inside(self) -> bool:
        """Return whether a transaction is open."""
        return self.stream.open is not None

    def _on_table_map(self, table: TableMap) -> None:
        self._schemas[table.name] = table.table_schema()

    def on_file(self, name: str) -> None:
        """Take the next events as those of another file."""
        self.file = name
        self.offset = 0
        self.stream.file = FileReport(file=name)
        self.stream.skips.clear()

    def take(self, event: bytes) -> Iterator[SentTransaction]:
        """Take an event with its checksum; yield what it ends.

        Raises ``ParaplyError`` P105 (checksum), P107 (malformed).
        """
        timestamp_s, code, server_id, length, end_position, flags = HEADER.unpack_from(event)
        if end_position:
            self.offset = end_position
        if code in _HEARTBEATS:
            return
        at = max(0, end_position - length)
        header = EventHeader(
            timestamp_s, code, server_id, length, end_position, flags, at, end_position
        )
        body = event[HEADER_BYTES:]
        try:
            if code == EventType.FORMAT_DESCRIPTION:
                self.description = parse_format_description(body)
                self.head = MAGIC + event
            elif self.description is None:
                raise MalformedError("it comes before the format description")
            else:
                body = self._checked(header, event)
            assert self.description is not None
            for each in self.stream.decoder.decode(RawEvent(header, body), self.description):
                for transaction in self.stream.on_event(each):
                    yield self._sent(transaction, event if transaction.complete else b"")
                    self._events.clear()
        except MalformedError as fault:
            raise ParaplyError(
                MALFORMED_EVENT, where=f"{self.file}:{at}", event=header.name, reason=fault
            ) from None
        if self.stream.open is not None:
            self._events.append(event)

    def _checked(self, header: EventHeader, event: bytes) -> bytes:
        assert self.description is not None
        extra = self.description.header_length
        if self.description.checksum is not Checksum.CRC32:
            return event[extra:]
        stored = int.from_bytes(event[-CHECKSUM_BYTES:], "little")
        computed = zlib.crc32(event[:-CHECKSUM_BYTES])
        if stored != computed:
            raise ParaplyError(
                CHECKSUM_MISMATCH,
                where=f"{self.file}:{header.offset}",
                event=header.name,
                stored=stored,
                computed=computed,
            )
        return event[extra:-CHECKSUM_BYTES]

    def _sent(self, transaction: LoggedTransaction, last: bytes) -> SentTransaction:
        names = {row.table for row in transaction.rows}
        return _sent(
            transaction,
            {name: self._schemas[name] for name in names if name in self._schemas},
            b"".join((*self._events, last)),
            self.head,
        )
