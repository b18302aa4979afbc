"""``paraply audit --follow`` from a folder to tables, report and exit code."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paraply.auditing.pipeline import AuditRequest, audit
from paraply.cli import main
from paraply.mining.audit_tables import AuditTables
from paraply.reporting.audit.json_form import to_document
from tests.auditing.following.test_stream import drawn_files
from tests.mining.conftest import spark  # noqa: F401 - a fixture

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--follow", "logs"), "--follow needs --out"),
        (("--follow", "a", "b", "--out", "out"), "takes one folder"),
        (("--follow", "logs", "--out", "out", "--spark"), "leave --spark"),
        (("--follow", "logs", "--out", "out", "--start-gtid", "0-1-1"), "do not go with --follow"),
        (("--follow", "logs", "--out", "out", "--master", "none"), "needs Spark"),
        (("--follow", "logs", "--out", "out", "--trigger", "soon"), "number of seconds"),
        (("log.000001", "--trigger", "5"), "--trigger goes with --follow"),
    ],
)
def test_wrong_usage(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["audit", *words]) == 3
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.long
@pytest.mark.xdist_group("spark")
def test_command_reports_what_the_batch_audit_reports(spark, tmp_path, capsys):  # noqa: F811
    files = [str(file) for file in drawn_files(tmp_path, 0, files=5)]
    folder, out = tmp_path / "all", tmp_path / "out"
    shutil.move(files[3], tmp_path)
    words = ["audit", "--follow", str(folder), "--out", str(out), "--json", "-"]
    assert main([*words, "--engine", "readable"]) == 1
    said = capsys.readouterr()
    assert "binlog.000004 is missing: 1 file behind it waits for it" in said.err
    assert "binlog.000002: violated, " in said.err
    found = json.loads(said.out)
    assert [reason["property"] for reason in found["unknown_because"]] == [
        "files_follow_each_other"
    ]
    shutil.move(tmp_path / "binlog.000004", folder)
    assert main([*words, "--engine", "readable"]) == 1
    said = capsys.readouterr()
    assert "continues behind 3 audited files" in said.err
    assert "binlog.000003" not in said.err
    whole = audit(AuditRequest(files=tuple(files), engine="readable"))
    assert json.loads(said.out) == json.loads(json.dumps(to_document(whole)))


@pytest.mark.long
@pytest.mark.xdist_group("spark")
def test_folder_without_a_complete_file(spark, tmp_path, capsys):  # noqa: F811
    (tmp_path / "logs").mkdir()
    words = ["audit", "--follow", str(tmp_path / "logs"), "--out", str(tmp_path / "out")]
    assert main(words) == 3
    assert "P380" in capsys.readouterr().err


@pytest.mark.long
def test_command_stops_at_the_end_of_a_file_when_interrupted(tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    drawn_files(tmp_path, 0, files=4)
    words = ["audit", "--follow", str(tmp_path / "all"), "--out", str(tmp_path / "out")]
    command = subprocess.Popen(
        [sys.executable, "-m", "paraply", *words, "--trigger", "0.5", "--engine", "readable"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    tables = AuditTables(str(tmp_path / "out"))
    until = time.monotonic() + 120
    while (tables.last() or {"number": 0})["number"] < 4:
        assert command.poll() is None, command.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.2)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=60)
    assert command.returncode == 1, err
    assert "stopped; the same command continues" in err
    assert "binlog.000004: violated" in err
    assert "VIOLATED" in out.upper()
