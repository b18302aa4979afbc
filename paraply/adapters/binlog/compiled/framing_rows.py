"""A decoded transaction's rows as a plain transaction for the scanner.

The readable decoder reads what the scanner does not know: XA, savepoints, statements beside rows,
tagged GTIDs. Their table maps and rows events are kept here, and framed by a GTID event, BEGIN and
XID of the scanner's form.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled.expanding import as_plain_rows
from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.events import Event
from paraply.adapters.binlog.format_description import HEADER_BYTES, FormatDescription
from paraply.adapters.binlog.framing import HEADER, RawEvent
from paraply.adapters.binlog.reading import EventDecoder
from paraply.adapters.binlog.rows_events import ROWS_SHAPES
from paraply.adapters.binlog.table_map import TableMap

_BEGINS = frozenset(
    {
        EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED, EventType.MARIADB_GTID,
    }
)  # fmt: skip
_TABLE_ID_BYTES = 8
"""Of a table's number and flags, before its definition."""


class Framed(NamedTuple):
    """A plain transaction without checksums, and the format of its events."""

    data: NDArray[np.uint8]
    description: FormatDescription


class KeepingDecoder(EventDecoder):
    """A decoder that keeps the table maps and rows events of the open transaction."""

    def __init__(self, bytes_max: int = 1 << 62) -> None:
        super().__init__()
        self._bytes_max = bytes_max
        self._kept: list[RawEvent] = []
        self._bytes = 0
        self._description: FormatDescription | None = None

    def forget(self) -> None:
        """Drop the kept events."""
        self._kept, self._bytes = [], 0

    def decode_one(self, raw: RawEvent, description: FormatDescription) -> Event:
        """Return one event, except a transaction payload."""
        code = raw.header.type_code
        self._description = description
        if code in _BEGINS:
            self.forget()
        elif code == EventType.TABLE_MAP or code in ROWS_SHAPES:
            self._bytes += HEADER_BYTES + len(raw.body)
            if self._bytes <= self._bytes_max:
                self._kept.append(raw)
        return super().decode_one(raw, description)

    def scanned_table(self, body: bytes, description: FormatDescription) -> TableMap | None:
        """Return the table of a map's body; None if it is malformed, which decoding reports."""
        try:
            return self.table_of(body[_TABLE_ID_BYTES:], is_mariadb=description.is_mariadb)
        except MalformedError:
            return None

    def framed(self, domain: int | None) -> Framed | None:
        """Return the kept events as one transaction; None if they were too large or malformed."""
        description = self._description
        if description is None or self._bytes > self._bytes_max:
            return None
        parts = [*_beginning(description, domain or 0)]
        try:
            for raw in self._kept:
                code, body = as_plain_rows(raw.header.type_code, raw.body)
                parts.append(_event(code, body, raw.header.timestamp_s, raw.header.flags))
        except MalformedError:
            return None
        parts.append(_event(EventType.XID, bytes(8)))
        # Writable: read-only data would compile the kernels again.
        return Framed(np.frombuffer(bytearray(b"".join(parts)), np.uint8), description)


def _beginning(description: FormatDescription, domain: int) -> tuple[bytes, ...]:
    if description.is_mariadb:
        return (_event(EventType.MARIADB_GTID, struct.pack("<qIB6x", 1, domain, 0)),)
    stamped = struct.pack("<B16xqBqq", 0, 0, 2, 0, 1)
    query = bytes(description.post_header_length(EventType.QUERY, 13)) + b"\0BEGIN"
    return (_event(EventType.ANONYMOUS_GTID, stamped), _event(EventType.QUERY, query))


def _event(code: int, body: bytes, time_s: int = 0, flags: int = 0) -> bytes:
    return HEADER.pack(time_s, code, 0, HEADER_BYTES + len(body), 0, flags) + body
