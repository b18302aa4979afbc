"""A decoder that turned hostile is stopped, and its run ends without a verdict."""

from __future__ import annotations

import pytest

from paraply.mining.plan import PLAN_FILE
from paraply.sandbox.kernel import has_seccomp, landlock_version
from tests.conftest import REPOSITORY
from tests.sandbox.runs import LOG, hostile, run

pytestmark = [
    pytest.mark.skipif(not has_seccomp(), reason="the sandbox needs seccomp"),
    pytest.mark.long,
]

STOPPED = {
    "connects": "import socket; socket.socket()",
    "connects and hides it": "import socket\ntry: socket.socket()\nexcept BaseException: pass",
    "executes": "import os; os.execv('/bin/true', ['true'])",
    "starts a program": "import subprocess; subprocess.run(['true'])",
    "forks": "import os; os.waitpid(os.fork() or os._exit(0), 0)",
    "writes": "open('victim', 'w').close()",
    "appends": "open('victim', 'a').close()",
    "creates": "import os; os.close(os.open('new', os.O_RDONLY | os.O_CREAT))",
    "deletes": "from pathlib import Path; Path('victim').unlink(missing_ok=True)",
    "renames": "import os; os.rename('victim', 'other')",
    "links": "import os; os.symlink('victim', 'link')",
    "changes rights": "import os; os.chmod('victim', 0o777)",
    "cuts": "import os; os.truncate('victim', 0)",
    "signals its parent": "import os; os.kill(os.getppid(), 0)",
    "names a temporary file": "import os; os.open('.', os.O_TMPFILE | os.O_RDWR)",
    "writes to a report": "open('report.json', 'w').close()",
}
HISTORY = next((REPOSITORY / "tests" / "regressions").glob("applier*.jsonl"))
WORDS = ("audit", LOG / "bin.000001", "--json", "report.json")


def world(folder):
    (folder / "victim").write_text("kept")
    return folder


@pytest.mark.parametrize("attack", sorted(STOPPED))
def test_an_attack_ends_with_70_and_changes_nothing(tmp_path, attack):
    folder = world(tmp_path)
    ran = run(*WORDS, folder=folder, injected=hostile(STOPPED[attack]))
    assert ran.code == 70
    assert ran.out == ""
    assert "it tried what the sandbox forbids" in ran.err
    assert "no verdict" in ran.err
    assert '"verdict": "error"' in (folder / "report.json").read_text()
    assert (folder / "victim").read_text() == "kept"
    assert {path.name for path in folder.iterdir()} == {"victim", "report.json", "injected"}


READER = ("paraply.vocabulary.history_jsonl", "bounded_lines")


@pytest.mark.parametrize("attack", ["connects", "starts a program", "writes", "deletes"])
def test_show_stops_an_attack_and_writes_no_page(tmp_path, attack):
    folder = world(tmp_path)
    words = ("show", HISTORY, "--out", "page.html")
    injected = hostile(STOPPED[attack], READER)
    ran = run(*words, folder=folder, injected=injected)
    assert ran.code == 70
    assert "it tried what the sandbox forbids" in ran.err
    assert (folder / "victim").read_text() == "kept"
    assert {path.name for path in folder.iterdir()} == {"victim", "injected"}
    assert run(*words, "--no-sandbox", folder=folder, injected=injected).code == 0
    assert (folder / "page.html").is_file()


@pytest.mark.parametrize("name", ["../victim", "pages/../victim", "pages/", "other/page.html"])
def test_show_writes_only_into_its_folder(tmp_path, name):
    folder = world(tmp_path)
    (folder / "pages").mkdir()
    body = f"from paraply.reporting import files\nfiles.write_report({name!r}, 'x')"
    ran = run("show", HISTORY, "--out", "pages", folder=folder, injected=hostile(body, READER))
    assert ran.code == 70
    assert f"asked to write {name}" in ran.err
    assert (folder / "victim").read_text() == "kept"
    assert not [*(folder / "pages").iterdir()]


@pytest.mark.parametrize("several", [False, True])
def test_show_opens_the_page_outside_of_the_sandbox(tmp_path, several):
    history = HISTORY.read_text()
    (tmp_path / "run.jsonl").write_text(history * (1 + several))
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\nprintf %s \"$1\" >'{tmp_path}/opened'\n")
    browser.chmod(0o755)
    ran = run("show", "--sandbox", "run.jsonl", "--no-alternatives", "--open",
              folder=tmp_path, BROWSER=f"{browser} %s")  # fmt: skip
    assert ran.code == 0, ran.err
    page = tmp_path / ("run-pages/index.html" if several else "run.html")
    assert (tmp_path / "opened").read_text() == page.as_uri()
    assert page.is_file()


def test_show_of_a_campaign_runs_without_sandbox_and_refuses_it_by_name(tmp_path):
    (tmp_path / PLAN_FILE).write_text("{}")
    refused = run("show", "--sandbox", ".", folder=tmp_path)
    assert refused.code == 3
    assert "P315" in refused.err
    assert "without sandbox" in run("show", ".", folder=tmp_path).err


@pytest.mark.parametrize("attack", ["connects", "starts a program", "forks", "writes", "deletes"])
def test_without_sandbox_the_same_attack_succeeds(tmp_path, attack):
    folder = world(tmp_path)
    ran = run(*WORDS, "--no-sandbox", folder=folder, injected=hostile(STOPPED[attack]))
    assert ran.code in (0, 1, 2), ran.err
    if attack in ("writes", "deletes"):
        victim = folder / "victim"
        assert not victim.exists() or not victim.read_text()


def test_the_traceback_names_the_line_of_the_attack(tmp_path):
    ran = run(*WORDS, "--debug", folder=tmp_path, injected=hostile(STOPPED["connects"]))
    assert "in hostile" in ran.err


def test_memory_is_limited(tmp_path):
    attack = hostile("bytearray(2 << 30)")
    words = (*WORDS, "--memory", "16M")
    ran = run(*words, folder=tmp_path, injected=attack)
    assert ran.code == 70
    assert "MemoryError" in ran.err or "out of memory" in ran.err
    assert run(*words, "--no-sandbox", folder=tmp_path, injected=attack).code in (0, 1, 2)


@pytest.mark.skipif(not landlock_version(), reason="the kernel has no Landlock")
def test_other_files_cannot_be_read(tmp_path):
    (tmp_path / "secret").write_text("password")
    attack = hostile("import sys; sys.stdout.write(open('secret').read())")
    ran = run(*WORDS, folder=tmp_path, injected=attack)
    assert ran.code in (3, 70)
    assert "password" not in ran.out
    ran = run(*WORDS, "--no-sandbox", folder=tmp_path, injected=attack)
    assert "password" in ran.out


def test_an_answer_that_names_another_file_is_no_answer(tmp_path):
    forged = (
        "from paraply.reporting.files import write_report\n"
        "write_report('victim', '{\"paraply\": 1}')"
    )
    folder = world(tmp_path)
    (folder / "victim").write_text("")
    ran = run(*WORDS, folder=folder, injected=hostile(forged))
    assert ran.code == 70
    assert "asked to write victim" in ran.err
    assert (folder / "victim").read_text() == ""


def test_a_decoder_that_dies_gives_no_verdict(tmp_path):
    ran = run(*WORDS, folder=tmp_path, injected=hostile("import os; os._exit(0)"))
    assert ran.code == 70
    assert "ended without an answer" in ran.err
    ran = run(*WORDS, folder=tmp_path, injected=hostile("import os; os.abort()"))
    assert ran.code == 70
    assert "SIGABRT" in ran.err
