"""Campaigns in a bucket, behind a real S3 API on the loopback interface."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time

import pytest

from paraply.adapters.binlog.source import open_source
from paraply.adapters.remote_files import RangeOfUrl
from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.pipeline import AuditRequest
from paraply.mining import campaign
from paraply.mining.binlog_follow import available
from paraply.mining.binlog_rows import Part, files_at, parts_of
from paraply.mining.campaign import PLAN_FILE, read_campaign, run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.store import store_at
from paraply.vocabulary.errors import ParaplyError
from tests.builders.hot_logs import hot_log
from tests.mining.campaigns import rows_of, small_plan
from tests.mining.test_binlog_rows import read
from tests.mining.test_resume import kill_two_drivers


@pytest.fixture(scope="module")
def server():
    """Return the URL of an S3 server in a process of its own; skip where moto is not installed."""
    pytest.importorskip("moto.server", reason="moto[server] is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None
            assert time.monotonic() < until, "moto does not listen"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def bucket(server, monkeypatch):
    """Return the URL of a new bucket, with the environment that reaches it."""
    import boto3

    for name, value in (
        ("AWS_ENDPOINT_URL", server),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ):
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="mines")
    yield "s3://mines/campaign"
    boto3.resource("s3").Bucket("mines").objects.delete()
    client.delete_bucket(Bucket="mines")


@pytest.mark.long
def test_campaign_in_a_bucket_resumes_to_the_rows_of_a_folder(bucket, tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "COMMIT_S", 0.0)
    plan = small_plan(histories=40, batch=10)
    run_campaign(plan, str(tmp_path), InProcess())
    cut = run_campaign(plan, bucket, InProcess(), time_limit_s=0.0)
    assert cut.batches == 1
    progress = run_campaign(plan, bucket.replace("s3:", "s3a:"), InProcess(), resume=True)
    assert progress.is_complete
    assert progress.batches_kept == 1
    assert rows_of(bucket, plan) == rows_of(tmp_path, plan)
    assert read_campaign(bucket).per_system == progress.per_system


@pytest.mark.long
def test_second_driver_of_a_bucket_is_refused(bucket):
    plan = small_plan(histories=40, batch=10)
    run_campaign(plan, bucket, InProcess(), time_limit_s=0.0)
    kept = []

    def interfere(_):
        if not kept:
            kept.append(run_campaign(plan, bucket, InProcess(), resume=True).is_complete)

    with pytest.raises(ParaplyError, match="P729"):
        run_campaign(plan, bucket, InProcess(), resume=True, on_batch=interfere)
    assert kept == [True]
    runs = [(row["system"], row["run"]) for row in rows_of(bucket, plan)]
    assert len(set(runs)) == len(runs) == 120


@pytest.mark.long
def test_drivers_killed_at_random_in_a_bucket_write_each_run_once(bucket, tmp_path):
    plan = small_plan(histories=60, batch=15)
    run_campaign(plan, str(tmp_path), InProcess())
    moments = random.Random(7)
    for _ in range(2):
        kill_two_drivers(bucket, plan, moments)
    progress = run_campaign(plan, bucket, InProcess(), resume=True)
    assert progress.is_complete
    assert rows_of(bucket, plan) == rows_of(tmp_path, plan)


def test_bucket_that_is_not_there_is_refused(bucket):
    with pytest.raises(ParaplyError, match=r"P721|P736"):
        run_campaign(small_plan(), "s3://no-such-bucket/campaign", InProcess())


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    return hot_log(folder / "log.000001", size_bytes=900_000, seed=5, block_transactions=100)


@pytest.mark.long
def test_log_in_a_bucket_is_read_by_ranges(bucket, log):
    import boto3

    for name in ("log.000001", "log.000002"):
        boto3.client("s3").upload_file(str(log), "mines", f"logs/{name}")
    folder = "s3://mines/logs"
    files = [f"{folder}/log.000001", f"{folder}/log.000002"]
    assert files_at(folder) == files_at(f"{folder}/log.*") == files
    blocks = parts_of([str(log)], 200_000)
    assert len(blocks) > 3
    RangeOfUrl.fetched = 0
    remote = parts_of(files[:1], 200_000)
    assert [(block.begin, block.end) for block in remote] == [
        (block.begin, block.end) for block in blocks
    ]
    assert RangeOfUrl.fetched <= len(blocks) * 128_000
    for there, here in zip(remote, blocks, strict=True):
        size = (here.end or log.stat().st_size) - here.begin
        RangeOfUrl.fetched = 0
        rows = read([Part(block=there)])
        assert RangeOfUrl.fetched <= 1.02 * size
        assert rows == [row | {"file": files[0]} for row in read([Part(block=here)])]
    assert available(folder, {}, None)[files[0]] == log.stat().st_size


@pytest.mark.long
@pytest.mark.parametrize("block_bytes", [1 << 30, 200_000])
def test_audit_of_a_log_in_a_bucket_is_that_of_a_file(bucket, log, block_bytes):
    import boto3

    boto3.client("s3").upload_file(str(log), "mines", "logs/log.000001")
    sizes = PartSizes(block_bytes=block_bytes, part_blocks=2, approach_blocks=1)
    here, there = (
        audit_in_parts(AuditRequest(files=(file,), engine="readable"), sizes=sizes).result
        for file in (str(log), "s3://mines/logs/log.000001")
    )
    assert here.transactions > 100
    assert (there.transactions, there.verdict) == (here.transactions, here.verdict)
    assert there.replay == here.replay


@pytest.mark.parametrize("name", ["s3://mines/logs/none", "s3://no-such-bucket/log"])
def test_log_that_is_not_in_the_bucket_is_refused(bucket, name):
    with pytest.raises(ParaplyError, match="P101"):
        files_at(name)
    with pytest.raises(ParaplyError, match="P101"):
        open_source(name)


def test_file_url_is_a_folder(tmp_path):
    plan = small_plan(histories=4, batch=2)
    run_campaign(plan, tmp_path.as_uri(), InProcess())
    assert store_at(str(tmp_path)).read(PLAN_FILE) is not None
    assert len(rows_of(tmp_path, plan)) == 12
