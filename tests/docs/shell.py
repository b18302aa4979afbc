"""A reader's shell: a clone, an environment with the installed wheel, and nothing else.

The wheel is built and installed by the commands of the pages. The two things that need a network
have a stand-in: ``.venv`` of the clone, which ``make`` fills, and the libraries that ``pip``
downloads are those of the environment that runs the tests.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.builders.installed import environment

SECONDS_MAX = 600
"""Against commands that wait for ever."""
SYSTEM = "/usr/local/bin:/usr/bin:/bin"
_PIP = '#!/bin/sh\nexec "{python}" -m pip --disable-pip-version-check "$@"\n'


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command printed, errors after the output, and its exit code."""

    code: int
    printed: str


@dataclass(frozen=True, slots=True)
class Shell:
    """The folder of one reader: ``home``, ``clone`` and ``env``."""

    folder: Path

    @property
    def clone(self) -> Path:
        return self.folder / "clone"

    @property
    def programs(self) -> Path:
        return self.folder / "env" / "bin"

    def run(self, command: str, folder: Path) -> Ended:
        """Run a command in a fresh shell that inherits no variable."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={
                "HOME": str(self.folder / "home"),
                "PATH": f"{self.programs}:{SYSTEM}",
                "LANG": "C.UTF-8",
            },
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        return Ended(done.returncode, done.stdout + done.stderr)


def installed(root: Path, folder: Path, commands: Sequence[str]) -> Shell:
    """Return a shell after its reader has run the installing commands in the clone."""
    shell = Shell(folder)
    with _held(folder):
        done = folder / "done"
        if not done.exists():
            (folder / "home").mkdir()
            _copy_clone(root, shell.clone)
            python = environment(folder / "env")
            pip = shell.programs / "pip"
            pip.write_text(_PIP.format(python=python))
            pip.chmod(0o755)
            for command in commands:
                ended = shell.run(command, shell.clone)
                assert ended.code == 0, f"$ {command}\n{ended.printed}"
            done.touch()
    return shell


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Let one process of the tests install, and the others wait for it."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _copy_clone(root: Path, clone: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        source, target = root / name, clone / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(os.readlink(source))
        elif source.is_file():
            shutil.copy(source, target)
    # A commit of its own: `make wheel` packs what git tracks, with the time of the last commit.
    who = ("-c", "user.name=reader", "-c", "user.email=reader@localhost")
    for words in (("init", "-q"), ("add", "-A", "-f"), (*who, "commit", "-q", "-m", "Copy")):
        subprocess.run(["git", *words], cwd=clone, check=True, capture_output=True)
    environment(clone / ".venv")
    for mark in (".core", ".ready"):
        (clone / ".venv" / mark).touch()
