"""A load with conflicts, kills in its middle, and built-in logical replication."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path

from ci.programs.program import Program, Task
from ci.programs.servers import (
    TABLES,
    Applier,
    Postgres,
    missing,
    missing_version,
    wait_until,
)
from ci.programs.servers import version as server_version
from paraply.verifying.mapping import Rules
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.verifying.result import VerifyResult

CLIENTS, ROWS = 4, 30
KILLS = 3


@contextmanager
def pair(
    folder: Path, *settings: str, of_source: Sequence[str] = (), unpacked: str = ""
) -> Iterator[tuple[Postgres, Postgres]]:
    """Yield a source and a target that capture their changes; stop both at the end."""
    started: list[Postgres] = []
    try:
        # The target loses its processes, and no system crash: what it wrote is kept without fsync.
        for name, own in (("source", of_source), ("target", ("fsync=off",))):
            started.append(Postgres(folder / name, *own, *settings, unpacked=unpacked))
            started[-1].observe()
        yield started[0], started[1]
    finally:
        for server in started:
            server.kill()


def fill(source: Postgres) -> None:
    """Give the source the rows that the clients change.

    Negative ids of the first table count each client's transactions.
    """
    source.sql(
        *(f"INSERT INTO {name} SELECT n, 0 FROM generate_series({-CLIENTS}, {ROWS - 1}) n"
          for name in TABLES)
    )  # fmt: skip


def load(source: Postgres, seed: int, turns: range, *, undone: bool = False) -> None:
    """Clients count, and change one row of each table, in each transaction; versions are new.

    With ``undone``, they also roll back transactions, and parts of transactions.
    """

    def client(number: int) -> None:
        chance = random.Random(f"{seed}/{number}/{turns.start}")
        statements = []
        for turn in turns:
            one, other = sorted(chance.sample(range(ROWS), 2))
            new = turn * CLIENTS + number
            lost = f"UPDATE b SET balance={-new} WHERE id={other}"
            if undone and turn % 5 == 0:
                statements.append(f"BEGIN; {lost}; ROLLBACK")
            part = f" SAVEPOINT s; {lost}; ROLLBACK TO s;" if undone and turn % 3 == 0 else ""
            statements.append(
                f"BEGIN; UPDATE a SET balance={turn} WHERE id={-1 - number};"
                f" UPDATE a SET balance={new} WHERE id={one};{part}"
                f" UPDATE b SET balance={new} WHERE id={other}; COMMIT"
            )
        source.sql(*statements)

    threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def transactions_seen(server: Postgres) -> int:
    """Return how many transactions of the clients a reader sees."""
    return int(server.sql("SELECT coalesce(sum(balance), 0) FROM a WHERE id < 0"))


def wait_until_applied(source: Postgres, target: Postgres) -> None:
    """Wait until the tables are equal.

    Raises:
        TimeoutError: they are not after ``SECONDS_MAX`` seconds.
    """
    wanted = [source.sql(f"TABLE {name} ORDER BY id") for name in TABLES]
    wait_until(lambda: [target.sql(f"TABLE {name} ORDER BY id") for name in TABLES] == wanted)


def verified(
    source: Postgres,
    target: Postgres,
    folder: Path,
    *,
    required: str,
    by_content: bool,
    tables: Sequence[str] = TABLES,
) -> VerifyResult:
    """Judge the captured changes of both servers to the tables."""
    logs = [server.captured(folder / name) for server, name in ((source, "s"), (target, "t"))]
    keys = {f"public.{name}": ("id",) for name in TABLES}
    others = frozenset(f"public.{name}" for name in TABLES if name not in tables)
    return verify(
        VerifyRequest(
            source=(logs[0],),
            target=(logs[1],),
            rules=Rules(keys=keys, filtered=others, ignored=others),
            required=required,
            by_content=by_content,
        )
    )


def subscribe(
    source: Postgres, target: Postgres, name: str, tables: str, options: str = "copy_data=false"
) -> None:
    """Let the target apply the tables' changes by a subscription of its own."""
    source.sql(f"CREATE PUBLICATION {name} FOR TABLE {tables}")
    target.sql(
        f"CREATE SUBSCRIPTION {name} CONNECTION '{source.dsn()}' PUBLICATION {name} "
        f"WITH ({options})"
    )


def under_load(
    source: Postgres,
    target: Postgres,
    task: Task,
    *,
    paused: Sequence[str],
    appliers: Sequence[Applier] = (),
    undone: bool = False,
) -> None:
    """Run the load in rounds, with a kill in the middle of each, and wait for the target.

    A round kills the target and the appliers, and reads the target after its recovery and before
    its first change: with the ``paused`` settings, it starts no apply worker of its own.
    """
    fill(source)
    rounds = KILLS if task.kill else 1
    turns = -(-task.transactions // (CLIENTS * rounds))
    for number in range(rounds):
        first = 1 + number * turns
        worker = threading.Thread(
            target=load,
            args=(source, task.seed, range(first, first + turns)),
            kwargs={"undone": undone},
        )
        worker.start()
        if task.kill:
            wait_until_seen(target, CLIENTS * (first - 1 + turns // 3))
            before = transactions_seen(target)
            for daemon in (target.daemon, *appliers):
                daemon.kill()
            target.start(*paused)
            task.readers.note(before=before, after=transactions_seen(target))
            target.kill()
            target.start()
            if appliers:
                # Slony-I takes the lock of a killed backend for valid while its pid exists.
                target.daemon.wait_until_reaped()
            for applier in appliers:
                applier.start()
        worker.join()
    wait_until_applied(source, target)


def wait_until_seen(server: Postgres, transactions: int) -> None:
    """Wait until readers see so many transactions of the clients."""
    wait_until(lambda: transactions_seen(server) >= transactions)


def _built_in(
    *subscriptions: str, options: str = "copy_data=false"
) -> Callable[[Task], VerifyResult]:
    def run(task: Task) -> VerifyResult:
        with pair(task.folder) as (source, target):
            for number, tables in enumerate(subscriptions):
                subscribe(source, target, f"sub_{number}", tables, options)
            under_load(source, target, task, paused=("max_logical_replication_workers=0",))
            return verified(
                source, target, task.folder, required="prefix", by_content=len(subscriptions) > 1
            )

    return run


def _streamed(version: str, mode: str) -> Callable[[Task], VerifyResult]:
    """Return a run of one subscription to which each transaction is sent before its commit."""

    def run(task: Task) -> VerifyResult:
        immediate = ("debug_logical_replication_streaming=immediate",)
        with pair(task.folder, of_source=immediate, unpacked=version) as (source, target):
            subscribe(source, target, "sub_0", "a, b", f"copy_data=false, streaming={mode}")
            paused = ("max_logical_replication_workers=0",)
            under_load(source, target, task, paused=paused, undone=True)
            sent = int(source.sql("SELECT sum(stream_txns) FROM pg_stat_replication_slots"))
            # After the last crash there may be nothing left for them to apply.
            workers = target.daemon.printed("parallel apply worker for subscription")
            if sent < task.transactions or (workers > 0) != (mode == "parallel"):
                raise RuntimeError(f"{sent} transactions streamed, {workers} parallel workers")
            return verified(source, target, task.folder, required="prefix", by_content=False)

    return run


def _streaming(version: str, mode: str, *, in_ci: bool) -> Program:
    return Program(
        name=f"postgresql-{version}-{mode}",
        promise="the same with `streaming="
        + {"on": "on`: changes wait in files until the commit",
           "parallel": "parallel`: workers apply transactions before their commit"}[mode]
        + "; each transaction is streamed, and some are rolled back in whole or in part",
        required="prefix",
        expected="holds",
        packages=f"postgresql-{version}",
        missing=partial(missing_version, version),
        version=partial(server_version, version),
        run=_streamed(version, mode),
        in_ci=in_ci,
    )  # fmt: skip


def _each_subscription(task: Task) -> VerifyResult:
    """Judge each of two subscriptions by itself, and return the worse result."""
    with pair(task.folder) as (source, target):
        for name in TABLES:
            subscribe(source, target, f"sub_{name}", name)
        under_load(source, target, task, paused=("max_logical_replication_workers=0",))
        results = [
            verified(
                source, target, task.folder, required="prefix", by_content=True, tables=(name,)
            )
            for name in TABLES
        ]
        return max(results, key=lambda result: (result.verdict, -result.level))


def _initial_copy(task: Task) -> VerifyResult:
    """Subscribe in the middle of a load that goes on until the tables are copied."""
    turns = -(-task.transactions // (2 * CLIENTS))

    with pair(task.folder) as (source, target):
        fill(source)
        load(source, task.seed, range(1, 1 + turns))
        is_ready = threading.Event()

        def load_until_ready() -> None:
            for first in count(1 + turns, turns):
                load(source, task.seed, range(first, first + turns))
                if is_ready.is_set():
                    break

        worker = threading.Thread(target=load_until_ready)
        worker.start()
        try:
            subscribe(source, target, "sub_0", "a, b", options="copy_data=true")
            wait_until(lambda: _tables_copied(target) == len(TABLES))
        finally:
            is_ready.set()
            worker.join()
        # The last round may have ended before the tables were ready.
        first = 1 + int(source.sql("SELECT max(balance) FROM a WHERE id < 0"))
        load(source, task.seed, range(first, first + turns))
        wait_until_applied(source, target)
        return verified(source, target, task.folder, required="final", by_content=False)


def _tables_copied(target: Postgres) -> int:
    """Return how many tables apply the changes of the whole subscription."""
    return int(target.sql("SELECT count(*) FROM pg_subscription_rel WHERE srsubstate = 'r'"))


PROGRAMS = (
    Program(
        name="postgresql",
        promise="transactions of one subscription apply in commit order (PostgreSQL, Logical "
        "Replication)",
        required="prefix",
        expected="holds",
        packages="postgresql",
        missing=missing,
        version=server_version,
        run=_built_in("a, b"),
        in_ci=True,
    ),
    Program(
        name="postgresql-synchronous",
        promise="the same; with `synchronous_commit=on` a crash loses nothing that readers saw",
        required="prefix",
        expected="holds",
        packages="postgresql",
        missing=missing,
        version=server_version,
        run=_built_in("a, b", options="copy_data=false, synchronous_commit=on"),
        in_ci=True,
        readers_stay=True,
    ),
    Program(
        name="postgresql-initial-copy",
        promise="tables are copied one by one while clients write; in the end they are equal "
        "(PostgreSQL, Logical Replication, Initial Snapshot)",
        required="final",
        expected="holds",
        packages="postgresql",
        missing=missing,
        version=server_version,
        run=_initial_copy,
        in_ci=True,
        can_kill=False,
    ),
    Program(
        name="postgresql-each-of-two-subscriptions",
        promise="transactions of one subscription apply in commit order, also beside another",
        required="prefix",
        expected="holds",
        packages="postgresql",
        missing=missing,
        version=server_version,
        run=_each_subscription,
    ),
    Program(
        name="postgresql-two-subscriptions",
        promise="none across subscriptions: a control, which tears transactions",
        required="prefix",
        expected="violated",
        packages="postgresql",
        missing=missing,
        version=server_version,
        run=_built_in("a", "b"),
        in_ci=True,
        can_kill=False,
    ),
    _streaming("17", "on", in_ci=False),
    _streaming("17", "parallel", in_ci=True),
    _streaming("18", "parallel", in_ci=False),
)
