"""Mining and audits through Spark Connect, where there is no Spark context at all."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from paraply.mining.java import ensure_java_home
from paraply.vocabulary.errors import ParaplyError

pytestmark = pytest.mark.xdist_group("spark")

ROOT = Path(__file__).parents[2]

# A process has one kind of session, so the client is a process of its own. Its server, started
# from the pip package, has plain workers: paraply reaches them only as the archive sent to them.
CLIENT = """
import json, sys
from dataclasses import fields
from pathlib import Path
from pyspark.sql import SparkSession
from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.pipeline import AuditRequest
from paraply.mining.campaign import run_campaign
from paraply.mining.clusters import clusters_of, minimise_all
from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.mining.engines import InProcess, OnSpark
from tests.builders.hot_logs import hot_log
from tests.mining.campaigns import rows_of, small_plan

folder = Path(sys.argv[1])
folder.mkdir()
session = SparkSession.builder.remote("local[2]").getOrCreate()
try:
    session.sparkContext
except Exception as error:
    found = {"context": type(error).__name__}
engine = OnSpark("sc://in-this-process", session)
found["is_local"] = engine.is_local


def where(_):
    import paraply

    return paraply.__file__


found["imported_from"] = list(engine.map(where, [0]))[0]
for name, is_guided in (("blind", False), ("guided", True)):
    plan = small_plan(histories=20, batch=10, is_guided=is_guided)
    here = run_campaign(plan, str(folder / name / "here"), InProcess())
    there = run_campaign(plan, str(folder / name / "there"), engine)
    rows = rows_of(folder / name / "here", plan)
    found[name] = len(rows), rows == rows_of(folder / name / "there", plan)
    found[f"{name} counts"] = here.per_system == there.per_system
clusters = clusters_of(there)[:2]
found["minimised"] = [
    sorted(
        (one.digest, one.is_confirmed)
        for one in minimise_all(plan, clusters, by, smallest_of_system)
    )
    for by in (InProcess(), engine)
]
log = str(hot_log(folder / "hot.000001", size_bytes=60_000, seed=5, block_transactions=40))
request = AuditRequest(files=(log,), engine="readable")
sizes = PartSizes(block_bytes=20_000, part_blocks=2, approach_blocks=1)
audits = [
    audit_in_parts(request, by, sizes=sizes, folder=str(folder)).result
    for by in (map, engine.map)
]
found["audit"] = [audits[0].transactions, all(
    getattr(audits[0], each.name) == getattr(audits[1], each.name) for each in fields(audits[0])
)]
Path(sys.argv[2]).write_text(json.dumps(found))
engine.close()
session.stop()
"""


FOLLOWING = """\
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
from paraply.auditing.following.stream import audit_stream
from paraply.auditing.pipeline import AuditRequest, audit
from tests.builders.log_forger import ForgedLog
from tests.builders.rotated_logs import rotated

folder = Path(sys.argv[1])
session = SparkSession.builder.remote("local[2]").getOrCreate()
files = rotated(ForgedLog.read(Path(sys.argv[3])), folder / "logs", 3, 0)
request = AuditRequest(files=(), engine="readable")
stream = audit_stream(session, str(folder / "logs"), str(folder / "audit"), request=request)
stream.wait()
whole = audit(AuditRequest(files=tuple(map(str, files)), engine="readable"))
Path(sys.argv[2]).write_text(json.dumps([whole.transactions, stream.result() == whole]))
stream.stop()
session.stop()
"""
LOG = ROOT / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4" / "load-full-metadata" / "bin.000001"


def answered(client: str, tmp_path: Path, python: str, *words: str):
    """Run a client with its own server, whose Python is ``python``; return its answer."""
    for library in ("pyspark", "grpc", "grpc_status", "google.rpc"):
        pytest.importorskip(library, reason=f"Spark Connect needs {library}")
    try:
        java = ensure_java_home()
    except ParaplyError as error:
        pytest.skip(str(error))
    environment = {
        **os.environ,
        "JAVA_HOME": str(java),
        "PYSPARK_PYTHON": python,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": str(ROOT),
        "PYSPARK_SUBMIT_ARGS": "--driver-memory 512m --conf spark.ui.enabled=false pyspark-shell",
    }
    answer = tmp_path / "answer.json"
    # The server of a local session listens on port 15002, so that there is one at a time.
    with (Path(tempfile.gettempdir()) / "paraply-tests-connect.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [sys.executable, "-c", client, str(tmp_path / "work"), str(answer), *words],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=500,
        )  # fmt: skip
    assert answer.exists(), done.stderr[-4000:]
    return json.loads(answer.read_text())


@pytest.mark.long
def test_streaming_audit_through_spark_connect_says_what_one_audit_says(tmp_path):
    # The server has paraply: it gets no packages for data sources and batches of a query.
    transactions, is_equal = answered(FOLLOWING, tmp_path, sys.executable, str(LOG))
    assert transactions > 100
    assert is_equal


@pytest.mark.long
def test_campaigns_and_audits_through_spark_connect(tmp_path):
    pyspark = pytest.importorskip("pyspark", reason="Spark Connect needs pyspark")
    libraries = Path(pyspark.__file__).parents[1]
    worker = tmp_path / "python"
    worker.write_text(f'#!/bin/sh\nPYTHONPATH="{libraries}" exec {sys.executable} -S "$@"\n')
    worker.chmod(0o755)
    found = answered(CLIENT, tmp_path, str(worker))
    assert "PySpark" in found["context"]
    assert found["imported_from"].endswith("paraply.zip/paraply/__init__.py")
    assert found["blind"] == [60, True]
    assert found["guided"] == [60, True]
    assert found["blind counts"]
    assert found["guided counts"]
    here, there = found["minimised"]
    assert here == there
    assert here
    transactions, is_equal = found["audit"]
    assert transactions > 10
    assert is_equal
