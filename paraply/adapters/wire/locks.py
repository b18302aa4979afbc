"""Which connections wait for a lock, from the server's own views.

``information_schema.innodb_trx`` is cached and stays stale under frequent reads, and
``performance_schema`` may be off, so the InnoDB status text decides.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paraply.adapters.servers.server import Server

if TYPE_CHECKING:
    from pymysql.connections import Connection

_THREAD = re.compile(r"(?:MySQL|MariaDB) thread id (\d+)")
_GONE_SECONDS_MAX = 10.0


class LockMonitor:
    """Asks a server over its own connection."""

    def __init__(self, server: Server) -> None:
        self._connection: Connection[Any] = server.connect()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def waiting(self) -> frozenset[int]:
        """Return the thread ids that wait for a lock."""
        found = set()
        status = self._rows("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")
        if int(status[0][1]):
            text = str(self._rows("SHOW ENGINE INNODB STATUS")[0][2])
            found |= lock_waits(text)
        for row in self._rows("SHOW PROCESSLIST"):
            state = str(row[6] or "")
            if (state.startswith("Waiting for") and "lock" in state) or state == "User lock":
                found.add(int(row[0]))
        return frozenset(found)

    def wait_until_gone(self, threads: frozenset[int]) -> None:
        """Wait until threads have left the server, so that they hold no locks."""
        ends = time.monotonic() + _GONE_SECONDS_MAX
        while time.monotonic() < ends:
            if not threads & {int(row[0]) for row in self._rows("SHOW PROCESSLIST")}:
                return
            time.sleep(0.002)

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def __enter__(self) -> LockMonitor:
        return self

    def __exit__(self, *exception: object) -> None:
        with suppress(Exception):
            self.close()


def lock_waits(status: str) -> set[int]:
    """Return the waiting thread ids of ``SHOW ENGINE INNODB STATUS``."""
    found = set()
    for section in status.split("---TRANSACTION")[1:]:
        thread = _THREAD.search(section)
        if thread is not None and "LOCK WAIT" in section[: thread.start()]:
            found.add(int(thread[1]))
    return found
