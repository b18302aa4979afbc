"""Temporary directories that vanish with their process, even after SIGKILL.

The caretaker, a child process, reads directory names from a pipe until its parent ends. Then it
kills the servers' child programs by TMPDIR, since the kernel kills only servers. It runs this file
alone, with the standard library.
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
    """Return a new directory, removed when this process ends."""
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
            # Keyboard and group signals to its parent do not reach it.
            start_new_session=True,
            cwd="/",
            text=True,
        )
        atexit.register(self._end)

    def take(self, folder: Path) -> None:
        with suppress(BrokenPipeError):
            print(folder, file=self._process.stdin, flush=True)

    def _end(self) -> None:
        self._process.communicate()


@cache
def _caretaker() -> _Caretaker:
    return _Caretaker()


def end_processes(folder: Path | str) -> None:
    """Kill our servers' programs, whose TMPDIR or working directory is below the folder.

    PostgreSQL's processes overwrite their environment.
    """
    wanted = os.fsencode(f"TMPDIR={folder}/")
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # It has ended, or another account owns it.
            settings = (process / "environ").read_bytes().split(b"\0")
            works_in = os.readlink(process / "cwd")
            if any(one.startswith(wanted) for one in settings) or works_in.startswith(f"{folder}/"):
                os.kill(int(process.name), signal.SIGKILL)


def remove(folders: list[str]) -> None:
    """Remove directories, even under a dying server's writes."""
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
