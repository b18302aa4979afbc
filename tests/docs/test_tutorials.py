"""What the tutorials tell their readers to do is done, and prints what they say."""

import re
import shutil
from pathlib import Path

import pytest

from paraply.version import VERSION
from tests.docs.console import ROOT, Step, is_as_expected, run_step, steps
from tests.docs.shell import Shell

PAGES = (
    "docs/hypothesis.md",
    "docs/python.md",
    "docs/tutorial-contributor.md",
    "docs/tutorial-dba.md",
    "docs/tutorial-researcher.md",
    "docs/write-an-adapter.md",
)


SCENARIO = re.compile(r"tests/fixtures/binlogs/[\w.-]+/[\w-]+")


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_page_prints_what_it_says(page, tmp_path, shell):
    text = (ROOT / page).read_text(encoding="utf-8")
    found = steps(text)
    assert sum(bool(step.command) for step in found) >= 2
    # Of the clone, the reader needs the logs that the page names.
    for name in set(SCENARIO.findall(text)):
        shutil.copytree(shell.clone / name, tmp_path / name)
    for step in found:
        printed = run_step(step, tmp_path, shell)
        if step.command:
            assert is_as_expected(printed, step.expected), f"$ {step.command}\n{printed}"


@pytest.mark.long
def test_commands_of_pages_run_the_wheel_and_inherit_nothing(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("PARAPLY_OF_THE_TESTS", "1")
    where = shell.run("command -v paraply python; env", tmp_path).printed.splitlines()
    assert where[:2] == [str(shell.programs / name) for name in ("paraply", "python")]
    names = {line.partition("=")[0] for line in where[2:]}
    assert names - {"PWD", "SHLVL", "_"} == {"HOME", "PATH", "LANG"}
    ask = "import paraply, importlib.metadata as m; print(paraply.__file__, m.version('paraply'))"
    file, version = shell.run(f'python -c "{ask}"', tmp_path).printed.split()
    assert Path(file).is_relative_to(shell.folder / "env")
    assert version == VERSION


def test_other_output_is_noticed(tmp_path):
    step = Step(command="echo one; echo two", expected=("one", "three"))
    assert not is_as_expected(run_step(step, tmp_path, Shell(tmp_path)), step.expected)
    assert is_as_expected("one\ntwo\n", ("…", "t…o"))
    assert not is_as_expected("one\ntwo\nthree\n", ("…", "two"))


def test_steps_are_read_in_order():
    page = (
        '```toml title="a.toml"\nx = 1\n```\ntext\n```console\n$ cat a.toml\nx = 1\n$ true\n```\n'
    )
    assert steps(page) == [
        Step(file="a.toml", text="x = 1\n"),
        Step(command="cat a.toml", expected=("x = 1",)),
        Step(command="true"),
    ]
