"""No temporary directory outlives the process that asked for it, however that ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import psutil
import pytest

from paraply.adapters.servers.caretaker import remove, temporary_folder

PATIENCE_S = 120
ASK = """
import sys, time
from pathlib import Path
from paraply.adapters.servers.caretaker import temporary_folder
for _ in range(2):
    folder = temporary_folder("asked-", Path(sys.argv[1]))
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text("data")
print("ready", flush=True)
if sys.argv[2] == "wait":
    time.sleep(600)
"""


def asked_by_another(parent, repository, what):
    return subprocess.Popen(
        [sys.executable, "-c", ASK, str(parent), what],
        cwd=repository,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_folders_go_when_their_process_is_ended_by_a_signal(tmp_path, repository, number):
    with asked_by_another(tmp_path, repository, "wait") as process:
        assert process.stdout.readline() == "ready\n"
        assert len(list(tmp_path.glob("asked-*/deep/file"))) == 2
        process.send_signal(number)
        process.wait(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not list(tmp_path.iterdir())


def test_folders_are_gone_before_their_process_ends_by_itself(tmp_path, repository):
    with asked_by_another(tmp_path, repository, "end") as process:
        assert process.wait(PATIENCE_S) == 0
    assert not list(tmp_path.iterdir())


def test_caretaker_that_is_gone_is_no_error(tmp_path, repository):
    script = (
        "import sys, psutil; from pathlib import Path;"
        "from paraply.adapters.servers.caretaker import temporary_folder;"
        "temporary_folder('asked-', Path(sys.argv[1]));"
        "[(one.kill(), one.wait()) for one in psutil.Process().children()];"
        "print(temporary_folder('asked-', Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    "inside", ["env=settings", "env=None, cwd=folder / 'n1'"], ids=["TMPDIR", "working directory"]
)
def test_programs_that_a_killed_server_had_started_go_too(tmp_path, repository, inside):
    script = (
        "import os, subprocess, sys, time; from pathlib import Path;"
        "from paraply.adapters.servers.caretaker import temporary_folder;"
        "folder = temporary_folder('asked-', Path(sys.argv[1]));"
        "(folder / 'n1').mkdir();"
        "settings = {**os.environ, 'TMPDIR': str(folder / 'n1' / 'tmp')};"
        "start = lambda **k: subprocess.Popen(['sleep', '600'], start_new_session=True, **k);"
        f"print(start({inside}).pid, start().pid, flush=True);"
        "time.sleep(600)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, cwd=repository, stdout=subprocess.PIPE, text=True) as process:
        inside, outside = map(int, process.stdout.readline().split())
        stranger = psutil.Process(outside)
        process.kill()
        process.wait(PATIENCE_S)
    deadline = time.monotonic() + PATIENCE_S
    while (list(tmp_path.iterdir()) or is_alive(inside)) and time.monotonic() < deadline:
        time.sleep(0.02)
    try:
        assert not is_alive(inside)
        assert stranger.is_running()
    finally:
        stranger.kill()


def is_alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_folder_that_its_owner_removed_is_no_matter(tmp_path):
    folder = temporary_folder("own-", tmp_path)
    folder.rmdir()
    remove([str(folder)])
    assert not list(tmp_path.iterdir())
