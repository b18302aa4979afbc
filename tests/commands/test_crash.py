"""Whatever fails in paraply or the machine ends with exit code 70, and no output has a verdict."""

from __future__ import annotations

import errno
import inspect
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest

import paraply
from paraply import cli
from paraply.auditing import comparing
from paraply.crash import is_of_the_machine
from paraply.vocabulary.errors import ErrorCode, ParaplyError
from tests.builders.every_command import LOG, LOGS, RUNS, prepared
from tests.builders.json_schema import run_of_sarif

PACKAGE = str(Path(paraply.__file__).parent)
SHELL = tuple(
    f"{PACKAGE}/{name}"
    for name in ("cli.py", "crash.py", "reporting/files.py", "reporting/page.py",
                 "file_arguments.py")
)  # fmt: skip
"""Modules that report failures, and run before the command does."""
LINE = re.compile(
    r"paraply: internal error, no verdict \(exit code 70\): (?P<what>.+); "
    r"traceback: (?P<file>\S+); report it with that text to .+\n"
)


class FaultAtCall:
    """Raises an exception at the n-th call of a function of paraply, after the command began."""

    def __init__(self, number, fault):
        self.number, self.fault, self.calls, self.began = number, fault, 0, False

    def __call__(self, frame, event, _):
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        self.began = self.began or (
            code.co_name == "run" and code.co_filename.startswith(f"{PACKAGE}/commands/")
        )
        # An exception in a generator that is being collected goes nowhere.
        is_odd = code.co_flags & inspect.CO_GENERATOR or code.co_name == "__del__"
        if not self.began or is_odd or code.co_filename.startswith(SHELL):
            return
        self.calls += 1
        if self.calls == self.number:
            sys.setprofile(None)
            raise self.fault


def run_with_fault(words, number, fault):
    profile = FaultAtCall(number, fault)
    sys.setprofile(profile)
    try:
        return cli.main(words), profile.calls
    finally:
        sys.setprofile(None)


@pytest.mark.long
@pytest.mark.parametrize("command", sorted(RUNS))
def test_fault_anywhere_in_a_command_is_exit_code_70_and_no_verdict(
    command, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for place in ("first", "second"):  # The first run imports modules and fills caches.
        folder = tmp_path / place
        folder.mkdir()
        words = prepared(monkeypatch, folder, command)
        code, calls = run_with_fault(words, 0, None)
        assert code in (0, 1, 2)
        assert calls
    faults = [ZeroDivisionError("seeded"), MemoryError(), SystemExit(0), AssertionError("odd"),
              OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))]  # fmt: skip
    for place, fault in enumerate(faults):
        for attempt in range(9):
            capsys.readouterr()
            number = 1 + place * (calls - 1) // len(faults)
            folder = tmp_path / f"again{place}.{attempt}"
            folder.mkdir()
            words = prepared(monkeypatch, folder, command)
            code, met = run_with_fault(words, number, fault)
            if met == number:
                break
            calls = met  # A run that waits for servers makes more or fewer calls each time.
        assert met == number
        out, err = capsys.readouterr()
        assert code == 70, (fault, number, out, err)
        *before, last = err.splitlines(keepends=True)
        assert all(line.startswith(("metrics: ", "watching ")) for line in before), err
        found = LINE.fullmatch(last)
        assert found, err
        story = Path(found["file"]).read_text()
        assert type(fault).__name__ in story
        assert f"command: paraply {command}" in story
        assert os.stat(Path(found["file"]).parent).st_mode & 0o777 == 0o700
        assert "Traceback" not in out + err
        if any("{json}" in word for word in RUNS[command]):
            document = json.loads((folder / "r.json").read_text())
            assert (document["verdict"], document["exit_code"]) == ("error", 70)
        if any("{sarif}" in word for word in RUNS[command]):
            run = run_of_sarif((folder / "r.sarif").read_text())
            assert run["invocations"][0]["exitCode"] == 70
            assert [each["level"] for each in run["results"]] == ["error"]
        if any("{junit}" in word for word in RUNS[command]):
            (case,) = ElementTree.parse(folder / "r.xml").iter("testcase")
            assert case.find("error") is not None


@pytest.mark.long
@pytest.mark.parametrize("command", sorted(set(RUNS) - {"show"}))
def test_second_run_replaces_the_reports_of_the_first(command, tmp_path, monkeypatch, capsys):
    for _ in range(2):
        words = prepared(monkeypatch, tmp_path, command)
        if command == "mine" and (tmp_path / "out").exists():
            words.append("--resume")
        assert cli.main(words) in (0, 1, 2), capsys.readouterr().err


def test_error_document_replaces_an_earlier_verdict(tmp_path, monkeypatch, capsys):
    words = prepared(monkeypatch, tmp_path, "explore")
    cli.main(words)
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] != "error"
    run_with_fault(words, 5, MemoryError())
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "error"


def test_json_on_standard_output_is_an_error_alone(tmp_path, monkeypatch, capsys):
    words = [*prepared(monkeypatch, tmp_path, "audit")[:2], "--json=-", "--html=/dev/full"]
    assert cli.main(words) == 70
    assert json.loads(capsys.readouterr().out)["verdict"] == "error"


def test_tap_bails_out(tmp_path, monkeypatch, capsys):
    words = [*prepared(monkeypatch, tmp_path, "conform"), "--tap"]
    code, _ = run_with_fault(words, 50, ZeroDivisionError())
    assert code == 70
    assert "\nBail out! error: ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.parametrize("place", [0, 1])
def test_debug_prints_the_traceback(place, tmp_path, monkeypatch, capsys):
    words = prepared(monkeypatch, tmp_path, "list")
    words.insert(place, "--debug")
    assert run_with_fault(words, 1, ZeroDivisionError("seeded"))[0] == 70
    assert "ZeroDivisionError: seeded" in capsys.readouterr().err.splitlines()[-1]


def test_traceback_that_cannot_be_written_is_said(tmp_path, monkeypatch, capsys):
    def full(**_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("tempfile.mkdtemp", full)
    words = prepared(monkeypatch, tmp_path, "list")
    assert run_with_fault(words, 1, ZeroDivisionError())[0] == 70
    assert "the traceback cannot be written (No space left on device)" in capsys.readouterr().err


def test_password_is_not_in_the_traceback(tmp_path, monkeypatch, capsys):
    for dsn in ("mysql://me@corp:s3cr@t/#?:x@db1:3306", "mysql://me:s3cr@t/#?:x@/?socket=/tmp/s"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("paraply.commands.live.requests_of", lambda *_: 1 / 0)
            assert cli.main(["live", "--dsn", dsn, "--out", str(tmp_path), "--debug"]) == 70
        err = capsys.readouterr().err
        story = Path(re.search(r"traceback: (\S+);", err)[1]).read_text()
        assert "s3cr" not in err + story
        assert "mysql://me" in story


def test_full_disk_behind_a_registered_error_is_of_the_machine(capsys):
    bad = ErrorCode(code="P399", message="no", remedy="no")

    def translated(number):
        try:
            try:
                raise OSError(number, "")
            except OSError:
                raise ParaplyError(bad) from None
        except ParaplyError as error:
            return error

    assert is_of_the_machine(translated(errno.ENOSPC))
    assert not is_of_the_machine(translated(errno.ENOENT))


def test_failed_thread_is_no_verdict(tmp_path, monkeypatch, capsys):
    def run(arguments):
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
        return 0

    monkeypatch.setattr("paraply.commands.list_registry.run", run)
    assert cli.main(["list", "subjects"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_killed_worker_is_no_verdict(monkeypatch, capsys):
    monkeypatch.setattr(comparing, "FORKS_FROM", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    parent = os.getpid()

    def killed(*_):
        assert os.getpid() != parent
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(comparing, "_line", killed)
    assert cli.main(["compare", "--transactions", "40"]) == 70
    assert "BrokenProcessPool" in capsys.readouterr().err


def started(*words, limit=None, **options):
    def set_limit():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "paraply", *words],
        stderr=subprocess.PIPE, text=True, timeout=120, check=False, preexec_fn=set_limit,
        **options,
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    "words", [["--help"], ["list", "cases"], ["audit", str(LOG)], ["audit", str(LOG), "--json=-"]]
)
def test_full_disk_behind_standard_output_is_exit_code_70(words):
    with open("/dev/full", "w") as full:
        done = started(*words, stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (70, 1), done.stderr
    assert "No space left on device" in done.stderr


def test_full_disk_behind_standard_error_does_not_change_the_exit_code():
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "paraply", "nosuch"]
        done = subprocess.run(words, stderr=full, stdout=full, check=False, timeout=60)
    assert done.returncode == 3


def test_closed_standard_output_is_exit_code_70():
    command = f"{sys.executable} -m paraply list subjects >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 70
    assert "standard output is closed" in done.stderr


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS limits memory on Linux only")
@pytest.mark.parametrize(("engine", "code"), [("readable", 0), ("compiled", 70)])
def test_little_memory_never_ends_with_a_wrong_verdict(engine, code, tmp_path):
    # Below some 50 MB, Python itself cannot start.
    codes = set()
    report = tmp_path / "r.json"
    log = LOGS / "mysql-9.7.4" / "types" / "bin.000001"
    for megabytes in (60, 100, 200, 280):
        words = ["audit", str(log), "--engine", engine, "--json", str(report)]
        done = started(*words, limit=megabytes << 20, stdout=subprocess.DEVNULL)
        # Native libraries abort, which is a signal and no exit code.
        assert done.returncode in (0, 70) or done.returncode < 0, (megabytes, done.stderr)
        if done.returncode == 0 or report.exists():
            word = json.loads(report.read_text())["verdict"]
            assert word == ("holds" if done.returncode == 0 else "error")
        report.unlink(missing_ok=True)
        codes.add(done.returncode)
    assert code in codes
