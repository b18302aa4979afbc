"""pt-online-schema-change: the old and the new table are judged from one log."""

from __future__ import annotations

from functools import partial

from ci.programs.mysql_servers import (
    COMMON,
    Child,
    create,
    missing,
    options_file,
    tool_version,
    under_load,
    until,
    verified,
)
from ci.programs.program import Program, Task
from paraply.adapters.servers import ServerRoom, find_mariadb
from paraply.adapters.servers.server import Server
from paraply.properties.two_logs.judgement import End
from paraply.verifying.result import VerifyResult

TOOL = "pt-online-schema-change"
ROWS, CHUNK = 1_500, 20
KEEP = ("--no-swap-tables", "--no-drop-new-table", "--no-drop-old-table", "--no-drop-triggers")
"""The triggers stay, so that the load may end after the copy."""


def _run(task: Task) -> VerifyResult:
    with ServerRoom(parent=task.folder) as room:
        server = room.start(find_mariadb(), options=COMMON)
        create(server, rows=ROWS)
        command = (
            TOOL, "--execute", *KEEP, "--alter", "ADD COLUMN note INT", "--chunk-time=0",
            f"--chunk-size={CHUNK}", "--max-load", "", "--critical-load", "",
            # MariaDB may plan another chunk index while its statistics are new: not what is judged.
            "--sleep=0.02", "--no-check-plan",
            f"F={options_file(server, server.files)},D=shop,t=account",
        )  # fmt: skip
        new = "_account_new"
        with under_load(server, task, rows=ROWS):
            if task.kill:
                _kill_in_the_middle(server, command, new)
                new = f"_{new}"
            Child(server, command, server.files).wait()
        if task.kill:
            left = _judged(server, "_account_new")
            if left.end is not End.DIFFERENT:
                raise RuntimeError(f"the incomplete table has all rows: {left}")
        return _judged(server, new)


def _judged(server: Server, new: str) -> VerifyResult:
    return verified(server, server, required="per-key", maps=(f"shop.account=shop.{new}",))


def _kill_in_the_middle(server: Server, command: tuple[str, ...], new: str) -> None:
    """End the tool by SIGKILL, check what it leaves behind, and remove that by hand.

    Raises:
        RuntimeError: the tool starts in spite of old triggers, or there are none.
    """
    tool = Child(server, command, server.files)

    def copied() -> int:
        exists = server.query(
            "SELECT 1 FROM information_schema.tables "
            f"WHERE table_schema = 'shop' AND table_name = '{new}'"
        )
        return int(server.query(f"SELECT count(*) FROM shop.{new}")[0][0]) if exists else 0

    until(lambda: copied() > 5 * CHUNK, "rows are copied")
    tool.kill()
    triggers = server.query("SHOW TRIGGERS FROM shop")
    again = Child(server, command, server.files)
    until(lambda: not again.is_running, "the second start ends")
    if len(triggers) != 3 or again.exit_code == 0:
        raise RuntimeError(f"left {triggers}; started again: {again.exit_code}")
    server.run([f"DROP TRIGGER shop.`{row[0]}`" for row in triggers])


PROGRAMS = (
    Program(
        name=TOOL,
        promise="changes to the original table during the copy are reflected in the new table "
        "(its manual); killed, it leaves the triggers and an incomplete table, and starts again "
        "after these triggers are dropped",
        required="per-key",
        expected="holds",
        packages="programs",
        missing=partial(missing, find_mariadb, tools=(TOOL,)),
        version=partial(tool_version, (TOOL,), find_mariadb),
        run=_run,
        in_ci=True,
    ),
)
