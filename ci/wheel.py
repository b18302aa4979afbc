"""`make wheel`: build the wheel, with the same bytes for the same commit.

The sources are those that git tracks, copied to a fresh folder. Times in the archive are that of
the last commit.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("paraply", "proofs", "docs/paraply.1", "pyproject.toml", "README.md", "LICENSE")
_BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def last_change(root: Path) -> str:
    """Return the time of the last commit, in seconds since 1970."""
    words = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(
        words, cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()


def copy_tracked(root: Path, folder: Path) -> None:
    """Copy what the wheel is made of, with plain permissions."""
    words = ["git", "ls-files", "-z", *PARTS]
    listed = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, target = root / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(os.readlink(source))
        elif source.is_file():
            shutil.copyfile(source, target)
            target.chmod(0o644)


def build(root: Path, out: Path, epoch: str) -> Path:
    """Return the wheel in ``out``."""
    with tempfile.TemporaryDirectory() as place:
        source, made = Path(place) / "source", Path(place) / "made"
        source.mkdir()
        made.mkdir()
        copy_tracked(root, source)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            [sys.executable, "-c", _BUILD, str(made)],
            cwd=source, env=environment, capture_output=True, text=True, check=False, umask=0o022,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"the wheel cannot be built:\n{done.stderr}")
        (wheel,) = made.glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, out / wheel.name))


if __name__ == "__main__":
    print(build(ROOT, ROOT / "dist", last_change(ROOT)))
