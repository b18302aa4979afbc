"""`make cluster-test`: a campaign on a Spark cluster of this machine, one worker of it killed.

A standalone master and two workers are started from the pip package, on the loopback interface,
with free ports and a temporary folder. The campaign runs on them; when some batches are done one
worker and its executor are killed with SIGKILL. The table must be that of a campaign in one
process, row for row. Everything started is stopped by its own process group, whatever happens.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pyspark

from paraply.mining.java import ensure_java_home

ROOT = Path(__file__).resolve().parent.parent
SPARK_HOME = Path(pyspark.__file__).resolve().parent
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
START_S = 60.0
CAMPAIGN_S = 240.0
KILLED_AFTER = 3
"""Batches that are done when the worker is killed: some of its work is in the table by then."""

CAMPAIGN = [
    "mine", "--subjects", "applier,write_sets", "--histories", "600", "--batch", "30", "--seed",
    "1", "--mutants", "last_committed_off_by_one,round_waits_for_nobody,stable_set_is_a_union",
    "--minimise", "none", "--no-times",
]  # fmt: skip


def main() -> int:
    """Run the test; 0 if the tables are equal and the worker was killed in the middle of it."""
    parser = argparse.ArgumentParser(prog="make cluster-test", description=__doc__)
    parser.add_argument("--keep", metavar="DIR", type=Path, help="keep logs and tables in DIR")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        return _test(folder)


def _test(folder: Path) -> int:
    started = time.monotonic()
    alone, clustered = folder / "alone", folder / "clustered"
    _paraply("--master", "none", "--out", str(alone))
    print(f"one process: {time.monotonic() - started:.1f} s")
    with ExitStack() as stack:
        port, environment = free_port(), environment_of(folder)
        url = f"spark://127.0.0.1:{port}"
        host = ["--host", "127.0.0.1", "--webui-port", "0"]
        stack.enter_context(
            running(folder, environment, "master", MASTER, *host, "--port", str(port))
        )
        wait_for_port(port)
        size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work")]
        workers = [
            stack.enter_context(running(folder, environment, name, WORKER, *host, *size, url))
            for name in ("worker-1", "worker-2")
        ]
        wait_for(lambda: registered(folder) >= len(workers), START_S, "both workers at the master")
        campaign = stack.enter_context(
            started_campaign(folder, environment, "--master", url, "--out", str(clustered))
        )
        wait_for(
            lambda: batches(clustered) >= KILLED_AFTER or campaign.poll() is not None,
            CAMPAIGN_S,
            "the first batches",
        )
        before = batches(clustered)
        os.killpg(workers[0].pid, signal.SIGKILL)
        code = campaign.wait(timeout=CAMPAIGN_S)
        total = planned(clustered)
        print(f"worker killed with SIGKILL after {before} of {total} batches; exit code {code}")
        if before >= total:
            print("FAIL: the campaign was over before the worker was killed")
            return 1
        if code not in (0, 1, 2):
            print(f"FAIL: {(folder / 'campaign.log').read_text(errors='replace')[-2000:]}")
            return 1
    is_equal = tables(alone) == tables(clustered)
    rows = sum(pq.read_metadata(path).num_rows for path in (clustered / "rows").iterdir())
    outcome = "PASS: the table is" if is_equal else "FAIL: the table is not"
    print(f"{outcome} that of one process, byte by byte ({rows:,} rows)")
    return 0 if is_equal else 1


def _paraply(*arguments: str) -> None:
    command = [sys.executable, "-m", "paraply", *CAMPAIGN, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=CAMPAIGN_S
    )
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"the campaign failed: {done.stderr}")


@contextmanager
def started_campaign(
    folder: Path, environment: dict[str, str], *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a campaign in a process of its own; it is killed if it is still there at the end."""
    command = [sys.executable, "-m", "paraply", *CAMPAIGN, *arguments]
    with open(folder / "campaign.log", "wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        stop(process)


@contextmanager
def running(
    folder: Path, environment: dict[str, str], name: str, *command: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a part of Spark in a process group of its own, and kill the group at the end."""
    with open(folder / f"{name}.log", "wb") as log:
        process = subprocess.Popen(
            [str(SPARK_HOME / "bin" / "spark-class"), *command],
            env=environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group that a process was started with, and wait for its end."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=10)


def environment_of(folder: Path) -> dict[str, str]:
    """Return the environment of the cluster: loopback only, and nothing outside the folder."""
    return {
        **os.environ,
        "JAVA_HOME": str(ensure_java_home()),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "SPARK_LOG_DIR": str(folder),
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
    }


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int) -> None:
    """Wait until somebody listens."""

    def is_open() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_for(is_open, START_S, f"port {port}")


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until a condition is true; give up with a message."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(f"gave up waiting for {what} after {seconds:.0f} s")
        time.sleep(0.05)


def registered(folder: Path) -> int:
    """Return how many workers the master's log has registered."""
    log = (folder / "master.log").read_text(encoding="utf-8", errors="replace")
    return log.count("Registering worker")


def batches(folder: Path) -> int:
    """Return how many batches of a campaign are done."""
    return len(list((folder / "manifests").glob("batch-*.json")))


def planned(folder: Path) -> int:
    """Return how many batches a campaign has."""
    plan = json.loads((folder / "campaign.json").read_text(encoding="utf-8"))
    rounds = -(-plan["histories"] // plan["batch_histories"])
    return int(rounds * len(plan["systems"]))


def tables(folder: Path) -> dict[str, bytes]:
    """Return the rows files of a campaign: equal rows are written as equal bytes."""
    return {path.name: path.read_bytes() for path in (folder / "rows").glob("*.parquet")}


if __name__ == "__main__":
    sys.exit(main())
