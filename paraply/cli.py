"""The command line: find and run the command, and return an exit code.

0 holds, 1 violated, 2 unknown, 3 wrong usage or unreadable input, 70 internal error, 130
interrupted, 141 closed standard output (as a shell reports SIGPIPE).
"""

from __future__ import annotations

import argparse
import errno
import os
import platform
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn, TextIO

from paraply.adapters.binlog.memory import DEFAULT_BYTES
from paraply.adapters.conformance.protocol import PROTOCOL_VERSION
from paraply.commands import COMMANDS, Command
from paraply.crash import (
    MemoryForNumpy,
    end_by_crash,
    faults_of_threads_raised,
    is_of_the_machine,
    silence,
)
from paraply.errors import EXTRA_MISSING, USAGE
from paraply.file_arguments import add_force_argument, claim_files, inputs_of, outputs_of
from paraply.reporting.escape import visible
from paraply.reporting.files import (
    STANDARD_OUTPUT,
    defer,
    kind_of,
    release,
    require_writable,
    reset,
    write_report,
    write_reports,
)
from paraply.reporting.page import page_for, use_page, use_plain
from paraply.sandbox.child import Work, run_locked
from paraply.sandbox.plan import Plan, plan_of
from paraply.tools import EXTRAS
from paraply.version import VERSION
from paraply.vocabulary.collector import without_collector
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.history import FORMAT_VERSION
from paraply.vocabulary.secrets import without_secrets
from paraply.vocabulary.verdict import EXIT_UNREADABLE

EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

_EPILOG = """\
exit codes: 0 holds, 1 violated, 2 unknown, 3 wrong usage or unreadable input, 70 internal error
(no verdict; the line on standard error names the file with the traceback)

examples:
  paraply audit binlog.000001 binlog.000002 --html report.html
  paraply audit --help
"""


class Parser(argparse.ArgumentParser):
    """A parser with registered errors and remedies."""

    def error(self, message: str) -> NoReturn:
        """Raise the error; argparse would exit with 2, unknown."""
        raise ParaplyError(USAGE, reason=message, command=self.prog)

    def _print_message(self, message: str, file: Any = None) -> None:
        # The inherited method ignores a full disk.
        (file or sys.stderr).write(message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``paraply`` and return its exit code."""
    if argv is None:
        _fill_missing_streams()
    MemoryForNumpy().install()
    words = sys.argv[1:] if argv is None else list(argv)
    # A program that calls this function may have threads, which a fork would lose.
    code = _code_of(_Run(words, is_own_process=argv is None))
    # A flush that fails when the interpreter ends would replace the exit code.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            silence(stream)
    return code


def _fill_missing_streams() -> None:
    """Open those of the handles 0 to 2 that the caller closed: a log's file would get the number.

    Standard output stays missing for Python, which is an error.
    """
    for handle in range(3):
        try:
            os.fstat(handle)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _code_of(run: _Run) -> int:
    try:
        return run.code()
    except ParaplyError as error:
        if is_of_the_machine(error):
            return run.crashed(error)
        with suppress(OSError):
            report(error, sys.stderr)
        return EXIT_UNREADABLE
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            return run.crashed(error)
        with suppress(OSError):
            report(ParaplyError(EXTRA_MISSING, library=error.name, extra=extra), sys.stderr)
        return EXIT_UNREADABLE
    except KeyboardInterrupt:
        with suppress(OSError):
            print("paraply: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError as error:
        return EXIT_BROKEN_PIPE if _reader_is_gone(sys.stdout) else run.crashed(error)
    except BaseException as error:  # Never end with a verdict's code.
        return run.crashed(error)


class _Run:
    def __init__(self, words: Sequence[str], *, is_own_process: bool) -> None:
        self._words = words
        self._is_own_process = is_own_process
        self._arguments: argparse.Namespace | None = None

    def code(self) -> int:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        reset()
        _escape_what_the_output_cannot_encode(sys.stdout)
        _escape_what_the_output_cannot_encode(sys.stderr)
        use_page(page_for(sys.stdout))
        with without_collector(is_kept=self._is_own_process):
            parser = build_parser(self._words)
        try:
            parsed = parser.parse_args(self._words)
        except SystemExit as done:  # --help and --version print and leave; errors raise above.
            sys.stdout.flush()
            return int(done.code or 0)
        if parsed.command is None:
            parser.print_help()
            sys.stdout.flush()
            return EXIT_UNREADABLE
        self._arguments = parsed
        use_plain(parsed)
        claim_files(parsed)
        plan = plan_of(
            parsed,
            inputs_of(parsed),
            by_default=self._is_own_process,
            warn=_say_without_sandbox,
        )
        code = _run(parsed) if plan is None else _run_sandboxed(parsed, plan)
        release()
        sys.stdout.flush()
        return code

    def crashed(self, error: BaseException) -> int:
        return end_by_crash(error, self._words, self._arguments)


def _run(parsed: argparse.Namespace) -> int:
    with faults_of_threads_raised():
        return int(parsed.run(parsed))


def _run_sandboxed(parsed: argparse.Namespace, plan: Plan) -> int:
    reports: list[tuple[str, str]] = []

    def run() -> int:
        nonlocal reports
        reports = defer()
        return _run(parsed)

    more = plan.outputs(parsed)
    work = Work(
        prepare=lambda: plan.prepare(parsed),
        run=run,
        outputs=lambda: reports,
        readable=inputs_of(parsed),
        writable={STANDARD_OUTPUT, *outputs_of(parsed), *more},
        memory=getattr(parsed, "memory", DEFAULT_BYTES),
        is_of_the_machine=is_of_the_machine,
    )
    code, outputs = run_locked(work)
    folders: dict[str, dict[str, str]] = {}
    for name, text in outputs:
        folder, slash, file = name.rpartition("/")
        if folder + slash in more and name not in more:
            folders.setdefault(folder, {})[file] = text
            continue
        if name in more:
            require_writable(name, kind_of(text.encode()))
        write_report(name, text)
    for folder, files in folders.items():
        write_reports(folder, files)
    plan.finish(parsed, [name for name, _ in outputs if name != STANDARD_OUTPUT])
    return code


def _say_without_sandbox(reason: str) -> None:
    print(f"paraply: without sandbox: {reason}", file=sys.stderr)


def report(error: ParaplyError, stream: TextIO) -> None:
    """Print an input error and its remedy."""
    print(f"paraply: {visible(without_secrets(error.text))}", file=stream)
    print(f"  remedy: {visible(without_secrets(error.remedy))}", file=stream)


def build_parser(arguments: Sequence[str], commands: Sequence[Command] = COMMANDS) -> Parser:
    """Return the parser; only commands in ``arguments`` are loaded."""
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
    parser.add_argument("--debug", action="store_true", help="print tracebacks")
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
            add_force_argument(subparser)
            subparser.add_argument(
                "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
            )
            subparser.set_defaults(run=module.run)
    return parser


def _versions() -> str:
    return (
        f"paraply {VERSION} (Python {platform.python_version()}, history format {FORMAT_VERSION}, "
        f"conformance protocol {PROTOCOL_VERSION})"
    )


def _reader_is_gone(stream: TextIO) -> bool:
    try:
        poll = select.poll()
        poll.register(stream.fileno(), select.POLLOUT)
        return any(flags & (select.POLLERR | select.POLLHUP) for _, flags in poll.poll(0))
    except (AttributeError, OSError, ValueError):
        return True


def _escape_what_the_output_cannot_encode(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
