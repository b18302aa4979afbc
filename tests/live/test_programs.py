"""Third-party appliers: each verdict is the declared one, healthy and after SIGKILL."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from ci.programs import slony
from ci.programs.__main__ import run, sentence
from ci.programs.program import Program, Task
from ci.programs.registry import PROGRAMS
from ci.programs.servers import is_alive

pytestmark = [pytest.mark.live(minutes=18), pytest.mark.long(each=1, by_row=True)]

RUNS = [
    pytest.param(program, kill, id=f"{program.name}{'-killed' if kill else ''}")
    for program in PROGRAMS
    if program.in_ci
    for kill in (False, True)
    if program.can_kill or not kill
]


@pytest.mark.parametrize(("program", "kill"), RUNS)
def test_the_verdict_is_the_declared_one(program: Program, kill: bool) -> None:
    reason = program.missing()
    if reason:
        pytest.skip(reason)
    seed = secrets.randbelow(2**32)
    task = Task(folder=Path(tempfile.gettempdir()), seed=seed, transactions=400, kill=kill)
    record = run(program, task)
    print(f"live: {sentence(record)}")
    assert (record.initial_copy > 0) == (program.name == "postgresql-initial-copy")
    assert record.is_as_expected, (
        f"{sentence(record)} Repeat: python -m ci.programs {program.name} --seed {seed} "
        f"--transactions {task.transactions} --kill {'yes' if kill else 'no'}"
    )


KILLED = """
import sys, time
from pathlib import Path
from ci.programs.program import Task
from ci.programs import slony
slony.under_load = lambda *_, **__: (print("ready", flush=True), time.sleep(600))
from ci.programs.__main__ import run
run(slony.PROGRAMS[0], Task(folder=Path(sys.argv[1]), seed=1, transactions=8))
"""
PATIENCE_S = 60


def test_killed_run_leaves_no_daemon_and_no_folder(tmp_path: Path, repository: Path) -> None:
    reason = slony.missing()
    if reason:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="paraply-killed-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        command = [sys.executable, "-c", KILLED, name]
        with subprocess.Popen(
            command, cwd=repository, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            family = psutil.Process(process.pid).children(recursive=True)
            assert {"postgres", "slon"} <= set(map(name_of, family))
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE_S)
        deadline = time.monotonic() + PATIENCE_S
        while any(map(is_alive, family)) or list(folder.iterdir()):
            assert time.monotonic() < deadline, [one for one in family if is_alive(one)]
            time.sleep(0.05)


def name_of(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.NoSuchProcess:
        return ""  # A server's helper ended meanwhile.
