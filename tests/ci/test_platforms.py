"""Where the core and each extra install: what counts as missing, and what the page shows."""

from __future__ import annotations

import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ci import platforms
from ci.pages.platforms import missing, older, overview
from ci.platforms import (
    PLATFORMS,
    NoAnswerError,
    Resolution,
    culprit,
    lost,
    reason_of,
    resolve,
)

MUSL = next(one for one in PLATFORMS if one.name == "Linux x86-64, musl")
WINDOWS = next(one for one in PLATFORMS if one.name == "Windows x86-64")
DONE = Resolution(platform=MUSL.name, python="3.11", part="fast", date="2026-01-02")


def skipped(*files):
    """Return the log of pip that skips some files."""
    why = "none of the wheel's tags (some) are compatible (run pip debug to show tags)"
    return "\n".join(
        f"  Skipping link: {why}: scheme:/place/{file} (from scheme:/index/) (requires-python:>=3)"
        for file in files
    )


def test_reason_names_the_newest_release_and_what_does_not_fit():
    wheels = [
        f"some_lib-{version}-{tags}.whl"
        for version in ("1.9.0", "1.10.0", "2.0.0.dev1")
        for tags in ("cp311-cp311-win_amd64", "cp312-cp312-win_amd64")
    ]
    log = skipped(*wheels, "other-9.0-py3-none-any.whl")
    assert reason_of("some-lib", log, WINDOWS, "3.14") == "1.10.0 has no wheel for Python 3.14"
    assert reason_of("some-lib", log, MUSL, "3.11") == "1.10.0 has no wheel for the platform"


def test_source_distributions_are_no_reason():
    assert reason_of("some-lib", skipped("some_lib-1.0.tar.gz"), MUSL, "3.11") == ""


def test_index_that_was_not_read_is_an_error_and_no_missing_wheel():
    for log in ("Retrying after connection broken", skipped("other-9.0-py3-none-any.whl")):
        with pytest.raises(NoAnswerError):
            reason_of("some-lib", log, MUSL, "3.11")


def test_conflict_of_every_release_names_the_missing_dependency():
    out = (
        "ERROR\nThe conflict is caused by:\n    mkdocs 1.6.1 depends on watchdog>=2.0\n"
        "    mkdocs 1.5.3 depends on watchdog>=2.0\n\nTo fix this you could try to:\n"
    )
    assert culprit(out, "ERROR: ResolutionImpossible") == "watchdog"
    assert culprit("", "ERROR: No matching distribution found for Some_Lib>=1 (x)") == "some-lib"
    with pytest.raises(NoAnswerError):
        culprit(out.replace("1.5.3 depends on watchdog", "1.5.3 depends on click"), "ERROR")


def test_old_release_that_fits_does_not_hide_a_missing_wheel(monkeypatch):
    log = skipped("numba-9.0-cp311-cp311-win_amd64.whl", "numba-0.1.tar.gz")

    def pip(platform, python, words):
        is_wanted = "numba>=0.60" in words
        for report in (word.removeprefix("--report=") for word in words if "--report=" in word):
            Path(report).write_text('{"install": []}')
        error = "ERROR: No matching distribution found for numba>=0.60" if is_wanted else ""
        return subprocess.CompletedProcess(words, int(is_wanted), log, error)

    monkeypatch.setattr(platforms, "_pip", pip)
    monkeypatch.setattr(platforms, "requirements_of", lambda part: ["numba>=0.60", "mdurl"])
    for suspects in ((), ("numba",)):
        found = resolve(MUSL, "3.14", "fast", suspects)
        assert found.missing == {"numba": "9.0 has no wheel for the platform"}


@pytest.mark.long
def test_failed_connection_stores_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(platforms, "RECORDS", tmp_path / "platforms.jsonl")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/")
        monkeypatch.setenv("PIP_RETRIES", "0")
        with pytest.raises(NoAnswerError):
            resolve(MUSL, "3.11", "core")
    assert platforms.stored() == []


def test_stored_results_are_replaced_and_a_lost_one_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setattr(platforms, "RECORDS", tmp_path / "platforms.jsonl")
    platforms.store([DONE, replace(DONE, python="3.12")])
    now = replace(DONE, missing={"numba": "1 has no wheel for the platform"})
    assert lost(platforms.stored(), [now, replace(now, python="3.13")]) == [now]
    assert lost([now], [now]) == []
    platforms.store([now])
    assert [one.python for one in platforms.stored()] == ["3.11", "3.12"]
    assert platforms.stored()[0].missing == now.missing


def test_page_shows_pythons_reasons_and_older_versions():
    lacks = {"numba": "9 has no wheel for the platform"}
    found = [replace(DONE, python=python, missing=lacks) for python in ("3.11", "3.12")]
    found += [replace(DONE, python=python, versions={"jinja2": "0.1"}) for python in ("3.13",)]
    (row,) = [line for line in overview(found) if line.startswith(f"| {MUSL.name} ")]
    assert [cell.strip() for cell in row.split("|")][2:4] == ["none", "3.13"]
    *_, gap = missing(found)
    assert gap == f"| fast | {MUSL.name} | 3.11, 3.12 | numba 9 has no wheel for the platform |"
    *_, old = older(found)
    assert "jinja2 0.1; tests use 3" in old


def test_every_part_and_platform_is_stored():
    found = {one.key for one in platforms.stored()}
    assert len(found) == len(PLATFORMS) * len(platforms.PYTHONS) * len(platforms.PARTS)


@pytest.mark.live
@pytest.mark.parametrize("name", ["Linux aarch64, musl", "macOS arm64", "Windows x86-64"])
def test_core_resolves(name):
    (platform,) = [one for one in PLATFORMS if one.name == name]
    try:
        found = resolve(platform, "3.13", "core")
    except NoAnswerError as error:
        pytest.skip(f"pip reaches no index: {str(error)[:200]}")
    assert not found.missing
    assert not found.source
    assert set(found.versions) >= {"jinja2", "rich", "shtab", "zstandard", "markupsafe"}


@pytest.mark.live
def test_markers_are_those_of_the_platform(monkeypatch):
    wanted = ['colorama; sys_platform == "win32"', 'tomli; python_version < "3.12"', "mdurl"]
    monkeypatch.setattr(platforms, "requirements_of", lambda part: wanted)
    try:
        found = {
            (platform.name, python): set(resolve(platform, python, "core").versions)
            for platform in (WINDOWS, MUSL) for python in ("3.11", "3.13")
        }  # fmt: skip
    except NoAnswerError as error:
        pytest.skip(f"pip reaches no index: {str(error)[:200]}")
    assert found == {
        (WINDOWS.name, "3.11"): {"colorama", "tomli", "mdurl"},
        (WINDOWS.name, "3.13"): {"colorama", "mdurl"},
        (MUSL.name, "3.11"): {"tomli", "mdurl"},
        (MUSL.name, "3.13"): {"mdurl"},
    }


@pytest.mark.live
def test_part_without_a_wheel_is_missing_with_its_reason(monkeypatch):
    monkeypatch.setattr(platforms, "requirements_of", lambda part: ["z3-solver>=4.13", "mdurl"])
    try:
        found = resolve(MUSL, "3.11", "prove")
    except NoAnswerError as error:
        pytest.skip(f"pip reaches no index: {str(error)[:200]}")
    assert found.missing["z3-solver"].endswith("has no wheel for the platform")
    assert set(found.versions) == {"mdurl"}
    again = resolve(MUSL, "3.11", "prove", ["z3-solver", "mdurl"])
    assert (again.missing, again.versions) == (found.missing, found.versions)
