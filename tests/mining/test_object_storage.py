"""Campaigns in a bucket, behind a real S3 API on the loopback interface."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from paraply.adapters.binlog.source import open_source
from paraply.adapters.history_parquet import write_parquet
from paraply.adapters.remote_files import RangeOfUrl
from paraply.adapters.violations_parquet import read_violations
from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.following.follower import Follower
from paraply.auditing.pipeline import AuditRequest, audit
from paraply.cli import main
from paraply.judging.recorded_systems import recorded_system
from paraply.mining import campaign
from paraply.mining.arriving_files import arrived
from paraply.mining.binlog_follow import available
from paraply.mining.binlog_rows import Part, files_at, parts_of
from paraply.mining.campaign import PLAN_FILE, read_campaign, run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.plan import Plan
from paraply.mining.store import store_at
from paraply.mining.systems import systems_of
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history_jsonl import write_history
from paraply.vocabulary.schedule import SeededSchedule
from tests.auditing.in_parts.auditing import forge_conflicts
from tests.builders.faulty_s3 import faulty_s3
from tests.builders.hot_logs import hot_log
from tests.builders.log_forger import ForgedLog
from tests.builders.rotated_logs import rotated
from tests.builders.s3_server import s3_server
from tests.mining.campaigns import MUTANTS, rows_of, small_plan
from tests.mining.test_binlog_rows import read
from tests.mining.test_resume import kill_two_drivers


@pytest.fixture(scope="module")
def reached_by():
    """Return the environment that reaches an S3 server; skip where moto is not installed."""
    pytest.importorskip("moto.server", reason="moto[server] is not installed")
    with s3_server() as environment:
        yield environment


@pytest.fixture
def server(reached_by):
    """Return the server's URL."""
    return reached_by["AWS_ENDPOINT_URL"]


@pytest.fixture
def bucket(reached_by, monkeypatch):
    """Return the URL of a new bucket, with the environment that reaches it."""
    import boto3

    for name, value in reached_by.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3")
    client.create_bucket(Bucket="mines")
    objects = boto3.resource("s3").Bucket("mines").objects
    yield "s3://mines/campaign"
    objects.delete()
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


@pytest.fixture
def faulty_bucket(bucket, server, monkeypatch):
    """Return a proxy that refuses 3 % of the requests; the environment reaches the bucket by it."""
    with faulty_s3(server, share=0.03, seed=1) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        yield proxy


def put_log(log, *, copies=1):
    """Put the log under ascending numbers, past the proxy; return the URLs."""
    import boto3

    client = boto3.client("s3")
    for number in range(1, copies + 1):
        client.upload_file(str(log), "mines", f"logs/log.{number:06}")
    return [f"s3://mines/logs/log.{number:06}" for number in range(1, copies + 1)]


def written_below(prefix):
    """Return the objects below a prefix, without the marks of empty folders."""
    import boto3

    found = boto3.client("s3").list_objects_v2(Bucket="mines", Prefix=prefix).get("Contents", ())
    return sorted(each["Key"] for each in found if not each["Key"].endswith("/"))


BOUNDARY_BYTES = 128_000


@pytest.mark.long(each=15)
def test_audit_with_refused_requests_is_that_of_files_and_reads_no_byte_twice(
    bucket, server, log, tmp_path
):
    (url,) = put_log(log)
    sizes = PartSizes(block_bytes=100_000, part_blocks=2, approach_blocks=1)
    here = audit_in_parts(AuditRequest(files=(str(log),), engine="readable"), sizes=sizes)
    refused = 0
    for seed in range(4):
        asked = []

        def counting(function, tasks, asked=asked):
            for task in tasks:
                part = getattr(task, "part", task)
                asked.extend((*part.approach, *part.blocks))
                yield function(task)

        with faulty_s3(server, share=0.03, seed=seed) as proxy, pytest.MonkeyPatch.context() as at:
            at.setenv("AWS_ENDPOINT_URL", proxy.url)
            request = AuditRequest(files=(url,), engine="readable")
            there = audit_in_parts(request, counting, sizes=sizes)
            counts = proxy.counts()
        refused += counts.refused
        size = sum((block.end or log.stat().st_size) - block.begin for block in asked)
        assert len(asked) == there.blocks_read
        most = 1.02 * size + BOUNDARY_BYTES * (there.blocks - 1)
        assert size < counts.sent["/mines/logs/log.000001"] <= most
        assert there.result.transactions == here.result.transactions > 100
        named = (replace(file, name=str(log)) for file in there.result.files)
        assert [*named] == here.result.files
        assert there.result.replay == here.result.replay
        assert there.result.lint == here.result.lint
        assert there.result.parallelism == here.result.parallelism
        assert there.result.verdict is here.result.verdict
    assert refused > 3


@pytest.mark.long(each=15)
def test_campaign_with_refused_requests_has_the_rows_of_a_folder(faulty_bucket, tmp_path):
    plan = small_plan(histories=120, batch=10)
    run_campaign(plan, str(tmp_path), InProcess())
    for number in range(4):
        place = f"s3://mines/campaign-{number}"
        assert run_campaign(plan, place, InProcess()).is_complete
        assert rows_of(place, plan) == rows_of(tmp_path, plan)
    assert faulty_bucket.counts().refused > 3


@pytest.mark.long(each=5)
def test_data_source_with_refused_requests_reads_the_rows_of_a_file(faulty_bucket, log):
    urls = put_log(log, copies=4)
    here = read([Part(block=block) for block in parts_of([str(log)], 200_000)])
    blocks = parts_of(urls, 200_000)
    faulty_bucket.counts()
    there = [row for block in blocks for row in read([Part(block=block)])]
    assert there == [row | {"file": url} for url in urls for row in here]
    counts = faulty_bucket.counts()
    sent = sum(counts.sent.values())
    assert 4 * log.stat().st_size < sent <= 1.02 * 4 * log.stat().st_size
    assert counts.refused >= 1


@pytest.mark.long
def test_proxy_that_refuses_everything_fails_the_audit(bucket, server, log, monkeypatch):
    """The control: requests pass the proxy, and a refusal is an error."""
    (url,) = put_log(log)
    with faulty_s3(server, share=1.0) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        with pytest.raises((OSError, ParaplyError), match=r"(?i)slow|503|service"):
            open_source(url).read(10)
        counts = proxy.counts()
        assert counts.refused == counts.requests > 1


@pytest.mark.long(each=5)
@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_audit_writes_its_reports_and_rows_to_a_bucket(faulty_bucket, log, tmp_path, engine):
    path = forge_conflicts(log, tmp_path / "forged.000001", 1)
    (url,) = put_log(path)
    out = "s3://mines/audits"
    words = ["audit", url, "--engine", engine, "--spark", "--master", "none", "--out", out]
    reports = ["json", "html", "junit", "sarif"]
    options = [word for kind in reports for word in (f"--{kind}", f"{out}/report.{kind}")]
    assert main([*words, *options]) == 1
    here = AuditRequest(files=(str(path),), engine=engine)
    whole = audit_in_parts(here)
    import boto3

    client = boto3.client("s3")
    document = json.loads(
        client.get_object(Bucket="mines", Key="audits/report.json")["Body"].read()
    )
    assert document["verdict"] == "violated"
    assert len(document["violations"]) == len(whole.violations) > 0
    client.download_file("mines", "audits/violations.parquet", str(tmp_path / "violations"))
    found = read_violations(tmp_path / "violations")
    assert [each.key for each in found] == [each.key for each in whole.violations]
    listed = written_below("audits/")
    names = [*(f"report.{kind}" for kind in reports), "violations.parquet"]
    assert listed == sorted(f"audits/{name}" for name in names)
    # Once more, as the files are ours; a foreign one is kept.
    assert main([*words, *options]) == 1
    client.put_object(Bucket="mines", Key="audits/report.json", Body=b"a letter")
    assert main([*words, *options]) == 3
    assert client.get_object(Bucket="mines", Key="audits/report.json")["Body"].read() == b"a letter"


@pytest.mark.long(each=5)
def test_borders_in_a_bucket_are_removed(faulty_bucket, log):
    sizes = PartSizes(block_bytes=100_000, part_blocks=2, approach_blocks=1)
    request = AuditRequest(files=(str(log),), engine="readable")
    here = audit_in_parts(request, sizes=sizes)
    there = audit_in_parts(request, sizes=sizes, folder="s3://mines/audits")
    assert there.rounds == here.rounds > 0
    assert there.result == here.result
    assert not written_below("audits/")


@pytest.mark.long(each=5)
@pytest.mark.parametrize("engine", ["readable", "compiled"])
def test_followed_audit_in_a_bucket_is_that_of_files(faulty_bucket, log, tmp_path, engine):
    import boto3

    client = boto3.client("s3")
    forged = forge_conflicts(log, tmp_path / "forged", 1)
    files = rotated(ForgedLog.read(forged), tmp_path / "logs", 5, 0)
    for file in files:
        client.upload_file(str(file), "mines", f"logs/{file.name}")
    found = arrived("s3://mines/logs")
    assert len(found.complete) == 5
    faulty_bucket.counts()
    follower = Follower("s3://mines/out", AuditRequest(files=(), engine=engine))
    for file in found.complete:
        follower.take([file])
    there = follower.result()
    assert there.violations
    here = audit(AuditRequest(files=tuple(map(str, files)), engine=engine))
    assert there.verdict is here.verdict
    assert there.violations_dropped == here.violations_dropped
    assert [each.key for each in there.violations] == [each.key for each in here.violations]
    assert there.parallelism == here.parallelism
    assert [row["number"] for row in follower.files()] == [1, 2, 3, 4, 5]
    counts = faulty_bucket.counts()
    if engine == "readable":  # The compiled one reads what it reports again.
        sent = sum(counts.sent[f"/mines/logs/{file.name}"] for file in files)
        assert sent <= 1.02 * sum(file.stat().st_size for file in files)
    assert counts.refused >= 1


@pytest.mark.long(each=5)
def test_tables_of_a_bucket_are_checked_as_files_are(faulty_bucket, tmp_path):
    import boto3

    from ci.bench.history_scale import table_of
    from paraply.auditing.tables import audit_tables
    from paraply.mining.table_breaches import SCHEMA

    path = table_of(tmp_path, 400_000, seed=0)
    client = boto3.client("s3")
    client.upload_file(str(path), "mines", "tables/t.parquet")
    found = []
    for number in range(8):  # So that some requests are refused.
        place = f"s3://mines/out-{number}/violations.parquet"
        found.append(audit_tables(["s3://mines/tables/t.parquet"], InProcess(), place))
        assert written_below(f"out-{number}/") == [f"out-{number}/violations.parquet"]
    here = audit_tables([str(path)], InProcess(), str(tmp_path / "violations.parquet"))
    assert found == [here] * 8
    assert here[1] == here[0].unordered > 0
    client.download_file("mines", "out-7/violations.parquet", str(tmp_path / "there.parquet"))
    named, expected = (
        pq.read_table(tmp_path / f"{name}.parquet").select(
            [column for column in SCHEMA.names if "file" not in column]
        )
        for name in ("there", "violations")
    )
    assert named == expected
    counts = faulty_bucket.counts()
    assert counts.refused > 1


@pytest.mark.long(each=5)
def test_recorded_histories_of_a_bucket_are_judged_as_files_are(faulty_bucket, tmp_path):
    import boto3

    (system,) = systems_of([], MUTANTS[:1], {})
    runs = [system.runner.run(SeededSchedule(seed), system.workload) for seed in range(30)]
    lines = tmp_path / "runs.jsonl"
    lines.write_text("".join(f"{line}\n" for run in runs for line in write_history(run)))
    write_parquet(tmp_path / "runs", runs)
    client = boto3.client("s3")
    client.upload_file(str(lines), "mines", "runs.jsonl")
    for part in (tmp_path / "runs").iterdir():
        client.upload_file(str(part), "mines", f"runs/{part.name}")
    for name in ("runs.jsonl", "runs", "runs/events.parquet"):
        found = []
        for place in (str(tmp_path / name), f"s3://mines/{name}"):
            recorded = recorded_system(place)
            plan = Plan(systems=(recorded,), histories=30, seed=0, batch_histories=10)
            out = tmp_path / place.replace("/", "-")
            run_campaign(plan, str(out), InProcess())
            found.append(
                [row | {"system": "", "subject": "", "options": ""} for row in rows_of(out, plan)]
            )
        assert found[0] == found[1]
        assert len(found[0]) == 30
        assert any(row["violated"] for row in found[0])
