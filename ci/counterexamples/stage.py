"""The servers of one script, and the steps that scripts have in common."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Any

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import Installation, Server, ServerRoom, replicate, wait_until_applied
from paraply.adapters.servers.replication import executed_position
from paraply.vocabulary.log import LoggedTransaction

SECONDS_MAX = 30.0
STEADY_S = 2.0
"""How long something that must not happen is watched."""
_GATE_SECONDS_MAX = 300
_TOGETHER_US = 1_000_000
_PAUSE_S = 0.1


class Outcome(Enum):
    """What a script shows of a counterexample."""

    REPRODUCED = "reproduced"
    IMPOSSIBLE = "impossible"


class ScriptError(Exception):
    """A script did not reach the situation that it is about."""


class Task(threading.Thread):
    """Statements in their own session, with the error that ended them."""

    def __init__(self, server: Server, statements: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self.connection = server.connect(autocommit=False, read_timeout=_GATE_SECONDS_MAX)
        self.id = int(self.connection.thread_id())
        self.error: str = ""
        self._statements = statements
        self.start()

    def run(self) -> None:
        """Execute the statements."""
        try:
            with self.connection.cursor() as cursor:
                for statement in self._statements:
                    cursor.execute(statement)
        except Exception as reason:
            self.error = str(reason) or type(reason).__name__

    @property
    def is_done(self) -> bool:
        """Return whether all statements are confirmed."""
        return not self.is_alive() and not self.error

    def wait(self, seconds_max: float = SECONDS_MAX) -> bool:
        """Wait for the end; return whether all statements are confirmed."""
        self.join(seconds_max)
        return self.is_done


class Stage:
    """Servers of one installation, with notes of what was done and seen."""

    def __init__(self, installation: Installation, room: ServerRoom) -> None:
        self.installation = installation
        self.room = room
        self.is_mariadb = "MariaDB" in installation.version_text
        self.notes: list[str] = []
        self.decisions: dict[str, dict[str, str]] = {}
        self._began = time.monotonic()

    # Record

    def note(self, text: str) -> None:
        """Record a step with its time."""
        self.notes.append(f"{time.monotonic() - self._began:.1f} s: {text}")

    def decide(self, *names: str, is_reproduced: bool, seen: str) -> None:
        """Record what was seen of counterexamples."""
        outcome = Outcome.REPRODUCED if is_reproduced else Outcome.IMPOSSIBLE
        for name in names:
            self.decisions[name] = {"outcome": outcome.value, "seen": seen}
        self.note(f"{', '.join(names)} {outcome.value}: {seen}")

    # Servers

    def start(self, name: str, *options: str) -> Server:
        """Start a server with the family's own spelling of options."""
        return self.room.start(self.installation, name=name, options=options)

    def pair(
        self,
        *,
        source: Sequence[str] = (),
        replica: Sequence[str] = (),
        tables: Sequence[str] = (),
        workers: int = 4,
    ) -> tuple[Server, Server]:
        """Start a source with tables of schema ``d`` and a parallel replica that has them."""
        first = self.start("source", *source)
        second = self.start("replica", *self.parallel(workers), *replica)
        replicate(first, second)
        first.run(["CREATE DATABASE d", *tables])
        wait_until_applied(first, second)
        self.note(f"source and replica of {self.installation.version_text} run")
        return first, second

    def parallel(self, workers: int = 4) -> tuple[str, ...]:
        """Return the options of a parallel applier."""
        if self.is_mariadb:
            return (f"--slave-parallel-threads={workers}", "--slave-parallel-mode=optimistic")
        return (
            f"--replica-parallel-workers={workers}",
            "--performance-schema=ON",
            "--performance-schema-max-table-instances=500",
        )

    @property
    def applier(self) -> str:
        """Return SLAVE or REPLICA."""
        return "SLAVE" if self.is_mariadb else "REPLICA"

    # Steps

    def until(
        self, condition: Callable[[], bool], what: str, seconds_max: float = SECONDS_MAX
    ) -> None:
        """Wait for a condition; ``ScriptError`` after ``seconds_max``."""
        deadline = time.monotonic() + seconds_max
        while not condition():
            if time.monotonic() > deadline:
                raise ScriptError(f"after {seconds_max:.0f} s: not {what}")
            time.sleep(0.05)

    def comes(self, condition: Callable[[], bool], seconds_max: float = STEADY_S) -> bool:
        """Return whether a condition comes true within ``seconds_max``."""
        with suppress(ScriptError):
            self.until(condition, "", seconds_max)
            return True
        return False

    @contextmanager
    def held(self, server: Server, *rows: str) -> Iterator[Gate]:
        """Hold row locks, as ``d.t WHERE a = 1``, until the gate opens."""
        gate = Gate(server, rows)
        self.note(f"a session on {server.name} locks {', '.join(rows)}")
        try:
            yield gate
        finally:
            gate.open()

    def commit_together(self, source: Server, *transactions: Sequence[str]) -> None:
        """Let transactions overlap and commit in this order, in one group of the log."""
        if source.is_mariadb:
            names = ("binlog_commit_wait_usec", "binlog_commit_wait_count")
        else:
            names = (
                "binlog_group_commit_sync_delay", "binlog_group_commit_sync_no_delay_count",
            )  # fmt: skip
        delay, count = names
        source.run(
            [f"SET GLOBAL {delay}={_TOGETHER_US}", f"SET GLOBAL {count}={len(transactions)}"]
        )
        sessions = []
        for statements in transactions:
            session = source.connect(autocommit=False)
            with session.cursor() as cursor:
                cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
                for statement in statements:
                    cursor.execute(statement)
            sessions.append(session)
        commits = [threading.Thread(target=session.commit, daemon=True) for session in sessions]
        for commit in commits:
            commit.start()
            time.sleep(_PAUSE_S)
        for commit in commits:
            commit.join(SECONDS_MAX)
        for session in sessions:
            session.close()
        source.run([f"SET GLOBAL {delay}=0", f"SET GLOBAL {count}=0"])

    # Looks

    def value(self, server: Server, query: str) -> Any:
        """Return a query's first value, or None."""
        rows = server.query(query)
        return rows[0][0] if rows else None

    def logged(self, server: Server) -> list[LoggedTransaction]:
        """Return the complete transactions of a server's log."""
        files = [str(file) for file in server.binary_logs()]
        return [one for one in read_transactions(files) if one.complete]

    def last(self, server: Server, count: int) -> list[LoggedTransaction]:
        """Return the last transactions of a server's log."""
        return self.logged(server)[-count:]

    def executed(self, server: Server) -> str:
        """Return the executed GTIDs."""
        return executed_position(server)

    def states(self, server: Server) -> list[str]:
        """Return the states of all sessions."""
        return [str(row[6] or "") for row in server.query("SHOW PROCESSLIST")]

    def status(self, server: Server, name: str) -> Any:
        """Return a field of the replica's status."""
        import pymysql.cursors

        with (
            server.connect(cursorclass=pymysql.cursors.DictCursor) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(f"SHOW {self.applier} STATUS")
            found = cursor.fetchone() or {}
            return found.get(name if self.is_mariadb else _mysql_name(name))

    def error(self, replica: Server) -> str:
        """Return the applier's error, if it stopped."""
        return str(self.status(replica, "Last_SQL_Error") or "")


def _mysql_name(name: str) -> str:
    return name.replace("Slave_", "Replica_").replace("Master_", "Source_")


class Gate:
    """A session that holds row locks."""

    def __init__(self, server: Server, rows: Sequence[str]) -> None:
        self._connection = server.connect(autocommit=False)
        with self._connection.cursor() as cursor:
            cursor.execute(f"SET SESSION innodb_lock_wait_timeout={_GATE_SECONDS_MAX}")
            for row in rows:
                cursor.execute(f"SELECT * FROM {row} FOR UPDATE")
                cursor.fetchall()

    def open(self) -> None:
        """Release the locks."""
        if self._connection.open:
            with suppress(Exception):  # The server may be gone.
                self._connection.close()
