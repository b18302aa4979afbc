"""Reads a dump's events in blocks, from the driver's connection."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from paraply.adapters.servers.errors import DUMP_REFUSED
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from pymysql.connections import Connection

READ_BYTES = 1 << 18
PAUSE_S = 0.05
"""Before the next read of a log that grows fast; what an idle log gets is read at once."""
_FULL_BYTES = READ_BYTES // 2
_HEADER = struct.Struct("<HBB")
_PACKET_BYTES_MAX = 0xFFFFFF
_SERVER_LOST = 2013
_LOST = "Lost connection to MySQL server during query"


def sent_data(connection: Connection[Any], where: str) -> Iterator[bytes]:
    """Yield a dump's events, in blocks where possible; a rotation comes alone.

    Raises the driver's errors, and ``ParaplyError`` P615 for a dump that ends.
    """
    try:
        from paraply.adapters.binlog.compiled.sent.packets import cut_packets
    except ImportError:
        yield from _single(connection, where)
        return
    reader = _PacketReader(connection)
    while True:
        cut = cut_packets(reader.data, reader.sequence)
        reader.data, reader.sequence = reader.data[cut.position :], cut.sequence
        if cut.events:
            yield cut.events
        if cut.is_special:
            yield _event_of(reader.packet(), where)
        else:
            reader.read()


def _single(connection: Connection[Any], where: str) -> Iterator[bytes]:
    while True:
        yield _event_of(connection._read_packet(), where)


def _event_of(packet: Any, where: str) -> bytes:
    if packet.is_eof_packet():
        raise ParaplyError(DUMP_REFUSED, where=where, reason="it ended the dump")
    event: bytes = packet.get_all_data()[1:]
    return event


class _PacketReader:
    """Reads what the server has sent, with the checks of the driver."""

    def __init__(self, connection: Any) -> None:
        self.data = b""
        self.sequence: int = connection._next_seq_id
        self._connection = connection
        self._is_busy = False
        connection._sock.settimeout(connection._read_timeout)

    def read(self) -> None:
        """Wait for data."""
        if self._is_busy:
            # Many transactions for one wake-up of the threads, which cost more than they do.
            time.sleep(PAUSE_S)
        asked = time.monotonic()
        try:
            data = self._connection._rfile.read1(READ_BYTES)
        except OSError as reason:
            self._lose(f"{_LOST} ({reason})")
        if not data:
            self._lose(_LOST)
        waited = time.monotonic() - asked
        self._is_busy = waited < PAUSE_S and len(data) < _FULL_BYTES
        self.data = self.data + data if self.data else data

    def packet(self) -> Any:
        """Return the next packet; raises the error that it has."""
        from pymysql import err
        from pymysql.protocol import MysqlPacket

        parts = []
        size = _PACKET_BYTES_MAX
        while size == _PACKET_BYTES_MAX:
            low, high, number = _HEADER.unpack(self._take(_HEADER.size))
            if number != self.sequence:
                self._connection._force_close()
                if number == 0:  # MariaDB ends so when it shuts down.
                    raise err.OperationalError(_SERVER_LOST, _LOST)
                raise err.InternalError(
                    f"Packet sequence number wrong - got {number} expected {self.sequence}"
                )
            self.sequence = (self.sequence + 1) % 256
            size = low + (high << 16)
            parts.append(self._take(size))
        packet = MysqlPacket(b"".join(parts), self._connection.encoding)
        if packet.is_error_packet():
            packet.raise_for_error()
        return packet

    def _take(self, size: int) -> bytes:
        parts = [self.data]
        missing = size - len(self.data)
        while missing > 0:
            self.data, self._is_busy = b"", False
            self.read()
            parts.append(self.data)
            missing -= len(self.data)
        whole = b"".join(parts)
        self.data = whole[size:]
        return whole[:size]

    def _lose(self, text: str) -> NoReturn:
        from pymysql import err

        self._connection._force_close()
        raise err.OperationalError(_SERVER_LOST, text)
