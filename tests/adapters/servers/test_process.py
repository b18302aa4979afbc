"""No server outlives the one who started it; shown on processes that are no servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paraply.adapters.servers.process import ServerProcess

PATIENCE_S = 120


def _is_gone(pid: int) -> bool:
    """Return whether a process has ended, within our patience; a zombie has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def sleeper(tmp_path):
    process = ServerProcess(["sleep", "600"], tmp_path / "log")
    yield process
    process.kill()


def test_process_is_stopped_in_order(sleeper):
    assert sleeper.is_running
    sleeper.stop(PATIENCE_S)
    assert not sleeper.is_running
    assert _is_gone(sleeper.pid)


def test_frozen_process_is_stopped_too(sleeper):
    sleeper.signal(signal.SIGSTOP)
    sleeper.stop(PATIENCE_S)
    assert not sleeper.is_running


def test_process_that_ignores_the_request_is_killed(tmp_path):
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    script += "print('deaf', flush=True); time.sleep(600)"
    process = ServerProcess([sys.executable, "-c", script], tmp_path / "log")
    while "deaf" not in (tmp_path / "log").read_text():
        time.sleep(0.01)
    process.stop(0.2)
    assert not process.is_running


def test_signal_to_an_ended_process_is_harmless(sleeper):
    sleeper.kill()
    sleeper.signal(signal.SIGTERM)
    sleeper.stop(1)
    assert not sleeper.is_running


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_process_dies_with_its_parent_however_that_dies(tmp_path, repository, number):
    script = (
        "import sys, time; from pathlib import Path;"
        "from paraply.adapters.servers.process import ServerProcess;"
        f"print(ServerProcess(['sleep', '600'], Path({str(tmp_path / 'log')!r})).pid, flush=True);"
        "time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=repository,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.send_signal(number)
        parent.wait(PATIENCE_S)
    assert _is_gone(pid)


def test_last_lines_prefer_errors(tmp_path):
    log = tmp_path / "log"
    log.write_text("[Note] starting\n[ERROR] port taken\n[Note] bye\n")
    process = ServerProcess(["true"], log)
    process.stop(PATIENCE_S)
    assert process.last_lines() == "[ERROR] port taken"
