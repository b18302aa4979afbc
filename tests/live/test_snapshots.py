"""Snapshots of a real MariaDB under load, held against its binary log."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import ServerRoom, find_mariadb
from paraply.vocabulary.log import LoggedTransaction
from tests.live.runs import installed

pytestmark = pytest.mark.live

SECONDS = 5
WRITERS = 5
READERS = 3
PLAIN, CONSISTENT = "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"
OPTIONS = ["--innodb-flush-log-at-trx-commit=0"]


def write(server, row, is_over):
    with closing(server.connect(autocommit=True)) as session, session.cursor() as cursor:
        while not is_over.is_set():
            cursor.execute(f"UPDATE d.t SET v = v + 1 WHERE id = {row}")


def read(server, start, is_over):
    """Return the values of all rows as this session's snapshots show them."""
    shown = set()
    with closing(server.connect(autocommit=True)) as session, session.cursor() as cursor:
        while not is_over.is_set():
            cursor.execute(start)
            cursor.execute("SELECT v FROM d.t ORDER BY id")
            shown.add(tuple(value for (value,) in cursor.fetchall()))
            cursor.execute("COMMIT")
    return shown


def states(transactions: Iterable[LoggedTransaction]) -> set[tuple[int, ...]]:
    """Return the state after each transaction of the log."""
    rows = [0] * WRITERS
    found = {tuple(rows)}
    for transaction in transactions:
        for change in transaction.rows:
            if change.table == "d.t" and change.before is not None:
                row, value = change.after[:2]
                rows[row] = value
                found.add(tuple(rows))
    return found


def test_a_consistent_snapshot_is_a_prefix_of_the_log_and_a_plain_one_is_so_nearly_always():
    found = installed(find_mariadb)
    with ServerRoom() as room:
        server = room.start(found, options=OPTIONS)
        rows = ", ".join(f"({row}, 0)" for row in range(WRITERS))
        server.run(
            [
                "CREATE DATABASE d",
                "CREATE TABLE d.t (id INT PRIMARY KEY, v BIGINT NOT NULL) ENGINE=InnoDB",
                f"INSERT INTO d.t VALUES {rows}",
            ]
        )
        is_over = threading.Event()
        with ThreadPoolExecutor(2 * READERS + WRITERS) as pool:
            writers = [pool.submit(write, server, row, is_over) for row in range(WRITERS)]
            readers = {
                start: [pool.submit(read, server, start, is_over) for _ in range(READERS)]
                for start in (PLAIN, CONSISTENT)
            }
            is_over.wait(SECONDS)
            is_over.set()
            for writer in writers:
                writer.result()
            shown = {
                start: set().union(*(reader.result() for reader in own))
                for start, own in readers.items()
            }
        of_the_log = states(read_transactions([str(one) for one in server.binary_logs()]))
    strange = {start: len(seen - of_the_log) for start, seen in shown.items()}
    counts = {start: len(seen) for start, seen in shown.items()}
    print(f"live: {found.version_line}: states {counts}, of them not in the log {strange}")
    assert strange[CONSISTENT] == 0
    assert counts[CONSISTENT] > 100
    assert strange[PLAIN] * 100 < counts[PLAIN]
