"""Where the core and each extra install: what counts as missing, and what the page shows."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from dataclasses import replace
from subprocess import TimeoutExpired

import pytest

from ci import platforms
from ci.pages.platforms import missing, older, overview
from ci.platforms import (
    PARTS,
    PLATFORMS,
    PYTHONS,
    NoAnswerError,
    Resolution,
    differences,
    lost,
    resolve,
)

MUSL = next(one for one in PLATFORMS if one.name == "Linux x86-64, musl")
GLIBC = PLATFORMS[0]
WINDOWS = next(one for one in PLATFORMS if one.name == "Windows x86-64")
DAY = "2026-11-01"
DONE = Resolution(platform=MUSL.name, python="3.11", part="fast", date="2026-01-02")
# By name, the wheels' versions and where they are: all Pythons and platforms if nothing is named.
WHEELS = {
    "some-lib": [("1.9.0", WINDOWS, "3.11"), ("1.10.0", WINDOWS, "3.12"), ("1.0", MUSL, "3.11")],
    "user-of-lib": [("4.0", None, None)],
    "mdurl": [("0.1", None, None)],
}
NEEDS = {"user-of-lib": ["some-lib>=1.9"]}


@pytest.fixture(autouse=True)
def no_memory():
    yield
    platforms._alone.cache_clear()
    platforms._newest.cache_clear()


@pytest.fixture
def index(monkeypatch):
    """An index without a network, with the wheels of ``WHEELS``."""

    def versions(wanted, platform, python, before, *options):
        found, waiting = {}, [platforms.Requirement(one) for one in wanted]
        while waiting:
            one = waiting.pop()
            fit = [version for version, *where in WHEELS.get(one.name, [])
                   if where in ([platform, python], [None, None])
                   and one.specifier.contains(version)]  # fmt: skip
            if not fit:
                raise platforms._NoSolutionError(one.name)
            found[one.name] = max(fit, key=platforms.Version)
            if "--no-deps" not in options:
                waiting += [platforms.Requirement(need) for need in NEEDS.get(one.name, [])]
        return found

    def requirements(*wanted):
        monkeypatch.setattr(platforms, "requirements_of", lambda part: [*wanted])

    monkeypatch.setattr(platforms, "_versions", versions)
    return requirements


def found_with(platform, python):
    return resolve(platform, python, "fast", DAY)


def test_reason_names_the_newest_release_and_what_does_not_fit(index):
    index("some-lib>=1.9", "mdurl")
    assert found_with(WINDOWS, "3.12").versions == {"some-lib": "1.10.0", "mdurl": "0.1"}
    for platform, python, what in (
        (WINDOWS, "3.14", "Python 3.14"),
        (MUSL, "3.12", "the platform"),
    ):
        found = found_with(platform, python)
        assert found.missing == {"some-lib": f"1.10.0 has no wheel for {what}"}
        assert found.versions == {}


def test_old_release_that_fits_does_not_hide_a_missing_wheel(index):
    index("some-lib>=1.9")
    assert found_with(MUSL, "3.11").missing == {"some-lib": "1.10.0 has no wheel for the platform"}
    index("some-lib")
    assert found_with(MUSL, "3.11").versions == {"some-lib": "1.0"}


def test_source_distributions_are_no_reason(index):
    index("source-only", "mdurl")
    found = found_with(MUSL, "3.11")
    assert (found.source, found.missing) == (["source-only"], {})
    assert found.versions == {"mdurl": "0.1"}


def test_missing_wheel_of_a_dependency_is_named(index, monkeypatch):
    index("user-of-lib", "mdurl")
    monkeypatch.setitem(WHEELS, "some-lib", [*WHEELS["some-lib"], ("1.9.0", GLIBC, "3.11")])
    assert found_with(WINDOWS, "3.11").versions["some-lib"] == "1.9.0"
    found = found_with(MUSL, "3.11")
    assert found.missing == {"some-lib": "1.10.0 has no wheel for the platform"}


@pytest.mark.long
def test_failed_connection_is_an_error_and_no_missing_wheel(monkeypatch, tmp_path):
    monkeypatch.setattr(platforms, "RECORDS", tmp_path / "platforms.jsonl")
    platforms._home.cache_clear()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/")
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        with pytest.raises(NoAnswerError):
            resolve(MUSL, "3.11", "core", "2026-01-02")
    platforms._home.cache_clear()
    assert platforms.stored() == []


def test_cell_that_differs_or_is_gone_is_a_difference():
    known = [DONE, replace(DONE, python="3.12", versions={"numba": "1"})]
    assert differences(known, [replace(one, date="2026-02-03") for one in known]) == []
    other = replace(known[1], versions={"numba": "2"})
    for now in ([DONE, other], [DONE]):
        (line,) = differences(known, now)
        assert line.startswith(f"fast, {MUSL.name}, 3.12: ")
    assert len(differences(known, [replace(DONE, missing={"numba": "1 has no wheel"})])) == 2


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
    assert len(found) == len(PLATFORMS) * len(PYTHONS) * len(PARTS)


@contextmanager
def index_or_skip():
    """Skip the test where uv reaches no index."""
    try:
        yield
    except (NoAnswerError, TimeoutExpired) as error:
        pytest.skip(f"uv reaches no index: {str(error)[:200]}")


@pytest.mark.live
@pytest.mark.nightly
def test_every_cell_resolves_again_to_what_is_stored():
    """As of the stored day: what others release later is no fault of ours."""
    known = platforms.stored()
    with index_or_skip():
        faults = platforms.check(known)
    assert faults == [], "make platforms stores the results of today"


@pytest.mark.nightly
def test_no_later_release_takes_a_cell_away():
    with index_or_skip():
        faults = platforms.lost_today(platforms.stored())
    assert faults == [], "make platforms stores the results of today"


@pytest.mark.live
def test_other_day_is_a_difference_and_a_lost_part_is_noticed(monkeypatch):
    def answer(part):
        return ["mdurl"] if part == "core" else ["z3-solver>=4.13"]

    monkeypatch.setattr(platforms, "PARTS", ("core", "prove"))
    monkeypatch.setattr(platforms, "PYTHONS", ("3.11",))
    monkeypatch.setattr(platforms, "PLATFORMS", (MUSL, WINDOWS))
    monkeypatch.setattr(platforms, "requirements_of", answer)
    with index_or_skip():
        known = platforms.resolve_all(("core", "prove"), "2026-11-01")
    assert [bool(one.missing) for one in known] == [False, True, False, False]
    assert platforms.check(known) == []
    older = [replace(one, date="2025-01-01") for one in known]
    assert any(line.startswith("prove, ") for line in platforms.check(older))
    claimed = [replace(one, missing={}, versions={"z3-solver": "1"}) for one in known]
    faults = platforms.lost_today(claimed)
    assert any(line.startswith("no longer resolves: prove, Linux x86-64, musl") for line in faults)


@pytest.mark.live
def test_markers_are_those_of_the_platform(monkeypatch):
    wanted = ['colorama; sys_platform == "win32"', 'tomli; python_version < "3.12"', "mdurl"]
    monkeypatch.setattr(platforms, "requirements_of", lambda part: wanted)
    with index_or_skip():
        found = {
            (platform.name, python): set(resolve(platform, python, "core", DAY).versions)
            for platform in (WINDOWS, MUSL) for python in ("3.11", "3.13")
        }  # fmt: skip
    assert found == {
        (WINDOWS.name, "3.11"): {"colorama", "tomli", "mdurl"},
        (WINDOWS.name, "3.13"): {"colorama", "mdurl"},
        (MUSL.name, "3.11"): {"tomli", "mdurl"},
        (MUSL.name, "3.13"): {"mdurl"},
    }
