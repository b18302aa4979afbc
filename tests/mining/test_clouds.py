"""Campaigns, tables and logs in the buckets of Google and Azure, behind emulators of their APIs."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

import pytest

from paraply.adapters.remote_files import arrow_source, drop_folder, names_in, open_range, size_of
from paraply.auditing.at_scale import PartSizes, audit_in_parts
from paraply.auditing.following.follower import Follower
from paraply.auditing.pipeline import AuditRequest
from paraply.mining import campaign
from paraply.mining.audit_tables import AuditTables
from paraply.mining.campaign import run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.store import store_at
from paraply.vocabulary.errors import ParaplyError
from tests.builders import cloud_servers
from tests.builders.hot_logs import hot_log
from tests.mining.campaigns import rows_of, small_plan

CLOUDS = {
    "gs": (cloud_servers.google, "gs://mines"),
    "abfs": (cloud_servers.azure, "abfs://mines@devstoreaccount1.dfs.core.windows.net"),
}


@pytest.fixture(params=CLOUDS)
def place(request, monkeypatch):
    """Return the URL of a bucket; skip where its emulator is not installed."""
    started, url = CLOUDS[request.param]
    if not (cloud_servers.gcs_binary() and shutil.which(cloud_servers.AZURITE)):
        pytest.skip("no emulators: ci/servers --only clouds")
    with started() as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield url


@pytest.mark.nightly
def test_cloud_gives_what_a_folder_gives(place, tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "COMMIT_S", 0.0)
    _campaign_resumes(place, tmp_path)
    _second_driver_is_refused(place)
    _audits_are_equal(place, tmp_path)


def _campaign_resumes(place, tmp_path):
    plan, url = small_plan(histories=40, batch=10), f"{place}/campaign"
    run_campaign(plan, str(tmp_path / "here"), InProcess())
    assert run_campaign(plan, url, InProcess(), time_limit_s=0.0).batches == 1
    progress = run_campaign(plan, url, InProcess(), resume=True)
    assert progress.is_complete
    assert progress.batches_kept == 1
    assert rows_of(url, plan) == rows_of(tmp_path / "here", plan)


def _second_driver_is_refused(place):
    plan, url, kept = small_plan(histories=40, batch=10), f"{place}/two", []
    run_campaign(plan, url, InProcess(), time_limit_s=0.0)

    def interfere(_):
        if not kept:
            kept.append(run_campaign(plan, url, InProcess(), resume=True).is_complete)

    with pytest.raises(ParaplyError, match="P729"):
        run_campaign(plan, url, InProcess(), resume=True, on_batch=interfere)
    assert kept == [True]
    runs = [(row["system"], row["run"]) for row in rows_of(url, plan)]
    assert len(set(runs)) == len(runs) == 120


def _audits_are_equal(place, tmp_path):
    log = hot_log(tmp_path / "log.000001", size_bytes=300_000, seed=5, block_transactions=40)
    url = f"{place}/logs/{log.name}"
    store_at(place).write(f"logs/{log.name}", log.read_bytes())
    assert size_of(url) == log.stat().st_size
    assert names_in(f"{place}/logs") == [url]
    with open_range(url, 100, 200) as stream:
        assert stream.read() == log.read_bytes()[100:200]
    sizes = PartSizes(block_bytes=100_000, part_blocks=1, approach_blocks=1)
    here, there = (
        audit_in_parts(AuditRequest(files=(name,), engine="readable"), sizes=sizes, folder=folder)
        for name, folder in ((str(log), None), (url, f"{place}/audit"))
    )
    assert there.result.transactions == here.result.transactions > 100
    assert there.result.verdict is here.result.verdict
    assert there.result.parallelism == here.result.parallelism
    found = []
    for number, name in enumerate((str(log), url)):
        out = (str(tmp_path / "tables"), f"{place}/tables")[number]
        Follower(out, AuditRequest(files=(), engine="readable")).take([name])
        found.append(AuditTables(out).rows("parallelism"))
    assert len(found[0]) > 0
    assert [row | {"file": ""} for row in found[0]] == [row | {"file": ""} for row in found[1]]
    drop_folder(f"{place}/tables")
    assert names_in(f"{place}/tables/files") == []


@contextmanager
def refused(code):
    """Hold a refusal to its code, and to a remedy for it."""
    with pytest.raises(ParaplyError, match=code) as raised:
        yield raised
    assert raised.value.remedy


@pytest.mark.parametrize("use", [store_at, open_range, arrow_source, size_of, names_in])
def test_scheme_without_a_file_system_is_refused(use):
    with refused("P749"):
        use("ftp://host/folder")


@pytest.mark.skipif("HADOOP_HOME" in os.environ, reason="this machine has Hadoop")
def test_hdfs_without_hadoop_names_the_remedy():
    url = "hdfs://127.0.0.1:1/campaign"
    uses = (store_at, open_range, arrow_source, size_of, names_in)
    for use in (*uses, lambda url: run_campaign(small_plan(), url, InProcess())):
        with refused("P750") as raised:
            use(url)
        assert "ARROW_LIBHDFS_DIR" in raised.value.remedy


def test_container_without_an_account_is_refused(monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with refused("P751"):
        store_at("abfs://mines/campaign")


def test_spellings_of_a_scheme_are_one(tmp_path):
    assert store_at("gcs://bucket/x").url == "gs://bucket/x"
    assert store_at("abfss://c@account.dfs.core.windows.net/x/").url == (
        "abfs://c@account.dfs.core.windows.net/x"
    )
    assert store_at(f"file://{tmp_path}/x").url == f"{tmp_path}/x"
