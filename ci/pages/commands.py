"""``docs/commands.md``: commands and options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from ci.pages.writing import filled, pages_main, table
from paraply.cli import build_parser
from paraply.commands import COMMANDS, Command

PAGE = "docs/commands.md"


def commands_page() -> str:
    """Return docs/commands.md."""
    parser = build_parser([command.name for command in COMMANDS])
    (commands,) = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    lines: list[str] = []
    for command in COMMANDS:
        lines += _section(command, commands.choices[command.name])
    return filled(PAGE, {"commands": lines[:-1]})


def _section(command: Command, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from (f"## paraply {command.name}", "")
    yield from (" ".join((parser.description or command.summary).split()), "")
    rows = [
        [f"`{name}`".replace("|", "\\|"), meaning.replace("|", "\\|")]
        for name, meaning in described_options(parser)
    ]
    if rows:
        yield from (*table(["argument", "meaning"], rows), "")
    yield from ("```text", (parser.epilog or "").strip(), "```", "")


def described_options(parser: argparse.ArgumentParser) -> list[tuple[str, str]]:
    """Return each argument as users write it, and its meaning."""
    return [
        (_name(action), _meaning(parser, action))
        for action in parser._actions
        if action.dest != "help"
    ]


def _name(action: argparse.Action) -> str:
    value = ""
    if action.nargs != 0:
        choices = action.choices
        metavar = action.metavar or (
            "{" + ",".join(map(str, choices)) + "}" if choices else action.dest.upper()
        )
        value = " ".join(metavar) if isinstance(metavar, tuple) else metavar
        if action.nargs in ("+", "*"):
            value += " ..."
    return " ".join([*action.option_strings[-1:], value]).strip()


def _meaning(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = (action.help or "") % {**vars(action), "prog": parser.prog}
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(pages_main("ci.pages.commands", {PAGE: commands_page()}))
