"""The streaming audit says what the batch audit says, wherever its driver is killed."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paraply.auditing.pipeline import AuditRequest
from paraply.mining.audit_tables import SCHEMAS, AuditTables
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.auditing.following.test_follower import assert_equal
from tests.auditing.in_parts.auditing import contradict
from tests.builders.hot_logs import hot_log
from tests.builders.log_forger import ForgedLog
from tests.builders.rotated_logs import rotated
from tests.mining.conftest import spark  # noqa: F401 - a fixture

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("spark")]

REQUEST = AuditRequest(files=(), engine="readable")
ROOT = Path(__file__).parents[3]


def drawn_files(folder, seed, files=6):
    """Return the files of a log with conflicts or with contradictory rows."""
    log = hot_log(folder / "log", size_bytes=300_000, seed=5)
    if seed % 2:
        log = contradict(log, folder / "changed", seed)
    paths = rotated(ForgedLog.read(log), folder / "all", files, seed)
    for path in paths[1::2] if seed % 2 == 0 else ():
        # Its transactions may overlap each other.
        part = ForgedLog.read(path)
        for ordinal in range(1, len(part) + 1):
            part.set_timestamp(ordinal, last_committed=1)
        part.save(path)
    return paths


@pytest.mark.parametrize("seed", range(2))
def test_files_that_arrive_in_drawn_batches(spark, seed, tmp_path):  # noqa: F811
    from paraply.auditing.following.stream import audit_stream

    files = drawn_files(tmp_path, seed)
    folder = tmp_path / "logs"
    folder.mkdir()
    rng = random.Random(seed)
    left = [*files]
    # The first file has to be there at the start; others may come before their predecessors.
    while left:
        batch = rng.sample(left, rng.randint(1, min(3, len(left))))
        if len(left) == len(files) and files[0] not in batch:
            batch.append(files[0])
        for file in batch:
            shutil.copy(file, folder)
            left.remove(file)
        audit = audit_stream(spark, str(folder), str(tmp_path / "out"), request=REQUEST)
        assert audit.wait()
        here = {int(path.name[-6:]) for path in folder.iterdir()}
        missing = next(number for number in range(1, 9) if number not in here)
        assert len(audit.files()) == missing - 1
        assert bool(audit.left().missing) == (max(here) > missing)
        if audit.left().missing:
            assert audit.result().verdict is not Verdict.HOLDS
    there = [str(folder / file.name) for file in files]
    whole = assert_equal(audit.result(), there)
    assert whole.verdict is Verdict.VIOLATED
    assert spark.read.parquet(*audit.uris("files")).count() == len(files)


DRIVER = """
import sys
from paraply.auditing.following.stream import audit_stream
from paraply.auditing.pipeline import AuditRequest
from paraply.mining.session import spark_session

logs, out = sys.argv[1:]
session = spark_session("local[2]")
request = AuditRequest(files=(), engine="readable")
print("started", flush=True)
audit_stream(session, logs, out, trigger=0.2, request=request).wait()
"""


def test_driver_that_is_killed_at_random(spark, tmp_path):  # noqa: F811
    files = drawn_files(tmp_path, 2, files=9)
    folder, out = tmp_path / "all", tmp_path / "out"
    rng = random.Random(3)
    tables = AuditTables(str(out))
    done = kills = 0
    while done < len(files):
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(folder), str(out)],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        goal = min(len(files), done + rng.randint(3, 6))
        until = time.monotonic() + 120
        while done < goal:
            assert time.monotonic() < until, driver.stderr.read1().decode()[-3000:]
            assert driver.poll() is None, driver.stderr.read().decode()[-3000:]
            time.sleep(0.05)
            last = tables.last()
            done = 0 if last is None else last["number"]
        time.sleep(rng.random() / 4)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        kills += 1
    assert kills > 1  # A slow machine reaches more files before a kill.
    from paraply.auditing.following.follower import Follower
    from paraply.auditing.following.stream import audit_stream

    audit = audit_stream(spark, str(folder), str(out), request=REQUEST)
    assert audit.wait()
    assert_equal(audit.result(), files)
    Follower(str(tmp_path / "whole"), REQUEST).take([str(file) for file in files])
    whole = AuditTables(str(tmp_path / "whole"))
    for name in SCHEMAS:
        # A state has sets, whose order differs from process to process.
        rows, again = ([row | {"state": ""} for row in of.rows(name)] for of in (whole, tables))
        assert again == rows
        assert len(rows) > 3 or name == "findings"


def test_query_that_fails_names_the_file(spark, tmp_path):  # noqa: F811
    from paraply.auditing.following.stream import audit_stream

    files = drawn_files(tmp_path, 4, files=3)
    folder = tmp_path / "all"
    audit = audit_stream(spark, str(folder), str(tmp_path / "out"), request=REQUEST)
    assert audit.wait()
    shutil.copy(files[0], folder / "binlog.000000")
    audit = audit_stream(spark, str(folder), str(tmp_path / "out"), request=REQUEST)
    with pytest.raises(ParaplyError, match=r"P748.*P745 .*binlog.000000 came after"):
        audit.wait()
