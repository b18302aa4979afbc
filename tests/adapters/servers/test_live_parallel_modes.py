"""MariaDB's parallel modes on a real server, where the reference implementation can be doubted."""

from __future__ import annotations

import threading
import time

import pytest

from paraply.adapters.servers import ServerRoom, find_mariadb, replicate, wait_until_applied
from paraply.reference_impl.mariadb.modes import Mode
from paraply.reference_impl.mariadb.subject import MARIADB_PARALLEL
from paraply.vocabulary.errors import ParaplyError
from tests.adapters.servers.waiting import wait_for

pytestmark = pytest.mark.live

MODES = ["conservative", "minimal", "optimistic", "aggressive"]
HELD_MS = 600_000
"""The replica's own semi-sync wait holds a transaction between commit start and commit, until it is
switched off."""


@pytest.fixture(scope="module")
def pair():
    try:
        found = find_mariadb()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    print(f"live: {found.version_text}")
    options = ["--log-slave-updates", "--gtid-strict-mode=ON", "--binlog-format=ROW"]
    with ServerRoom() as room:
        source = room.start(found, options=options)
        replica = room.start(found, options=[*options, "--slave-parallel-threads=4"])
        replicate(source, replica)
        source.run(
            [
                "CREATE DATABASE d",
                "CREATE TABLE d.i (a INT PRIMARY KEY) ENGINE=InnoDB",
                "CREATE TABLE d.m (a INT PRIMARY KEY) ENGINE=MyISAM",
                "CREATE TABLE d.hot (a INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB",
                "INSERT INTO d.hot VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)",
            ]
        )
        wait_until_applied(source, replica)
        yield source, replica


def set_mode(replica, mode):
    replica.run(["STOP SLAVE", f"SET GLOBAL slave_parallel_mode='{mode}'"])


def rows(server, table, value):
    return server.query(f"SELECT COUNT(*) FROM d.{table} WHERE a = {value}")[0][0]


def is_held(replica):
    """Return whether a worker waits for an acknowledgement, between commit start and commit."""
    states = replica.query("SELECT state FROM information_schema.processlist")
    return any(state and "semi-sync ACK" in state for (state,) in states)


@pytest.mark.parametrize("mode", MODES)
def test_change_without_transaction_overtakes_where_the_reference_says_so(pair, mode):
    source, replica = pair
    value = MODES.index(mode) + 1
    set_mode(replica, mode)
    source.query(f"INSERT INTO d.i VALUES ({value})")
    source.query(f"INSERT INTO d.m VALUES ({value})")
    replica.run(
        [
            f"SET GLOBAL rpl_semi_sync_master_timeout={HELD_MS}",
            "SET GLOBAL rpl_semi_sync_master_wait_point=AFTER_SYNC",
            "SET GLOBAL rpl_semi_sync_master_enabled=1",
            "START SLAVE",
        ]
    )
    wait_for(lambda: is_held(replica), "the InnoDB row was never held")
    # The reference: in conservative, and in minimal by the same rule, the change does not wait.
    overtakes = Mode[mode.upper()] < Mode.OPTIMISTIC
    if overtakes:
        wait_for(lambda: rows(replica, "m", value), "the change never overtook")
    else:
        time.sleep(1)
    seen = rows(replica, "i", value), rows(replica, "m", value)
    assert is_held(replica), "the wait was over before the rows were counted"
    replica.query("SET GLOBAL rpl_semi_sync_master_enabled=0")
    wait_until_applied(source, replica)
    broken = MARIADB_PARALLEL.breaks["conservative_non_transactional"]
    kept = MARIADB_PARALLEL.breaks["aggressive_non_transactional"]
    assert "domains_are_read_in_order" in broken - kept
    assert seen == (0, 1 if overtakes else 0)
    assert (rows(replica, "i", value), rows(replica, "m", value)) == (1, 1)


def two_transactions(source, domain, first, second, *, together):
    """Let two sessions update rows in one domain, and commit as one group or one by one."""
    sessions = [source.connect(autocommit=False) for _ in range(2)]
    for session, items in zip(sessions, (first, second), strict=True):
        with session.cursor() as cursor:
            cursor.execute(f"SET SESSION gtid_domain_id={domain}")
            cursor.execute("BEGIN")
            for row in items:
                cursor.execute(f"UPDATE d.hot SET v = v + 1 WHERE a = {row}")
    if together:
        leader = threading.Thread(target=sessions[0].commit)
        leader.start()
        leading = (
            "SELECT 1 FROM information_schema.processlist"
            f" WHERE info = 'COMMIT' AND id = {sessions[0].thread_id()}"
        )
        wait_for(lambda: source.query(leading), "nobody leads the group")
        time.sleep(0.5)
        sessions[1].commit()
        leader.join(timeout=30)
    else:
        for session in sessions:
            session.commit()
    for session in sessions:
        session.close()


def waiters(replica):
    """Return how many workers wait for their turn to commit."""
    states = replica.query("SELECT state FROM information_schema.processlist")
    return sum("prior transaction" in (state or "") for (state,) in states)


@pytest.mark.parametrize("together", [True, False], ids=["one commit id", "apart"])
def test_domains_that_wait_for_each_other_end_in_a_timeout_where_a_commit_id_is_trusted(together):
    try:
        found = find_mariadb()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    options = ["--log-slave-updates", "--binlog-format=ROW"]
    patience = ["--innodb-lock-wait-timeout=3", "--slave-transaction-retries=1"]
    with ServerRoom() as room:
        source = room.start(found, options=options)
        replica = room.start(found, options=[*options, *patience, "--slave-parallel-threads=4"])
        replicate(source, replica)
        source.run(
            [
                "CREATE DATABASE d",
                "CREATE TABLE d.hot (a INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB",
                "INSERT INTO d.hot VALUES (1, 0), (2, 0), (3, 0), (4, 0)",
            ]
        )
        wait_until_applied(source, replica)
        set_mode(replica, "optimistic")
        source.run(
            [
                f"SET GLOBAL binlog_commit_wait_count={2 if together else 0}",
                "SET GLOBAL binlog_commit_wait_usec=60000000",
            ]
        )
        # In each domain the second holds what the first of the other domain needs.
        two_transactions(source, 1, (1, 4), (3,), together=together)
        two_transactions(source, 2, (2, 3), (4,), together=together)
        gate = replica.connect(autocommit=False)
        with gate, gate.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT * FROM d.hot WHERE a IN (1, 2) FOR UPDATE")
            replica.query("START SLAVE")
            # Until both who come second have changed their rows; apart they may never wait at once.
            deadline = time.monotonic() + (60 if together else 2)
            while waiters(replica) < 2 and time.monotonic() < deadline:
                time.sleep(0.02)
            gate.rollback()
        if together:
            with pytest.raises(ParaplyError, match=r"P608 .*Lock wait timeout"):
                wait_until_applied(source, replica)
        else:
            wait_until_applied(source, replica)


def write_hot_rows(source, writer):
    connection = source.connect(autocommit=True)
    with connection, connection.cursor() as cursor:
        for number in range(60):
            cursor.execute(f"UPDATE d.hot SET v = v + 1 WHERE a = {(writer + number) % 5 + 1}")


@pytest.mark.parametrize("mode", MODES)
def test_hot_rows_are_applied_in_order_and_retried_only_by_speculation(pair, mode):
    source, replica = pair
    set_mode(replica, mode)
    retried = "SHOW GLOBAL STATUS LIKE 'Slave_retried_transactions'"
    before = int(replica.query(retried)[0][1])
    writers = [threading.Thread(target=write_hot_rows, args=(source, n)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=60)
    replica.query("START SLAVE")
    # gtid_strict_mode: an order that is not the source's would stop the replica, error 1950.
    wait_until_applied(source, replica)
    retries = int(replica.query(retried)[0][1]) - before
    print(f"{mode}: {retries} retries")
    state = "SELECT a, v FROM d.hot ORDER BY a"
    assert replica.query(state) == source.query(state)
    if Mode[mode.upper()] < Mode.OPTIMISTIC:
        assert retries == 0
