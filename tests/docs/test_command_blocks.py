"""Every command in a block of a page is run in a reader's shell, or is not run for a reason."""

import re
import shutil

import pytest

from tests.docs.command_blocks import DATA, HELP, PAGES, blocks, commands, name_of
from tests.docs.outcomes import CAMPAIGN, IN_THE_CLONE, INSTALLING, NOT_RUN, RUN
from tests.docs.readers_files import given

BEGINNINGS = [one for group in NOT_RUN.values() for one in group]
SHOWN = {
    name_of(page): {
        command
        for block in blocks(page)
        if block.language == "sh"
        for command in commands(block.body)
    }
    for page in PAGES
}


def is_run(page, command):
    return command in INSTALLING or command in RUN.get(page, {})


def unlisted(page, shown):
    """Return the commands that are in no table."""
    return sorted(
        command
        for command in shown
        if not is_run(page, command) and not command.startswith(tuple(BEGINNINGS))
    )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_has_a_language_that_says_whether_it_is_run(page):
    assert {block.language for block in blocks(page)} <= {"console", "sh", *DATA}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_of_data_have_no_commands(page):
    begins = re.compile(r"^\s*(?:\$ )?(?:paraply|make|pip|python -m|\./?ci)\s\S", re.MULTILINE)
    found = [block.body for block in blocks(page) if block.language in DATA]
    assert name_of(page) == HELP or not any(begins.search(body) for body in found)


@pytest.mark.parametrize("page", SHOWN)
def test_every_command_is_in_a_table(page):
    assert unlisted(page, SHOWN[page]) == []


def test_other_commands_are_noticed():
    assert unlisted("README.md", {"make tea", "make demo", "paraply audit a"}) == [
        "make tea",
        "paraply audit a",
    ]


def test_no_table_has_a_command_that_no_page_shows():
    run = {(page, command) for page, found in RUN.items() for command in found}
    assert {(page, one) for page, one in run if one not in SHOWN[page]} == set()
    every = {command for found in SHOWN.values() for command in found}
    assert set(INSTALLING) <= every
    left = {
        command for page, found in SHOWN.items() for command in found if not is_run(page, command)
    }
    assert [one for one in BEGINNINGS if not any(text.startswith(one) for text in left)] == []


def test_comments_continuations_and_loops_are_read():
    body = "# first\na \\\n  --b  # what\nfor x in 1 2; do\n  c $x\ndone\n\nd --env e.gz#f\n"
    assert commands(body) == ["a --b", "for x in 1 2; do c $x; done", "d --env e.gz#f"]


@pytest.mark.long(each=1)
@pytest.mark.parametrize("page", RUN)
def test_commands_end_as_they_should(page, shell, tmp_path):
    given(tmp_path, SHOWN[page])
    if page == "docs/spark.md":
        assert shell.run(CAMPAIGN, tmp_path).code == 1
    ended = {}
    for command, code in RUN[page].items():
        if "| jq" in command and shutil.which("jq") is None:
            continue
        done = shell.run(
            f"set -o pipefail; {command}",
            shell.clone if command.startswith(IN_THE_CLONE) else tmp_path,
        )
        if done.code != code:
            ended[command] = done
    assert ended == {}
