"""Every command in a block of a page is understood; those that read files read recorded ones."""

import itertools
import json
import re
import shlex
import shutil
from glob import glob
from importlib.util import find_spec

import pytest

from paraply.cli import build_parser
from paraply.properties.search import random_schedules
from paraply.reference_impl.subject import Workload
from paraply.registries import subject_named
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history_jsonl import write_history
from tests.docs.console import ROOT
from tests.docs.test_tutorials import PAGES
from tests.fuzz.oracle import outcome_of_command

PROSE = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "proofs/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
RUN_ELSEWHERE = {"README.md": "test_readme.py", "docs/explore.md": "test_explore_page.py"}
_ENDS = {*";|>"}
_COMMAND = re.compile(r"(paraply|make|python -m) [a-z]")
_FENCE = re.compile(r"^(```+)(\w*)[^\n]*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
BINLOGS = ROOT / "tests" / "fixtures" / "binlogs" / "mysql-9.7.4"
READS_FILES = {"audit", "check", "compare", "show", "verify"}
NEEDS_MORE = ("--start-gtid", "--follow", "--master", "--open", "--map", "--workload", ".parquet",
              ".stream", "runs/", "out/mine")  # fmt: skip
"""Words of commands that need a server, a cluster, a browser or a log like no recorded one."""

REPLICA = [
    {"process": process, "type": kind, "f": "txn", "value": value}
    for process, invoked, read in (
        (0, [["append", "x", 1]], [["append", "x", 1]]),
        (1, [["append", "y", 2]], [["append", "y", 2]]),
        (2, [["r", "x", None], ["r", "y", None]], [["r", "x", []], ["r", "y", [2]]]),
    )
    for kind, value in (("invoke", invoked), ("ok", read))
]
"""A history whose source's log is that of ``gap.edn``."""


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def commands(page):
    """Return the commands in the blocks of a page, as words, without what follows in a pipe."""
    found = []
    for _, language, body in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            continue
        for line in body.replace("\\\n", " ").splitlines():
            text = line.removeprefix("$ ").strip()
            if language == "text":  # Help: what a command does stands in a column of its own.
                text = re.split(r"\s{3,}", text)[0]
            if _COMMAND.match(text):
                found.append(words_of(text))
    return found


def words_of(text):
    """Return the words of the first command of a line in a shell."""
    split = shlex.shlex(text, posix=True, punctuation_chars=";|>")
    split.whitespace_split = True
    return list(itertools.takewhile(lambda word: word[:1] not in _ENDS, split))


EVERY = {name_of(page): found for page in PROSE if (found := commands(page))}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def is_understood(words):
    """Return whether a command has these options, or such a target or module exists."""
    match words:
        case ["paraply", *rest]:
            try:
                return bool(build_parser(rest).parse_args(rest).command)
            except ParaplyError:
                return False
        case ["make", *rest]:
            return {word for word in rest if "=" not in word} <= TARGETS
        case [_, "-m", module, *_]:
            return find_spec(module) is not None
    return False


@pytest.mark.parametrize("page", EVERY)
def test_every_command_of_a_page_is_understood(page):
    assert [words for words in EVERY[page] if not is_understood(words)] == []


@pytest.mark.parametrize(
    "text",
    ["paraply audit a --fast", "paraply guess a", "make tea", "python -m ci.tea", "paraply check"],
)
def test_unknown_commands_and_options_are_noticed(text):
    assert not is_understood(words_of(text))
    assert is_understood(words_of("paraply audit a --json - | jq .verdict; echo"))


def test_every_console_block_is_run_and_compared():
    shown = {
        name_of(page)
        for page in PROSE
        if any(language == "console" for _, language, _ in _FENCE.findall(page.read_text("utf-8")))
    }
    assert shown == {*PAGES, *RUN_ELSEWHERE}


def given(folder):
    """Write the files that the pages name."""
    rotation = sorted((BINLOGS / "rotation").glob("bin.0*"))
    for number in (1, 2, 7, 8, 42, 43):
        shutil.copy(rotation[number % 2], folder / f"binlog.{number:06}")
    for number in (1, 7):
        shutil.copy(rotation[1], folder / f"bin.{number:06}")
    for place, name in (("source", "bin"), ("replica", "replica-bin")):
        log = BINLOGS / "replica" / f"{name}.000001"
        (folder / place).mkdir()
        shutil.copy(log, folder / f"{place}.000001")
        shutil.copy(log, folder / place / "binlog.000001")
    shutil.copy(BINLOGS / "foreign-keys" / "schema.sql", folder)
    clients = ROOT / "tests" / "fixtures" / "histories"
    shutil.copy(clients / "gap.edn", folder / "history.edn")
    shutil.copy(clients / "gap.log.jsonl", folder / "binlog.jsonl")
    shutil.copy(clients / "write-cycle.json", folder / "history.json")
    (folder / "replica.json").write_text(json.dumps(REPLICA))
    (schedule,) = random_schedules(1, 1)
    run = subject_named("applier").run(schedule, Workload(dialect="logical_clock_unordered"))
    text = "".join(f"{line}\n" for line in write_history(run))
    (folder / "out").mkdir()
    for name in ("counterexample.jsonl", "run.jsonl", "out/run.jsonl"):
        (folder / name).write_text(text)


RUN = [
    pytest.param(words, id=f"{page}: {shlex.join(words)}")
    for page, found in EVERY.items()
    if page not in PAGES
    for words in found
    if words[0] == "paraply" and words[1] in READS_FILES
    and not any(more in word for word in words for more in NEEDS_MORE)
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("words", RUN)
def test_command_that_reads_files_ends_with_a_verdict(words, tmp_path, monkeypatch):
    given(tmp_path)
    monkeypatch.chdir(tmp_path)
    expanded = [one for word in words[1:] for one in sorted(glob(word)) or [word]]
    assert outcome_of_command(expanded) in ("holds", "violated", "unknown")
