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
