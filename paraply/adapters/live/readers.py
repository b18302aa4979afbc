"""Take consistent snapshots with their places in the log.

MariaDB's ``SHOW STATUS LIKE 'binlog_snapshot_%'`` returns a value that sessions share. Hence one
reader per server at a time: a thread, or :meth:`SnapshotReader.read`.

A MySQL snapshot has no place, and ``gtid_executed`` is not part of it. A query before the snapshot
returns the executed set, which it must contain: the engine commits first.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paraply.adapters.live.observed import Snapshot
from paraply.adapters.live.workload import READ_TABLES, TAGS_PER_ROUND
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from paraply.adapters.servers.reachable import Reachable

_PAUSE_S = 0.01
_AFTER_FAILURE_S = 0.05


class Reader(ABC):
    """Reads a server from :meth:`start` to :meth:`stop`."""

    pause_s = _PAUSE_S

    def __init__(self, server: Reachable) -> None:
        self.snapshots: list[Snapshot] = []
        self._server = server
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> list[Snapshot]:
        """Stop, and return the snapshots in time order."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(30)
        return self.snapshots

    def _run(self) -> None:
        import pymysql

        while not self._stop.is_set():
            try:
                with self._server.connect() as connection, connection.cursor() as cursor:
                    while not self._stop.wait(self.pause_s):
                        self.snapshots.append(self.read(cursor))
            except (pymysql.MySQLError, OSError, ParaplyError):
                # The server was killed or refuses to be read; it may come back.
                self._stop.wait(_AFTER_FAILURE_S)

    @abstractmethod
    def read(self, cursor: Any) -> Snapshot:
        """Take one snapshot."""


class SnapshotReader(Reader):
    """Reads a MariaDB replica's tables and log place."""

    def __init__(
        self,
        server: Reachable,
        schemas: Sequence[str],
        *,
        session: str = "reader",
        tables: Sequence[str] = READ_TABLES,
    ) -> None:
        super().__init__(server)
        self._session = session
        self._schemas = schemas
        self._tables = tables

    def _rows(self, cursor: Any) -> dict[str, Sequence[tuple[object, ...]]]:
        tables = [f"{schema}.{table}" for schema in self._schemas for table in self._tables]
        rows: dict[str, Sequence[tuple[object, ...]]] = {}
        for table in tables:
            cursor.execute(f"SELECT * FROM {table}")
            rows[table] = tuple(cursor.fetchall())
        return rows

    def read(self, cursor: Any) -> Snapshot:
        """Take one snapshot."""
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        cursor.execute("SHOW STATUS LIKE 'binlog_snapshot_%'")
        status = {str(name).lower(): str(value) for name, value in cursor.fetchall()}
        rows = self._rows(cursor)
        position = gtid_position(cursor)
        cursor.execute("COMMIT")
        return Snapshot(
            session=self._session,
            rows=rows,
            file=status.get("binlog_snapshot_file", ""),
            offset=int(status.get("binlog_snapshot_position") or 0),
            gtid_position=position,
        )


class JournalReader(SnapshotReader):
    """Reads a MySQL server's tables and journal."""

    def __init__(
        self,
        server: Reachable,
        schemas: Sequence[str],
        *,
        session: str = "reader",
        round_number: int = 0,
        tables: Sequence[str] = READ_TABLES,
    ) -> None:
        super().__init__(server, schemas, session=session, tables=tables)
        self._first_tag = round_number * TAGS_PER_ROUND

    def read(self, cursor: Any) -> Snapshot:
        """Take one snapshot."""
        cursor.execute("SELECT @@global.gtid_executed")
        executed = str(cursor.fetchone()[0]).replace("\n", "")
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        rows = self._rows(cursor)
        tags: set[int] = set()
        for schema in self._schemas:
            cursor.execute(f"SELECT w FROM {schema}.journal WHERE w >= {self._first_tag}")
            tags.update(int(tag) for (tag,) in cursor.fetchall())
        cursor.execute("COMMIT")
        return Snapshot(
            session=self._session, rows=rows, gtid_position=executed, tags=frozenset(tags)
        )


def gtid_position(cursor: Any) -> str:
    """Return ``mysql.gtid_slave_pos``: the highest sub_id of each domain."""
    cursor.execute("SELECT domain_id, sub_id, server_id, seq_no FROM mysql.gtid_slave_pos")
    newest: dict[int, tuple[int, int, int]] = {}
    for domain, sub_id, server_id, number in cursor.fetchall():
        newest[domain] = max(newest.get(domain, (0, 0, 0)), (sub_id, server_id, number))
    return ",".join(
        f"{domain}-{server_id}-{number}"
        for domain, (_, server_id, number) in sorted(newest.items())
    )
