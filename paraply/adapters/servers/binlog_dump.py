"""Fetch a server's binary log over a connection, from a place to its end.

The dump (COM_BINLOG_DUMP) does not wait. Files contain the format description and the sent events.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from paraply.adapters.servers.errors import DUMP_REFUSED, LOG_THERE, SERVER_UNREACHABLE
from paraply.adapters.servers.reachable import Reachable
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from pymysql.connections import Connection

_COM_BINLOG_DUMP = 0x12
_DO_NOT_WAIT = 1
_WITH_ANNOTATIONS = 2
"""MariaDB's; without it the copy lacks events, so that places in it are not those of the log."""
_MAGIC = b"\xfebin"
_HEADER_BYTES = 19
_NAME_AT = _HEADER_BYTES + 8
_ROTATE, _HEARTBEATS = 4, (27, 41)
_ARTIFICIAL = 0x20
_READ_SECONDS_MAX = 120
_SESSION = (
    # Without this setting the server sends no checksums, although its log declares them.
    "SET @master_binlog_checksum = @@global.binlog_checksum,"
    " @source_binlog_checksum = @@global.binlog_checksum",
    # Without it MariaDB sends BEGIN instead of GTID events. MySQL accepts the unused variable.
    "SET @mariadb_slave_capability = 4",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlace:
    """A place in a binary log."""

    file: str
    offset: int


def log_end(server: Reachable) -> LogPlace:
    """Return the binary log's end; ``ParaplyError`` P615 without one."""
    # MySQL 8.4 removed the older statement; older servers lack the newer one.
    for statement in ("SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"):
        try:
            rows = server.query(statement)
        except ParaplyError as reason:
            refused = reason
            continue
        if rows:
            return LogPlace(file=str(rows[0][0]), offset=int(rows[0][1]))
        raise ParaplyError(DUMP_REFUSED, where=server.name, reason="it writes no binary log")
    raise _no_log(server, refused) from refused


def _no_log(server: Reachable, refused: ParaplyError) -> ParaplyError:
    """Return why there is no log; rights do not matter where there is no connection."""
    if refused.error is SERVER_UNREACHABLE:
        return refused
    return ParaplyError(DUMP_REFUSED, where=server.name, reason=refused.text)


LIST_LOGS = "SHOW BINARY LOGS"


def newest_logs(server: Reachable, bytes_max: int) -> list[LogPlace]:
    """Return the ends of the newest logs that together are no longer; of one, however long it is.

    The account requires REPLICATION CLIENT (MariaDB: BINLOG MONITOR); raises ``ParaplyError`` P615.
    """
    try:
        rows = server.query(LIST_LOGS)
    except ParaplyError as refused:
        raise _no_log(server, refused) from refused
    chosen: list[LogPlace] = []
    total = 0
    for name, size, *_ in reversed(rows):
        total += int(size)
        if chosen and total > bytes_max:
            break
        chosen.insert(0, LogPlace(file=str(name), offset=int(size)))
    if not chosen:
        raise ParaplyError(DUMP_REFUSED, where=server.name, reason="it writes no binary log")
    return chosen


def dump_log(
    server: Reachable,
    start: LogPlace,
    folder: Path,
    advance: Callable[[float], None] = lambda _: None,
) -> list[Path]:
    """Write the log from ``start`` on into ``folder``, under the server's file names.

    The account requires REPLICATION SLAVE. ``advance`` is told the bytes that came.

    Raises:
        ParaplyError: P615, the server sends no log; P614, it is unreachable; P627, a file of that
            name is there, which may be the server's own.
    """
    import pymysql

    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    came = 0
    try:
        with server.connect(read_timeout=_READ_SECONDS_MAX) as connection:
            with connection.cursor() as cursor:
                for statement in _SESSION:
                    cursor.execute(statement)
            out: Any = None
            try:
                flags = _DO_NOT_WAIT | (_WITH_ANNOTATIONS if server.is_mariadb else 0)
                for event in _events(connection, start, flags):
                    name = rotated_to(event)
                    if name is not None and out is not None and name == files[-1].name:
                        continue
                    if name is not None:
                        if out is not None:
                            out.close()
                        out = _begun(folder / name)
                        files.append(folder / name)
                    elif out is not None:
                        out.write(event)
                        came += len(event)
                        advance(came)
            finally:
                if out is not None:
                    out.close()
    except (pymysql.MySQLError, OSError) as reason:
        raise ParaplyError(DUMP_REFUSED, where=server.name, reason=str(reason)) from reason
    return files


def _begun(path: Path) -> BinaryIO:
    try:
        out = path.open("xb")
    except FileExistsError:
        raise ParaplyError(LOG_THERE, where=str(path)) from None
    out.write(_MAGIC)
    return out


def _events(connection: Connection[Any], start: LogPlace, flags: int) -> Iterator[bytes]:
    # Server number 0 means no replica: it ends no other dump.
    request = struct.pack("<IHI", start.offset, flags, 0) + start.file.encode()
    connection._execute_command(_COM_BINLOG_DUMP, request)  # the driver has no public method
    while True:
        packet = connection._read_packet()
        if packet.is_eof_packet():
            return
        event = packet.get_all_data()[1:]
        if len(event) >= _HEADER_BYTES and event[4] not in _HEARTBEATS:
            yield event


def rotated_to(event: bytes) -> str | None:
    """Return the next file of a sender's unlogged rotation event."""
    (flags,) = struct.unpack_from("<H", event, 17)
    if event[4] != _ROTATE or not flags & _ARTIFICIAL:
        return None
    # The name follows the position; a checksum may follow the name.
    body, checksum = event[:-4], event[-4:]
    is_checked = len(body) > _NAME_AT and struct.pack("<I", zlib.crc32(body)) == checksum
    name = (body if is_checked else event)[_NAME_AT:]
    return Path(name.decode("utf-8", "replace")).name
