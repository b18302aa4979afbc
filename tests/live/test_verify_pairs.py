"""``paraply verify`` on the logs of real pairs: by name and by content, in and out of order."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest

from paraply.adapters.servers import Installation, ServerRoom, find_mariadb, find_mysql
from paraply.adapters.servers.replication import replicate, wait_until_applied
from paraply.adapters.servers.server import Server
from paraply.properties.two_logs.judgement import End, Level
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.result import VerifyResult
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict

pytestmark = pytest.mark.live

CLIENTS = 6
TRANSACTIONS = 250
"""Of each client."""
ROWS = 40
COMMON = ("--binlog-row-metadata=FULL", "--sync-binlog=0", "--innodb-flush-log-at-trx-commit=0")
MARIADB = (*COMMON, "--slave-parallel-threads=8", "--slave-domain-parallel-threads=4")
MYSQL = (
    *COMMON,
    "--replica-parallel-workers=8",
    "--replica-transaction-retries=100",
    "--binlog-transaction-dependency-history-size=25000",
)


def installed(find: Callable[[], Installation]) -> Installation:
    try:
        return find()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")


def create(source: Server) -> None:
    source.run(
        [
            "CREATE DATABASE shop",
            "CREATE TABLE shop.account (id INT PRIMARY KEY, balance BIGINT, version BIGINT)",
            "INSERT INTO shop.account VALUES " + ",".join(f"({n},1000,0)" for n in range(ROWS)),
        ]
    )


def load(source: Server, *, domains: int = 1, turns: int = TRANSACTIONS) -> None:
    """Clients move amounts between rows; each row version is new. Domains own their rows."""

    def client(number: int) -> None:
        chance = random.Random(number)
        domain = number % domains
        mine = [row for row in range(ROWS) if row % domains == domain]
        with source.connect(autocommit=False) as connection, connection.cursor() as cursor:
            if domains > 1:
                cursor.execute(f"SET SESSION gtid_domain_id={domain}")
            for turn in range(turns):
                for row in sorted(chance.sample(mine, chance.choice((1, 2, 2, 3)))):
                    cursor.execute(
                        "UPDATE shop.account SET balance = balance + %s, version = %s "
                        "WHERE id = %s",
                        (chance.randint(-9, 9), 1 + turn * CLIENTS + number, row),
                    )
                connection.commit()

    threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def pair(
    installation: Installation,
    source_options: tuple[str, ...],
    replica_options: tuple[str, ...],
    *,
    domains: int = 1,
) -> dict[bool, VerifyResult]:
    """Run a load, let the replica apply it as a backlog, and verify by name and by content."""
    with ServerRoom() as room:
        source = room.start(installation, options=source_options)
        replica = room.start(installation, options=replica_options)
        replicate(source, replica)
        create(source)
        wait_until_applied(source, replica)
        word = "SLAVE" if replica.is_mariadb else "REPLICA"
        replica.run([f"STOP {word} SQL_THREAD"])
        load(source, domains=domains)
        replica.run([f"START {word} SQL_THREAD"])
        wait_until_applied(source, replica)
        logs = [tuple(map(str, server.binary_logs())) for server in (source, replica)]
        found = {
            by_content: verify(
                VerifyRequest(
                    source=logs[0], target=logs[1], by_content=by_content, required="prefix"
                )
            )
            for by_content in (False, True)
        }
    for by_content, result in found.items():
        states = result.states
        print(
            f"live: verify {installation.version_text} {replica_options[-1]} domains={domains} "
            f"{'by content' if by_content else 'by name'}: {result.level.word}, "
            f"{states.prefixes} of {states.commits} states, "
            f"longest stretch {states.longest.commits if states.longest else 0}"
        )
    return found


def agree(found: dict[bool, VerifyResult]) -> int:
    """Check that both ways count the same states; return how many are no prefix."""
    by_name, by_content = found[False], found[True]
    names = by_name.names
    assert names is not None
    assert by_content.names is None
    assert names.is_faultless
    assert not names.conflicting_inversions
    not_prefix = by_content.states.commits - by_content.states.prefixes
    assert names.not_prefix == not_prefix
    assert by_name.end is by_content.end is End.EQUAL
    assert by_content.delivery.nothing_seen_twice
    assert not by_content.unknown
    assert by_content.states.commits >= CLIENTS * TRANSACTIONS
    return not_prefix


@pytest.mark.parametrize("mode", ["optimistic", "conservative", "aggressive"])
def test_mariadb_in_one_domain_shows_prefixes_only(mode):
    installation = installed(find_mariadb)
    found = pair(installation, COMMON, (*MARIADB, f"--slave-parallel-mode={mode}"))
    assert agree(found) == 0
    assert all(result.verdict is Verdict.HOLDS for result in found.values())


def test_mariadb_domains_are_atomic_and_no_prefixes():
    installation = installed(find_mariadb)
    options = (*MARIADB, "--slave-parallel-mode=optimistic")
    found = pair(installation, COMMON, options, domains=2)
    assert agree(found) > 0, "no two domains overlapped: nothing was shown"
    assert all(result.level is Level.ATOMIC for result in found.values())
    names = found[False].names
    assert names is not None
    assert names.descents > 0
    assert names.group_descents == 0


@pytest.mark.parametrize("preserve", ["ON", "OFF"])
def test_mysql_shows_prefixes_only_where_commit_order_is_preserved(preserve):
    installation = installed(find_mysql)
    found = pair(installation, COMMON, (*MYSQL, f"--replica-preserve-commit-order={preserve}"))
    not_prefix = agree(found)
    assert (not_prefix == 0) == (preserve == "ON")
    level = Level.PREFIX if preserve == "ON" else Level.ATOMIC
    assert all(result.level is level for result in found.values())


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
