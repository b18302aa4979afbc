"""``docs/paraply.1``: the manual page, from the parsers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from ci.pages.commands import described_options
from ci.pages.writing import pages_main
from paraply.cli import build_parser
from paraply.commands import COMMANDS
from paraply.version import VERSION

PAGE = "docs/paraply.1"


def page() -> str:
    """Return the page in roff's man macros."""
    parser = build_parser([command.name for command in COMMANDS])
    (commands,) = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    lines = [
        f'.TH PARAPLY 1 "" "paraply {VERSION}" "User Commands"',
        ".SH NAME",
        f"paraply \\- {_text(parser.description or '')}",
        ".SH SYNOPSIS",
        ".B paraply",
        "COMMAND [OPTIONS]",
        ".SH COMMANDS",
    ]
    for command in COMMANDS:
        lines += _command(command.name, command.summary, commands.choices[command.name])
    lines += [".SH EXIT STATUS", ".nf", *map(_text, (parser.epilog or "").splitlines()), ".fi"]
    return "\n".join(lines) + "\n"


def _command(name: str, summary: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f".SS paraply {name}"
    yield _text(" ".join((parser.description or summary).split()))
    for option, meaning in described_options(parser):
        yield ".TP"
        yield f".B {_text(option)}"
        yield _text(meaning) or "\\&"
    yield from (".PP", ".nf", *map(_text, (parser.epilog or "").strip().splitlines()), ".fi")


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.man", {PAGE: page()}))
