"""The wheel works outside the source tree, beside packages whose names paraply's rooms have."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from fnmatch import fnmatch

import pytest
from setuptools import find_namespace_packages

from paraply.commands import COMMANDS
from tests.builders.installed import environment

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


USERS = ("models", "adapters", "properties", "tests", "mining", "proofs")
"""Packages of a user's repository, with names that rooms of paraply have, too."""

RULE = """\
import adapters
import models
from paraply import Applier

assert (adapters.OWNER, models.OWNER) == ("user", "user")


class Mine(Applier):
    name = "mine"
    features = frozenset({"lc_sn"})

    def place(self, transaction):
        import mining

        assert mining.OWNER == "user"
        if any(other.sn <= transaction.lc for other in self.running):
            return None
        return self.free_worker()
"""
TESTS = f"""\
import importlib


def test_packages_are_the_users():
    for name in {USERS!r}:
        assert importlib.import_module(name).OWNER == "user"
"""


class Place:
    """A fresh environment, and a user's repository beside it."""

    def __init__(self, folder, wheel, other):
        self.repository = folder / "repository"
        self.python = environment(folder / "venv")
        self.pip("install", "--no-deps", "--no-index", "--no-compile", str(other), str(wheel))
        for name in USERS:
            (self.repository / name).mkdir(parents=True)
            (self.repository / name / "__init__.py").write_text("OWNER = 'user'\n")
        (self.repository / "tests" / "test_mine.py").write_text(TESTS)
        (self.repository / "my_rule.py").write_text(RULE)

    def pip(self, *words):
        subprocess.run(
            [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q",
             "--python", str(self.python), *words],
            check=True, timeout=120,
        )  # fmt: skip

    def run(self, *words, folder=None):
        done = subprocess.run(
            [str(self.python), *words], cwd=folder or self.repository, capture_output=True,
            text=True, timeout=120, check=False, env={"PATH": "", "HOME": str(self.repository)},
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr


def _wheel_of_another_project(folder):
    """Return a wheel of a distribution that owns the package ``adapters``."""
    wheel = folder / "adapters-1.0-py3-none-any.whl"
    about = "adapters-1.0.dist-info"
    files = {
        "adapters/__init__.py": "OWNER = 'distribution'\n",
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: adapters\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in files)
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


@pytest.fixture(scope="module")
def wheel(repository, tmp_path_factory):
    """Return a wheel that is built from a source archive, as packagers do."""
    source = tmp_path_factory.mktemp("source")
    ignored = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    for name in ("paraply", "proofs"):
        shutil.copytree(repository / name, source / name, symlinks=True, ignore=ignored)
    (source / "docs").mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "docs/paraply.1"):
        shutil.copy(repository / name, source / name)
    _build(source, "build_sdist")
    (archive,) = (source / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(source / "unpacked", filter="data")
    (unpacked,) = (source / "unpacked").iterdir()
    _build(unpacked, "build_wheel")
    (built,) = (unpacked / "dist").glob("*.whl")
    return built


def _build(folder, what):
    code = f"from setuptools import build_meta; build_meta.{what}('dist')"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True,
                   timeout=240)  # fmt: skip


@pytest.fixture(scope="module")
def place(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("place")
    return Place(folder, wheel, _wheel_of_another_project(folder))


@pytest.mark.long
def test_wheel_has_one_package_with_all_data(wheel, repository):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tops = {name.partition("/")[0] for name in names}
    (data,) = (top for top in tops if top.endswith(".data"))
    assert {top for top in tops if not top.endswith(".dist-info")} == {"paraply", data}
    assert {name for name in names if name.startswith(data)} == {
        f"{data}/data/share/man/man1/paraply.1"
    }
    missing = {path.relative_to(repository).as_posix() for path in _data_files(repository)} - names
    assert not missing
    assert any(name.startswith("paraply/proofs/") for name in names)


COMMANDS_INSTALLED = {
    "audit": ("{log}", "--html=audit.html", "--json=audit.json", "--junit=audit.xml"),
    "check": ("{history}",),
    "compare": ("--transactions=40",),
    "completion": ("bash",),
    "conform": ("--case=B-prefix-01", "--schedules=2", "--applier", "my_rule.py:Mine"),
    "doctor": (),
    "explore": ("applier", "--schedules=3"),
    "list": ("properties",),
    "live": ("--list",),
    "mine": ("--subjects=applier:logical_clock", "--histories=4", "--master=none", "--out=mined"),
    "mutants": ("first_item_decides",),
    "prove": ("--solver=kernel", "P07", "C11"),
    "replay": ("--subject=applier", "--program=AwAA"),
    "show": ("{history}", "--no-alternatives", "--out=page.html"),
    "verify": ("{log}", "--target={log}"),
    "watch": ("--help",),
}


def test_every_command_has_a_run():
    assert set(COMMANDS_INSTALLED) == {command.name for command in COMMANDS}


@pytest.mark.long
@pytest.mark.parametrize("command", sorted(COMMANDS_INSTALLED))
def test_command_runs_from_the_wheel_in_a_repository_with_equal_names(command, place, repository):
    log = repository / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4" / "types" / "bin.000001"
    history = sorted((repository / "tests" / "regressions").rglob("*.jsonl"))[0]
    words = [word.format(log=log, history=history) for word in COMMANDS_INSTALLED[command]]
    script = str(place.python.parent / "paraply")
    how = [script] if len(command) % 2 else ["-m", "paraply"]
    code, said = place.run(*how, command, *words)
    # A few runs of an explored subject leave situations out, and the history breaks a property.
    allowed = {"explore": {0, 2}, "mine": {0, 2}, "replay": {0, 2}, "check": {1}}
    assert code in allowed.get(command, {0}), said
    assert "Traceback" not in said
    if command == "prove":
        assert "2 of 2 came out as stated" in said


@pytest.mark.long
def test_child_host_and_plugin_and_the_users_tests_run_as_before(place):
    code, said = place.run("-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert code == 0, said
    assert "1 passed" in said
    code, said = place.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "--paraply-applier=my_rule.py:Mine",
        "--paraply-case=B-prefix", "--paraply-schedules=2",
    )  # fmt: skip
    assert code == 0, said
    assert "4 passed" in said
    code, said = place.run(
        "-m", "paraply", "conform", "--case=B-prefix-01", "--schedules=2", "--",
        str(place.python), "-m", "paraply.adapters.conformance.host", "my_rule.py:Mine",
    )  # fmt: skip
    assert code == 0, said


@pytest.mark.long
def test_uninstalling_leaves_the_other_distribution(place, tmp_path):
    owner = ("-c", "import adapters; print(adapters.OWNER)")
    assert place.run(*owner, folder=tmp_path) == (0, "distribution\n")
    place.pip("uninstall", "--yes", "paraply")
    assert place.run(*owner, folder=tmp_path) == (0, "distribution\n")
    assert place.run("-c", "import paraply.cli", folder=tmp_path)[0] == 1
