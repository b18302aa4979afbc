"""`make cluster-test`: a campaign and an audit on a local Spark cluster.

During a campaign, with dynamic allocation and speculation, SIGKILL ends one of two workers and its
executor, and a third joins. The rows must equal those of one process. Then an audit and a followed
audit, with an archive sent to the workers, must equal local ones; and the campaign and the audit
again by Spark Connect, which read and write a bucket. Last, Spark's scheduler for Kubernetes runs
the campaign in pods of a stand-in. `--short` leaves out Spark Connect and Kubernetes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import boto3
import pyspark

from ci.pods import POD_SETTINGS, api_server
from paraply.adapters.servers.ports import free_port
from paraply.auditing.following.follower import Follower
from paraply.auditing.pipeline import AuditRequest
from paraply.mining.audit_tables import FILES, SCHEMAS, AuditTables
from paraply.mining.commits import read_rows
from paraply.mining.java import ensure_java_home
from paraply.mining.session import QUIET_SETTINGS
from tests.builders.hot_logs import hot_log
from tests.builders.log_forger import ForgedLog
from tests.builders.rotated_logs import rotated
from tests.builders.s3_server import listens, s3_server

ROOT = Path(__file__).resolve().parent.parent
SPARK_HOME = Path(pyspark.__file__).resolve().parent
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
SUBMIT = "org.apache.spark.deploy.SparkSubmit"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
START_S = 900.0
CAMPAIGN_S = 1800.0
FOLLOWED = 4
"""Files of the log that arrives in pieces."""
KILLED_AFTER = 3
"""Number of written files."""
BUCKET = "mines"
ELASTIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "2",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.1",
}
PREDICTED = frozenset({
    "predictions", "predicted_transactions", "counterfactuals", "unpredicted_keys", "next_steps",
})  # fmt: skip

CAMPAIGN = [
    "mine", "--subjects", "applier,write_sets", "--histories", "300", "--batch", "30", "--seed",
    "1", "--mutants", "last_committed_off_by_one,round_waits_for_nobody,stable_set_is_a_union",
    "--minimise", "none", "--no-times",
]  # fmt: skip


def main() -> int:
    """Run the test; 0 for equal tables after the kill."""
    parser = argparse.ArgumentParser(prog="make cluster-test", description=__doc__)
    parser.add_argument("--keep", metavar="DIR", type=Path, help="keep logs and tables in DIR")
    parser.add_argument("--short", action="store_true", help="neither Spark Connect nor Kubernetes")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        # The workers, whose processes write the rows, inherit what reaches the bucket.
        os.environ.update(stack.enter_context(s3_server()))
        return _test(folder, arguments.short)


def _test(folder: Path, is_short: bool) -> int:
    alone, clustered = folder / "alone", folder / "clustered"
    started = time.monotonic()
    run_paraply(*CAMPAIGN, "--master", "none", "--out", str(alone))
    print(f"one process: {time.monotonic() - started:.1f} s")
    with ExitStack() as stack:
        port, environment = free_port(), environment_of(folder)
        url = f"spark://127.0.0.1:{port}"
        host = ["--host", "127.0.0.1", "--webui-port", "0"]
        stack.enter_context(
            running(folder, environment, "master", MASTER, *host, "--port", str(port))
        )
        wait_for_port(port)

        def worker(name: str) -> subprocess.Popen[bytes]:
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work")]
            return stack.enter_context(
                running(folder, environment, name, WORKER, *host, *size, url)
            )

        first = worker("worker-1")
        worker("worker-2")
        wait_for(lambda: registered(folder) >= 2, START_S, "both workers at the master")
        # Workers once lost files in a relative folder.
        options = ["--master", url, "--out", clustered.name, "--spark-conf"]
        options += [f"{name}={value}" for name, value in ELASTIC.items()]
        campaign = stack.enter_context(started_campaign(folder, environment, *options))
        wait_for(
            lambda: files_written(clustered) >= KILLED_AFTER or campaign.poll() is not None,
            CAMPAIGN_S,
            "the first files",
        )
        is_over = campaign.poll() is not None
        os.killpg(first.pid, signal.SIGKILL)
        worker("worker-3")
        code = campaign.wait(timeout=CAMPAIGN_S)
        print(f"one worker killed with SIGKILL, another joined late; exit code {code}")
        if is_over:
            print("FAIL: the campaign was over before the worker was killed")
            return 1
        if code not in (0, 1, 2):
            print(f"FAIL: {(folder / 'campaign.log').read_text(errors='replace')[-2000:]}")
            return 1
        failures = [
            _compare_tables(alone, clustered),
            _audit(folder, environment, url),
            _follow(folder, environment, url),
        ]
        if not is_short:
            failures += _by_connect(folder, environment, url)
    if not is_short:
        failures.append(_on_kubernetes(folder, environment))
    return int(any(failures))


def _compare_tables(alone: Path | str, clustered: Path | str) -> bool:
    expected, found = (rows_of(str(place)) for place in (alone, clustered))
    runs = [(row["system"], row["run"]) for row in found]
    is_equal = found == expected and len(set(runs)) == len(runs)
    outcome = "PASS: the rows are" if is_equal else "FAIL: the rows are not"
    print(f"{outcome} those of one process, each once ({len(found):,} rows)")
    return not is_equal


def _audit(folder: Path, environment: dict[str, str], url: str) -> bool:
    log = folder / "hot.000001"
    hot_log(log, size_bytes=1_500_000, seed=5, block_transactions=40)
    here = audited(str(log), folder / "here.json", environment, "--master", "none")
    options = ["--master", url, "--out", str(folder / "audit")]
    is_equal = here == audited(str(log), folder / "there.json", environment, *options)
    print(f"{'PASS' if is_equal else 'FAIL'}: the audit on the cluster is that of one process")
    return not is_equal


def _follow(folder: Path, environment: dict[str, str], url: str) -> bool:
    """Follow two files, then the rest, by workers that have no paraply of their own."""
    log = ForgedLog.read(folder / "hot.000001")
    files = rotated(log, folder / "rotated", FOLLOWED, seed=5)
    arriving = folder / "arriving"
    arriving.mkdir()
    places = [str(folder / "followed"), str(folder / "followed-here")]
    for batch in (files[:2], files[2:]):
        for file in batch:
            shutil.copy(file, arriving)
        command = ["audit", "--follow", str(arriving), "--out", places[0], "--master", url]
        run_paraply(*command, environment=environment)
    Follower(places[1], AuditRequest(files=())).take([str(arriving / one.name) for one in files])
    found, expected = (
        # A state has sets, whose order differs from process to process.
        [row | {"state": ""} for name in SCHEMAS for row in AuditTables(place).rows(name)]
        for place in places
    )
    is_equal = found == expected and len(AuditTables(places[0]).rows(FILES)) == FOLLOWED
    print(
        f"{'PASS' if is_equal else 'FAIL'}: a followed audit on the cluster is that of one process"
    )
    return not is_equal


def _by_connect(folder: Path, environment: dict[str, str], url: str) -> Iterator[bool]:
    """Mine into a bucket, and audit a log of it, through a Spark Connect server of the cluster."""
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    client.upload_file(str(folder / "hot.000001"), BUCKET, "hot.000001")
    port = free_port()
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        **QUIET_SETTINGS,
    }
    options = [f"--conf={name}={value}" for name, value in settings.items()]
    command = [SUBMIT, "--class", CONNECT, "--master", url, *options, "spark-internal"]
    # The driver is a daemon here.
    driver = {**environment, "SPARK_DAEMON_MEMORY": "512m"}
    with running(folder, driver, "connect", *command):
        wait_for_port(port)
        master = ["--master", f"sc://127.0.0.1:{port}"]
        place = f"s3://{BUCKET}/campaign"
        run_paraply(*CAMPAIGN, *master, "--out", place, environment=environment)
        print("by Spark Connect, in a bucket:")
        yield _compare_tables(folder / "alone", place)
        options = [*master, "--out", f"s3://{BUCKET}/audit"]
        log = f"s3://{BUCKET}/hot.000001"
        found = audited(log, folder / "connect.json", environment, *options)
    here = json.loads((folder / "here.json").read_text(encoding="utf-8"))
    is_equal = _of_any_place(found, log) == _of_any_place(here, str(folder / "hot.000001"))
    print(f"{'PASS' if is_equal else 'FAIL'}: the audit of the bucket is that of one process")
    yield not is_equal


def _on_kubernetes(folder: Path, environment: dict[str, str]) -> bool:
    """Mine in pods, whose processes have no paraply of their own."""
    place = folder / "pods"
    with api_server(folder, environment) as (master, pods):
        options = ["--master", master, "--out", str(place), "--spark-conf"]
        options += [f"{name}={value}" for name, value in POD_SETTINGS.items()]
        run_paraply(*CAMPAIGN, *options, environment=environment)
    print(f"in {len(pods.seen)} pods of Kubernetes:")
    return _compare_tables(folder / "alone", place) or not pods.seen


def _of_any_place(document: dict[str, Any], log: str) -> Any:
    """Return what is judged: predictions need a log that this machine can read again."""
    judged = {name: part for name, part in document.items() if name not in PREDICTED}
    return json.loads(json.dumps(judged).replace(json.dumps(log)[1:-1], "LOG"))


def audited(log: str, answer: Path, environment: dict[str, str], *options: str) -> Any:
    """Audit a log in parts and return the JSON document."""
    command = ["audit", "--spark", "--part-megabytes", "1", *options, "--json", str(answer)]
    run_paraply(*command, log, environment=environment)
    return json.loads(answer.read_text(encoding="utf-8"))


def run_paraply(*arguments: str, environment: dict[str, str] | None = None) -> None:
    """Run a paraply command to its verdict."""
    done = subprocess.run(
        [sys.executable, "-m", "paraply", *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=CAMPAIGN_S,
    )  # fmt: skip
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"paraply {arguments[0]} failed: {done.stderr}")


@contextmanager
def started_campaign(
    folder: Path, environment: dict[str, str], *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a campaign; kill it at the end."""
    command = [sys.executable, "-m", "paraply", *CAMPAIGN, *arguments]
    with open(folder / "campaign.log", "wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment | {"PYTHONPATH": str(ROOT)},
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        stop(process)


@contextmanager
def running(
    folder: Path, environment: dict[str, str], name: str, *command: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process group of Spark; kill it at the end."""
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
    """Kill a process group and wait."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=10)


def environment_of(folder: Path) -> dict[str, str]:
    """Return an environment with loopback alone."""
    return {
        **os.environ,
        "JAVA_HOME": str(ensure_java_home()),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "SPARK_LOG_DIR": str(folder),
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": str(_python_without_us(folder)),
    }


def _python_without_us(folder: Path) -> Path:
    script = folder / "python"
    libraries = Path(pyspark.__file__).resolve().parents[1]
    # Without site, no .pth file of an editable installation is read.
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec {sys.executable} -S "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return script


def wait_for_port(port: int) -> None:
    """Wait until a process listens."""
    wait_for(lambda: listens(port), START_S, f"port {port}")


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for a condition; raise after ``seconds``."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(f"gave up waiting for {what} after {seconds:.0f} s")
        time.sleep(0.05)


def registered(folder: Path) -> int:
    """Return the master's number of workers."""
    log = (folder / "master.log").read_text(encoding="utf-8", errors="replace")
    return log.count("Registering worker")


def files_written(folder: Path) -> int:
    """Return the number of row files."""
    return len(list((folder / "rows").glob("*.parquet")))


def rows_of(place: str) -> list[dict[str, Any]]:
    """Return a campaign's rows in order."""
    rows: list[dict[str, Any]] = read_rows(place).to_pylist()
    return sorted(rows, key=lambda row: (row["system"], row["run"]))


if __name__ == "__main__":
    sys.exit(main())
