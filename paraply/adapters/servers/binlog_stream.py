"""Follows a server's binary log as a replica does, by GTID, and writes nothing.

Sources: COM_BINLOG_DUMP_GTID of MySQL; COM_BINLOG_DUMP with ``@slave_connect_state`` of MariaDB.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from paraply.adapters.binlog.live_events import EventBlock
from paraply.adapters.servers.binlog_dump import LogPlace, log_end, rotated_to
from paraply.adapters.servers.errors import DUMP_REFUSED, LOG_PURGED, NO_GTIDS
from paraply.adapters.servers.existing import ExistingServer
from paraply.adapters.servers.packets import sent_data
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_names import GtidNames, split_name
from paraply.vocabulary.gtid_set_binary import encode_gtid_set

if TYPE_CHECKING:
    from pymysql.connections import Connection

_COM_BINLOG_DUMP, _COM_BINLOG_DUMP_GTID = 0x12, 0x1E
_HEADER_BYTES = 19
_BEAT_S = 1
_SILENT_S_MAX = 30
_PURGED = 1236
_REFUSED = frozenset({1045, 1227, 1142, 1044})
"""Access denied; privilege, command and schema denied."""


class EventStream(Protocol):
    """What a watch follows: a server's log, or a test's."""

    name: str

    def identity(self) -> str:
        """Return what differs between two servers behind one address."""

    def is_mariadb(self) -> bool:
        """Return the family."""

    def start(self) -> tuple[GtidNames, GtidNames]:
        """Return what a new watch of this replica has, of the source's log and of its own."""

    def has(self, name: str) -> bool:
        """Return whether the log may have a transaction."""

    def events(self, after: GtidNames) -> Iterator[tuple[str | None, bytes]]:
        """Yield (new file or None, event or block of them), also while nothing happens.

        Raises ``ParaplyError`` P615 (retry), P619 and others (for good).
        """

    def log_end(self) -> LogPlace:
        """Return the present end of the log."""

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Return rows; raises ``ParaplyError``."""

    def close(self) -> None:
        """End :meth:`events` in whatever thread."""


class ServerStream:
    """A running server's log; ``replica_id`` must be unique among its replicas."""

    def __init__(self, server: ExistingServer, *, replica_id: int) -> None:
        self.name = str(server.dsn)
        self._server = server
        self._replica_id = replica_id
        self._connection: Connection[Any] | None = None
        self._lock = threading.Lock()

    def is_mariadb(self) -> bool:
        """Return the family."""
        return self._server.is_mariadb

    def identity(self) -> str:
        """Return the server's UUID, or (MariaDB) its number and host."""
        if self._server.is_mariadb:
            rows = self.query("SELECT @@server_id, @@hostname, @@port")
        else:
            rows = self.query("SELECT @@server_uuid")
        return "/".join(map(str, rows[0]))

    def start(self) -> tuple[GtidNames, GtidNames]:
        """Return what it has applied, and what it has logged."""
        if not self._server.is_mariadb:
            rows = self.query("SELECT @@global.gtid_mode, @@global.gtid_executed")
            if rows[0][0] != "ON":
                raise ParaplyError(NO_GTIDS, where=self.name, reason=f"gtid_mode={rows[0][0]}")
            executed = str(rows[0][1])
            return GtidNames.of_mysql(executed), GtidNames.of_mysql(executed)
        # In this order: what is applied before the second statement is in its answer.
        applied = str(self.query("SELECT @@gtid_slave_pos")[0][0])
        logged = str(self.query("SELECT @@gtid_binlog_pos")[0][0])
        return GtidNames.of_mariadb(applied or logged, logged), GtidNames.of_mariadb(logged)

    def has(self, name: str) -> bool:
        """Return whether the log may have a transaction; exact on MySQL."""
        if not self._server.is_mariadb:
            rows = self.query(f"SELECT GTID_SUBSET('{name}', @@global.gtid_executed)")
            return bool(rows[0][0])
        origin, sequence = split_name(name)
        state = str(self.query("SELECT @@gtid_binlog_state")[0][0])
        return any(
            stem == origin and number >= sequence
            for stem, number in map(split_name, filter(None, state.split(",")))
        )

    def log_end(self) -> LogPlace:
        """Return the present end of the log; raises ``ParaplyError`` P615."""
        return log_end(self._server)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Return rows; raises ``ParaplyError``."""
        return self._server.query(statement)

    def close(self) -> None:
        """Break the connection."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection._force_close()

    def events(self, after: GtidNames) -> Iterator[tuple[str | None, bytes]]:
        """Yield the log from ``after`` on; the account needs REPLICATION SLAVE."""
        import pymysql

        try:
            connection = self._server.connect(read_timeout=_SILENT_S_MAX)
            with self._lock:
                self._connection = connection
            self._request(connection, after)
            for data in sent_data(connection, self.name):
                if isinstance(data, EventBlock):
                    yield None, data
                elif len(data) >= _HEADER_BYTES:
                    yield rotated_to(data), data
        except (pymysql.MySQLError, OSError, AttributeError, ValueError) as reason:
            code = reason.args[0] if reason.args else 0
            error = LOG_PURGED if code == _PURGED else DUMP_REFUSED
            raise ParaplyError(error, where=self.name, reason=str(reason)) from reason
        finally:
            self.close()

    def _request(self, connection: Connection[Any], after: GtidNames) -> None:
        with connection.cursor() as cursor:
            for variable in ("binlog_checksum", "heartbeat_period"):
                value = (
                    "@@global.binlog_checksum"
                    if variable == "binlog_checksum"
                    else str(_BEAT_S * 1_000_000_000)
                )
                cursor.execute(f"SET @master_{variable} = {value}, @source_{variable} = {value}")
            if self._server.is_mariadb:
                cursor.execute("SET @mariadb_slave_capability = 4")
                cursor.execute("SET @slave_connect_state = %s", (after.as_mariadb,))
                cursor.execute("SET @slave_gtid_strict_mode = 0, @slave_gtid_ignore_duplicates = 0")
        # The driver has no public method for these commands.
        if self._server.is_mariadb:
            body = struct.pack("<IHI", 4, 0, self._replica_id)
            connection._execute_command(_COM_BINLOG_DUMP, body)
            return
        encoded = encode_gtid_set(after.as_mysql)
        body = struct.pack("<HIIQI", 0, self._replica_id, 0, 4, len(encoded)) + encoded
        connection._execute_command(_COM_BINLOG_DUMP_GTID, body)


def is_final(error: ParaplyError) -> bool:
    """Return whether trying again is of no use."""
    cause = error.__cause__
    code = cause.args[0] if cause is not None and cause.args else 0
    inner = getattr(cause, "__cause__", None)
    inner_code = inner.args[0] if inner is not None and inner.args else 0
    return error.error in (LOG_PURGED, NO_GTIDS) or bool({code, inner_code} & _REFUSED)
