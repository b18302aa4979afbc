"""Hooks of pre-commit get all files in one call and judge each history and each log."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest
import yaml

from paraply.commands.pre_commit import main, runs_of
from paraply.vocabulary.errors import ParaplyError
from tests.builders.every_command import LOG

HISTORIES = "tests/fixtures/histories"


@pytest.fixture
def hook(repository):
    """Return a function that calls a hook as pre-commit does."""
    hooks = yaml.safe_load((repository / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entries = {one["id"]: shlex.split(one["entry"]) for one in hooks}

    def run(name, *words):
        program, *rest = entries[name]
        assert program == "python"
        return subprocess.run(
            [sys.executable, *rest, *map(str, words)],
            cwd=repository, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return run


@pytest.mark.long
def test_each_of_two_histories_is_judged(hook):
    done = hook("paraply-check", f"{HISTORIES}/set.edn", f"{HISTORIES}/gap.edn")
    assert done.returncode == 1, done.stderr
    assert f"{HISTORIES}/set.edn: set, 5 transactions" in done.stdout
    assert f"{HISTORIES}/gap.edn: rw-register, 3 transactions" in done.stdout


@pytest.mark.long
def test_logs_of_two_folders_are_judged_apart(hook, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / LOG.name).write_bytes(LOG.read_bytes())
    logs = [tmp_path / name / LOG.name for name in ("a", "b")]
    options = ("--engine=readable", "--schema", LOG.parent / "schema.sql")
    alone = hook("paraply-audit", *options, logs[0])
    both = hook("paraply-audit", *options, *logs)
    assert both.returncode == alone.returncode, both.stderr
    assert both.stdout.count("HOLDS") == 2 * alone.stdout.count("HOLDS") == 2
    lines = [line for line in both.stdout.splitlines() if line.startswith("paraply audit")]
    assert [line.split()[-1] for line in lines] == [str(log) for log in logs]


def test_files_of_one_log_are_one_run_in_order():
    words = ["audit", "--schema", "s.sql", "b/y.000002", "a/x.000001", "b/y.000001", "b/z.000001"]
    assert runs_of(words) == [
        ["audit", "--schema", "s.sql", "a/x.000001"],
        ["audit", "--schema", "s.sql", "b/y.000001", "b/y.000002"],
        ["audit", "--schema", "s.sql", "b/z.000001"],
    ]


def test_input_of_an_option_is_no_history():
    words = ["check", "--log", "log.jsonl", "b.edn", "a.edn"]
    assert runs_of(words) == [
        ["check", "--log", "log.jsonl", "a.edn"],
        ["check", "--log", "log.jsonl", "b.edn"],
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "'' is no hook"),
        (["mine"], "'mine' is no hook"),
        (["check"], "HISTORY"),
        (["check", "--nonsense", "a.edn", "b.edn"], "--nonsense"),
        (["check", "--json=r.json", "a.edn", "b.edn"], "2 runs would each write r.json"),
        (["audit", "--json=r.json", "a/b.000001", "c/b.000001"], "2 runs would each write r.json"),
    ],
)
def test_words_that_no_run_can_have_are_a_user_error(words, reason, capsys):
    with pytest.raises(ParaplyError, match=rf"P301 .*{reason}"):
        runs_of(words)
    assert main(words) == 3
    assert "remedy: see paraply" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("codes", "worst"),
    [([0, 0], 0), ([0, 2], 2), ([2, 1], 1), ([1, 3], 3), ([3, 70, 0], 70), ([0, -9], -9)],
)
def test_worst_exit_code_is_the_one_of_the_hook(codes, worst, monkeypatch):
    left = iter(codes)
    monkeypatch.setattr(
        subprocess, "run", lambda words, **_: subprocess.CompletedProcess(words, next(left))
    )
    assert main(["check", *(f"{number}.edn" for number in range(len(codes)))]) == worst
