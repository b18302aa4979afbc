"""PostgreSQL servers, a load with conflicts, and built-in logical replication."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from ci.programs.program import Program, Task
from paraply.adapters.servers.ports import free_port
from paraply.verifying.mapping import Rules
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.result import VerifyResult

SETTINGS = (
    "wal_level=logical", "max_wal_senders=20", "max_replication_slots=20",
    "wal_retrieve_retry_interval=200ms", "listen_addresses=127.0.0.1", "shared_buffers=16MB",
    "jit=off", "max_logical_replication_workers=8", "max_worker_processes=24",
    "track_commit_timestamp=on",
)  # fmt: skip
TABLES = ("a", "b")
CLIENTS, ROWS = 4, 30
SECONDS_MAX = 120


def programs_folder() -> Path | None:
    """Return the folder of the newest installed server's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
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


def version() -> str:
    """Return the server's version."""
    folder = programs_folder()
    assert folder is not None
    done = subprocess.run([str(folder / "postgres"), "-V"], capture_output=True, check=True)
    return f"PostgreSQL {done.stdout.decode().split()[2]}"


class Postgres:
    """One server in a folder of its own, run by an unprivileged user."""

    def __init__(self, folder: Path, *settings: str) -> None:
        programs = programs_folder()
        assert programs is not None
        self.bin = programs
        self.folder = folder
        self.port = free_port()
        self.settings = (*SETTINGS, *settings)
        folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        self.program("initdb", "-D", str(folder / "d"), "-A", "trust", "-N", "-U", "postgres",
                     "--locale=C", "-E", "UTF8")  # fmt: skip
        self.start()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = " ".join(f"-c {setting}" for setting in self.settings)
        self.program(
            "pg_ctl", "-D", str(self.folder / "d"), "-w", "-l", str(self.folder / "log"),
            "-o", f"{options} -p {self.port} -k {self.folder}", "start",
        )  # fmt: skip

    def kill(self) -> None:
        """End the server and all its processes by SIGKILL.

        The postmaster alone would leave its apply workers at work.
        """
        first = (self.folder / "d" / "postmaster.pid").read_text().split()[0]
        postmaster = psutil.Process(int(first))
        family = [postmaster, *postmaster.children(recursive=True)]
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(family, timeout=SECONDS_MAX)

    def stop(self) -> None:
        """Stop the server, if it runs."""
        with suppress(RuntimeError):
            self.program("pg_ctl", "-D", str(self.folder / "d"), "-m", "immediate", "stop")

    def program(self, name: str, *arguments: str) -> bytes:
        """Run one of PostgreSQL's programs as the server's user and return what it printed.

        Raises:
            RuntimeError: it failed, with what it printed.
        """
        command = [*as_postgres(), str(self.bin / name), *arguments]
        quiet = subprocess.DEVNULL if name == "pg_ctl" else subprocess.PIPE
        done = subprocess.run(command, stdout=quiet, stderr=quiet, timeout=SECONDS_MAX, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {(done.stderr or b'').decode()}")
        return done.stdout or b""

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
        """Write what the slot captured, and return the path."""
        # Only what is flushed is decoded, and the applier does not wait for that.
        self.sql("SET synchronous_commit=on; SELECT pg_logical_emit_message(true, 'x', '')")
        path.write_bytes(
            self.sql(
                "SELECT lsn, xid, data FROM pg_logical_slot_get_binary_changes('seen', NULL, NULL,"
                " 'proto_version', '1', 'publication_names', 'seen')"
            )
        )
        return str(path)


def as_postgres() -> list[str]:
    """Return the beginning of a command that runs as the server's user."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


@contextmanager
def pair(folder: Path, *settings: str) -> Iterator[tuple[Postgres, Postgres]]:
    """Yield a source and a target that capture their changes; stop both at the end."""
    started: list[Postgres] = []
    try:
        for name in ("source", "target"):
            started.append(Postgres(folder / name, *settings))
            started[-1].observe()
        yield started[0], started[1]
    finally:
        for server in started:
            server.stop()


def fill(source: Postgres) -> None:
    """Give the source the rows that the clients change."""
    source.sql(
        *(f"INSERT INTO {name} SELECT n, 0 FROM generate_series(0, {ROWS - 1}) n"
          for name in TABLES)
    )  # fmt: skip


def load(source: Postgres, task: Task) -> None:
    """Clients change one row of each table in a transaction; each row version is new."""
    turns = -(-task.transactions // CLIENTS)

    def client(number: int) -> None:
        chance = random.Random(f"{task.seed}/{number}")
        statements = []
        for turn in range(1, turns + 1):
            one, other = sorted(chance.sample(range(ROWS), 2))
            new = turn * CLIENTS + number
            statements.append(
                f"BEGIN; UPDATE a SET balance={new} WHERE id={one};"
                f" UPDATE b SET balance={new} WHERE id={other}; COMMIT"
            )
        source.sql(*statements)

    threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def wait_until_applied(source: Postgres, target: Postgres) -> None:
    """Wait until the tables are equal.

    Raises:
        TimeoutError: they are not after ``SECONDS_MAX`` seconds.
    """
    deadline = time.monotonic() + SECONDS_MAX
    wanted = [source.sql(f"TABLE {name} ORDER BY id") for name in TABLES]
    while [target.sql(f"TABLE {name} ORDER BY id") for name in TABLES] != wanted:
        if time.monotonic() > deadline:
            raise TimeoutError("the target did not catch up")
        time.sleep(0.2)


def verified(
    source: Postgres, target: Postgres, folder: Path, *, required: str, by_content: bool
) -> VerifyResult:
    """Judge the captured changes of both servers."""
    logs = [server.captured(folder / name) for server, name in ((source, "s"), (target, "t"))]
    keys = {f"public.{name}": ("id",) for name in TABLES}
    return verify(
        VerifyRequest(
            source=(logs[0],),
            target=(logs[1],),
            rules=Rules(keys=keys),
            required=required,
            by_content=by_content,
        )
    )


def subscribe(source: Postgres, target: Postgres, name: str, tables: str) -> None:
    """Let the target apply the tables' changes by a subscription of its own."""
    source.sql(f"CREATE PUBLICATION {name} FOR TABLE {tables}")
    target.sql(
        f"CREATE SUBSCRIPTION {name} CONNECTION '{source.dsn()}' PUBLICATION {name} "
        "WITH (copy_data=false)"
    )


def under_load(source: Postgres, target: Postgres, task: Task) -> None:
    """Run the load, kill the target in its middle if the task asks, and wait for the target."""
    fill(source)
    worker = threading.Thread(target=load, args=(source, task))
    worker.start()
    if task.kill:
        time.sleep(0.5)
        target.kill()
        target.start()
    worker.join()
    wait_until_applied(source, target)


def _built_in(*subscriptions: str) -> Callable[[Task], VerifyResult]:
    def run(task: Task) -> VerifyResult:
        with pair(task.folder) as (source, target):
            for number, tables in enumerate(subscriptions):
                subscribe(source, target, f"sub_{number}", tables)
            under_load(source, target, task)
            return verified(
                source, target, task.folder, required="prefix", by_content=len(subscriptions) > 1
            )

    return run


PROGRAMS = (
    Program(
        name="postgresql",
        promise="transactions of one subscription apply in commit order (PostgreSQL, Logical "
        "Replication)",
        required="prefix",
        expected="holds",
        packages="postgresql",
        missing=missing,
        version=version,
        run=_built_in("a, b"),
        in_ci=True,
    ),
    Program(
        name="postgresql-two-subscriptions",
        promise="none across subscriptions: a control, which tears transactions",
        required="prefix",
        expected="violated",
        packages="postgresql",
        missing=missing,
        version=version,
        run=_built_in("a", "b"),
        in_ci=True,
        can_kill=False,
    ),
)
