"""The core on other Pythons: installed from its wheel, its audit and doctor end with 0."""

import sys

import pytest

from ci import installs, wheel
from ci.installs import Install, NotInstalledError, install, interpreter, stored
from ci.pages.platforms import installed
from ci.platforms import PYTHONS

HERE = ".".join(map(str, sys.version_info[:2]))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return wheel.build(wheel.ROOT, tmp_path_factory.mktemp("wheel"), wheel.last_change(wheel.ROOT))


@pytest.mark.live
@pytest.mark.parametrize("python", PYTHONS)
def test_core_installs_and_judges(built, tmp_path, python):
    program = interpreter(python)
    if program is None:
        pytest.skip(f"no Python {python} on this machine")
    try:
        found = install(program, built, tmp_path)
    except NotInstalledError as error:
        if python == HERE:
            raise
        pytest.skip(f"uv does not install it there: {str(error)[:200]}")
    assert found.minor == python
    assert found.codes == dict.fromkeys(installs.COMMANDS, 0)


@pytest.mark.live
def test_wheel_that_does_not_install_is_an_error(tmp_path):
    broken = tmp_path / "paraply-0-py3-none-any.whl"
    broken.write_bytes(b"no archive")
    (tmp_path / "place").mkdir()
    with pytest.raises(NotInstalledError):
        install(interpreter(HERE), broken, tmp_path / "place")


def test_every_python_is_stored_with_a_verdict():
    assert [one.minor for one in stored()] == [*PYTHONS]
    assert all(one.codes == dict.fromkeys(installs.COMMANDS, 0) for one in stored())


def test_interpreter_of_another_version_or_none_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(installs, "CACHE", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for python in PYTHONS:
        assert (interpreter(python) is None) == (python != HERE)


def test_page_shows_the_pythons_and_the_exit_codes():
    one = Install(python="3.14.1", machine="Linux", codes={"paraply doctor": 2}, date="2026-01-02")
    assert installed([one])[-1] == "| 3.14.1 | Linux | `paraply doctor` 2 | 2026-01-02 |"
