"""``paraply watch`` on running pairs: parallel modes, a kill of the replica, and of the watch."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from ci.programs.mysql_servers import CLIENTS, COMMON, create, load
from ci.programs.program import Task
from ci.programs.replicas import MARIADB, MYSQL
from paraply.adapters.servers import ServerRoom, find_mariadb, find_mysql
from paraply.adapters.servers.replication import replicate, wait_until_applied
from paraply.adapters.servers.server import Server
from paraply.vocabulary.verdict import Verdict
from tests.live.runs import installed

pytestmark = [pytest.mark.live(minutes=4), pytest.mark.long(each=1, by_row=True)]

USER, PASSWORD = "watcher", "a-watchers-word"
SECONDS_MAX = 60
CRASH_SAFE = ("--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1")
"""Otherwise a killed replica's log is ahead of its tables."""
IN_GROUPS = ("--binlog-commit-wait-count=2", "--binlog-commit-wait-usec=20000")
"""MariaDB's clients may otherwise commit one by one, so that nothing may overlap."""
TURNS = 60
"""Transactions of each client and mode."""
LOAD = Task(folder=Path(), seed=1, transactions=TURNS * CLIENTS)


def admit(server: Server) -> str:
    """Create an account that can follow the log; return its DSN."""
    rights = "REPLICATION SLAVE, " + (
        "BINLOG MONITOR" if server.is_mariadb else "REPLICATION CLIENT"
    )
    server.run(
        [
            "SET SESSION sql_log_bin=0",
            f"CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
            f"GRANT {rights} ON *.* TO {USER}@'127.0.0.1'",
            f"GRANT SELECT ON shop.* TO {USER}@'127.0.0.1'",
        ]
    )
    return f"mysql://{USER}@127.0.0.1:{server.port}"


class Watching:
    """A watch in a process of its own."""

    def __init__(self, source: str, target: str, folder: Path, *options: str) -> None:
        self.folder = folder
        self._words = (
            sys.executable, "-m", "paraply", "watch", f"--source={source}", f"--target={target}",
            f"--state={folder / 'state.json'}", f"--findings={folder / 'findings.jsonl'}",
            "--metrics=0", *options,
        )  # fmt: skip
        self.output = ""
        self.port = 0
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            self._words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={"PARAPLY_DSN_PASSWORD": PASSWORD, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if line.startswith("metrics: "):
                self.port = int(line.rpartition(":")[2].partition("/")[0])
            if line.startswith("watching "):
                break
        else:
            raise AssertionError("".join(lines))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def require(self, level: str) -> None:
        """Let the next start require a level."""
        self._words = (*self._words, f"--require={level}")

    def metrics(self) -> dict[str, float]:
        with urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        values = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
        return {
            name.partition("{")[0].removeprefix("paraply_watch_"): float(value)
            for name, value in values
        }

    def wait_until_judged(self, count: int) -> None:
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            seen = self.metrics()
            both = seen["transactions_total"], seen.get("source_transactions_total", 0)
            if min(both) >= count and not seen["behind_transactions"]:
                return
            assert time.monotonic() < deadline, seen
            time.sleep(0.3)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.output, _ = self.process.communicate(timeout=SECONDS_MAX)
        return self.process.returncode

    def findings(self) -> list[dict]:
        return [json.loads(s) for s in (self.folder / "findings.jsonl").read_text().splitlines()]


@contextmanager
def watched_pair(find, replica_options, folder, *options) -> Iterator[tuple]:
    installation = installed(find)
    with ServerRoom() as room:
        groups = IN_GROUPS if find is find_mariadb else ()
        source = room.start(installation, options=(*COMMON, *groups))
        replica = room.start(installation, options=replica_options)
        replicate(source, replica)
        create(source)
        wait_until_applied(source, replica)
        watching = Watching(admit(source), admit(replica), folder, *options)
        try:
            yield source, replica, watching
        finally:
            watching.kill()


def load_and_kill(source: Server, replica: Server, statements: list[str]) -> None:
    """Change the replica's mode, and kill it in the middle of a load."""
    word = "SLAVE" if replica.is_mariadb else "REPLICA"
    replica.run([f"STOP {word}", *statements, f"START {word}"])
    loading = threading.Thread(target=load, args=(source,), kwargs={"task": LOAD})
    loading.start()
    time.sleep(0.5)
    replica.kill()
    replica.start()
    loading.join()
    if not replica.is_mariadb:
        replica.run(["START REPLICA"])
    wait_until_applied(source, replica)


def report(watch: Watching, name: str, judged: int) -> None:
    seen = watch.metrics()
    code = watch.end()
    print(f"\nlive: watch {name}, {seen['reconnections_total']:.0f} breaks: {watch.output}")
    assert code == Verdict.HOLDS.exit_code, watch.output
    assert not watch.findings()
    assert seen["transactions_total"] >= judged
    assert seen["row_changes_total"] > judged
    # The source's own metadata, of transactions that were under way side by side.
    assert seen["source_transactions_total"] >= judged
    assert seen["source_verdict"] == Verdict.HOLDS.exit_code


def test_mariadb_in_each_mode_raises_no_alarm_though_the_replica_and_the_watch_are_killed(
    tmp_path,
):
    modes = ("none", "minimal", "conservative", "optimistic", "aggressive")
    options = (*MARIADB, *CRASH_SAFE)
    with watched_pair(find_mariadb, options, tmp_path) as (source, replica, watch):
        for mode in modes:
            load_and_kill(source, replica, [f"SET GLOBAL slave_parallel_mode={mode}"])
            watch.kill()
            watch.start()
        judged = len(modes) * TURNS * CLIENTS
        watch.wait_until_judged(judged)
        report(watch, f"{source.installation.version_text} in {', '.join(modes)}", judged)


def test_mysql_in_and_out_of_order_raises_no_alarm_though_the_replica_is_killed(tmp_path):
    options = (*MYSQL, *CRASH_SAFE)
    order = "SET GLOBAL replica_preserve_commit_order"
    judged = TURNS * CLIENTS
    with watched_pair(find_mysql, options, tmp_path) as (source, replica, watch):
        load_and_kill(source, replica, [f"{order}=ON"])
        watch.wait_until_judged(judged)
        version = source.installation.version_text
        report(watch, f"{version} in order", judged)
        watch.require("atomic")
        watch.start()
        load_and_kill(source, replica, [f"{order}=OFF"])
        watch.wait_until_judged(2 * judged)
        report(watch, f"{version} out of order", 2 * judged)


@pytest.mark.parametrize("find", [find_mariadb, find_mysql], ids=["mariadb", "mysql"])
def test_faults_of_a_replica_are_found_and_shown_again(find, tmp_path):
    options = MARIADB if find is find_mariadb else MYSQL
    with watched_pair(find, options, tmp_path, "--patience=4") as (source, replica, watch):
        for turn in range(20):
            source.run([f"UPDATE shop.account SET version={turn + 50} WHERE id={turn % 7}"])
        wait_until_applied(source, replica)
        # In a domain of its own, MariaDB's strict mode goes on with those of the source.
        apart = ["SET SESSION gtid_domain_id=9"] if find is find_mariadb else []
        replica.run([*apart, "INSERT INTO shop.account VALUES (999, 1, 1)"])
        replica.run(["SET SESSION sql_log_bin=0", "UPDATE shop.account SET balance=5 WHERE id=3"])
        # The source's log moves to another file, and goes on.
        source.run(["FLUSH BINARY LOGS"])
        for turn in range(20):
            source.run([f"UPDATE shop.account SET version={turn + 90} WHERE id={turn % 7}"])
        wait_until_applied(source, replica)
        watch.wait_until_judged(40)
        code = watch.end()
    kinds = {each["kind"] for each in watch.findings()}
    assert code == Verdict.VIOLATED.exit_code, watch.output
    assert kinds == {"errant", "changed"}, watch.findings()
    (changed, *_) = [each for each in watch.findings() if each["kind"] == "changed"]
    assert "shop.account (3), balance" in changed["text"]
    for each in watch.findings():
        _, *words = each["replay"].split()
        again = subprocess.run(
            [sys.executable, "-m", "paraply", *words], capture_output=True, text=True, check=False
        )
        assert again.returncode == Verdict.VIOLATED.exit_code, again.stdout + again.stderr
        assert each["gtid"] in again.stdout
