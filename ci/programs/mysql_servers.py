"""MariaDB and MySQL servers, a load with conflicts, and programs that run beside them."""

from __future__ import annotations

import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ci.programs.program import Task
from paraply.adapters.servers import Installation
from paraply.adapters.servers.process import ServerProcess
from paraply.adapters.servers.server import Server
from paraply.adapters.servers.unprivileged import give
from paraply.verifying.mapping import Rules, parse_rule
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.result import VerifyResult
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from pymysql.connections import Connection
    from pymysql.cursors import Cursor

COMMON = ("--binlog-row-metadata=FULL", "--sync-binlog=0", "--innodb-flush-log-at-trx-commit=2")
"""Complete after SIGKILL, since the kernel lives on."""
CLIENTS, ROWS = 6, 40
SECONDS_MAX = 120
_PAUSE_S = 0.01
_RETRY = {1205, 1213, 1180, 3101}
"""Lock wait timeout, deadlock, deadlock at its end, refused by certification."""


def missing(*finds: Callable[[], Installation], tools: Sequence[str] = ()) -> str:
    """Return why a server or a tool cannot be used; empty if all can."""
    for find in finds:
        try:
            find()
        except ParaplyError as reason:
            return f"{reason.text}; {reason.remedy}"
    absent = [tool for tool in tools if shutil.which(tool) is None]
    return f"no {absent[0]}; run ci/servers --only programs" if absent else ""


def tool_version(command: Sequence[str], server: Callable[[], Installation]) -> str:
    """Return the versions of a tool and of its server."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    line = done.stdout.strip().splitlines()[0]
    return f"{line.split(',')[0]}, {server().version_text}"


def create(source: Server, *, rows: int = ROWS) -> None:
    """Create the accounts with their first rows."""
    source.run(
        [
            "CREATE DATABASE IF NOT EXISTS shop",
            "CREATE TABLE shop.account (id INT PRIMARY KEY, balance BIGINT, version BIGINT)",
            "INSERT INTO shop.account VALUES " + ",".join(f"({n},1000,0)" for n in range(rows)),
        ]
    )


def load(
    *sources: Server,
    task: Task,
    rows: int = ROWS,
    domains: int = 1,
    may_end: threading.Event | None = None,
) -> None:
    """Clients change common rows, and insert and delete rows of their own.

    They take turns among the sources. Each row version is new. Domains own their rows. With
    ``may_end``, clients also go on until it is set, and pause between transactions.
    """
    turns = -(-task.transactions // CLIENTS)

    def client(number: int) -> None:
        chance = random.Random(f"{task.seed}/{number}")
        domain = number % domains
        mine = [row for row in range(rows) if row % domains == domain]
        own, has_own = rows + number, False
        source = sources[number % len(sources)]
        with source.connect(autocommit=False) as connection, connection.cursor() as cursor:
            if domains > 1:
                cursor.execute(f"SET SESSION gtid_domain_id={domain}")
            for turn in count():
                if turn >= turns and (may_end is None or may_end.is_set()):
                    return
                version = 1 + turn * CLIENTS + number
                changes = [
                    f"UPDATE shop.account SET balance = balance + {chance.randint(-9, 9)}, "
                    f"version = {version} WHERE id = {row}"
                    for row in sorted(chance.sample(mine, chance.choice((1, 2, 2, 3))))
                ]
                if chance.random() < 0.3:
                    changes.append(
                        f"DELETE FROM shop.account WHERE id = {own}"
                        if has_own
                        else f"REPLACE INTO shop.account VALUES ({own}, 0, {version})"
                    )
                    has_own = not has_own
                _commit(connection, cursor, changes)
                if may_end is not None:
                    time.sleep(_PAUSE_S)

    with ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(client, number) for number in range(CLIENTS)]:
            done.result()


def _commit(connection: Connection[Any], cursor: Cursor, changes: Sequence[str]) -> None:
    import pymysql

    while True:
        try:
            for change in changes:
                cursor.execute(change)
            connection.commit()
        except pymysql.err.OperationalError as reason:
            if reason.args[0] not in _RETRY:
                raise
            connection.rollback()
        else:
            return


@contextmanager
def under_load(source: Server, task: Task, *, rows: int = ROWS) -> Iterator[None]:
    """Run the load in the background until the end of the block.

    Raises what the load raised.
    """
    may_end = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(load, source, task=task, rows=rows, may_end=may_end)
        try:
            yield
        finally:
            may_end.set()
        work.result()


def until(happens: Callable[[], object], what: str) -> None:
    """Wait for a condition.

    Raises:
        TimeoutError: it did not happen within ``SECONDS_MAX`` seconds.
    """
    deadline = time.monotonic() + SECONDS_MAX
    while not happens():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {SECONDS_MAX} s: {what}")
        time.sleep(0.01)


class Child(ServerProcess):
    """A program beside a server, run by the server's account."""

    def __init__(self, server: Server, command: Sequence[str], folder: Path) -> None:
        super().__init__(
            command, folder / "program.log", run_as=server.run_as, temporary=server.files
        )

    def wait(self, *accepted: int) -> None:
        """Wait for its end.

        Raises:
            RuntimeError: its exit code is neither 0 nor accepted.
        """
        until(lambda: not self.is_running, f"{self.log} ends")
        if self.exit_code not in {0, *accepted}:
            text = self.log.read_text(errors="replace")
            raise RuntimeError(f"exit code {self.exit_code}: {text[-2000:]}")


def options_file(server: Server, folder: Path) -> Path:
    """Write the file with which clients find the server."""
    path = folder / f"{server.name}.cnf"
    path.touch(mode=0o600)
    path.write_text(
        f"[client]\nuser=root\npassword={server.password}\nsocket={server.socket}\n"
        f"[mysql]\nno-auto-rehash\n"
    )
    give(path, server.run_as)
    return path


def logs(server: Server) -> tuple[str, ...]:
    """Return the paths of the binary log."""
    return tuple(map(str, server.binary_logs()))


def verified(
    source: Server,
    target: Server,
    *,
    required: str,
    maps: Sequence[str] = (),
    filtered: Sequence[str] = (),
    by_content: bool = False,
) -> VerifyResult:
    """Judge the binary logs of both servers, which may be one."""
    return verify(
        VerifyRequest(
            source=logs(source),
            target=logs(target),
            rules=Rules(
                tables=tuple(parse_rule(text) for text in maps), filtered=frozenset(filtered)
            ),
            required=required,
            by_content=by_content,
        )
    )
