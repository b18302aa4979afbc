"""The core installation in an environment of its own, with the libraries of its lock file alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from ci.pages.dependencies import BUILDING, CORE_LOCK, LOCK, closure, core_lock, locked, project


@pytest.fixture(scope="module")
def core(repository, tmp_path_factory):
    """Return a Python that has paraply and what its core needs."""
    folder = tmp_path_factory.mktemp("core") / "venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120
    )
    (site,) = (folder / "lib").glob("python*/site-packages")
    for pin in locked((repository / CORE_LOCK).read_text()):
        if pin.name not in BUILDING:
            _link(pin.name, site)
    (site / "paraply.pth").write_text(f"{repository}\n")
    return folder / "bin" / "python"


def _link(name, site):
    """Link the top-level files of an installed distribution."""
    distribution = metadata.distribution(name)
    for top in {file.parts[0] for file in distribution.files or ()} - {".."}:
        if not (site / top).exists() and top != "__pycache__":
            (site / top).symlink_to(Path(distribution.locate_file(top)))


def run(python, *words, cwd):
    return subprocess.run(
        [str(python), *words],
        cwd=cwd, capture_output=True, text=True, timeout=400, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd)},
    )  # fmt: skip


def test_extras_are_not_there(core, tmp_path):
    for library in ("numba", "numpy", "pyarrow", "z3", "cvc5", "pyspark", "hypothesis", "pymysql"):
        assert run(core, "-c", f"import {library}", cwd=tmp_path).returncode == 1


@pytest.mark.long
def test_demo_needs_the_core_alone(core, repository, tmp_path):
    # The demo writes into the folder that it lies in.
    for name in ("ci", "paraply", "tests"):
        (tmp_path / name).mkdir()
    for name in ("ci/__init__.py", "ci/demo.py", "tests/__init__.py"):
        shutil.copy(repository / name, tmp_path / name)
    (tmp_path / "paraply").rmdir()
    (tmp_path / "paraply").symlink_to(repository / "paraply")
    for name in ("builders", "fixtures"):
        (tmp_path / "tests" / name).symlink_to(repository / "tests" / name)
    done = run(core, "-m", "ci.demo", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "VIOLATED" in done.stdout
    assert list((tmp_path / "out" / "demo").glob("*.html"))


@pytest.mark.long
def test_doctor_ends_well(core, tmp_path):
    done = run(core, "-m", "paraply", "doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_prove_uses_the_kernel_where_no_solver_is(core, tmp_path):
    done = run(core, "-m", "paraply", "prove", "P07", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 came out as stated" in done.stdout
    assert "kernel" in done.stdout


def test_lock_of_the_core_is_a_part_of_the_lock(repository):
    whole = (repository / LOCK).read_text()
    core = closure(project()["dependencies"])
    assert core_lock(locked(whole), core) == (repository / CORE_LOCK).read_text()
    assert core >= {"jinja2", "rich", "shtab", "zstandard", "markupsafe", "pygments"}
    assert not core & {"numpy", "numba", "pyarrow", "pyspark"}


@pytest.mark.parametrize(("target", "parts"), [("demo", {"core"}), ("test", {"core", "all"})])
def test_target_installs_what_it_needs(target, parts, repository, tmp_path):
    done = subprocess.run(
        ["make", "-n", target, f"VENV={tmp_path}/venv"],
        cwd=repository, capture_output=True, text=True, check=True,
    )  # fmt: skip
    steps = [line.split() for line in done.stdout.splitlines() if line.startswith("ci/bootstrap")]
    assert {(words[2:] or ["all"])[0] for words in steps} == parts
