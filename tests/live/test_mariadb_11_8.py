"""What MariaDB 11.8 logs otherwise than 10.11, read from its files and from its own dump."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.keys.builder import KeyBuilder, follow
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.source import open_source
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import (
    Server,
    ServerRoom,
    find_mariadb,
    find_mariadb_11_8,
    replicate,
    wait_until_applied,
)
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import ABSENT, LoggedTransaction
from paraply.vocabulary.verdict import Verdict
from tests.builders.key_cases import may_conflict
from tests.live.runs import installed

pytestmark = pytest.mark.live

LARGE = 10 << 20
"""The least binlog_large_commit_threshold."""
TWO_PHASES = "--binlog-alter-two-phase=ON"


@pytest.fixture(scope="module")
def source() -> Iterator[Server]:
    installation = installed(find_mariadb_11_8)
    with ServerRoom() as room:
        options = [TWO_PHASES, f"--binlog-large-commit-threshold={LARGE}"]
        yield room.start(installation, options=options)


def new_log(server: Server, *statements: str) -> list[Path]:
    """Run statements in a new schema and return the files with their log."""
    before = len(server.binary_logs())
    server.run(["DROP DATABASE IF EXISTS live", "CREATE DATABASE live", "FLUSH BINARY LOGS"])
    server.run(["USE live", *statements])
    return server.binary_logs()[before:]


def keyed(logs: list[Path], registry: SchemaRegistry) -> list[LoggedTransaction]:
    """Return the transactions with keys from the statements in the log alone."""
    return list(follow(KeyBuilder(registry), read_transactions([str(log) for log in logs])))


def test_events_inside_of_transactions_have_no_end_position(source):
    logs = new_log(source, "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1)")
    with open_source(str(logs[-1])) as opened:
        ends = [event.header.end_position for event in BinlogReader(opened).raw_events()]
    assert 0 in ends
    *_, last = read_transactions([str(log) for log in logs])
    assert last.complete
    assert last.size_bytes > 0


def test_alter_in_two_phases_takes_effect_at_its_commit_and_never_if_rolled_back(source):
    logs = new_log(
        source,
        "CREATE TABLE t (id INT PRIMARY KEY, b INT)",
        "ALTER TABLE t ADD c INT, ADD UNIQUE (c)",
        "INSERT INTO t VALUES (1, 5, 1), (2, 5, 2)",
    )
    with pytest.raises(ParaplyError, match="Duplicate entry"):
        source.run(["USE live", "ALTER TABLE t ADD UNIQUE (b)"])
    source.run(["USE live", "DELETE FROM t WHERE id = 1"])
    registry = SchemaRegistry()
    found = keyed(logs, registry)
    phases = [word for txn in found for word in txn.flags if word.endswith("_alter")]
    assert phases == ["start_alter", "commit_alter", "start_alter", "rollback_alter"]
    table = registry.table("live.t")
    assert table is not None
    assert table.keys_complete
    assert [column.name for column in table.columns] == ["id", "b", "c"]
    assert [key.name for key in table.unique_keys] == ["PRIMARY", "c"]
    assert {key.index for key in found[-1].keys} == {"PRIMARY", "c"}


def test_large_transaction_that_becomes_a_file_is_read_whole(source):
    rows, text_bytes = 2_500, 5_000
    logs = new_log(
        source,
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9000))",
        f"INSERT INTO t SELECT seq, REPEAT('x', {text_bytes}) FROM seq_1_to_{rows}",
        "INSERT INTO t VALUES (0, 'after')",
    )
    assert len(logs) > 1, "the transaction did not become a file of its own"
    *_, large, after = read_transactions([str(log) for log in logs])
    assert large.start.file != str(logs[0])
    assert (len(large.rows), len(after.rows)) == (rows, 1)
    result = audit(AuditRequest(files=tuple(map(str, logs))))
    assert not result.violations
    assert not [one for one in result.unknown_because if "read" in one.reason]


def test_generated_columns_that_updates_leave_out_may_meet_who_takes_the_value(source):
    generated = "v INT AS (b + 1) STORED, b INT, UNIQUE (v)"
    logs = new_log(
        source,
        f"CREATE TABLE t (id INT PRIMARY KEY, {generated})",
        "INSERT INTO t (id, b) VALUES (1, 2)",
        "UPDATE t SET b = 7",
        "INSERT INTO t (id, b) VALUES (2, 2)",
        "SET SESSION binlog_row_image = MINIMAL",
        "UPDATE t SET b = 9 WHERE id = 1",
        "INSERT INTO t (id, b) VALUES (3, 7)",
        "SET SESSION binlog_row_image = FULL",
    )
    *_, full, taker_of_old, minimal, taker_of_new = keyed(logs, SchemaRegistry())
    assert full.rows[0].after is not None
    assert full.rows[0].after[1] is ABSENT
    for update, taker in ((full, taker_of_old), (minimal, taker_of_new)):
        assert may_conflict(update, taker) == {"live.t"}
    assert not audit(AuditRequest(files=tuple(map(str, logs)))).replay.findings


@pytest.mark.parametrize(
    ("find", "mode"),
    [
        pytest.param(find_mariadb, "optimistic", id="from 10.11"),
        pytest.param(find_mariadb_11_8, "conservative", id="from 11.8"),
    ],
)
def test_audit_and_verify_hold_for_replicas(find, mode):
    of_source, of_replica = installed(find), installed(find_mariadb_11_8)
    full = "--binlog-row-metadata=FULL"
    with ServerRoom() as room:
        source = room.start(of_source, options=[full])
        parallel = ["--slave-parallel-threads=4", f"--slave-parallel-mode={mode}", TWO_PHASES]
        replica = room.start(of_replica, options=[full, *parallel])
        replicate(source, replica)
        source.run(["CREATE DATABASE live", "USE live", *TABLES])
        commit_in_groups(replica, milliseconds=500)
        commit_together(source)
        wait_until_applied(source, replica)
        ours, theirs = (tuple(map(str, one.binary_logs())) for one in (source, replica))
        for files in (ours, theirs):
            result = audit(AuditRequest(files=files))
            assert not result.violations
            assert result.verdict is Verdict.HOLDS, result.unknown_because
        judged = verify(VerifyRequest(source=ours, target=theirs, required="prefix"))
    assert judged.verdict is Verdict.HOLDS, judged
    assert judged.source.transactions > ROUNDS


TABLES = (
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, w VARCHAR(9), UNIQUE (v))",
    "ALTER TABLE t ADD x INT",
    "CREATE SEQUENCE s",
)
ROUNDS = 30
"""Of transactions that commit together."""


def commit_in_groups(server: Server, *, milliseconds: int) -> None:
    """Let a transaction wait so long for a second one, unless the second needs a lock of it."""
    waits = f"binlog_commit_wait_count=2, GLOBAL binlog_commit_wait_usec={1000 * milliseconds}"
    server.run([f"SET GLOBAL {waits}"])


def commit_together(server: Server) -> None:
    """Commit transactions of two clients in groups; every other one replaces an earlier row."""
    commit_in_groups(server, milliseconds=60_000)
    begin = Barrier(2)

    def client(number: int) -> None:
        with server.connect() as session, session.cursor() as cursor:
            for turn in range(ROUNDS):
                key, version = 2 * (turn // 2) + number, 2 * turn + number
                begin.wait(60)
                cursor.execute(f"REPLACE live.t VALUES ({key}, {version}, 'x', 1)")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(client, range(2)))
