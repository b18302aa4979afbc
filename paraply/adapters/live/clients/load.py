"""Concurrent clients that run a workload and record it."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from paraply.adapters.elle.operations import OperationType
from paraply.adapters.live.client_threads import CONNECTION_LOST, PAUSE_S, ClientThreads
from paraply.adapters.live.clients.options import ClientOptions, Route
from paraply.adapters.live.clients.recorder import Recorder
from paraply.adapters.live.clients.site import Site, Wait
from paraply.adapters.live.clients.workloads import Plan, Workload
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from paraply.adapters.servers.reachable import Reachable

_READ_SECONDS_MAX = 30
_GTID_WAIT_SECONDS_MAX = 10
_LOCK_WAIT = "SET SESSION innodb_lock_wait_timeout = 2"
"""Seconds; keeps clients busy."""
_UNDONE_AT_COMMIT = {1020, 1205, 1213, 3098, 3101}
"""Errors of a COMMIT that rolled back: conflicts, certification, refused by a plugin."""
_ERROR_DURING_COMMIT = 1180
_DEADLOCK_DURING_COMMIT = "error 149 "
"""The engine's error in 1180 that means a conflict; with others the outcome is unknown."""
_FINAL_ATTEMPTS = 3


def is_undone(code: int, text: str) -> bool:
    """Return whether a COMMIT with this error has certainly rolled back.

    A Galera member that loses its quorum during COMMIT reports 1180, and may still commit.
    """
    if code == _ERROR_DURING_COMMIT:
        return _DEADLOCK_DURING_COMMIT in text
    return code in _UNDONE_AT_COMMIT


class WaitTimeoutError(Exception):
    """A replica did not reach the source's GTIDs in time."""


class ClientLoad(ClientThreads):
    """Concurrent clients that run a workload."""

    def __init__(
        self,
        site: Site,
        workload: Workload,
        wait: Wait,
        *,
        options: ClientOptions,
        clients: int,
        seed: int,
        transactions: int,
    ) -> None:
        super().__init__(clients, transactions)
        self.recorder = Recorder()
        self._site = site
        self._workload = workload
        self._wait = wait
        self._options = options
        self._clients = clients
        self._seed = seed
        self._completed = 0

    def stop(self) -> Recorder:
        """End the load and return what was recorded."""
        self.stop_threads(2 * _READ_SECONDS_MAX)
        return self.recorder

    @property
    def completed(self) -> int:
        """Return the number of confirmed transactions."""
        return self._completed

    def _run(self, number: int) -> None:
        dice = random.Random(f"{self._seed}/{number}")
        process = number
        while not self.is_done:
            client = _Client(self, number)
            with client.connections:
                while not self.is_done:
                    plan = self._workload.plan(dice, is_reader=number < self._site.readers)
                    kind = client.transact(process, plan, self.server_of(number, plan, dice))
                    if kind is OperationType.INFO:
                        # An invocation without an end remains: its process is over.
                        process += self._clients
                    if kind is not OperationType.OK and client.is_lost:
                        break
            self._stop.wait(PAUSE_S)

    def read_finally(self) -> None:
        """Read all keys once at each server, after the load, if the workload has such a read."""
        plan = self._workload.reading_all()
        if plan is None:
            return
        # Processes that no client of the load has used.
        first = max((one.process for one in self.recorder.operations), default=0) + 1
        for number, server in enumerate(self._site.servers):
            for _ in range(_FINAL_ATTEMPTS):
                client = _Client(self, number)
                with client.connections:
                    kind = client.transact(first + number, plan, server)
                if kind is OperationType.OK:
                    break
                time.sleep(PAUSE_S)

    def server_of(self, number: int, plan: Plan, dice: random.Random) -> Reachable:
        """Return where a transaction runs."""
        writers = self._site.writers
        own = writers[number % len(writers)]
        route = self._options.reads
        if not plan.is_read_only or route is Route.SOURCE:
            return own
        choice = self._site.servers
        if route is Route.REPLICA:
            choice = [one for one in choice if one is not own] or choice
        return dice.choice(choice)

    def own_writer(self, number: int) -> Reachable:
        """Return the server that a client writes to."""
        return self._site.writers[number % len(self._site.writers)]

    @property
    def workload(self) -> Workload:
        """Return the workload."""
        return self._workload

    def session_statements(self) -> list[str]:
        """Return the statements that set up a session."""
        level = self._options.isolation.sql
        return [
            f"SET SESSION TRANSACTION ISOLATION LEVEL {level}",
            _LOCK_WAIT,
            *([self._wait.session] if self._wait.session else []),
        ]

    @property
    def awaits_gtids(self) -> bool:
        """Return whether readers wait for the source's GTIDs."""
        return self._wait.for_gtids

    def count(self) -> None:
        """Count a confirmed transaction."""
        with self._lock:
            self._completed += 1


class _Client:
    """One client's connections, by server."""

    def __init__(self, load: ClientLoad, number: int) -> None:
        self._load = load
        self._number = number
        self._cursors: dict[str, Any] = {}
        self.connections = ExitStack()
        self.is_lost = False

    def _cursor(self, server: Reachable) -> Any:
        if server.name not in self._cursors:
            connection = server.connect(autocommit=True, read_timeout=_READ_SECONDS_MAX)
            self.connections.callback(_close, connection)
            cursor = connection.cursor()
            for statement in self._load.session_statements():
                cursor.execute(statement)
            self._cursors[server.name] = cursor
        return self._cursors[server.name]

    def transact(self, process: int, plan: Plan, server: Reachable) -> OperationType:
        """Run one transaction at a server and record how it ended."""
        import pymysql

        load = self._load
        try:
            cursor = self._cursor(server)
        except (pymysql.MySQLError, OSError, ParaplyError):
            # The server is down; a fail-over may replace it. Nothing was invoked.
            self.is_lost = True
            return OperationType.FAIL
        recorder = load.recorder
        tag = recorder.invoke(process, plan.function, plan.value, server.name)
        is_committing = False
        try:
            if load.awaits_gtids and server is not load.own_writer(self._number):
                self._wait_for_gtids(cursor, server)
            cursor.execute("BEGIN")
            value = load.workload.execute(cursor, plan)
            if not plan.is_read_only:
                cursor.execute(f"INSERT INTO {load.workload.schema}.journal VALUES ({tag})")
            is_committing = True
            cursor.execute("COMMIT")
        except (pymysql.MySQLError, OSError, WaitTimeoutError) as reason:
            code = reason.args[0] if reason.args and isinstance(reason.args[0], int) else 0
            kind = OperationType.FAIL
            if is_committing and not plan.is_read_only and not is_undone(code, str(reason)):
                kind = OperationType.INFO
            error = f"{type(reason).__name__} {code}"
            recorder.complete(kind, process, plan.function, plan.value, server.name, error)
            self._undo(cursor, code)
            return kind
        recorder.complete(OperationType.OK, process, plan.function, value, server.name)
        load.count()
        return OperationType.OK

    def _wait_for_gtids(self, cursor: Any, server: Reachable) -> None:
        source = self._cursor(self._load.own_writer(self._number))
        if server.is_mariadb:
            source.execute("SELECT @@gtid_binlog_pos")
            wait = "SELECT MASTER_GTID_WAIT('{}', {})"
        else:
            source.execute("SELECT @@global.gtid_executed")
            wait = "SELECT WAIT_FOR_EXECUTED_GTID_SET('{}', {})"
        position = str(source.fetchone()[0]).replace("\n", "")
        cursor.execute(wait.format(position, _GTID_WAIT_SECONDS_MAX))
        if cursor.fetchone()[0] != 0:
            raise WaitTimeoutError

    def _undo(self, cursor: Any, code: int) -> None:
        import pymysql

        self.is_lost = code in CONNECTION_LOST
        if not self.is_lost:
            try:
                cursor.execute("ROLLBACK")
            except (pymysql.MySQLError, OSError):
                self.is_lost = True


def _close(connection: Any) -> None:
    with suppress(Exception):  # The server may be gone.
        connection.close()
