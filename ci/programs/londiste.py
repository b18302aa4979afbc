"""Londiste: triggers put changes into a queue (PgQ), and a worker applies them tick by tick."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ci.programs import servers
from ci.programs.postgresql import pair, under_load, verified
from ci.programs.program import Program, Task
from ci.programs.servers import TABLES, Daemon, Postgres, run_as_postgres, wait_until
from paraply.verifying.result import VerifyResult

QUEUE = "judged"


def missing() -> str:
    """Return why it cannot run here."""
    if shutil.which("londiste") is None or shutil.which("pgqd") is None:
        return "no londiste and pgqd; run ci/servers --only londiste"
    return servers.missing("/usr/share/postgresql/{version}/extension/londiste.control")


def version() -> str:
    """Return the versions of the program and of the servers."""
    done = subprocess.run(["londiste", "--version"], capture_output=True, check=True)
    return f"Londiste (Skytools {done.stdout.decode().split()[-1]}), {servers.version()}"


def _configured(server: Postgres, name: str) -> Path:
    """Write the configuration of a node's programs."""
    for extension in ("pgq", "pgq_node", "londiste"):
        server.sql(f"CREATE EXTENSION {extension}")
    path = server.folder / "londiste.ini"
    path.write_text(
        f"[londiste]\njob_name = {name}\ndb = {server.dsn()}\nqueue_name = {QUEUE}\n"
        f"logfile = {server.folder}/tmp/londiste.log\npidfile = {server.folder}/tmp/londiste.pid\n"
        "loop_delay = 0.2\n"
    )
    return path


def _ticker(server: Postgres) -> Path:
    """Write the configuration of the queue's ticker."""
    path = server.folder / "pgqd.ini"
    path.write_text(
        f"[pgqd]\nbase_connstr = {server.dsn()}\ninitial_database = postgres\n"
        "database_list = postgres\nticker_period = 0.3\n"
        f"logfile = {server.folder}/tmp/pgqd.log\npidfile = {server.folder}/tmp/pgqd.pid\n"
    )
    return path


def run(task: Task) -> VerifyResult:
    """Run a root and a leaf."""
    with pair(task.folder) as (source, target):
        root, leaf = _configured(source, "root"), _configured(target, "leaf")

        def londiste(file: Path, *words: str) -> None:
            run_as_postgres(["londiste", str(file), *words], file.parent)

        londiste(root, "create-root", "root", source.dsn())
        londiste(leaf, "create-leaf", "leaf", target.dsn(), f"--provider={source.dsn()}")
        source.sql(
            "UPDATE pgq.queue SET queue_ticker_max_lag = '0.3 s', queue_ticker_max_count = 20"
        )
        daemons = [
            Daemon(source.folder, "pgqd", ["pgqd", str(_ticker(source))]),
            Daemon(source.folder, "root", ["londiste", str(root), "worker"]),
            Daemon(target.folder, "leaf", ["londiste", str(leaf), "worker"]),
        ]
        try:
            for file in (root, leaf):
                for table in TABLES:
                    londiste(file, "add-table", f"public.{table}")
            ready = "SELECT count(*) FROM londiste.table_info WHERE merge_state = 'ok'"
            wait_until(lambda: int(target.sql(ready)) == len(TABLES))
            for daemon in daemons:
                daemon.require_running()
            under_load(source, target, task, paused=(), appliers=daemons[2:])
        finally:
            for daemon in daemons:
                daemon.kill()
        return verified(source, target, task.folder, required="batches", by_content=True)


PROGRAMS = (
    Program(
        name="londiste",
        promise="a batch of the queue, from tick to tick, is applied in one transaction (by "
        "design)",
        required="batches",
        expected="holds",
        packages="londiste",
        missing=missing,
        version=version,
        run=run,
        readers_stay=True,
    ),
)
