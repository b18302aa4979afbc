"""The command line: find the command, run it, and turn what happened into an exit code.

Exit codes: 0 holds, 1 violated, 2 unknown, 3 wrong usage or unreadable input, 130 interrupted,
141 the reader of standard output went away (as a shell reports SIGPIPE).
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

from paraply.adapters.conformance.protocol import PROTOCOL_VERSION
from paraply.commands import COMMANDS, Command
from paraply.errors import USAGE
from paraply.reporting.escape import visible
from paraply.reporting.page import page_for, use_page, use_plain
from paraply.version import VERSION
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import FORMAT_VERSION
from paraply.vocabulary.verdict import EXIT_UNREADABLE

EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

_EPILOG = """\
exit codes: 0 holds, 1 violated, 2 unknown, 3 wrong usage or unreadable input

example:
  paraply audit binlog.000001 binlog.000002 --html report.html
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are registered errors, with a remedy."""

    def error(self, message: str) -> NoReturn:
        """Raise the usage error instead of printing and exiting with 2, which means unknown."""
        raise ParaplyError(USAGE, reason=message, command=self.prog)


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``paraply`` and return its exit code; never a traceback for a user's mistake."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    _escape_what_the_output_cannot_encode(sys.stdout)
    _escape_what_the_output_cannot_encode(sys.stderr)
    use_page(page_for(sys.stdout))
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except ParaplyError as error:
        report(error, sys.stderr)
        return EXIT_UNREADABLE
    except KeyboardInterrupt:
        print("paraply: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes stdout once more at exit; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    return code


def report(error: ParaplyError, stream: TextIO) -> None:
    """Print an error of the user's input: code, place, message, and on a second line the remedy."""
    print(f"paraply: {visible(error.text)}", file=stream)
    print(f"  remedy: {visible(error.remedy)}", file=stream)


def build_parser(arguments: Sequence[str], commands: Sequence[Command] = COMMANDS) -> Parser:
    """Return the parser; only commands named in ``arguments`` are imported and configured."""
    parser = Parser(
        prog="paraply",
        description="Is it safe to apply these transactions in parallel, and can you prove it?",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--version",
        action="version",
        version=_versions(),
    )
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", parser_class=Parser
    )
    for command in commands:
        subparser = subparsers.add_parser(
            command.name,
            help=command.summary,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        # Importing every command would load solvers and Spark to print a help text.
        if command.name in arguments:
            module = command.load()
            module.configure(subparser)
            subparser.set_defaults(run=module.run)
    return parser


def _versions() -> str:
    """Return what decides whether a run can be made again: ours, and those of the formats."""
    return (
        f"paraply {VERSION} (Python {platform.python_version()}, history format {FORMAT_VERSION}, "
        f"conformance protocol {PROTOCOL_VERSION})"
    )


def _run(arguments: Sequence[str]) -> int:
    parser = build_parser(arguments)
    try:
        parsed = parser.parse_args(arguments)
    except SystemExit as done:  # --help and --version print and leave; errors raise above.
        return int(done.code or 0)
    if parsed.command is None:
        parser.print_help()
        return EXIT_UNREADABLE
    use_plain(parsed)
    return int(parsed.run(parsed))


def _escape_what_the_output_cannot_encode(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
