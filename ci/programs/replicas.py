"""Replicas of MariaDB and MySQL in every parallel mode, in and out of commit order."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from ci.programs.mysql_servers import COMMON, ROWS, create, load, missing, verified
from ci.programs.program import Program, Task
from paraply.adapters.servers import (
    Flavour,
    Installation,
    ServerRoom,
    find_mariadb,
    find_mariadb_11_8,
    find_mysql,
)
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
Find = Callable[[], Installation]


def _run(
    finds: tuple[Find, Find], options: tuple[str, ...], domains: int, task: Task
) -> VerifyResult:
    """Run a load, let the replica apply it as a backlog, and judge by name and by content."""
    of_source, of_replica = (find() for find in finds)
    with ServerRoom(parent=task.folder) as room:
        source = room.start(of_source, options=COMMON)
        replica = room.start(of_replica, options=options)
        replicate(source, replica)
        create(source)
        wait_until_applied(source, replica)
        word = "SLAVE" if replica.is_mariadb else "REPLICA"
        replica.run([f"STOP {word} SQL_THREAD"])
        load(source, task=task, domains=domains)
        if task.kill:
            kill_in_the_middle(replica, word)
        replica.run([f"START {word}"])
        wait_until_applied(source, replica)
        by_content = verified(source, replica, required="prefix", by_content=True)
        by_name = verified(source, replica, required="prefix")
    agree(by_name, by_content, per_domain=of_replica.flavour is Flavour.MARIADB)
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


def _versions(finds: tuple[Find, Find]) -> str:
    """Return the versions of source and replica."""
    return " to ".join(dict.fromkeys(find().version_text for find in finds))


def _mariadb(
    mode: str,
    *,
    domains: int = 1,
    versions: str = "mariadb",
    finds: tuple[Find, Find] = (find_mariadb, find_mariadb),
    in_ci: bool = True,
) -> Program:
    return Program(
        name=f"{versions}-replica-{mode}{f'-{domains}-domains' if domains > 1 else ''}",
        promise="each domain commits in the source's order (MariaDB, Parallel Replication)"
        + ("; none across domains: a control" if domains > 1 else ""),
        required="prefix",
        expected="violated" if domains > 1 else "holds",
        packages="mariadb-11.8" if find_mariadb_11_8 in finds else "mariadb",
        missing=partial(missing, *finds),
        version=partial(_versions, finds),
        run=partial(_run, finds, (*MARIADB, f"--slave-parallel-mode={mode}"), domains),
        in_ci=in_ci,
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
        run=partial(
            _run,
            (find_mysql, find_mysql),
            (*MYSQL, f"--replica-preserve-commit-order={preserve}"),
            1,
        ),
        in_ci=True,
    )


MODES = ("optimistic", "aggressive", "conservative", "minimal")
UPGRADE = "mariadb-10.11-to-11.8"
PROGRAMS = (
    *(_mariadb(mode, in_ci=mode != "minimal") for mode in MODES),
    _mariadb("optimistic", domains=3),
    *(
        _mariadb(
            mode,
            versions=versions,
            finds=(source, find_mariadb_11_8),
            in_ci=(versions, mode) == (UPGRADE, "optimistic"),
        )
        for versions, source in (("mariadb-11.8", find_mariadb_11_8), (UPGRADE, find_mariadb))
        for mode in MODES
    ),
    _mysql("ON"),
    _mysql("OFF"),
)
