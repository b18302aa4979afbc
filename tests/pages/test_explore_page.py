"""What docs/explore.md shows is what the program prints.

``python -m tests.pages.test_explore_page`` writes the outputs again; look at the difference.
"""

from __future__ import annotations

import re

import pytest

from tests.conftest import REPOSITORY
from tests.golden.__main__ import expected_text

PAGE = REPOSITORY / "docs" / "explore.md"
BLOCK = re.compile(r"```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)```\n", re.DOTALL)


def blocks():
    found = [(match["command"], match["output"]) for match in BLOCK.finditer(PAGE.read_text())]
    if not found:
        raise ValueError(f"{PAGE} shows no command")
    return found


def printed(command):
    _, _, output = expected_text(command).split("\n", 2)
    return output


@pytest.mark.long
@pytest.mark.parametrize(("command", "output"), blocks(), ids=[one for one, _ in blocks()])
def test_page_shows_what_the_command_prints(command, output):
    assert printed(command) == output


def test_page_mentions_only_commands_that_exist():
    from paraply.commands import COMMANDS

    mentioned = set(re.findall(r"paraply ([a-z]+)", PAGE.read_text()))
    assert mentioned <= {command.name for command in COMMANDS}


if __name__ == "__main__":
    PAGE.write_text(
        BLOCK.sub(
            lambda match: f"```console\n$ {match['command']}\n{printed(match['command'])}```\n",
            PAGE.read_text(),
        )
    )
