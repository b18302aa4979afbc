"""Object storages on a port of the loopback interface where nothing listens."""

from __future__ import annotations

import socket

import pytest

from paraply.adapters.remote_files import size_of
from paraply.cli import main
from paraply.crash import EXIT_INTERNAL
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import EXIT_UNREADABLE
from tests.builders.every_command import LOGS

COMMANDS = (
    ("audit", "s3://bucket/bin.000001"),
    ("audit", "s3://bucket/bin.000001", "--spark", "--master=none", "--out=out"),
    ("audit", str(LOGS / "mysql-9.7.4" / "foreign-keys" / "bin.000001"), "--json=s3://bucket/r"),
    ("verify", "s3://bucket/source", "--target=s3://bucket/target"),
    ("check", "s3://bucket/history.jsonl"),
    ("check", "s3://bucket/histories/"),
    ("mine", "--subjects=certifier", "--histories=4", "--master=none", "--out=s3://bucket/out"),
    ("mine", "--report", "s3://bucket/out"),
    ("mine", "--promote", "s3://bucket/out", "all"),
)


@pytest.fixture
def closed():
    """Return the address of a port that is taken, so that nothing else can listen there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture
def bucket(closed, monkeypatch):
    """Let URLs of S3 lead to the closed port, and its library try once instead of for seconds."""
    pafs = pytest.importorskip("pyarrow.fs")
    files = pafs.S3FileSystem(
        access_key="key", secret_key="secret", region="us-east-1", scheme="http",
        endpoint_override=closed, retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=1),
    )  # fmt: skip
    for module in ("paraply.adapters.remote_files", "paraply.mining.store"):
        monkeypatch.setattr(f"{module}.filesystem_of", lambda url: (files, url.partition("://")[2]))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_storage_out_of_reach_is_an_error_with_a_remedy(
    words, bucket, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(words) == EXIT_UNREADABLE != EXIT_INTERNAL
    shown = capsys.readouterr()
    assert "P752 s3://bucket/" in shown.err
    assert "remedy: check the network" in shown.err
    assert shown.out == ""
    assert not [*tmp_path.rglob("*.parquet")]


@pytest.mark.long(each=15)
@pytest.mark.parametrize("url", ["s3://bucket/x", "gs://bucket/x", "abfs://c@account/x"])
def test_each_storage_is_given_up_in_seconds(url, closed, monkeypatch):
    pytest.importorskip("pyarrow.fs")
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{closed}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "STORAGE_EMULATOR_HOST": f"http://{closed}",
        "AZURE_STORAGE_ENDPOINT": f"http://{closed}",
        "AZURE_STORAGE_ACCOUNT_KEY": "a2V5",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ParaplyError, match="P752"):
        size_of(url)
