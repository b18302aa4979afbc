"""Replicas of MariaDB and MySQL in every parallel mode, in and out of commit order."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from ci.programs.mysql_servers import COMMON, ROWS, create, load, missing, verified
from ci.programs.program import Program, Task
from paraply.adapters.servers import Flavour, Installation, ServerRoom, find_mariadb, find_mysql
from paraply.adapters.servers.replication import (
    executed_position,
    replicate,
    wait_until_applied,
)
from paraply.adapters.servers.server import Server
from paraply.properties.two_logs.judgement import End, Level
from paraply.verifying.result import VerifyResult

MARIADB = (*COMMON, "--slave-parallel-threads=8", "--slave-domain-parallel-threads=4")
MYSQL = (
    *COMMON,
    "--replica-parallel-workers=8",
    "--replica-transaction-retries=100",
    "--binlog-transaction-dependency-history-size=25000",
)
_REST_S = 0.5


def _run(
    find: Callable[[], Installation], options: tuple[str, ...], domains: int, task: Task
) -> VerifyResult:
    """Run a load, let the replica apply it as a backlog, and judge by name and by content."""
    installation = find()
    with ServerRoom(parent=task.folder) as room:
        source = room.start(installation, options=COMMON)
        replica = room.start(installation, options=options)
        replicate(source, replica)
        create(source)
        wait_until_applied(source, replica)
        word = "SLAVE" if replica.is_mariadb else "REPLICA"
        replica.run([f"STOP {word} SQL_THREAD"])
        load(source, task, domains=domains)
        if task.kill:
            kill_in_the_middle(replica, word)
        replica.run([f"START {word}"])
        wait_until_applied(source, replica)
        by_content = verified(source, replica, required="prefix", by_content=True)
        by_name = verified(source, replica, required="prefix")
    agree(by_name, by_content, per_domain=installation.flavour is Flavour.MARIADB)
    return by_name


def kill_in_the_middle(replica: Server, word: str) -> None:
    """Let the replica apply until all its workers wait behind a locked row, and end it by SIGKILL.

    It starts again without its threads.
    """
    with replica.connect(autocommit=False) as holder, holder.cursor() as cursor:
        cursor.execute(f"SELECT * FROM shop.account WHERE id = {ROWS - 1} FOR UPDATE")
        replica.run([f"START {word} SQL_THREAD"])
        reached = ""
        while reached != (reached := executed_position(replica)):
            time.sleep(_REST_S)
        replica.kill()
    replica.options = (*replica.options, "--skip-slave-start")
    replica.start()


def agree(by_name: VerifyResult, by_content: VerifyResult, *, per_domain: bool) -> None:
    """Check that both ways of judging count the same states, and nothing else is amiss.

    ``per_domain``: commits of each domain are in order.

    Raises:
        RuntimeError: they do not, with both results.
    """
    names = by_name.names
    if (
        names is None
        or by_content.names is not None
        or not names.is_faultless
        or names.conflicting_inversions
        or (per_domain and names.group_descents)
        or names.not_prefix != by_content.states.commits - by_content.states.prefixes
        or not by_name.end is by_content.end is End.EQUAL
        or not by_content.delivery.nothing_seen_twice
        or by_content.unknown
        or by_name.level is not by_content.level
        or by_name.level < Level.ATOMIC
    ):
        raise RuntimeError(f"not judged alike: {by_name} {by_content}")


def _mariadb(mode: str, *, domains: int = 1) -> Program:
    return Program(
        name=f"mariadb-replica-{mode}{f'-{domains}-domains' if domains > 1 else ''}",
        promise="each domain commits in the source's order (MariaDB, Parallel Replication)"
        + ("; none across domains: a control" if domains > 1 else ""),
        required="prefix",
        expected="violated" if domains > 1 else "holds",
        packages="mariadb",
        missing=partial(missing, find_mariadb),
        version=lambda: find_mariadb().version_text,
        run=partial(_run, find_mariadb, (*MARIADB, f"--slave-parallel-mode={mode}"), domains),
        in_ci=mode != "minimal",
    )


def _mysql(preserve: str) -> Program:
    return Program(
        name=f"mysql-replica-{'ordered' if preserve == 'ON' else 'unordered'}",
        promise=f"replica_preserve_commit_order={preserve}: "
        + (
            "transactions commit in the order of the relay log (MySQL, Replica Options)"
            if preserve == "ON"
            else "readers may see gaps (MySQL, Replica Options): a control"
        ),
        required="prefix",
        expected="holds" if preserve == "ON" else "violated",
        packages="mysql",
        missing=partial(missing, find_mysql),
        version=lambda: find_mysql().version_text,
        run=partial(_run, find_mysql, (*MYSQL, f"--replica-preserve-commit-order={preserve}"), 1),
        in_ci=True,
    )


PROGRAMS = (
    *(_mariadb(mode) for mode in ("optimistic", "aggressive", "conservative", "minimal")),
    _mariadb("optimistic", domains=3),
    _mysql("ON"),
    _mysql("OFF"),
)
