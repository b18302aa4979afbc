"""Temporary directories that are gone when their process is, however it ended.

The process that asks for one starts a caretaker, which reads from it the names of its
directories, one a line, until the end of the pipe. That comes when the process ends, by itself or
by SIGKILL, and nothing else is needed of it. Servers are killed by the kernel then, programs that
they had started are not: the caretaker ends them too, whom it knows by their TMPDIR. It is this
file, run on its own: it imports the standard library alone.
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
    """Return a new directory that is removed at the latest when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)).absolute()
    _caretaker().take(folder)
    return folder


class _Caretaker:
    """The one caretaker of this process."""

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
        """Make it answer for a directory; a caretaker that somebody ended leaves it to us."""
        with suppress(BrokenPipeError):
            print(folder, file=self._process.stdin, flush=True)

    def _end(self) -> None:
        self._process.communicate()


@cache
def _caretaker() -> _Caretaker:
    return _Caretaker()


def end_processes(folder: Path | str) -> None:
    """Kill whoever has a TMPDIR below a directory of ours: programs that its servers started."""
    wanted = os.fsencode(f"TMPDIR={folder}/")
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # It has ended, or belongs to somebody else.
            settings = (process / "environ").read_bytes().split(b"\0")
            if any(one.startswith(wanted) for one in settings):
                os.kill(int(process.name), signal.SIGKILL)


def remove(folders: list[str]) -> None:
    """Remove directories; what a server that is being killed still writes there goes too."""
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
