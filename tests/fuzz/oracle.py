"""What every reader owes to every input: a verdict or an error of ours, in bounded memory."""

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import signal
from collections.abc import Iterator, Sequence
from functools import cache
from unittest import mock

from paraply import cli
from paraply.vocabulary.errors import ParaplyError

INPUT_SECONDS_MAX = 60
MEMORY_BYTES_MAX = 3 << 29
"""Above what the process has when the inputs begin."""


_BUILD_PARSER = cli.build_parser


class BrokenError(Exception):
    """An input that a reader did not withstand."""


class TooSlowError(BaseException):
    """Raised inside of a reader; no handler of errors may take it for one."""


def outcome_of_command(words: Sequence[str]) -> str:
    """Run a command in this process; return its verdict, or its error code."""
    crashes: list[BaseException] = []

    def crashed(error: BaseException, *_: object) -> int:
        crashes.append(error)
        return 70

    said, complaint = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(cli, "end_by_crash", crashed),
        mock.patch.object(cli, "build_parser", _parser),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complaint),
    ):
        code = cli.main(list(words))
    if crashes:
        raise BrokenError(f"{' '.join(words)}: {crashes[0]!r}") from crashes[0]
    if code in (0, 1, 2):
        return ("holds", "violated", "unknown")[code]
    lines = [line for line in complaint.getvalue().splitlines() if line.startswith("paraply: P")]
    if code != 3 or not lines or "\n  remedy: " not in complaint.getvalue():
        raise BrokenError(f"{' '.join(words)}: exit code {code}: {complaint.getvalue()[-500:]}")
    return lines[-1].split()[1]


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    return parser_of(words[0])


@cache
def parser_of(command: str) -> argparse.ArgumentParser:
    """Return a parser; to make it costs more than to read most inputs."""
    return _BUILD_PARSER([command])


@contextlib.contextmanager
def refusals() -> Iterator[list[str]]:
    """Yield a list that gets the code if a reader of ours refuses the input."""
    found: list[str] = []
    try:
        yield found
    except ParaplyError as error:
        found.append(error.error.code)


@contextlib.contextmanager
def bounded_time() -> Iterator[None]:
    """Raise ``TooSlowError`` after :data:`INPUT_SECONDS_MAX` of the process's own time."""

    def late(*_: object) -> None:
        raise TooSlowError(f"no end after {INPUT_SECONDS_MAX} s")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, INPUT_SECONDS_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def limit_memory() -> None:
    """Let this process grow by :data:`MEMORY_BYTES_MAX` from now on."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES_MAX
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
