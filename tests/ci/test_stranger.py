"""Time and megabytes to a first verdict: what is counted, and that no cache helps."""

from __future__ import annotations

import os
import subprocess

import pytest

from ci import stranger, wheel
from ci.pages.first_verdict import commands, summary
from ci.stranger import USERS, Start, User, downloaded, measure, megabytes


def start(**changed):
    known = {
        "user": "DBA", "install": "pip install paraply", "install_seconds": 10.0,
        "downloaded_mb": 2000.0, "installed_mb": 30.0, "home_mb": 0.5, "date": "2026-01-02",
        "cpu_seconds": 9.0,
        "commands": [
            {"command": "paraply audit a", "seconds": 2.0, "exit_code": 0},
            {"command": "paraply audit b", "seconds": 1000.0, "exit_code": 2},
        ],
    }  # fmt: skip
    return Start(**{**known, **changed})


def test_first_verdict_is_installing_and_one_command():
    assert start().seconds == 12
    assert summary([start()])[-1] == (
        "| DBA | `pip install paraply` | 12 s | 10 s | 9 s | 2,000 MB | 30 MB |"
    )
    first, second = commands([start()])[-2:]
    assert first == "| DBA | `paraply audit a` | 2.0 | 0 |  |"
    assert second == "| DBA | `paraply audit b` | 1,000.0 | 2 | 0.5 MB |"


def test_downloads_are_those_of_the_log_and_caches_are_none():
    log = (
        "Collecting a\n  Downloading a-1.0-py3-none-any.whl (1.5 MB)\n"
        "  Using cached b-1.0-py3-none-any.whl (900 MB)\n"
        "     Downloading c-1.0.tar.gz (1.1 GB)\nDownloading d-1.0.whl (100 kB)\n"
    )
    assert downloaded(log) == 1101.6


def test_size_counts_files_once(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(bytes(2_000_000))
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    (tmp_path / "folders").symlink_to(tmp_path / "folder")
    assert megabytes(tmp_path) == 2.0


def test_result_replaces_that_of_the_same_user(monkeypatch, tmp_path):
    monkeypatch.setattr(stranger, "RECORDS", tmp_path / "found.jsonl")
    for one in (start(user="reviewer"), start(), start(installed_mb=31.0)):
        stranger.store(one)
    assert [(one.user, one.installed_mb) for one in stranger.stored()] == [
        ("DBA", 31.0),
        ("reviewer", 30.0),
    ]


def test_every_user_is_stored():
    assert [one.user for one in stranger.stored()] == [user.name for user in USERS]
    assert all(one.commands for one in stranger.stored())


def test_readme_has_the_stored_numbers(repository):
    readme = (repository / "README.md").read_text(encoding="utf-8")
    for one in stranger.stored():
        name = str(one.commands[0]["command"]).split()[1]
        # A stranger's two installations of the core download the same.
        size = f" ({one.downloaded_mb:.0f} MB)" if name != "conform" else ""
        taken = f"{one.seconds:.0f} s"
        if name == "demo":  # It was measured with other work beside it.
            taken = f"{one.cpu_seconds:.0f} CPU seconds"
        assert f"`{name}` {taken}{size}" in " ".join(readme.split())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return wheel.build(wheel.ROOT, tmp_path_factory.mktemp("wheel"), wheel.last_change(wheel.ROOT))


@pytest.mark.live
@pytest.mark.nightly
def test_start_without_caches_and_without_this_environment(built, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(wheel.ROOT))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "used"))
    user = User(name="DBA", extras="", commands=("paraply audit bin.000001", "paraply doctor"))
    folder = tmp_path / "start"
    folder.mkdir()
    try:
        found = measure(user, built, folder)
    except RuntimeError as error:
        if "No matching distribution" in str(error):
            pytest.skip(f"pip reaches no index: {str(error)[-200:]}")
        raise
    assert found.downloaded_mb > built.stat().st_size / 1e6 + 1
    assert found.installed_mb > found.downloaded_mb
    assert [ran["exit_code"] for ran in found.commands] == [0, 0]
    assert not (tmp_path / "used").exists()
    done = subprocess.run(
        [str(folder / "venv" / "bin" / "python"), "-c", "import paraply; print(paraply.__file__)"],
        cwd=folder, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(str(folder / "venv"))


@pytest.mark.live
@pytest.mark.nightly
def test_command_without_a_verdict_is_no_result(built, tmp_path):
    user = User(name="DBA", extras="", commands=("paraply audit no-such-file",))
    with pytest.raises(RuntimeError) as raised:
        measure(user, built, tmp_path)
    if "No matching distribution" in str(raised.value):
        pytest.skip(f"pip reaches no index: {str(raised.value)[-200:]}")
    assert "exit code 3" in str(raised.value)
