"""The core installation: what works without numba, Arrow, solvers, Spark and Hypothesis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib

import pytest

from paraply.tools import EXTRAS
from tests.builders.every_command import RUNS, prepared

WITHOUT_EXTRAS = f"""\
import sys


class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, NotInstalled())
"""
NEEDS_AN_EXTRA = {"mine": "mine", "watch": "live"}


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """Return a function that runs paraply where no extra is installed."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "sitecustomize.py").write_text(WITHOUT_EXTRAS)

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "paraply", *words],
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


@pytest.mark.long
@pytest.mark.parametrize("command", sorted(set(RUNS) - {"live"}))
def test_command_works_with_the_core_or_names_its_extra(command, core, tmp_path, monkeypatch):
    done = core(*prepared(monkeypatch, tmp_path, command))
    extra = NEEDS_AN_EXTRA.get(command)
    if extra is None:
        assert done.returncode in (0, 1, 2), done.stderr
    else:
        assert done.returncode == 3
        assert f"pip install 'paraply[{extra}]'" in done.stderr


def test_doctor_is_content_with_the_core(core, tmp_path):
    report = tmp_path / "r.json"
    assert core("doctor", "--json", str(report)).returncode == 0
    assert json.loads(report.read_text())["findings"]


def test_extras_name_libraries_that_they_install(repository):
    names = {"z3": "z3-solver", "pymysql": "PyMySQL"}
    with (repository / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    for library, extra in EXTRAS.items():
        name = names.get(library, library)
        assert any(one.startswith(name) for one in project["optional-dependencies"][extra])
        assert not any(one.startswith(name) for one in project["dependencies"])
