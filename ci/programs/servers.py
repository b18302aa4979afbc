"""PostgreSQL servers, and programs beside them, that end with this process."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol

import psutil

from paraply.adapters.servers.caretaker import temporary_folder
from paraply.adapters.servers.installation import unpacked_tree
from paraply.adapters.servers.ports import free_port
from paraply.adapters.servers.process import ServerProcess
from paraply.adapters.servers.unprivileged import reachable_tree

SETTINGS = (
    "wal_level=logical", "max_wal_senders=20", "max_replication_slots=20",
    "wal_retrieve_retry_interval=200ms", "listen_addresses=127.0.0.1", "shared_buffers=16MB",
    "jit=off", "max_logical_replication_workers=8", "max_worker_processes=24",
    "track_commit_timestamp=on",
)  # fmt: skip
TABLES = ("a", "b")
SECONDS_MAX = 120


def programs_folder(unpacked: str = "") -> Path | None:
    """Return the folder of a server's programs: an unpacked version's, or the newest installed."""
    tree = reachable_tree(unpacked_tree(f"postgresql-{unpacked}")) if unpacked else Path("/")
    found = sorted((tree / "usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def missing(*files: str) -> str:
    """Return why PostgreSQL, or a file below its version's folders, cannot be used."""
    folder = programs_folder()
    if folder is None:
        return "no PostgreSQL below /usr/lib/postgresql; run ci/servers --only postgresql"
    version = folder.parts[4]
    for file in files:
        if not Path(file.format(version=version)).exists():
            return f"no {file.format(version=version)}; run ci/servers --only postgresql"
    return ""


def missing_version(unpacked: str) -> str:
    """Return why an unpacked version cannot be used."""
    name = f"postgresql-{unpacked}"
    if unpacked_tree(name).is_dir():
        return ""
    return f"no {name} in {unpacked_tree(name)}; run ci/servers --only {name}"


def version(unpacked: str = "") -> str:
    """Return the server's version."""
    folder = programs_folder(unpacked)
    assert folder is not None
    done = subprocess.run([str(folder / "postgres"), "-V"], capture_output=True, check=True)
    return f"PostgreSQL {done.stdout.decode().split()[2]}"


class Applier(Protocol):
    """A program outside of the servers that can be killed and started again."""

    def start(self) -> None:
        """Start it again."""
        ...

    def kill(self) -> None:
        """End it and all its processes by SIGKILL."""
        ...


class Daemon:
    """A program that runs until it is killed, as the servers' user, and ends with this process."""

    def __init__(self, folder: Path, name: str, command: Sequence[str]) -> None:
        self._command = command
        self._log = folder / f"{name}.log"
        self._temporary = folder / "tmp"
        self._process: ServerProcess | None = None
        self._killed: list[psutil.Process] = []
        self.start()

    def start(self, *more: str) -> None:
        """Start it, with more arguments if given."""
        self._process = ServerProcess(
            [*self._command, *more], self._log, run_as=account(), temporary=self._temporary
        )

    def printed(self, text: str) -> int:
        """Return how often it printed a text since it was made."""
        return self._log.read_text(errors="replace").count(text)

    def require_running(self) -> None:
        """Raise RuntimeError if it has ended."""
        if self._process is None or not self._process.is_running:
            last = self._log.read_text(errors="replace").splitlines()[-3:]
            raise RuntimeError(f"{self._command[0]} ended: {' / '.join(last)}")

    def kill(self) -> None:
        """End it and all its processes by SIGKILL."""
        if self._process is None or not self._process.is_running:
            return
        self._killed = kill_family(self._process.pid)
        self._process.kill()

    def wait_until_reaped(self) -> None:
        """Wait until no killed process has an entry in the process table."""
        wait_until(lambda: not any(process.is_running() for process in self._killed))


def kill_family(pid: int) -> list[psutil.Process]:
    """End a process and all below it by SIGKILL, and return them.

    PostgreSQL's postmaster alone would leave its apply workers at work. It is stopped first, so
    that it starts no other.
    """
    first = psutil.Process(pid)
    first.suspend()
    family = [first, *first.children(recursive=True)]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    wait_until(lambda: not any(map(is_alive, family)))
    return family


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@cache
def _empty_cluster(programs: Path) -> Path:
    """Return a folder with the data directory of a new server, which servers copy."""
    folder = temporary_folder("paraply-postgresql-")
    _make_for_servers(folder)
    initdb = ["initdb", "-D", str(folder / "d"), "-A", "trust", "-N", "-U", "postgres",
              "--locale=C", "-E", "UTF8"]  # fmt: skip
    run_as_postgres([str(programs / initdb[0]), *initdb[1:]], folder)
    return folder


def _make_for_servers(folder: Path) -> None:
    (folder / "tmp").mkdir(parents=True)
    user = account()
    if user is not None:
        for path in (folder, folder / "tmp"):
            shutil.chown(path, user, user)


class Postgres:
    """One server in a folder of its own, run by an unprivileged user."""

    def __init__(self, folder: Path, *settings: str, unpacked: str = "") -> None:
        programs = programs_folder(unpacked)
        assert programs is not None
        self.bin = programs
        self.folder = folder
        self.port = free_port()
        _make_for_servers(folder)
        run_as_postgres(
            ["cp", "-a", str(_empty_cluster(programs) / "d"), str(folder / "d")], folder
        )
        command = [str(self.bin / "postgres"), "-D", str(folder / "d"), "-p", str(self.port),
                   "-k", str(folder), *_options(*SETTINGS, *settings)]  # fmt: skip
        self.daemon = Daemon(folder, "server", command)
        self._wait_until_it_answers()

    def start(self, *settings: str) -> None:
        """Start the server, with more settings if given, and wait until it answers."""
        self.daemon.start(*_options(*settings))
        self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            self.daemon.require_running()
            try:
                self.sql("SELECT 1")
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """End the server and all its processes by SIGKILL."""
        self.daemon.kill()

    def program(self, name: str, *arguments: str) -> bytes:
        """Run one of PostgreSQL's programs as the server's user and return what it printed.

        Raises:
            RuntimeError: it failed, with what it printed.
        """
        return run_as_postgres([str(self.bin / name), *arguments], self.folder)

    def sql(self, *statements: str, database: str = "postgres") -> bytes:
        """Run statements in one session and return their results."""
        commands = [part for statement in statements for part in ("-c", statement)]
        return self.program(
            "psql", "-h", str(self.folder), "-p", str(self.port), "-U", "postgres", "-d", database,
            "-AtqX", "-v", "ON_ERROR_STOP=1", *commands,
        )  # fmt: skip

    def dsn(self, database: str = "postgres") -> str:
        """Return libpq's keywords for a connection over TCP."""
        return f"host=127.0.0.1 port={self.port} user=postgres dbname={database}"

    def observe(self, tables: Sequence[str] = TABLES) -> None:
        """Create the tables, and the slot that captures all their changes."""
        for name in tables:
            self.sql(f"CREATE TABLE {name} (id int PRIMARY KEY, balance bigint)",
                     f"ALTER TABLE {name} REPLICA IDENTITY FULL")  # fmt: skip
        self.sql(
            f"CREATE PUBLICATION seen FOR TABLE {', '.join(tables)}",
            "SELECT pg_create_logical_replication_slot('seen', 'pgoutput')",
        )

    def captured(self, path: Path) -> str:
        """Write what the slot captured, unless it is written, and return the path."""
        if path.exists():
            return str(path)
        # Only what is flushed is decoded, and the applier does not wait for that.
        self.sql("SET synchronous_commit=on", "SELECT pg_logical_emit_message(true, 'x', '')")
        path.write_bytes(
            self.sql(
                "SELECT lsn, xid, data FROM pg_logical_slot_get_binary_changes('seen', NULL, NULL,"
                " 'proto_version', '1', 'publication_names', 'seen')"
            )
        )
        return str(path)


def account() -> str | None:
    """Return the servers' account; None if the caller is an unprivileged user itself."""
    return "postgres" if os.geteuid() == 0 else None


def run_as_postgres(command: Sequence[str], folder: Path, text: str = "") -> bytes:
    """Run a command as the servers' user in a folder, and return what it printed.

    Raises:
        RuntimeError: it failed, with what it printed.
    """
    done = subprocess.run(
        command,
        input=text.encode(),
        capture_output=True,
        timeout=SECONDS_MAX,
        check=False,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        user=account(),
        group=account(),
        extra_groups=() if account() else None,
    )
    if done.returncode != 0:
        printed = (done.stderr + done.stdout).decode(errors="replace").strip()
        raise RuntimeError(f"{Path(command[0]).name}: {printed}")
    return done.stdout


def _options(*settings: str) -> list[str]:
    return [part for setting in settings for part in ("-c", setting)]


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: it does not after ``SECONDS_MAX`` seconds.
    """
    deadline = time.monotonic() + SECONDS_MAX
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("the target did not catch up")
        time.sleep(0.05)
