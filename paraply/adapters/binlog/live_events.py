"""Transactions of a log that a server sends event by event."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

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
from paraply.vocabulary.log import LoggedTransaction
from paraply.vocabulary.schema import TableSchema

_HEARTBEATS = frozenset({EventType.HEARTBEAT, EventType.HEARTBEAT_V2})


@dataclass(slots=True, kw_only=True)
class SentTransaction:
    """A transaction, its tables by name, and its events as sent."""

    transaction: LoggedTransaction
    tables: dict[str, TableSchema]
    events: bytes
    head: bytes
    """Magic and format description: with ``events`` it is a binary log."""


class SentEvents:
    """Turns one connection's events into transactions, in bounded memory.

    ``file`` and ``offset`` are the place in the server's log after the last event.
    """

    def __init__(self, *, row_bytes_max: int | None = None) -> None:
        self.file = ""
        self.offset = 0
        self._head = b""
        self._schemas: dict[str, TableSchema] = {}
        self._events: list[bytes] = []
        self._description: FormatDescription | None = None
        self._stream = TransactionStream(
            report=LogReport(),
            on_table_map=self._on_table_map,
            on_rows=None,
            row_bytes_max=row_bytes_max,
        )

    @property
    def is_inside(self) -> bool:
        """Return whether a transaction is open."""
        return self._stream.open is not None

    def _on_table_map(self, table: TableMap) -> None:
        self._schemas[table.name] = table.table_schema()

    def on_file(self, name: str) -> None:
        """Take the next events as those of another file."""
        self.file = name
        self.offset = 0
        self._stream.file = FileReport(file=name)
        self._stream.skips.clear()

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
                self._description = parse_format_description(body)
                self._head = MAGIC + event
            elif self._description is None:
                raise MalformedError("it comes before the format description")
            else:
                body = self._checked(header, event)
            assert self._description is not None
            for each in self._stream.decoder.decode(RawEvent(header, body), self._description):
                for transaction in self._stream.on_event(each):
                    yield self._sent(transaction, event if transaction.complete else b"")
                    self._events.clear()
        except MalformedError as fault:
            raise ParaplyError(
                MALFORMED_EVENT, where=f"{self.file}:{at}", event=header.name, reason=fault
            ) from None
        if self._stream.open is not None:
            self._events.append(event)

    def _checked(self, header: EventHeader, event: bytes) -> bytes:
        assert self._description is not None
        extra = self._description.header_length
        if self._description.checksum is not Checksum.CRC32:
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
        return SentTransaction(
            transaction=transaction,
            tables={name: self._schemas[name] for name in names if name in self._schemas},
            events=b"".join((*self._events, last)),
            head=self._head,
        )
