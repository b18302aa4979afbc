"""What docs/audit.md shows is what the program prints."""

from __future__ import annotations

import argparse
import re

from paraply.commands import audit as command
from tests.golden.__main__ import golden_files


def page(repository):
    return (repository / "docs" / "audit.md").read_text(encoding="utf-8")


def test_every_excerpt_of_a_report_stands_in_a_golden_file(repository):
    printed = "".join(path.read_text(encoding="utf-8") for path in golden_files())
    excerpts = re.findall(r"^```text\n(.*?)^```$", page(repository), re.DOTALL | re.MULTILINE)
    assert len(excerpts) >= 2
    for excerpt in excerpts:
        assert excerpt in printed


def test_every_option_on_the_page_exists_and_every_option_is_on_a_page(repository):
    parser = argparse.ArgumentParser()
    command.configure(parser)
    options = {flag for action in parser._actions for flag in action.option_strings}
    commands = re.findall(r"paraply audit [^`|\n]*", page(repository))
    used = {flag for line in commands for flag in re.findall(r"(?<=\s)--[a-z][a-z-]*", line)}
    assert used <= options
    assert {"--schema", "--json", "--html", "--junit", "--strict"} <= used
