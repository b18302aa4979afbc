"""``paraply verify`` on PostgreSQL's built-in logical replication: source against subscriber."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraply.adapters.servers.ports import free_port
from paraply.properties.two_logs.judgement import End, Level
from paraply.verifying.mapping import Rules
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.vocabulary.verdict import Verdict

pytestmark = pytest.mark.live

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
SETTINGS = (
    "wal_level=logical", "max_wal_senders=10", "max_replication_slots=10", "fsync=off",
    "wal_retrieve_retry_interval=200ms", "listen_addresses=127.0.0.1", "shared_buffers=16MB",
    "jit=off", "max_logical_replication_workers=8", "max_worker_processes=16",
)  # fmt: skip
TABLES = ("a", "b")
CLIENTS, TRANSACTIONS, ROWS = 4, 120, 30
SECONDS_MAX = 90


class Postgres:
    """One server in a folder of its own, run by an unprivileged user."""

    def __init__(self, folder: Path) -> None:
        self.bin = PROGRAMS[-1].parent
        self.folder = folder
        self.port = free_port()
        folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        self.program("initdb", "-D", str(folder / "d"), "-A", "trust", "-N", "-U", "postgres",
                     "--locale=C", "-E", "UTF8")  # fmt: skip
        options = " ".join(f"-c {setting}" for setting in SETTINGS)
        self.program(
            "pg_ctl", "-D", str(folder / "d"), "-w", "-l", str(folder / "log"),
            "-o", f"{options} -p {self.port} -k {folder}", "start",
        )  # fmt: skip

    def program(self, name: str, *arguments: str) -> bytes:
        who = []
        if os.geteuid() == 0:
            who = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        command = [*who, str(self.bin / name), *arguments]
        quiet = subprocess.DEVNULL if name == "pg_ctl" else subprocess.PIPE
        done = subprocess.run(command, stdout=quiet, stderr=quiet, timeout=SECONDS_MAX, check=False)
        assert done.returncode == 0, (name, done.stderr)
        return done.stdout or b""

    def sql(self, *statements: str) -> bytes:
        commands = [part for statement in statements for part in ("-c", statement)]
        return self.program(
            "psql", "-h", str(self.folder), "-p", str(self.port), "-U", "postgres", "-AtqX",
            "-v", "ON_ERROR_STOP=1", *commands,
        )  # fmt: skip

    def observe(self) -> None:
        """Create the tables, and the slot that captures all their changes."""
        for table in TABLES:
            self.sql(f"CREATE TABLE {table} (id int PRIMARY KEY, balance bigint)",
                     f"ALTER TABLE {table} REPLICA IDENTITY FULL")  # fmt: skip
        self.sql(
            f"CREATE PUBLICATION seen FOR TABLE {', '.join(TABLES)}",
            "SELECT pg_create_logical_replication_slot('seen', 'pgoutput')",
        )

    def captured(self, path: Path) -> str:
        # Only what is flushed is decoded, and the applier does not wait for that.
        self.sql("SET synchronous_commit=on; SELECT pg_logical_emit_message(true, 'x', '')")
        path.write_bytes(
            self.sql(
                "SELECT lsn, xid, data FROM pg_logical_slot_get_binary_changes('seen', NULL, NULL,"
                " 'proto_version', '1', 'publication_names', 'seen')"
            )
        )
        return str(path)

    def stop(self) -> None:
        self.program("pg_ctl", "-D", str(self.folder / "d"), "-m", "immediate", "stop")


@pytest.fixture
def servers() -> Iterator[tuple[Postgres, Postgres]]:
    if not PROGRAMS:
        pytest.skip("no PostgreSQL below /usr/lib/postgresql; apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="paraply-pg-"))
    folder.chmod(0o755)
    started = []
    try:
        for name in ("source", "target"):
            started.append(Postgres(folder / name))
            started[-1].observe()
        yield started[0], started[1]
    finally:
        for server in started:
            server.stop()
        shutil.rmtree(folder)


def load(source: Postgres) -> None:
    def client(number: int) -> None:
        chance = random.Random(number)
        statements = []
        for turn in range(1, TRANSACTIONS + 1):
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


def subscribe(source: Postgres, target: Postgres, name: str, tables: str) -> None:
    source.sql(f"CREATE PUBLICATION {name} FOR TABLE {tables}")
    target.sql(
        f"CREATE SUBSCRIPTION {name} CONNECTION 'host=127.0.0.1 port={source.port} user=postgres "
        f"dbname=postgres' PUBLICATION {name} WITH (copy_data=false)"
    )


def wait_until_applied(source: Postgres, target: Postgres) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    wanted = [source.sql(f"TABLE {table} ORDER BY id") for table in TABLES]
    while [target.sql(f"TABLE {table} ORDER BY id") for table in TABLES] != wanted:
        assert time.monotonic() < deadline, "the subscriber did not catch up"
        time.sleep(0.2)


def verified(source: Postgres, target: Postgres, folder: Path, **options):
    fill = [
        f"INSERT INTO {table} SELECT n, 0 FROM generate_series(0, {ROWS - 1}) n" for table in TABLES
    ]
    source.sql(*fill)
    load(source)
    wait_until_applied(source, target)
    logs = [server.captured(folder / name) for server, name in ((source, "s"), (target, "t"))]
    keys = {f"public.{table}": ("id",) for table in TABLES}
    request = VerifyRequest(
        source=(logs[0],), target=(logs[1],), rules=Rules(keys=keys), required="prefix", **options
    )
    return verify(request)


def test_one_subscription_shows_every_state_in_order(servers, tmp_path):
    source, target = servers
    subscribe(source, target, "sub", "a, b")
    result = verified(source, target, tmp_path)
    print(f"live: verify {PROGRAMS[-1].parts[4]} one subscription: {result.level.word}, "
          f"{result.states.prefixes} of {result.states.commits} states")  # fmt: skip
    assert result.verdict is Verdict.HOLDS, (result.unknown, result.witnesses)
    assert result.level is Level.PREFIX
    assert result.end is End.EQUAL
    assert result.names is not None
    assert result.names.matched >= CLIENTS * TRANSACTIONS
    assert not result.names.descents


def test_two_subscriptions_tear_transactions(servers, tmp_path):
    source, target = servers
    subscribe(source, target, "sub_a", "a")
    subscribe(source, target, "sub_b", "b")
    result = verified(source, target, tmp_path, by_content=True)
    print(f"live: verify {PROGRAMS[-1].parts[4]} two subscriptions: {result.level.word}, "
          f"{result.states.prefixes} of {result.states.commits} states")  # fmt: skip
    assert result.verdict is Verdict.VIOLATED
    assert result.level is Level.PER_KEY
    assert result.states.torn > 0
    assert result.end is End.EQUAL
