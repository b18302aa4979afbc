"""Row locks against the order of commits on a real MySQL replica, as the reference foretells."""

from __future__ import annotations

import threading
import time
from contextlib import closing

import pytest

from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.pair.waits import waits_on
from paraply.adapters.servers import ServerRoom, find_mysql, replicate, wait_until_applied
from paraply.vocabulary.errors import ParaplyError
from tests.adapters.servers.waiting import wait_for

pytestmark = pytest.mark.live

PATIENCE_SECONDS = 15
"""innodb_lock_wait_timeout of the replica."""
LOCK_WAITS = (
    "SELECT COUNT(*) FROM performance_schema.data_lock_waits w JOIN performance_schema.data_locks l"
    " ON l.engine_lock_id = w.requesting_engine_lock_id WHERE l.object_name = '{table}'"
)
TURNS = (
    "SELECT COUNT(*) FROM performance_schema.processlist"
    " WHERE state = 'Waiting for preceding transaction to commit'"
)
FIRST = ("UPDATE d.gate SET v = 1 WHERE a = 1", "UPDATE d.one SET v = 1 WHERE a = 2")
SECOND = ("UPDATE d.two SET v = 1 WHERE a = 1",)
THIRD = (
    "UPDATE d.gate SET v = 1 WHERE a = 3",
    "UPDATE d.one SET v = 1 WHERE a = 1",
    "UPDATE d.two SET v = 1 WHERE a = 2",
)
"""No two of them write a row in common. Without a key, who looks for row 2 locks row 1 as well."""


def wait_until_counted(server, query, count):
    """Return once the query counts that many."""
    wait_for(lambda: server.query(query)[0][0] == count, f"never {count}: {query}")


def hold_row(session, row):
    """Take a row's lock; wait for it as long as it takes."""
    with session.cursor() as cursor:
        cursor.execute("SET SESSION innodb_lock_wait_timeout = 300")
        cursor.execute(f"SELECT * FROM d.gate WHERE a = {row} FOR UPDATE")


def commit_together(source, *transactions):
    """Let transactions of as many sessions overlap, and commit in this order as one group."""
    source.run(
        [
            "SET GLOBAL binlog_group_commit_sync_delay=1000000",
            f"SET GLOBAL binlog_group_commit_sync_no_delay_count={len(transactions)}",
        ]
    )
    commits = []
    for statements in transactions:
        session = source.connect(autocommit=False)
        with session.cursor() as cursor:
            # Else the source would lock as much as the replica will.
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            for statement in statements:
                cursor.execute(statement)
        commits.append(threading.Thread(target=session.commit))
    for commit in commits:
        commit.start()
        time.sleep(0.1)
    for commit in commits:
        commit.join(timeout=30)


@pytest.mark.parametrize("in_order", ["ON", "OFF"])
def test_circle_over_two_rows_and_a_turn_is_ended_by_the_lock_wait_timeout_alone(in_order):
    try:
        found = find_mysql()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    options = [
        "--performance-schema=ON",
        "--replica-parallel-workers=4",
        f"--replica-preserve-commit-order={in_order}",
        f"--innodb-lock-wait-timeout={PATIENCE_SECONDS}",
    ]
    with ServerRoom() as room:
        source = room.start(found)
        replica = room.start(found, options=options)
        replicate(source, replica)
        source.run(
            [
                "CREATE DATABASE d",
                "CREATE TABLE d.gate (a INT PRIMARY KEY, v INT NOT NULL)",
                "CREATE TABLE d.one (a INT NOT NULL, v INT NOT NULL)",
                "CREATE TABLE d.two (a INT NOT NULL, v INT NOT NULL)",
                *(f"INSERT INTO d.{table} VALUES (1, 0), (2, 0)" for table in ("one", "two")),
                "INSERT INTO d.gate VALUES (1, 0), (3, 0)",
            ]
        )
        wait_until_applied(source, replica)
        with closing(replica.connect(autocommit=False)) as first_gate, \
                closing(replica.connect(autocommit=False)) as third_gate:  # fmt: skip
            hold_row(first_gate, 1)
            hold_row(third_gate, 3)
            commit_together(source, FIRST, SECOND, THIRD)
            wait_until_counted(replica, LOCK_WAITS.format(table="gate"), 2)
            wait_until_counted(replica, TURNS, int(in_order == "ON"))
            third_gate.rollback()
            wait_until_counted(replica, LOCK_WAITS.format(table="two"), int(in_order == "ON"))
            first_gate.rollback()
            if in_order == "ON":
                # The first waits for a row of the third, the third for one of the second.
                wait_until_counted(replica, LOCK_WAITS.format(table="one"), 1)
                told = waits_on(replica)
                assert told.count("for a row of") == 2
                assert replica.query(TURNS)[0][0] == 1
                # Else the third, when it tries again, may close the circle again and again.
                hold_row(third_gate, 3)
                wait_until_counted(replica, "SELECT COUNT(*) FROM d.two WHERE v = 1", 1)
                third_gate.rollback()
        wait_until_applied(source, replica)
        for table in ("gate", "one", "two"):
            rows = f"SELECT a, v FROM d.{table} ORDER BY a"
            assert replica.query(rows) == source.query(rows)
        timeouts = replica.log.read_text(encoding="utf-8").count("Lock wait timeout exceeded")
        assert (timeouts > 0) is (in_order == "ON")
        # The metadata is true: the server let them overlap, and they share no row.
        last = list(read_transactions([str(source.binary_logs()[-1])]))[-3:]
        assert len({one.last_committed for one in last}) == 1
