"""mydumper and myloader: a consistent dump under load, restored by four threads."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ci.programs.mysql_servers import (
    COMMON,
    Child,
    create,
    load,
    missing,
    options_file,
    tool_version,
    until,
    verified,
)
from ci.programs.program import Program, Task
from paraply.adapters.servers import ServerRoom, find_mariadb
from paraply.adapters.servers.server import Server
from paraply.verifying.result import VerifyResult

DUMPER, LOADER = "mydumper", "myloader"
ROWS = 3_000
FAILED = 1
SCHEMAS = ("second", "third", "fourth", "fifth")
CHILDREN = (
    "CREATE TABLE shop.child (id INT PRIMARY KEY, account INT NOT NULL REFERENCES account (id))",
    "INSERT INTO shop.child SELECT id, id FROM shop.account",
)


def _run(task: Task) -> VerifyResult:
    installation = find_mariadb()
    with ServerRoom(parent=task.folder) as room:
        source = room.start(installation, options=COMMON)
        target = room.start(installation, options=COMMON)
        create(source, rows=ROWS)
        source.run(CHILDREN)
        load(source, task=task, rows=ROWS)
        folder = source.files
        dump = folder / "dump"
        Child(
            source,
            (DUMPER, f"--defaults-file={options_file(source, folder)}", "--database=shop",
             "--threads=4", "--rows=100", "--statement-size=2000", f"--outputdir={dump}"),
            folder,
        ).wait()  # fmt: skip
        command = (
            LOADER, f"--defaults-file={options_file(target, folder)}", "--threads=4",
            "--enable-binlog", "--queries-per-transaction=2", f"--directory={dump}",
        )  # fmt: skip
        if task.kill:
            loader = Child(target, (*command, "--database=first"), folder)
            until(lambda: _rows(target) > 100, "rows are restored")
            loader.kill()
            if _rows(target) == 2 * ROWS:
                raise RuntimeError("the kill came after the end")
        schema = _restored(target, command, folder)
        return verified(source, target, required="final", maps=(f"shop.*={schema}.*",))


def _restored(target: Server, command: tuple[str, ...], folder: Path) -> str:
    """Return the schema of the first restore that ends well; its threads may end in a deadlock."""
    *others, last = SCHEMAS
    for schema in others:
        loader = Child(target, (*command, f"--database={schema}"), folder)
        loader.wait(FAILED)
        if loader.exit_code != FAILED:
            return schema
    Child(target, (*command, f"--database={last}"), folder).wait()
    return last


def _rows(target: Server) -> int:
    names = target.query(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'first'"
    )
    return sum(int(target.query(f"SELECT count(*) FROM first.{name}")[0][0]) for (name,) in names)


PROGRAMS = (
    Program(
        name=LOADER,
        promise="restores a consistent dump with `--threads=4`: equal at the end; foreign keys are "
        "switched off meanwhile. A killed restore, or one that a deadlock of its own threads ends, "
        "is not continued: it starts again in an empty schema",
        required="final",
        expected="holds",
        packages="programs",
        missing=partial(missing, find_mariadb, tools=(DUMPER, LOADER)),
        version=partial(tool_version, (LOADER,), find_mariadb),
        run=_run,
        in_ci=True,
    ),
)
