from __future__ import annotations

import argparse
import errno
import gzip
import os
import re

import pytest

from paraply.cli import main
from paraply.commands import COMMANDS
from paraply.file_arguments import ClassFile, InputPath, OutputFile, OutputFolder, OutputPath
from paraply.reporting.files import (
    KINDS,
    claim,
    kind_of,
    release,
    require_writable,
    reset,
    write_report,
    write_reports,
)
from paraply.reporting.json_document import json_document
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.group_trace import GroupTrace
from paraply.vocabulary.group_trace_jsonl import write_group_trace
from tests.builders.every_command import LOG

OLD, NEW = json_document({"n": "old"}), json_document({"n": "new"})


@pytest.fixture(autouse=True)
def _nothing_claimed():
    reset()
    yield
    reset()


def code_of(action):
    with pytest.raises(ParaplyError) as raised:
        action()
    return raised.value.error.code


def test_report_is_written_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "report.json"
    write_report(str(path), NEW)
    assert path.read_text() == NEW
    assert os.listdir(tmp_path) == ["report.json"]


def test_interrupted_write_keeps_the_old_report(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text(OLD)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_report(str(path), NEW)
    assert path.read_text() == OLD
    assert os.listdir(tmp_path) == ["report.json"]


def test_replaced_report_keeps_its_permissions(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(OLD)
    path.chmod(0o640)
    write_report(str(path), NEW)
    assert path.stat().st_mode & 0o777 == 0o640


def test_symbolic_link_stays_a_link(tmp_path):
    (tmp_path / "real.json").write_text(OLD)
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_report(str(tmp_path / "link.json"), NEW)
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == NEW


def test_device_is_written_to_and_not_replaced():
    write_report(os.devnull, "gone\n")
    assert not os.path.isfile(os.devnull)


def test_minus_is_standard_output_at_the_end_of_the_run(capsys):
    write_report("-", "text\n")
    assert capsys.readouterr().out == ""
    release()
    assert capsys.readouterr().out == "text\n"


@pytest.mark.parametrize(
    "check", [lambda name: require_writable(name, ""), lambda name: write_report(name, "")]
)
def test_missing_folder_is_a_registered_error_that_names_the_file(tmp_path, check):
    name = str(tmp_path / "nowhere" / "report.json")
    with pytest.raises(ParaplyError) as raised:
        check(name)
    assert raised.value.error.code == "P302"
    assert raised.value.where == name


def test_folder_in_place_of_a_file_is_refused_before_the_work(tmp_path):
    with pytest.raises(ParaplyError, match="it is a folder"):
        require_writable(str(tmp_path), "JSON")


def test_full_disk_keeps_the_old_report_and_is_no_fault_of_the_user(tmp_path, monkeypatch):
    path = tmp_path / "report.json"
    path.write_text(OLD)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(str(path), NEW)
    assert path.read_text() == OLD
    assert os.listdir(tmp_path) == ["report.json"]


@pytest.mark.parametrize("text", ["hello\n", '{"a": 1}', "[]", "<!DOCTYPE html><p>", "\0binlog"])
def test_file_of_somebody_else_needs_force(tmp_path, text):
    path = tmp_path / "report.json"
    path.write_text(text)
    assert code_of(lambda: write_report(str(path), NEW)) == "P312"
    assert code_of(lambda: claim({"--json": (str(path), "JSON")})) == "P312"
    assert code_of(lambda: write_report(str(path), "unmarked")) == "P312"
    assert path.read_text() == text
    claim({"--json": (str(path), "JSON")}, force=True)
    write_report(str(path), NEW)
    assert path.read_text() == NEW


def test_report_of_another_kind_needs_force(tmp_path):
    path = tmp_path / "report"
    path.write_text(NEW)
    assert code_of(lambda: claim({"--html": (str(path), "HTML")})) == "P312"


def test_empty_file_may_be_replaced(tmp_path):
    path = tmp_path / "report"
    path.touch()
    claim({"--json": (str(path), "JSON")})
    write_report(str(path), NEW)


@pytest.mark.parametrize("link", [os.link, os.symlink, lambda a, b: None])
@pytest.mark.parametrize("force", [False, True])
def test_input_is_never_replaced(tmp_path, link, force):
    given, path = tmp_path / "input.json", tmp_path / "link.json"
    given.write_text(OLD)
    link(given, path)
    name = str(path if path.exists() else tmp_path / "." / "input.json")
    outputs = {"--json": (name, "JSON")}
    assert code_of(lambda: claim(outputs, inputs=[str(given)], force=force)) == "P311"
    assert code_of(lambda: write_report(name, NEW)) == "P311"
    assert given.read_text() == OLD


@pytest.mark.parametrize("force", [False, True])
def test_foreign_file_in_an_input_folder_is_never_replaced(tmp_path, force):
    (tmp_path / "events.parquet").write_bytes(b"PAR1")
    name = str(tmp_path / "events.parquet")
    outputs = {"--json": (name, "JSON")}
    assert code_of(lambda: claim(outputs, inputs=[str(tmp_path)], force=force)) == "P311"


@pytest.mark.parametrize("link", [None, os.link, os.symlink])
def test_two_outputs_in_one_file_are_refused(tmp_path, link):
    one, other = tmp_path / "one", tmp_path / "other"
    if link is not None:
        one.touch()
        link(one, other)
    names = (str(one), str(other if link else one))
    outputs = {"--json": (names[0], "JSON"), "--html": (names[1], "HTML")}
    assert code_of(lambda: claim(outputs)) == "P313"


def test_folder_is_written_only_if_each_file_may_be(tmp_path):
    (tmp_path / "b.html").write_text("mine")
    files = {"a.html": NEW, "b.html": NEW}
    assert code_of(lambda: write_reports(str(tmp_path), files)) == "P312"
    assert os.listdir(tmp_path) == ["b.html"]


def test_every_kind_is_recognised(tmp_path):
    path = tmp_path / "t.jsonl.gz"
    trace = GroupTrace(server_version="9", group_name="g", block_size=1, is_multi_primary=False,
                       members=(), steps=())  # fmt: skip
    write_group_trace(trace, path)
    heads = {
        "JSON": NEW.encode(),
        "JUnit": b'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="paraply audit" />',
        "SARIF": b'{"$schema": "x", "runs": [{"tool": {"driver": {"name": "paraply verify"',
        "HTML": b'<!DOCTYPE html>\n<head><meta name="generator" content="paraply 1">',
        "history": b'{"record":"history","format_version":1}',
        "group trace": gzip.decompress(path.read_bytes()),
        "SMT-LIB": b"; paraply 1\n",
    }
    assert set(heads) == set(KINDS)
    for kind, head in heads.items():
        assert kind_of(head) == kind
        assert kind_of(b"x" + head) == ""


def test_options_that_name_files_are_declared():
    """An option whose value is written as a file or folder has a type that claim_files knows."""
    known = (InputPath, ClassFile, OutputFile, OutputFolder, OutputPath)
    seen = 0
    for command in COMMANDS:
        parser = argparse.ArgumentParser()
        command.load().configure(parser)
        for action in parser._actions:
            if re.fullmatch("F|FILE.*|DIR|HISTORY.*|BINLOG|SOURCE|TARGET", str(action.metavar)):
                seen += 1
                is_known = isinstance(action.type, type) and issubclass(action.type, known)
                assert is_known or (command.name, action.dest) in NOT_FILES, action
    assert seen > 25


NOT_FILES = {
    ("live", "fault"),
    ("live", "target"),
    ("mine", "scope_fault"),
    ("live", "basedir"),  # Programs to run.
    ("mine", "out"),  # A campaign, which has rules of its own, or a URL.
    ("mine", "regressions"),  # Each file is checked as it is written.
}


def test_audit_keeps_the_logs_that_a_shell_expanded(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("binlog.000001", "binlog.000002"):
        (tmp_path / name).write_bytes(LOG.read_bytes())
    assert main(["audit", "--html", "binlog.000001", "binlog.000002"]) == 3
    assert main(["audit", "--force", "--html", "binlog.000001", "binlog.000001"]) == 3
    assert (tmp_path / "binlog.000001").read_bytes() == LOG.read_bytes()
    assert "P311 binlog.000001" in capsys.readouterr().err
