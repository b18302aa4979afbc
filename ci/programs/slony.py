"""Slony-I: triggers log the changes, a daemon per node applies them from snapshot to snapshot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ci.programs import servers
from ci.programs.postgresql import pair, under_load, verified
from ci.programs.program import Program, Task
from ci.programs.servers import TABLES, Daemon, Postgres, run_as_postgres, wait_until
from paraply.verifying.result import VerifyResult

CLUSTER = "judged"


def missing() -> str:
    """Return why it cannot run here."""
    if shutil.which("slon") is None or shutil.which("slonik") is None:
        return "no slon and slonik; run ci/servers --only postgresql"
    return servers.missing("/usr/lib/postgresql/{version}/lib/slony1_funcs.2.2.11.so")


def version() -> str:
    """Return the versions of the daemon and of the servers."""
    done = subprocess.run(["slon", "-v"], capture_output=True, check=True)
    return f"Slony-I {done.stdout.decode().split()[-1]}, {servers.version()}"


def _slonik(folder: Path, source: Postgres, target: Postgres, *commands: str) -> None:
    head = [
        f"cluster name = {CLUSTER}",
        *(f"node {number} admin conninfo='{server.dsn()}'"
          for number, server in enumerate((source, target), start=1)),
    ]  # fmt: skip
    script = "".join(f"{line};\n" for line in (*head, *commands))
    run_as_postgres(["slonik"], folder, script)


def run(task: Task) -> VerifyResult:
    """Run one set of tables with one receiver."""
    with pair(task.folder) as (source, target):
        paths = [
            f"store path (server = {server}, client = {client}, conninfo='{of.dsn()}', connretry=1)"
            for server, client, of in ((1, 2, source), (2, 1, target))
        ]
        folder = target.folder
        _slonik(
            folder, source, target,
            "init cluster (id=1, comment='source')",
            "create set (id=1, origin=1, comment='all')",
            *(f"set add table (set id=1, origin=1, id={number},"
              f" fully qualified name='public.{name}')"
              for number, name in enumerate(TABLES, start=1)),
            "store node (id=2, comment='target', event node=1)",
            *paths,
        )  # fmt: skip
        daemons = [
            Daemon(
                server.folder, "slon",
                ["slon", "-s", "200", "-t", "1000", "-g", "20", CLUSTER, server.dsn()],
            )
            for server in (source, target)
        ]  # fmt: skip
        try:
            _slonik(
                folder, source, target,
                "subscribe set (id=1, provider=1, receiver=2, forward=no)",
            )  # fmt: skip
            subscribed = f"SELECT count(*) FROM _{CLUSTER}.sl_subscribe WHERE sub_active"
            wait_until(lambda: target.sql(subscribed).strip() == b"1")
            under_load(source, target, task, paused=(), appliers=daemons[1:])
            for daemon in daemons:
                daemon.require_running()
        finally:
            for daemon in daemons:
                daemon.kill()
        return verified(source, target, task.folder, required="batches", by_content=True)


PROGRAMS = (
    Program(
        name="slony",
        promise="each SYNC brings the receiver from one snapshot of the origin to a later one "
        "(by design)",
        required="batches",
        expected="holds",
        packages="postgresql",
        missing=missing,
        version=version,
        run=run,
        in_ci=True,
        readers_stay=True,
    ),
)
