"""A MariaDB source and a replica whose row events take a fixed time.

A trigger sleeps at each row of the replica, while the row is locked. So the time depends
little on processors and disks.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraply.adapters.servers import Server, ServerRoom, find_mariadb, replicate
from paraply.adapters.servers.replication import applier_error, begin_binary_log
from tests.timing.loads import SCHEMA, TABLES, Load, definitions, first_rows, play, restored_rows

ROW_S = 0.005
_SECONDS_MAX = 120
_SETTINGS = ("--sync-binlog=0", "--innodb-flush-log-at-trx-commit=0", "--relay-log-recovery=0")
_COMMIT_WAIT = ("SET GLOBAL binlog_commit_wait_count={}", "SET GLOBAL binlog_commit_wait_usec={}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A log to apply: its file, and its first and last GTID position."""

    load: str
    log: Path
    start: str
    marker: str
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One timed apply."""

    seconds: float
    retries: int


class TimedReplica:
    """A source and its replica."""

    def __init__(self, source: Server, replica: Server, version: str) -> None:
        self.source, self.replica, self.version = source, replica, version

    def record(self, load: Load, folder: Path, seed: int = 0) -> Recorded:
        """Run a load on the source and keep its log."""
        source = self.source
        self._restore(source)
        start = self._position()
        name = begin_binary_log(source)
        source.query(f"DROP TABLE IF EXISTS {SCHEMA}.marker")
        marker = self._position()
        together = 0 if load.clients == 1 else max(2, load.clients // 2)
        source.run([one.format(size) for one, size in
                    zip(_COMMIT_WAIT, (together, 10_000), strict=True)])  # fmt: skip
        play(load, source, seed)
        source.run([one.format(0) for one in _COMMIT_WAIT])
        end = self._position()
        begin_binary_log(source)
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / f"{load.name}.000001.gz"
        kept.write_bytes(gzip.compress((source.datadir / name).read_bytes(), mtime=0))
        return Recorded(load=load.name, log=kept, start=start, marker=marker, end=end)

    def apply(self, recorded: Recorded, mode: str, workers: int) -> Applied:
        """Apply a recorded log and return its time, from its marker on."""
        replica = self.replica
        self._stop()
        self._restore(replica)
        replica.run(
            [
                "RESET MASTER",
                f"SET GLOBAL gtid_slave_pos='{recorded.start}'",
                f"SET GLOBAL slave_parallel_mode={mode}",
                f"SET GLOBAL slave_parallel_threads={workers}",
                "START SLAVE IO_THREAD",
            ]
        )
        end = self.source.query("SHOW MASTER STATUS")[0]
        wanted = str(end[0]), int(end[1])
        wait_for(
            replica,
            "SHOW SLAVE STATUS",
            lambda status: (status["Master_Log_File"], status["Read_Master_Log_Pos"]) == wanted,
        )
        retried = "SHOW GLOBAL STATUS LIKE 'Slave_retried_transactions'"
        before = int(replica.query(retried)[0][1])
        with replica.connect() as connection, connection.cursor() as cursor:
            cursor.execute("START SLAVE SQL_THREAD")
            cursor.execute(f"SELECT MASTER_GTID_WAIT('{recorded.marker}', {_SECONDS_MAX})")
            began = time.perf_counter()
            cursor.execute(f"SELECT MASTER_GTID_WAIT('{recorded.end}', {_SECONDS_MAX})")
            seconds = time.perf_counter() - began
            answer = cursor.fetchone()
        if answer is None or answer[0] != 0:
            raise AssertionError(f"{recorded.load} {mode}: {applier_error(replica)}")
        return Applied(seconds=seconds, retries=int(replica.query(retried)[0][1]) - before)

    def checksums(self) -> list[tuple[str, int]]:
        """Return the checksum of each table of the replica."""
        return [tuple(row) for row in self.replica.query(
            f"CHECKSUM TABLE {', '.join(f'{SCHEMA}.{name}' for name in TABLES)}")]  # fmt: skip

    def _stop(self) -> None:
        self.replica.query("STOP SLAVE")

    def _restore(self, server: Server) -> None:
        server.run(
            [
                "SET SESSION sql_log_bin=0",
                "SET @restores = 1",
                *restored_rows(),
            ]
        )

    def _position(self) -> str:
        return str(self.source.query("SELECT @@gtid_binlog_pos")[0][0])


def wait_for(replica: Server, statement: str, is_reached: Callable[[dict[str, Any]], bool]) -> None:
    """Wait until a replica has received the log."""
    import pymysql.cursors

    deadline = time.monotonic() + _SECONDS_MAX
    with replica.connect(cursorclass=pymysql.cursors.DictCursor) as connection:
        while time.monotonic() < deadline:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                if is_reached(cursor.fetchone()):
                    return
            time.sleep(0.01)
    raise AssertionError("the replica did not receive the log")


@contextmanager
def timed_replica() -> Iterator[TimedReplica]:
    """Start a source and a replica, with triggers that sleep."""
    found = find_mariadb()
    with ServerRoom() as room:
        source = room.start(found, options=[*_SETTINGS, "--binlog-row-metadata=FULL"])
        replica = room.start(
            found,
            options=[*_SETTINGS, "--slave-run-triggers-for-rbr=YES", "--gtid-strict-mode=OFF"],
        )
        replicate(source, replica)
        source.run([f"CREATE DATABASE {SCHEMA}", *definitions(), *first_rows()])
        position = source.query("SELECT @@gtid_binlog_pos")[0][0]
        replica.query(f"SELECT MASTER_GTID_WAIT('{position}', 60)")
        sleeps = f"FOR EACH ROW IF @restores IS NULL THEN DO SLEEP({ROW_S}); END IF"
        replica.run(
            [
                "STOP SLAVE",
                "SET SESSION sql_log_bin=0",
                # A row is locked before it takes its time.
                *(f"CREATE TRIGGER {SCHEMA}.{name}_{event} {moment} {event} ON {SCHEMA}.{name}"
                  f" {sleeps}" for name in TABLES
                  for moment, event in (("AFTER", "INSERT"), ("BEFORE", "UPDATE"))),
            ]
        )  # fmt: skip
        yield TimedReplica(source, replica, found.version_text)
