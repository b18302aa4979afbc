"""``paraply completion``: a shell completion script."""

from __future__ import annotations

import argparse
import sys

import shtab

from paraply.cli import build_parser
from paraply.commands import COMMANDS, Command

_EXAMPLE = """\
examples:
  eval "$(paraply completion bash)"
  paraply completion zsh > ~/.zfunc/_paraply
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Print a script that completes paraply's commands and options in a shell."
    parser.epilog = _EXAMPLE
    parser.add_argument("shell", choices=shtab.SUPPORTED_SHELLS)


def run(arguments: argparse.Namespace) -> int:
    """Print the script for every command."""
    parser = build_parser([command.name for command in COMMANDS if _can_be_loaded(command)])
    sys.stdout.write(shtab.complete(parser, shell=arguments.shell) + "\n")
    return 0


def _can_be_loaded(command: Command) -> bool:
    try:
        command.load()
    except ModuleNotFoundError:
        return False
    return True
