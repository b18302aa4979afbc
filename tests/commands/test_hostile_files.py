"""Files of strangers: a clear error with exit code 3, never an internal error or a verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from paraply.campaigning.files import INDEX, read_index
from paraply.cli import main
from paraply.judging.recorded_files import history_in
from paraply.mining.store import DiskStore
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history_jsonl import read_histories, write_history
from tests.builders.every_command import LOG, prepared

DEEP = {
    "deep.json": "[" * 100_000,
    "deep-map.json": '{"a":' * 100_000,
    "deep.edn": "[" * 100_000,
    "deep-map.edn": "{:a " * 100_000,
    "deep.jsonl": '{"record":' + "[" * 100_000 + "\n",
    "deep.toml": "a = " + "[" * 100_000,
}
READERS = {
    "check": ["check", "{}"],
    "replay": ["replay", "{}"],
    "show": ["show", "{}", "--out", "page.html"],
    "audit": ["audit", "{}"],
    "schema": ["audit", str(LOG), "--schema", "{}"],
    "expected failures": ["conform", "--expected-failures", "{}", "--", "true"],
    "mapping": ["verify", str(LOG), "--target", str(LOG), "--map-file", "{}"],
    "mine": ["mine", "--recorded", "{}", "--master", "none", "--out", "out"],
}


def refused(words, capsys):
    code = main(words)
    err = capsys.readouterr().err
    assert code == 3, err
    assert err.startswith("paraply: P"), err
    assert "\n  remedy: " in err
    return err


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(DEEP))
@pytest.mark.parametrize("reader", sorted(READERS))
def test_deeply_nested_file_is_refused(reader, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(DEEP[name])
    refused([word.format(name) for word in READERS[reader]], capsys)


@pytest.mark.parametrize("reader", sorted(READERS))
def test_endless_file_is_refused(reader, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    refused([word.format("/dev/zero") for word in READERS[reader]], capsys)


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", ["../../victim", "/tmp/victim", "a/b", "", ".", "..", "a\0b"])
def test_name_in_the_index_of_a_campaign_does_not_leave_the_folder(name, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    campaign = tmp_path / "campaign"
    assert main([*prepared(monkeypatch, tmp_path, "mine")]) in (0, 2)
    (tmp_path / "out").rename(campaign)
    index = {"counterexamples": [{"name": name, "violations": []}]}
    store = DiskStore(str(campaign))
    store.write(INDEX, json.dumps(index).encode())
    with pytest.raises(ParaplyError, match="P323"):
        read_index(store)
    assert main(["show", str(campaign), "--out", str(tmp_path / "pages")]) == 3
    assert main(["mine", "--promote", str(campaign), "all"]) == 3
    store.write(INDEX, b"[" * 100_000)
    assert main(["show", str(campaign), "--out", str(tmp_path / "pages")]) == 3


def test_campaign_without_a_finished_batch_has_a_report(tmp_path, monkeypatch, capsys):
    assert main(prepared(monkeypatch, tmp_path, "mine")) in (0, 2)
    for file in (tmp_path / "out").rglob("*"):
        if file.is_file() and file.name != "campaign.json":
            file.unlink()
    assert main(["show", str(tmp_path / "out"), "--out", str(tmp_path / "pages")]) == 0, (
        capsys.readouterr().err
    )
    assert main(["mine", "--report", str(tmp_path / "out")]) == 2


@pytest.mark.long
@pytest.mark.parametrize("name", ["histories", "transactions", "events"])
def test_flipped_bytes_in_parquet_are_refused_or_judged_alike(name, tmp_path, monkeypatch, capsys):
    parquet = pytest.importorskip("paraply.adapters.history_parquet")
    prepared(monkeypatch, tmp_path, "check")
    with (tmp_path / "history.jsonl").open() as stream:
        histories = list(read_histories(stream, name="x"))
    folder = tmp_path / "runs"
    parquet.write_parquet(folder, histories)
    usual = main(["check", str(folder)])
    file = folder / f"{name}.parquet"
    whole = file.read_bytes()
    for place in [
        *range(0, len(whole), max(1, len(whole) // 60)),
        *range(len(whole) - 8, len(whole)),
    ]:
        for flip in (0xFF, 0x01):
            broken = bytearray(whole)
            broken[place] ^= flip
            file.write_bytes(broken)
            capsys.readouterr()
            code = main(["check", str(folder)])
            assert code in (3, usual), (place, flip, capsys.readouterr().err)


def test_pipe_is_refused_with_the_way_to_read_it(tmp_path, capsys):
    """Files are read several times; a shell's ``<(...)`` is a pipe."""
    os.mkfifo(tmp_path / "pipe")
    assert "give it as standard input" in refused(["audit", str(tmp_path / "pipe")], capsys)


@pytest.mark.long
def test_inherited_pipe_is_no_internal_error():
    reading, writing = os.pipe()
    os.close(writing)
    done = paraply("audit", f"/dev/fd/{reading}", pass_fds=(reading,))
    assert done.returncode == 3, done.stderr
    assert "P101" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(("given", "code"), [(str(LOG), 0), ("nothing", 3)])
def test_closed_standard_error_changes_no_exit_code(given, code):
    words = ["sh", "-c", '"$@" 2>&- <&-', "sh", sys.executable, "-m", "paraply", "audit", given]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code
    assert "P101" not in done.stdout


@pytest.mark.long
def test_removed_working_directory_changes_no_verdict(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    done = paraply("audit", str(LOG), cwd=folder, preexec_fn=folder.rmdir)
    assert done.returncode == 0, done.stderr


def test_campaign_with_two_histories_in_a_file_has_no_pages(tmp_path):
    file = tmp_path / "two.jsonl"
    (schedule,) = random_schedules(1, 1)
    one = "".join(
        f"{line}\n" for line in write_history(subject_named("group").run(schedule, Workload()))
    )
    file.write_text(one, encoding="utf-8")
    assert history_in(file)
    file.write_text(one + one, encoding="utf-8")
    with pytest.raises(ParaplyError, match="2 histories"):
        history_in(file)


def paraply(*words, **options):
    command = [sys.executable, "-m", "paraply", *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, **options
    )
