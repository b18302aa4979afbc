"""Every command in a block of a page is understood; some run in this process."""

import itertools
import re
import shlex
from glob import glob
from importlib.util import find_spec

import pytest

from paraply.cli import build_parser
from paraply.vocabulary.errors import ParaplyError
from tests.docs.command_blocks import HELP, blocks, name_of
from tests.docs.command_blocks import PAGES as PROSE
from tests.docs.console import ROOT
from tests.docs.readers_files import given
from tests.docs.test_tutorials import PAGES
from tests.fuzz.oracle import outcome_of_command

RUN_ELSEWHERE = {"README.md": "test_readme.py", "docs/explore.md": "test_explore_page.py"}
_ENDS = {*";|>"}
_COMMAND = re.compile(r"(paraply|make|python -m) [a-z]")
READS_FILES = {"audit", "check", "compare", "show", "verify"}
NEEDS_MORE = ("--dsn", "--start-gtid", "--follow", "--master", "--open", "--map", "--workload",
              ".parquet", ".stream", "runs/", "out/mine")  # fmt: skip
"""Words of commands that need a server, a cluster, a browser or a log like no recorded one."""


def commands(page):
    """Return the commands in the blocks of a page, as words, without what follows in a pipe."""
    found = []
    for block in blocks(page):
        if block.language == "python":
            continue
        for line in block.body.replace("\\\n", " ").splitlines():
            text = line.removeprefix("$ ").strip()
            if block.language == "text":  # Help: what a command does stands in a column of its own.
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
        if any(block.language == "console" for block in blocks(page))
    }
    assert shown == {*PAGES, *RUN_ELSEWHERE}


RUN = [
    pytest.param(words, id=f"{page}: {shlex.join(words)}")
    for page, found in EVERY.items()
    for words in found
    if (page == HELP or "--spark" in words)
    and words[0] == "paraply" and words[1] in READS_FILES
    and not any(more in word for word in words for more in NEEDS_MORE)
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("words", RUN)
def test_command_that_reads_files_ends_with_a_verdict(words, tmp_path, monkeypatch):
    given(tmp_path, words)
    monkeypatch.chdir(tmp_path)
    expanded = [one for word in words[1:] for one in sorted(glob(word)) or [word]]
    assert outcome_of_command(expanded) in ("holds", "violated", "unknown")
