"""`make wheel`: build the wheel, with the same bytes for the same commit.

The sources are those that git tracks, copied to a fresh folder. Times in the archive are that of
the last commit.

With `ARGS=--kernels`, a second wheel has the compiled kernels as well, for this Python, any
processor of this architecture, and the numba of the lock file: no user waits for a compiler. Other
versions of numba compile at first use.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("paraply", "proofs", "docs/paraply.1", "pyproject.toml", "README.md", "LICENSE")
COMPILING = Path(__file__).with_name("kernels.py").read_text()
"""Uses, and so compiles, the kernels of ``audit``, ``verify`` and ``mine``."""
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


def with_kernels(wheel: Path, epoch: str, compiling: str = COMPILING) -> Path:
    """Return a wheel beside another, with the kernels that a program uses when it runs."""
    with tempfile.TemporaryDirectory() as place:
        _tool("unpack", str(wheel), "--dest", place)
        (source,) = Path(place).iterdir()
        environment = {name: text for name, text in os.environ.items() if "NUMBA" not in name}
        environment |= {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(
            [sys.executable, "-c", compiling],
            cwd=place, env=environment, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        _tool("pack", str(source), "--dest-dir", place, epoch=epoch)
        (packed,) = Path(place).glob("*.whl")
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        tags = ["--python-tag", python, "--abi-tag", "none", "--platform-tag", _platform()]
        _tool("tags", "--remove", *tags, str(packed), epoch=epoch)
        (tagged,) = Path(place).glob("*.whl")
        return Path(shutil.copy(tagged, wheel.parent / tagged.name))


def _platform() -> str:
    """Kernels call nothing of the C library that numba itself does not."""
    if sys.platform == "linux":
        return f"manylinux_2_17_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def _tool(*words: str, epoch: str = "") -> None:
    environment = os.environ | ({"SOURCE_DATE_EPOCH": epoch} if epoch else {})
    command = [sys.executable, "-m", "wheel", *words]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="make wheel", description=__doc__)
    parser.add_argument("--kernels", action="store_true", help="a second wheel, with kernels")
    is_second = parser.parse_args().kernels
    plain = build(ROOT, ROOT / "dist", last_change(ROOT))
    print(plain)
    if is_second:
        print(with_kernels(plain, last_change(ROOT)))
