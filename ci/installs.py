"""Install the core on every Python of this machine: ``python -m ci.installs`` (``make platforms``).

Runs ``paraply audit`` of a recorded log and ``paraply doctor`` there, and stores the exit codes in
docs/installs.jsonl for docs/platforms.md. Needs a network, or a filled cache of uv.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ci import wheel
from ci.platforms import PYTHONS, today, uv

RECORDS = wheel.ROOT / "docs" / "installs.jsonl"
LOG = wheel.ROOT / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4" / "load-full-metadata"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paraply"
COMMANDS = ("paraply audit bin.000001", "paraply doctor")
SECONDS_MAX = 600
_VERSION = "import sys; print('.'.join(map(str, sys.version_info[:3])))"


class NotInstalledError(RuntimeError):
    """uv did not install the wheel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """The core on one Python.

    Attributes:
        python: the version with its last number, for example ``3.14.2``.
        codes: the exit code of each command.
        date: of the run, UTC.
    """

    python: str
    machine: str
    codes: dict[str, int]
    date: str

    @property
    def minor(self) -> str:
        """Return the version without its last number."""
        return self.python.rpartition(".")[0]


def interpreter(python: str) -> Path | None:
    """Return an interpreter of a version: this one, one of ``ci/servers``, the path's, pyenv's."""
    return next((one for one in _candidates(python) if full_version(one).startswith(f"{python}.")),
                None)  # fmt: skip


def _candidates(python: str) -> Iterator[Path]:
    yield Path(sys.executable)
    yield CACHE / f"python-{python}" / "usr" / "bin" / f"python{python}"
    if found := shutil.which(f"python{python}"):
        yield Path(found)
    yield from sorted((Path.home() / ".pyenv" / "versions").glob(f"{python}.*/bin/python"))


def full_version(program: Path) -> str:
    """Return the version that an interpreter prints; empty if it does not run."""
    try:
        done = subprocess.run(
            [program, "-c", _VERSION], capture_output=True, text=True, check=False, timeout=60
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def install(program: Path, built: Path, folder: Path) -> Install:
    """Install a wheel in an environment in an empty folder, from wheels only, and run commands.

    Raises:
        NotInstalledError: uv did not install it.
    """
    venv, home = folder / "venv", folder / "home"
    home.mkdir()
    shutil.copy(LOG / "bin.000001", home)
    for words in (
        ["venv", f"--python={program}", venv],
        ["pip", "install", "--only-binary=:all:", f"--python={venv / 'bin' / 'python'}", built],
    ):
        done = subprocess.run(
            [str(uv()), *map(str, words), "--quiet", "--no-config"],
            capture_output=True, text=True, check=False, timeout=SECONDS_MAX,
        )  # fmt: skip
        if done.returncode:
            raise NotInstalledError(done.stderr)
    environment = {"HOME": str(home), "PATH": f"{venv / 'bin'}:/usr/bin:/bin"}
    codes = {
        command: subprocess.run(
            command.split(), cwd=home, env=environment, capture_output=True, check=False,
            timeout=SECONDS_MAX, executable=venv / "bin" / "paraply",
        ).returncode
        for command in COMMANDS
    }  # fmt: skip
    machine = f"{platform.system()} {platform.machine()}, glibc".replace("x86_64", "x86-64")
    version = full_version(venv / "bin" / "python")
    return Install(python=version, machine=machine, codes=codes, date=today())


def stored() -> list[Install]:
    """Return the stored results."""
    lines = RECORDS.read_text(encoding="utf-8").splitlines() if RECORDS.exists() else []
    return [Install(**json.loads(line)) for line in lines]


def store(found: Iterable[Install]) -> None:
    """Replace the results of the same Python."""
    by_minor = {one.minor: one for one in [*stored(), *found]}
    lines = [json.dumps(asdict(by_minor[one])) for one in PYTHONS if one in by_minor]
    RECORDS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Install, run and store; exit code 1 if a command did not end with 0."""
    found = []
    with tempfile.TemporaryDirectory() as place:
        built = wheel.build(wheel.ROOT, Path(place), wheel.last_change(wheel.ROOT))
        for python in PYTHONS:
            if (program := interpreter(python)) is None:
                print(f"Python {python}: none here")
                continue
            folder = Path(place) / python
            folder.mkdir()
            found.append(install(program, built, folder))
            print(f"Python {found[-1].python}: {found[-1].codes}")
    store(found)
    return 1 if any(any(one.codes.values()) for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
