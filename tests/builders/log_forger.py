"""Rewrites the parallelisation metadata of a binary log, and nothing else.

A forged log is a valid log: lengths, positions and checksums are mended, so that whatever an audit
finds in it is the forged metadata. It splits events by itself and shares nothing with the decoder
under test.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"\xfebin"
_HEADER = struct.Struct("<IBIIIH")
_FORMAT_DESCRIPTION, _GTID, _ANONYMOUS_GTID, _MARIADB_GTID = 15, 33, 34, 162
_GTIDS = (_GTID, _ANONYMOUS_GTID, _MARIADB_GTID)
_IN_USE = 1
_COMMIT_ID_FLAG = 2
_MARIADB_GTID_BODY_MIN = 19


@dataclass(slots=True)
class RawEvent:
    """One event: its header without length and end position, and its body without checksum."""

    time_s: int
    code: int
    server_id: int
    flags: int
    body: bytearray


class ForgedLog:
    """A log whose transactions can be given other timestamps and commit ids.

    Transactions count from 1 in the order of their GTID events, as the ordinals of an audit do
    for a log in which every transaction has one.
    """

    def __init__(self, data: bytes) -> None:
        assert data[:4] == MAGIC, "not a binary log"
        self._checksums = False
        self.events: list[RawEvent] = []
        at = 4
        while at < len(data):
            time_s, code, server_id, size, _, flags = _HEADER.unpack_from(data, at)
            assert size >= _HEADER.size, "an event shorter than its header"
            body = bytearray(data[at + 19 : at + size])
            if code == _FORMAT_DESCRIPTION:
                # The last five bytes: which checksum, and the checksum, which is always there.
                self._checksums = body[-5] == 1
                del body[-4:]
            elif self._checksums:
                del body[-4:]
            self.events.append(RawEvent(time_s, code, server_id, flags, body))
            at += size
        self._gtids = [event for event in self.events if event.code in _GTIDS]

    @classmethod
    def read(cls, path: Path) -> ForgedLog:
        return cls(path.read_bytes())

    def __len__(self) -> int:
        return len(self._gtids)

    def starts(self) -> list[int]:
        """Return at which of ``events`` the transactions begin."""
        return [at for at, event in enumerate(self.events) if event.code in _GTIDS]

    def set_timestamp(
        self,
        ordinal: int,
        *,
        last_committed: int | None = None,
        sequence_number: int | None = None,
    ) -> ForgedLog:
        """Give a MySQL transaction another LC, SN or both."""
        body = self._gtid(ordinal, _GTID, _ANONYMOUS_GTID).body
        assert body[25] == 2, "no logical timestamp"
        if last_committed is not None:
            struct.pack_into("<q", body, 26, last_committed)
        if sequence_number is not None:
            struct.pack_into("<q", body, 34, sequence_number)
        return self

    def set_commit_id(self, ordinal: int, commit_id: int | None) -> ForgedLog:
        """Give a MariaDB transaction another commit id, or none."""
        body = self._gtid(ordinal, _MARIADB_GTID).body
        flags = body[12]
        rest = bytes(body[21:] if flags & _COMMIT_ID_FLAG else body[13:]).rstrip(b"\0")
        if commit_id is None:
            flags &= ~_COMMIT_ID_FLAG
        else:
            flags |= _COMMIT_ID_FLAG
            rest = struct.pack("<Q", commit_id) + rest
        body[12] = flags
        body[13:] = rest.ljust(_MARIADB_GTID_BODY_MIN - 13, b"\0")
        return self

    def data(self) -> bytes:
        """Return the log with lengths, positions and checksums mended."""
        log = bytearray(MAGIC)
        for event in self.events:
            checked = self._checksums or event.code == _FORMAT_DESCRIPTION
            size = 19 + len(event.body) + 4 * checked
            shown = self._encode(event, size, len(log) + size, event.flags)
            log += shown
            if checked:
                # The server computes the checksum of a format description as if not in use.
                plain = event.flags & ~_IN_USE if event.code == _FORMAT_DESCRIPTION else event.flags
                counted = self._encode(event, size, len(log) - len(shown) + size, plain)
                log += struct.pack("<I", zlib.crc32(counted))
        return bytes(log)

    def save(self, path: Path) -> Path:
        path.write_bytes(self.data())
        return path

    @staticmethod
    def _encode(event: RawEvent, size: int, end: int, flags: int) -> bytes:
        header = _HEADER.pack(event.time_s, event.code, event.server_id, size, end, flags)
        return header + event.body

    def _gtid(self, ordinal: int, *codes: int) -> RawEvent:
        event = self._gtids[ordinal - 1]
        assert event.code in codes, f"transaction {ordinal} is of type {event.code}"
        return event
