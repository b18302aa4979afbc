"""What packagers and build servers get: the wheel, the manual page, and files for other tools."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile

import pytest
import yaml

from ci.pages.man import page
from ci.platforms import PYTHONS
from ci.wheel import build
from paraply.cli import build_parser
from paraply.commands import COMMANDS
from paraply.version import VERSION
from tests.builders.every_command import CLOCK, LOG


@pytest.fixture
def parsed(repository):
    def read(name):
        return yaml.safe_load((repository / name).read_text(encoding="utf-8"))

    return read


@pytest.mark.long
def test_wheel_has_the_same_bytes_twice(repository, tmp_path):
    if not (repository / ".git").exists():
        pytest.skip("not a git work tree: the wheel is made of the files that git tracks")
    first = build(repository, tmp_path / "first", "1700000000")
    second = build(repository, tmp_path / "second", "1700000000")
    assert first.name == f"paraply-{VERSION}-py3-none-any.whl"
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert {one.date_time[:3] for one in archive.infolist()} == {(2023, 11, 14)}
        assert archive.testzip() is None


def test_metadata_has_the_pythons_of_the_platforms_and_one_address(repository):
    about = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = [name.rpartition(" ")[2] for name in about["classifiers"] if ":: 3." in name]
    assert pythons == list(PYTHONS)
    (address,) = about["urls"].values()
    named = re.findall(
        r"https://\S*/OWNER/\S*", (repository / "docs" / "ci.md").read_text(encoding="utf-8")
    )
    assert set(named) == {address}


def test_manual_page_names_every_command_and_is_valid():
    text = page()
    for command in COMMANDS:
        assert f".SS paraply {command.name}" in text
    # A line that begins with a full stop is a request; only these are meant.
    requests = set(re.findall(r"^\.(\S+)", text, re.MULTILINE))
    assert requests == {"TH", "SH", "SS", "TP", "B", "PP", "nf", "fi"}


def test_action_passes_inputs_by_environment_alone(parsed):
    action = parsed("action.yml")
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        # An input inside of a script would be run as code.
        assert "${{" not in step.get("run", "")
        assert ("run" in step) == ("shell" in step)
        for value in step.get("env", {}).values():
            name = re.fullmatch(r"\$\{\{ (?:inputs\.([\w-]+)|github\.action_path) \}\}", value)
            assert name
            assert name[1] is None or name[1] in action["inputs"]


def _script(folder, script, environment):
    """Run a script with this paraply; return its exit code."""
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / "paraply"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m paraply "$@"\n')
    program.chmod(0o755)
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder),
             "PYTHONPATH": str(LOG.parents[5]), **environment},
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "arguments", "allow", "code"),
    [
        ("audit", f"{LOG} --engine=readable", "false", 0),
        ("verify", f"{LOG} --target {LOG}", "false", 0),
        ("conform", f"--case B-prefix-01 --schedules 1 --applier {CLOCK}", "false", 0),
        ("audit", "missing.000001", "true", 3),
    ],
)
def test_scripts_of_build_servers_run(command, arguments, allow, code, parsed, tmp_path):
    steps = parsed("action.yml")["runs"]["steps"]
    (run,) = (step["run"] for step in steps if step.get("id") == "run")
    environment = {
        "COMMAND": command, "ARGUMENTS": arguments, "ALLOW_UNKNOWN": allow, "REPORTS": "out",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }  # fmt: skip
    done = _script(tmp_path, run, environment)
    assert done.returncode == code, done.stderr
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    assert (tmp_path / "out" / "paraply.xml").exists() == (code == 0)
    assert (tmp_path / "out" / "paraply.sarif").exists() == (code == 0)
    job = parsed("integrations/gitlab.yml")[".paraply"]
    (script,) = job["script"]
    done = _script(
        tmp_path,
        script,
        {
            "PARAPLY_COMMAND": command, "PARAPLY_ARGUMENTS": arguments,
            "PARAPLY_ALLOW_UNKNOWN": allow,
        },
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).exists() == (code == 0)
    assert (tmp_path / "paraply-reports" / "paraply.sarif").exists() == (code == 0)


def test_hooks_run_commands_that_exist(parsed):
    hooks = parsed(".pre-commit-hooks.yaml")
    assert {hook["id"] for hook in hooks} == {"paraply-audit", "paraply-check"}
    names = {command.name for command in COMMANDS}
    for hook in hooks:
        *program, command = hook["entry"].split()
        assert program == ["python", "-m", "paraply.commands.pre_commit"]
        assert command in names
        assert build_parser([command])
        re.compile(hook["files"])
    assert re.search(hooks[0]["files"], "logs/binlog.000001")
    assert re.search(hooks[1]["files"], "runs/a.jsonl")


def test_dockerfile_copies_what_is_there_and_runs_without_rights(repository):
    lines = (repository / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert {name for name, _ in steps} <= {
        "FROM", "COPY", "RUN", "USER", "WORKDIR", "ENTRYPOINT", "CMD",
    }  # fmt: skip
    for name, rest in steps:
        if name == "FROM":
            assert re.match(r"python:3\.\d+-slim", rest)
        if name == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (repository / source).exists()
                assert f"!{source}" in (repository / ".dockerignore").read_text()
    users = [rest for name, rest in steps if name == "USER"]
    assert users == ["paraply"]
    assert [name for name, _ in steps][-2:] == ["ENTRYPOINT", "CMD"]
