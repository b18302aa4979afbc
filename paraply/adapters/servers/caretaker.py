"""Temporary directories that outlive no process, even after SIGKILL.

The caretaker, a child process, reads directory names from a pipe until its parent ends. The kernel
kills servers then, but not their child programs: the caretaker finds those by TMPDIR and kills
them. It runs this file alone, so the file imports only the standard library.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_REMOVAL_SECONDS_MAX = 60
_PAUSE_S = 0.05


def temporary_folder(prefix: str, parent: Path | None = None) -> Path:
    """Return a new directory, removed at the latest when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)).absolute()
    _caretaker().take(folder)
    return folder


class _Caretaker:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # What ends its parent by a key or by the group does not reach it.
            start_new_session=True,
            cwd="/",
            text=True,
        )
        atexit.register(self._end)

    def take(self, folder: Path) -> None:
        """After an external kill of the caretaker this process removes the directory."""
        with suppress(BrokenPipeError):
            print(folder, file=self._process.stdin, flush=True)

    def _end(self) -> None:
        self._process.communicate()


@cache
def _caretaker() -> _Caretaker:
    return _Caretaker()


def end_processes(folder: Path | str) -> None:
    """Kill the processes with a TMPDIR below the folder: programs that our servers started."""
    wanted = os.fsencode(f"TMPDIR={folder}/")
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # It has ended, or belongs to somebody else.
            settings = (process / "environ").read_bytes().split(b"\0")
            if any(one.startswith(wanted) for one in settings):
                os.kill(int(process.name), signal.SIGKILL)


def remove(folders: list[str]) -> None:
    """Remove directories, also while a dying server still writes there."""
    deadline = time.monotonic() + _REMOVAL_SECONDS_MAX
    while time.monotonic() < deadline:
        folders = [folder for folder in folders if Path(folder).exists()]
        if not folders:
            return
        for folder in folders:
            end_processes(folder)
            shutil.rmtree(folder, ignore_errors=True)
        time.sleep(_PAUSE_S)


if __name__ == "__main__":
    remove(sys.stdin.read().splitlines())
