"""``paraply doctor`` and ``paraply completion``."""

import json
import shutil
import subprocess

import pytest

from paraply.cli import main
from paraply.commands import COMMANDS, doctor
from paraply.tools import first_line_of


def test_everything_that_needs_no_server_is_there(tmp_path, capsys):
    file = tmp_path / "doctor.json"
    assert main(["doctor", "--json", str(file)]) == 0
    found = {(one["part"], one["thing"]): one for one in json.loads(file.read_text())["findings"]}
    assert found["prove by solvers", "z3-solver"]["is_there"]
    assert found["mine", "Java 17 or newer"]["found"]
    assert "hypothesis" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("missing", "code", "line"),
    [
        ("rich", 3, "rich NO get it: pip install 'rich'"),
        ("cvc5", 0, "cvc5 no get it: pip install 'paraply[prove]'"),
    ],
)
def test_missing_library_has_its_remedy_and_decides_if_all_need_it(
    monkeypatch, capsys, missing, code, line
):
    version = doctor.metadata.version

    def without_it(name):
        if name == missing:
            raise doctor.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(doctor.metadata, "version", without_it)
    assert main(["doctor"]) == code
    assert line in " ".join(capsys.readouterr().out.split())


def test_missing_server_is_named_and_no_failure(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("PARAPLY_MYSQL_BASEDIR", "/nowhere")
    main(["doctor"])
    out = " ".join(capsys.readouterr().out.split())
    assert "MySQL server no get it: ci/servers --only mysql" in out


def test_program_that_is_not_there_says_nothing():
    assert first_line_of("no-such-program-here", "--version") == ""
    assert first_line_of("false") == ""
    assert first_line_of("echo", "one").startswith("one")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_every_command_and_is_a_script(shell, tmp_path, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for command in COMMANDS:
        assert command.name in script
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here to read the script")
    file = tmp_path / "completion"
    file.write_text(script)
    subprocess.run([shell, "-n", str(file)], check=True)
