"""Bucardo: triggers note changed keys; a daemon copies their current rows from time to time."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil

from ci.programs import servers
from ci.programs.postgresql import pair, under_load, verified
from ci.programs.program import Program, Task
from ci.programs.servers import TABLES, Postgres, kill_family, run_as_postgres, wait_until
from paraply.verifying.result import VerifyResult

SCHEMA = "/usr/share/bucardo/bucardo.schema"


def missing() -> str:
    """Return why it cannot run here."""
    if shutil.which("bucardo") is None or not Path(SCHEMA).exists():
        return "no bucardo; run ci/servers --only bucardo"
    return servers.missing("/usr/lib/postgresql/{version}/lib/plperl.so")


def version() -> str:
    """Return the versions of the daemon and of the servers."""
    done = subprocess.run(["bucardo", "--no-bucardorc", "--version"], capture_output=True,
                          check=True)  # fmt: skip
    return f"Bucardo {done.stdout.decode().split()[-1]}, {servers.version()}"


class Bucardo:
    """The daemon, with its own database on the source."""

    def __init__(self, source: Postgres, target: Postgres) -> None:
        self._folder = source.folder
        self._port = source.port
        self._pid_file = source.folder / "tmp" / "bucardo.mcp.pid"
        source.sql("CREATE DATABASE bucardo")
        for database in ("postgres", "bucardo"):
            source.sql("CREATE EXTENSION plperlu", database=database)
        source.sql("SET client_min_messages=error", f"\\i {SCHEMA}", database="bucardo")
        for name in ("piddir", "log_conflict_file", "reason_file", "warning_file"):
            file = "" if name == "piddir" else f"/{name}"
            self.command("set", f"{name}={self._folder}/tmp{file}")
        for name, server in (("src", source), ("dst", target)):
            self.command("add", "db", name, "dbname=postgres", "host=127.0.0.1",
                         f"port={server.port}", "user=postgres")  # fmt: skip
        self.command("add", "table", *(f"public.{name}" for name in TABLES), "db=src",
                     "relgroup=all")  # fmt: skip
        self.command("add", "sync", "all", "relgroup=all", "dbs=src:source,dst:target",
                     "autokick=1")  # fmt: skip
        self.start()

    def command(self, *words: str) -> None:
        """Run one command of its interface."""
        run_as_postgres(
            ["bucardo", "--no-bucardorc", "--dbhost=127.0.0.1", f"--dbport={self._port}",
             "--dbuser=postgres", "--dbname=bucardo", *words],
            self._folder,
        )  # fmt: skip

    def start(self) -> None:
        """Start the daemon."""
        self.command("start", f"--logdest={self._folder}/tmp")
        wait_until(self._pid_file.exists)

    def kill(self) -> None:
        """End the daemon and its processes by SIGKILL."""
        if self._pid_file.exists():
            with suppress(psutil.NoSuchProcess):
                kill_family(int(self._pid_file.read_text().split()[0]))
            # Its next start refuses to run beside the file.
            self._pid_file.unlink()


def run(task: Task) -> VerifyResult:
    """Run one sync."""
    with pair(task.folder) as (source, target):
        daemon = Bucardo(source, target)
        try:
            under_load(source, target, task, paused=(), appliers=[daemon])
        finally:
            daemon.kill()
        return verified(source, target, task.folder, required="batches", by_content=True)


PROGRAMS = (
    Program(
        name="bucardo",
        promise="each sync copies the changed rows of all tables in one transaction (by design)",
        required="batches",
        expected="holds",
        packages="bucardo",
        missing=missing,
        version=version,
        run=run,
        readers_stay=True,
    ),
)
