"""Time and megabytes to a first verdict: ``python -m ci.stranger`` (``make stranger``).

Installs paraply's wheel as a new user does, in an empty home folder without caches, and runs the
first command of each user; a visitor runs ``make demo`` in a clone of the last commit. Stores the
results in docs/first-verdict.jsonl. Needs a network.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from ci import wheel
from ci.platforms import plain_environment

RECORDS = wheel.ROOT / "docs" / "first-verdict.jsonl"
LOG = wheel.ROOT / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4" / "load-full-metadata"
SAMPLE = "adapters/conformance/samples/python/lc_sn_threads.py"
SECONDS_MAX = 3600
_VERDICTS = (0, 1, 2)
_DOWNLOADED = re.compile(r"^ *Downloading .*\(([\d.]+) ?(kB|MB|GB|bytes)\)", re.MULTILINE)
_UNITS = {"bytes": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user with the extras and the commands that they run; ``{sample}`` is a file of paraply."""

    name: str
    extras: str
    commands: tuple[str, ...]


VISITOR = User(name="visitor of the repository", extras="", commands=("make demo",))
USERS = (
    VISITOR,
    User(name="DBA", extras="", commands=("paraply audit bin.000001",)),
    User(name="author of an applier", extras="", commands=("paraply conform -- python {sample}",)),
    User(name="reviewer", extras="prove", commands=("paraply prove P01", "paraply prove")),
    User(
        name="user of Spark",
        extras="mine",
        commands=("paraply mine --subjects applier:logical_clock --histories 1000"
                  " --master local[2] --out campaign",),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One user's start.

    Attributes:
        install: the installing command.
        install_seconds: for the environment and the installation.
        downloaded_mb: as pip reports it, in 10^6 bytes.
        installed_mb: files of the environment, without those of an empty one.
        commands: the commands, with the seconds, the exit code and the verdict's line of each.
        home_mb: files that the commands left in the home folder, such as caches.
        date: of the run, UTC.
        cpu_seconds: processor time of installation and commands, None if not measured.
    """

    user: str
    install: str
    install_seconds: float
    downloaded_mb: float
    installed_mb: float
    commands: list[dict[str, str | float | int]]
    home_mb: float
    date: str
    cpu_seconds: float | None = None

    @property
    def seconds(self) -> float:
        """Return the time to the first verdict."""
        return self.install_seconds + float(self.commands[0]["seconds"])


def megabytes(folder: Path) -> float:
    """Return the size of all regular files, in 10^6 bytes."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return round(sum(path.stat().st_size for path in files) / 1e6, 1)


def downloaded(log: str) -> float:
    """Return the megabytes that a log of pip names.

    >>> downloaded("  Downloading a-1.whl (2.5 MB)\\n  Downloading b-1.whl (500 kB)\\nDone")
    3.0
    """
    sizes = (float(size) * _UNITS[unit] for size, unit in _DOWNLOADED.findall(log))
    return round(sum(sizes), 1)


Run = Callable[[Sequence[str | Path], Iterable[int], Path], tuple[float, int]]
"""Runs words in a folder; returns seconds and exit code, one of those given."""


def measure(user: User, built: Path, folder: Path) -> Start:
    """Install and run in an empty folder.

    Raises:
        RuntimeError: the installation failed, or a command ended without a verdict.
    """
    home, log = folder / "home", folder / "pip.log"
    home.mkdir()
    shutil.copy(LOG / "bin.000001", home)
    clone = folder / "clone"
    venv = clone / ".venv" if user is VISITOR else folder / "venv"
    run = _runs(home, venv, log)
    before = _cpu_seconds()
    making, _ = run([sys.executable, "-m", "venv", folder / "venv"], (0,), home)
    empty = megabytes(folder / "venv")
    if user is VISITOR:
        install, where, downloaded_mb, before = "make demo", clone, 0.0, _cpu_seconds()
        run(["git", "clone", "--quiet", wheel.ROOT, clone], (0,), home)
        seconds, _ = run(["make", ".venv/.core"], (0,), clone)
    else:
        install = f"pip install paraply{f'[{user.extras}]' if user.extras else ''}"
        where, downloaded_mb = home, built.stat().st_size / 1e6
        what = f"{built}[{user.extras}]" if user.extras else str(built)
        words: list[str | Path] = [
            venv / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--progress-bar=off",
            what,
        ]
        seconds, _ = run(words, (0,), home)
        seconds += making
    (package,) = [*venv.glob("lib/python*/site-packages/paraply"), *clone.glob("paraply")]
    installed, own = megabytes(venv) - empty, megabytes(home)
    commands: list[dict[str, str | float | int]] = []
    for command in user.commands:
        given = [word.format(sample=package / SAMPLE) for word in command.split()]
        if user is not VISITOR:
            given[0] = str(venv / "bin" / given[0])
        taken, code = run(given, _VERDICTS, where)
        shown = command.format(sample=Path(SAMPLE).name)
        commands.append({"command": shown, "seconds": taken, "exit_code": code})
    return Start(
        user=user.name,
        install=install,
        install_seconds=round(seconds, 1),
        downloaded_mb=round(downloaded(_lines(log)) + downloaded_mb, 1),
        installed_mb=round(installed, 1),
        commands=commands,
        home_mb=round(megabytes(home) - own, 1),
        date=datetime.now(UTC).date().isoformat(),
        cpu_seconds=round(_cpu_seconds() - before, 1),
    )


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _runs(home: Path, venv: Path, log: Path) -> Run:
    kept = ("LANG", "LC_ALL", "PATH", "PIP_CERT", "PIP_INDEX_URL", "SSL_CERT_FILE")
    here = plain_environment()
    environment = {name: here[name] for name in (*kept, "PIP_CONFIG_FILE") if name in here}
    environment |= {
        "HOME": str(home),
        "PATH": f"{venv / 'bin'}{os.pathsep}{environment['PATH']}",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_LOG": str(log),
        "TMPDIR": str(home.parent),
    }

    def run(words: Sequence[str | Path], codes: Iterable[int], where: Path) -> tuple[float, int]:
        began = time.monotonic()
        done = subprocess.run(
            [str(word) for word in words], cwd=where, env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX,
        )  # fmt: skip
        if done.returncode not in codes:
            raise RuntimeError(f"{words}: exit code {done.returncode}\n{done.stdout[-2000:]}")
        return round(time.monotonic() - began, 1), done.returncode

    return run


def _lines(log: Path) -> str:
    """Return the lines of pip's log, without the time at the beginning of each."""
    text = log.read_text(encoding="utf-8", errors="replace")
    return "".join(line.partition(" ")[2] for line in text.splitlines(keepends=True))


def stored() -> list[Start]:
    """Return the stored results."""
    if not RECORDS.exists():
        return []
    lines = RECORDS.read_text(encoding="utf-8").splitlines()
    return [Start(**json.loads(line)) for line in lines]


def store(found: Start) -> None:
    """Replace the result of the same user."""
    by_user = {one.user: one for one in [*stored(), found]}
    lines = [json.dumps(asdict(by_user[user.name])) for user in USERS if user.name in by_user]
    RECORDS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and store."""
    parser = argparse.ArgumentParser(prog="python -m ci.stranger", description=__doc__)
    names = ", ".join(user.name for user in USERS)
    parser.add_argument("users", nargs="*", metavar="USER", help=f"{names} (all)")
    options = parser.parse_args(argv)
    unknown = {*options.users} - {user.name for user in USERS}
    if unknown:
        parser.error(f"no user {', '.join(sorted(unknown))}; there are {names}")
    with tempfile.TemporaryDirectory(prefix="paraply-wheel-") as place:
        built = wheel.build(wheel.ROOT, Path(place), wheel.last_change(wheel.ROOT))
        for user in USERS:
            if options.users and user.name not in options.users:
                continue
            with tempfile.TemporaryDirectory(prefix="paraply-stranger-") as folder:
                found = measure(user, built, Path(folder))
            store(found)
            print(f"{user.name}: {found.seconds:.0f} s to a verdict, {found.downloaded_mb:.0f} MB "
                  f"downloaded, {found.installed_mb:.0f} MB installed", flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
