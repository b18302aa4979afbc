"""A multi-threaded applier from a binary log to MySQL or MariaDB, right or with one fault.

Usage: ``threaded_applier.py SOURCE_DSN TARGET_DSN [--workers N] [--fault NAME]``. It needs PyMySQL
and mysql-replication, and applies ``last_committed`` of MySQL or group commit ids of MariaDB. The
applied GTIDs are rows of ``sample.progress``, written in the transaction that they name.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pymysql
from pymysql.constants import CLIENT
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import GtidEvent, MariadbGtidEvent, RotateEvent, XidEvent
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

FAULTS = {
    "ignore-conflicts": "starts every transaction at once",
    "wait-for-one": "waits for the transaction last_committed names, not for all before it",
    "torn": "commits after each row",
    "statement-retry": "repeats the statement after a deadlock, not the transaction",
    "skip-after-deadlock": "goes on with the next transaction after a deadlock",
    "lost-commit-is-done": "takes a COMMIT without an answer as done",
    "checkpoint-off-by-one": "skips one transaction too many after a start",
}
DEADLOCKS = (1213, 1205)
NO_FOREIGN_KEY_CHECKS = 2
"""Flag of a rows event; MySQL 9 logs the rows of a cascade so, before the row that caused it."""
ATTEMPTS_MAX = 10
RETRY_PAUSE_S = 0.01


class Row(NamedTuple):
    """The statement that changes one row."""

    text: str
    values: tuple[Any, ...]
    is_checked: bool = True
    """Whether foreign keys are checked, and cascade."""


@dataclass
class Txn:
    """A transaction of the log."""

    number: int
    gtid: str
    last_committed: int = 0
    sequence_number: int = 0
    group: int | None = None
    epoch: int = 0
    rows: list[Row] = field(default_factory=list)


class LostTransactionError(Exception):
    """A row was not there."""


def connect(dsn: str, **settings: Any) -> pymysql.connections.Connection[Any]:
    """Return a connection to ``mysql://user@host:port/``."""
    return pymysql.connect(**place(dsn), **settings)


def place(dsn: str) -> dict[str, Any]:
    """Return the driver's arguments."""
    url = urlsplit(dsn)
    return {
        "host": url.hostname,
        "port": url.port,
        "user": url.username,
        "password": url.password or "",
        "charset": "utf8mb4",
        "ssl_disabled": True,
    }


class GroupCommitGtid:
    """Adds MariaDB's group commit id, which the library does not read."""

    @staticmethod
    def install() -> None:
        """Extend the library's event."""
        plain = MariadbGtidEvent.__init__

        def init(self: Any, *arguments: Any, **named: Any) -> None:
            plain(self, *arguments, **named)
            self.commit_id = self.packet.read_uint64() if self.flags & 2 else None

        MariadbGtidEvent.__init__ = init


class Applier:
    """Worker threads that apply transactions when the log allows it."""

    def __init__(self, target: str, workers: int, fault: str) -> None:
        self.target = target
        self.fault = fault
        self.changed = threading.Condition()
        self.waiting: deque[Txn] = deque()
        self.running: dict[int, Txn] = {}
        self.done: set[int] = set()
        self.no_more = False
        self.failure = ""
        self.executed = self.prepare()
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(workers)]

    def prepare(self) -> set[str]:
        """Create the table of applied GTIDs and return its content."""
        with connect(self.target, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE IF NOT EXISTS sample")
            cursor.execute(
                "CREATE TABLE IF NOT EXISTS sample.progress (gtid VARCHAR(80) PRIMARY KEY)"
            )
            cursor.execute("SELECT gtid FROM sample.progress")
            return {row[0] for row in cursor.fetchall()}

    def may_start(self, txn: Txn) -> bool:
        """Return whether no earlier transaction must end first; the lock is held."""
        if self.fault == "ignore-conflicts":
            return True
        if any(one.epoch != txn.epoch for one in self.running.values()):
            return False
        if txn.group is not None:
            return all(one.group == txn.group for one in self.running.values())
        if self.fault == "wait-for-one":
            return all(one.sequence_number != txn.last_committed for one in self.running.values())
        return all(one.sequence_number > txn.last_committed for one in self.running.values())

    def take(self) -> Txn | None:
        """Return the next transaction as soon as it may start."""
        with self.changed:
            while True:
                if self.failure or (self.no_more and not self.waiting):
                    return None
                if self.waiting and self.may_start(self.waiting[0]):
                    txn = self.waiting.popleft()
                    self.running[txn.number] = txn
                    self.changed.notify_all()
                    return txn
                self.changed.wait()

    def work(self) -> None:
        """Apply transactions until the end of the log."""
        connection = None
        try:
            while (txn := self.take()) is not None:
                connection = self.apply(txn, connection)
                with self.changed:
                    del self.running[txn.number]
                    self.changed.notify_all()
        except Exception as error:
            with self.changed:
                self.failure = f"{type(error).__name__}: {error}"
                self.changed.notify_all()

    def apply(self, txn: Txn, connection: Any) -> Any:
        """Apply one transaction, again after a deadlock or a lost connection."""
        for _ in range(ATTEMPTS_MAX):
            is_commit = False
            try:
                if connection is None:
                    connection = connect(
                        self.target, autocommit=False, client_flag=CLIENT.FOUND_ROWS
                    )
                    if self.is_done(connection, txn):
                        return connection
                self.change_rows(connection, txn)
                is_commit = True
                connection.commit()
            except (pymysql.err.OperationalError, pymysql.err.InterfaceError, OSError) as error:
                number = error.args[0] if error.args else 0
                if number in DEADLOCKS:
                    if self.fault == "skip-after-deadlock":
                        connection.rollback()
                        return connection
                    connection.rollback()
                else:
                    connection = None
                    if is_commit and self.fault == "lost-commit-is-done":
                        return None
                time.sleep(RETRY_PAUSE_S)
                continue
            return connection
        raise RuntimeError(f"gave up {txn.gtid} after {ATTEMPTS_MAX} attempts")

    def is_done(self, connection: Any, txn: Txn) -> bool:
        """Return whether an attempt with an unknown outcome did commit."""
        with connection.cursor() as cursor:
            found = cursor.execute("SELECT 1 FROM sample.progress WHERE gtid = %s", (txn.gtid,))
            connection.rollback()
            return bool(found)

    def change_rows(self, connection: Any, txn: Txn) -> None:
        """Send the rows of one transaction and its GTID."""
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            progress = Row("INSERT INTO sample.progress VALUES (%s)", (txn.gtid,))
            sets_checks = not all(row.is_checked for row in txn.rows)
            for text, values, is_checked in [*txn.rows, progress]:
                if sets_checks:
                    cursor.execute("SET SESSION foreign_key_checks = %s", (int(is_checked),))
                try:
                    affected = cursor.execute(text, values)
                except pymysql.err.OperationalError as error:
                    if self.fault != "statement-retry" or error.args[0] not in DEADLOCKS:
                        raise
                    affected = cursor.execute(text, values)
                if affected != 1 and not self.fault:
                    raise LostTransactionError(f"{txn.gtid}: {affected} rows by {text}")
                if self.fault == "torn":
                    connection.commit()

    def add(self, txn: Txn) -> None:
        """Queue a transaction of the log."""
        with self.changed:
            self.waiting.append(txn)
            self.changed.notify_all()

    def finish(self) -> str:
        """Wait for all workers and return the first failure."""
        with self.changed:
            self.no_more = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()
        return self.failure


def changes(event: Any) -> list[Row]:
    """Return a rows event as statements that name rows by key; without one, by all columns."""
    table = f"`{event.schema}`.`{event.table}`"
    key = event.primary_key
    # The library has an empty text in place of a missing key.
    names = [key] if key and isinstance(key, str) else list(key or ())
    is_checked = not event.flags & NO_FOREIGN_KEY_CHECKS
    found = []
    for row in event.rows:
        before = row.get("before_values") or row.get("values")
        after = row.get("after_values") or row.get("values")
        columns = names or list(before)
        where = " AND ".join(f"`{name}` <=> %s" for name in columns)
        place_of = tuple(before[name] for name in columns)
        if isinstance(event, WriteRowsEvent):
            marks = ", ".join(["%s"] * len(after))
            listed = ", ".join(f"`{name}`" for name in after)
            text = f"INSERT INTO {table} ({listed}) VALUES ({marks})"
            found.append(Row(text, tuple(after.values()), is_checked))
        elif isinstance(event, DeleteRowsEvent):
            text = f"DELETE FROM {table} WHERE {where} LIMIT 1"
            found.append(Row(text, place_of, is_checked))
        else:
            sets = ", ".join(f"`{name}` = %s" for name in after)
            text = f"UPDATE {table} SET {sets} WHERE {where} LIMIT 1"
            found.append(Row(text, (*after.values(), *place_of), is_checked))
    return found


def main() -> int:
    """Apply the whole log; exit code 1 if a transaction could not be applied."""
    parser = argparse.ArgumentParser(description="apply a binary log")
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--fault", choices=FAULTS, default="")
    arguments = parser.parse_args()
    GroupCommitGtid.install()
    with connect(arguments.source) as connection:
        is_mariadb = "MariaDB" in connection.get_server_info()
    applier = Applier(arguments.target, arguments.workers, arguments.fault)
    for thread in applier.threads:
        thread.start()
    stream = BinLogStreamReader(
        connection_settings=place(arguments.source),
        server_id=4711,
        blocking=False,
        is_mariadb=is_mariadb,
        only_events=[
            GtidEvent,
            MariadbGtidEvent,
            RotateEvent,
            XidEvent,
            WriteRowsEvent,
            UpdateRowsEvent,
            DeleteRowsEvent,
        ],
    )
    is_restart = bool(applier.executed)
    epoch = number = 0
    file = ""
    txn = None
    for event in stream:
        if isinstance(event, RotateEvent):
            epoch += event.next_binlog != file
            file = event.next_binlog
        elif isinstance(event, GtidEvent | MariadbGtidEvent):
            number += 1
            txn = Txn(number, event.gtid, epoch=0 if is_mariadb else epoch)
            if is_mariadb:
                txn.group = event.commit_id if event.commit_id is not None else -number
            else:
                txn.last_committed = event.last_committed
                txn.sequence_number = event.sequence_number
        elif isinstance(event, XidEvent):
            assert txn is not None
            if txn.gtid not in applier.executed:
                if is_restart and arguments.fault == "checkpoint-off-by-one":
                    is_restart = False
                    continue
                applier.add(txn)
        elif txn is not None:
            txn.rows += changes(event)
    failure = applier.finish()
    if failure:
        sys.stderr.write(f"{failure}\n")
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
