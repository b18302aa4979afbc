"""pglogical: the extension that built-in logical replication grew from."""

from __future__ import annotations

import re
import subprocess
from functools import partial
from pathlib import Path

from ci.programs import servers
from ci.programs.postgresql import pair, under_load, verified
from ci.programs.program import Program, Task
from ci.programs.servers import TABLES, programs_folder, wait_until
from paraply.verifying.result import VerifyResult

CONTROL = "/usr/share/postgresql/{version}/extension/pglogical.control"
_PLUGINS = "output_plugin_libraries"


def version() -> str:
    """Return the versions of the extension and of the servers."""
    folder = programs_folder()
    assert folder is not None
    control = Path(CONTROL.format(version=folder.parts[4])).read_text()
    found = re.search(r"default_version = '(.*)'", control)
    return f"pglogical {found[1] if found else '?'}, {servers.version()}"


def _settings() -> list[str]:
    """Return settings of both servers.

    Servers since 15.20, 17.11 and 18.6 load only named output plugins.
    """
    folder = programs_folder()
    assert folder is not None
    known = subprocess.run([folder / "postgres", "--describe-config"], capture_output=True,
                           check=True)  # fmt: skip
    settings = ["shared_preload_libraries=pglogical"]
    if known.stdout.startswith(_PLUGINS.encode()) or f"\n{_PLUGINS}\t".encode() in known.stdout:
        settings.append(f"{_PLUGINS}=pgoutput,pglogical_output")
    return settings


def run(task: Task) -> VerifyResult:
    """Run one subscription."""
    with pair(task.folder, *_settings()) as (source, target):
        for server, name in ((source, "provider"), (target, "subscriber")):
            server.sql(
                "CREATE EXTENSION pglogical",
                f"SELECT pglogical.create_node('{name}', '{server.dsn()}')",
                # pglogical requires a key as the identity.
                *(f"ALTER TABLE {table} REPLICA IDENTITY DEFAULT" for table in TABLES),
            )
        source.sql("SELECT pglogical.replication_set_add_all_tables('default', ARRAY['public'])")
        target.sql(
            f"SELECT pglogical.create_subscription('sub', '{source.dsn()}',"
            " synchronize_structure := false, synchronize_data := false)"
        )
        status = "SELECT status FROM pglogical.show_subscription_status('sub')"
        wait_until(lambda: target.sql(status).strip() == b"replicating")
        under_load(source, target, task, paused=("shared_preload_libraries=",))
        return verified(source, target, task.folder, required="prefix", by_content=False)


PROGRAMS = (
    Program(
        name="pglogical",
        promise="transactions of one subscription apply in commit order (by design)",
        required="prefix",
        expected="holds",
        packages="postgresql",
        missing=partial(servers.missing, CONTROL),
        version=version,
        run=run,
        in_ci=True,
    ),
)
