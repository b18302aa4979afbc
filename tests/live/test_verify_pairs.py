"""``paraply verify`` on the logs of a real pair whose replica lost a row.

The programs of ``ci/programs/replicas.py`` judge healthy and killed pairs, by name and by content.
"""

from __future__ import annotations

import random

import pytest

from ci.programs.mysql_servers import COMMON, ROWS, create
from ci.programs.replicas import MARIADB
from paraply.adapters.servers import ServerRoom, find_mariadb
from paraply.adapters.servers.replication import replicate, wait_until_applied
from paraply.properties.two_logs.judgement import Level
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.vocabulary.verdict import Verdict
from tests.live.runs import installed

pytestmark = pytest.mark.live


def test_row_deleted_behind_the_log_is_the_one_to_blame():
    installation = installed(find_mariadb)
    options = (*MARIADB, "--slave-parallel-mode=optimistic")
    with ServerRoom() as room:
        source = room.start(installation, options=COMMON)
        replica = room.start(installation, options=options)
        replicate(source, replica)
        create(source)
        wait_until_applied(source, replica)
        replica.run(
            [
                "SET SESSION sql_log_bin=0",
                "SET GLOBAL slave_exec_mode=IDEMPOTENT",
                "DELETE FROM shop.account WHERE id=7",
            ]
        )
        chance = random.Random(5)
        for turn in range(1, 200):
            one, other = chance.sample(range(ROWS), 2)
            source.run([f"UPDATE shop.account SET balance={turn} WHERE id IN ({one}, {other}, 7)"])
        wait_until_applied(source, replica)
        logs = [tuple(map(str, server.binary_logs())) for server in (source, replica)]
        for by_content in (False, True):
            request = VerifyRequest(
                source=logs[0], target=logs[1], by_content=by_content, required="prefix"
            )
            result = verify(request)
            assert result.verdict is Verdict.VIOLATED
            assert result.level < Level.PREFIX
            assert result.except_rows is not None
            assert {row.key for row in result.except_rows.rows} == {"7"}
            assert result.except_rows.level is Level.PREFIX


def test_what_the_source_rolled_back_in_its_log_is_not_awaited():
    """MariaDB logs transactions with a temporary table even if they are rolled back."""
    installation = installed(find_mariadb)
    with ServerRoom() as room:
        source = room.start(installation, options=COMMON)
        replica = room.start(installation, options=MARIADB)
        replicate(source, replica)
        create(source)
        source.run(["CREATE TABLE shop.seen (id INT PRIMARY KEY) ENGINE=MyISAM"])
        for end in ("ROLLBACK", "COMMIT", "ROLLBACK TO `First`", "ROLLBACK TO `2nd one`"):
            with source.connect(autocommit=False) as client, client.cursor() as cursor:
                for sql in (
                    "CREATE TEMPORARY TABLE shop.mine (id INT)",
                    "UPDATE shop.account SET balance = balance + 1 WHERE id = 1",
                    "SAVEPOINT first",
                    "UPDATE shop.account SET balance = balance + 1 WHERE id = 2",
                    "REPLACE INTO shop.seen VALUES (2)",
                    "SAVEPOINT `2ND ONE`",
                    "UPDATE shop.account SET balance = balance + 1 WHERE id = 3",
                    end,
                    "UPDATE shop.account SET version = version + 1 WHERE id = 4",
                    "COMMIT",
                ):
                    cursor.execute(sql)
        wait_until_applied(source, replica)
        logs = [tuple(map(str, server.binary_logs())) for server in (source, replica)]
        texts = [str(row[5]) for row in source.query("SHOW BINLOG EVENTS")]
        assert {"ROLLBACK", "ROLLBACK TO `First`", "ROLLBACK TO `2nd one`"} <= set(texts)
        for by_content in (False, True):
            result = verify(VerifyRequest(source=logs[0], target=logs[1], by_content=by_content))
            assert result.verdict is Verdict.HOLDS
            assert result.level is Level.PREFIX
