"""pt-archiver and pt-table-sync between two MariaDB servers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

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
from paraply.verifying.result import VerifyResult

ARCHIVER, SYNC = "pt-archiver", "pt-table-sync"
ROWS = 1_500
ARCHIVED = """
CREATE TRIGGER shop.archive AFTER DELETE ON shop.account FOR EACH ROW
IF OLD.id < {rows} THEN INSERT INTO shop.archived VALUES (OLD.id, OLD.balance, OLD.version); END IF
"""
"""Logs each archived row as it was, in the transaction that deletes it."""

ALL_DEFAULTS = """
ALTER TABLE shop.account MODIFY id INT AUTO_INCREMENT, MODIFY balance BIGINT DEFAULT -1
"""


def _dsn(server: Server, folder: Path) -> str:
    return f"F={options_file(server, folder)},S={server.socket},D=shop,t=account"


def _rows(server: Server) -> int:
    return int(server.query(f"SELECT count(*) FROM shop.account WHERE id < {ROWS}")[0][0])


def _archive(options: Sequence[str], task: Task) -> VerifyResult:
    installation = find_mariadb()
    with ServerRoom(parent=task.folder) as room:
        source = room.start(installation, options=COMMON)
        target = room.start(installation, options=COMMON)
        create(source, rows=ROWS)
        source.run(["CREATE TABLE shop.archived LIKE shop.account", ARCHIVED.format(rows=ROWS)])
        target.run(["CREATE DATABASE shop", source.query("SHOW CREATE TABLE shop.account")[0][1]
                    .replace("`account`", "shop.account", 1)])  # fmt: skip
        folder = source.files
        command = (
            ARCHIVER, "--source", _dsn(source, folder), "--dest", _dsn(target, folder),
            "--where", f"id < {ROWS}", "--no-check-charset", "--no-version-check", "--replace",
            "--sleep=0", *options,
        )  # fmt: skip
        with under_load(source, task, rows=ROWS):
            if task.kill:
                tool = Child(source, command, folder)
                until(lambda: _rows(target) > ROWS // 10, "rows are archived")
                tool.kill()
                if not _rows(source):
                    raise RuntimeError("the kill came after the end")
            Child(source, command, folder).wait()
        return verified(source, target, required="final", maps=("shop.archived=shop.account",))


def _synchronise(task: Task) -> VerifyResult:
    installation = find_mariadb()
    with ServerRoom(parent=task.folder) as room:
        source = room.start(installation, options=COMMON)
        target = room.start(installation, options=COMMON)
        for server in (source, target):
            create(server, rows=ROWS)
            server.run(["SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", ALL_DEFAULTS])
        folder = source.files
        command = (
            SYNC, "--execute", "--no-check-slave", "--no-check-triggers", "--chunk-size=100",
            "--algorithms=Chunk", "--lock=2", _dsn(source, folder), _dsn(target, folder),
        )  # fmt: skip
        with under_load(source, task, rows=ROWS):
            if task.kill:
                tool = Child(source, command, folder)
                until(lambda: target.query("SELECT 1 FROM shop.account WHERE version LIMIT 1"),
                      "rows are changed")  # fmt: skip
                tool.kill()
            for _ in range(_SYNCS):
                Child(source, command, folder).wait(_HAS_CHANGED, _FAILED)
        Child(source, command, folder).wait(_HAS_CHANGED)
        return verified(source, target, required="per-key")


_HAS_CHANGED, _FAILED = 2, 1
"""Exit codes of pt-table-sync."""
_SYNCS = 4


def _archiver(name: str, promise: str, expected: str, *options: str, can_kill: bool) -> Program:
    return Program(
        name=name,
        promise=promise,
        required="final",
        expected=expected,
        packages="programs",
        missing=partial(missing, find_mariadb, tools=(ARCHIVER,)),
        version=partial(tool_version, (ARCHIVER,), find_mariadb),
        run=partial(_archive, options),
        can_kill=can_kill,
    )


PROGRAMS = (
    _archiver(
        ARCHIVER,
        "the archive gets each row as it was deleted, with `--for-update --commit-each`",
        "holds",
        "--for-update", "--limit=50", "--commit-each",
        can_kill=True,
    ),
    _archiver(
        f"{ARCHIVER}-unlocked",
        "none for rows that change meanwhile: a control with the default reads",
        "violated",
        "--limit=50", "--commit-each",
        can_kill=False,
    ),
    _archiver(
        f"{ARCHIVER}-small-commits",
        "none: `--for-update`, but a commit in the middle of the rows that were read",
        "violated",
        "--for-update", "--limit=50", "--txn-size=5",
        can_kill=False,
    ),
    Program(
        name=SYNC,
        promise="`--lock=2` locks the tables while it examines them (its manual); a finding: it "
        "writes rows that the source never had",
        required="per-key",
        expected="violated",
        packages="programs",
        missing=partial(missing, find_mariadb, tools=(SYNC,)),
        version=partial(tool_version, (SYNC,), find_mariadb),
        run=_synchronise,
    ),
)  # fmt: skip
