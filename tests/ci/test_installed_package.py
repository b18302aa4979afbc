"""A wheel has every file that the packages read, and works outside the source tree."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch

import pytest
from setuptools import find_namespace_packages

NOT_READ = {".md"}
"""Files for whoever reads the source."""


def _settings(repository):
    with (repository / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["setuptools"]


def _packages(repository):
    include = _settings(repository)["packages"]["find"]["include"]
    found = find_namespace_packages(str(repository), include=include)
    return [name for name in found if "__pycache__" not in name]


def _data_files(repository):
    tops = {name.partition(".")[0] for name in _packages(repository)}
    kept = subprocess.run(
        ["git", "ls-files", "-z", *sorted(tops), "proofs"],
        cwd=repository, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if kept.returncode:
        pytest.skip("not a git work tree: what is a build's leftover cannot be told")
    # paraply/proofs is a link to proofs/, which git does not follow.
    names = [name if name.startswith("paraply/") else f"paraply/{name}"
             for name in kept.stdout.split("\0") if name]  # fmt: skip
    paths = [repository / name for name in names]
    return [path for path in paths if path.suffix not in {".py", *NOT_READ} and path.is_file()]


def test_every_data_file_of_a_package_is_declared(repository):
    patterns = _settings(repository)["package-data"]["*"]
    packages = set(_packages(repository))
    files = _data_files(repository)
    assert len(files) > 40
    for path in files:
        inside = path.relative_to(repository)
        assert ".".join(inside.parent.parts) in packages, f"{inside}: its folder is not packaged"
        assert any(fnmatch(path.name, one) for one in patterns), f"{inside}: not package-data"


@pytest.fixture(scope="module")
def installed(repository, tmp_path_factory):
    """Return a folder with the contents of a wheel, built from a copy of what is packaged."""
    source = tmp_path_factory.mktemp("source")
    tops = sorted({name.partition(".")[0] for name in _packages(repository)})
    for name in tops:
        shutil.copytree(
            repository / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / name, source / name)
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, "wheel"], cwd=source, check=True, capture_output=True,
        timeout=120,
    )  # fmt: skip
    (wheel,) = (source / "wheel").glob("*.whl")
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def _run(installed, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "paraply", *arguments],
        cwd=folder, env={"PYTHONPATH": str(installed), "PATH": ""}, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip


def test_installed_prove_finds_its_certificates_and_runs(installed, tmp_path):
    done = _run(installed, tmp_path, "prove", "--solver", "kernel", "P07", "C11")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 came out as stated" in done.stdout


def test_installed_show_writes_a_page(installed, repository, tmp_path):
    history = next((repository / "tests" / "regressions").rglob("*.jsonl"))
    done = _run(installed, tmp_path, "show", str(history), "--no-alternatives", "--out", "p.html")
    assert done.returncode == 0, done.stderr
    assert "<html" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_installed_audit_reads_its_tables(installed, repository, tmp_path):
    log = repository / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4" / "types" / "bin.000001"
    done = _run(installed, tmp_path, "audit", str(log), "--html", "audit.html", "--json", "a.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "audit.html").stat().st_size > 10_000
