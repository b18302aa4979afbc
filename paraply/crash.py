"""Failures of paraply or the machine: exit code 70, never a verdict.

Standard error names the failure, the traceback's file, and where to report. Requested JSON, SARIF,
JUnit and TAP outputs contain ``error``.
"""

from __future__ import annotations

import argparse
import errno
import mmap
import os
import platform
import re
import shlex
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import TextIO

from paraply.reporting.escape import visible
from paraply.reporting.files import discard, drop_held, release, write_report
from paraply.reporting.json_document import json_document
from paraply.reporting.sarif import sarif_document, sarif_result
from paraply.version import REPORT_TO, VERSION
from paraply.vocabulary.child_failure import ChildFailure
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.secrets import without_secrets

EXIT_INTERNAL = 70
"""EX_SOFTWARE of sysexits.h."""

_OF_THE_MACHINE = frozenset(
    {
        errno.EAGAIN,
        errno.EDQUOT,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
    }
)
_WHAT_CHARACTERS_MAX = 300
_INTERNAL_ERROR = "internal-error"


def is_of_the_machine(error: BaseException) -> bool:
    """Return whether disk, memory or handles ran out."""
    return any(
        isinstance(one, MemoryError)
        or (isinstance(one, OSError) and one.errno in _OF_THE_MACHINE)
        or (isinstance(one, ChildFailure) and one.is_of_the_machine)
        for one in _chain(error)
    )


@contextmanager
def faults_of_threads_raised() -> Iterator[None]:
    """Raise a thread's first exception at the end; Python only prints it."""
    found: list[BaseException] = []

    def collect(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            found.append(arguments.exc_value)

    before = threading.excepthook
    threading.excepthook = collect
    try:
        yield
    finally:
        threading.excepthook = before
    if found:
        raise found[0]


class MemoryForNumpy:
    """Raises ``MemoryError`` if memory is short for numpy.

    OpenBLAS would exit with 1, which means "violated".
    """

    needed = 256 << 20

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Check the memory for numpy."""
        if name == "numpy":
            sys.meta_path.remove(self)
            try:
                mmap.mmap(-1, self.needed).close()
            except (OSError, ValueError):
                raise MemoryError(f"numpy needs {self.needed >> 20} MB of memory") from None

    def install(self) -> None:
        """Install unless numpy is loaded."""
        is_there = any(isinstance(one, MemoryForNumpy) for one in sys.meta_path)
        if "numpy" not in sys.modules and not is_there:
            sys.meta_path.insert(0, self)


def end_by_crash(
    error: BaseException, words: Sequence[str], arguments: argparse.Namespace | None
) -> int:
    """Report a failure and return 70; ``arguments`` may be unparsed."""
    story = _story(error, words)
    # The frames reference what filled the memory.
    traceback.clear_frames(error.__traceback__)
    what = _what(error)
    line = (
        f"paraply: internal error, no verdict (exit code {EXIT_INTERNAL}): {what}; "
        f"{_kept(story)}; report it with that text to {REPORT_TO}"
    )
    _say(without_secrets(line))
    if getattr(arguments, "debug", "--debug" in words):
        _say(story)
    _write_errors(what, error, words, arguments)
    return EXIT_INTERNAL


def silence(stream: TextIO) -> None:
    """Discard pending output."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _what(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    name = _kind(error)
    words = f"{name}: {text}" if text else "out of memory" if name == "MemoryError" else name
    return visible(without_secrets(words))[:_WHAT_CHARACTERS_MAX]


def _kind(error: BaseException) -> str:
    return error.kind if isinstance(error, ChildFailure) else type(error).__name__


def _story(error: BaseException, words: Sequence[str]) -> str:
    head = (
        f"paraply {VERSION}, Python {platform.python_version()}, {sys.platform}\n"
        f"command: {shlex.join(['paraply', *words])}\n\n"
    )
    try:
        told = error.story if isinstance(error, ChildFailure) else ""
        text = told or "".join(traceback.format_exception(error))
    except (MemoryError, RecursionError):
        text = f"{type(error).__name__}; its traceback cannot be formatted\n"
    return without_secrets(head + text)


def _kept(story: str) -> str:
    try:
        file = Path(tempfile.mkdtemp(prefix="paraply-crash-")) / "traceback.txt"
        file.write_text(story, encoding="utf-8", errors="backslashreplace")
    except (OSError, MemoryError) as failure:
        reason = getattr(failure, "strerror", None) or type(failure).__name__
        return f"the traceback cannot be written ({reason}), --debug prints it"
    return f"traceback: {file}"


def _say(text: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        data = (text.rstrip("\n") + "\n").encode(errors="backslashreplace")
        sys.stderr.write(data.decode())
        sys.stderr.flush()


def _write_errors(
    what: str, error: BaseException, words: Sequence[str], arguments: argparse.Namespace | None
) -> None:
    command = getattr(arguments, "command", None) or next(
        (word for word in words if not word.startswith("-")), ""
    )
    texts = {
        "json": json_document(
            {
                "verdict": "error",
                "command": command,
                "exit_code": EXIT_INTERNAL,
                "error": {"type": _kind(error), "message": what},
            }
        ),
        "sarif": _sarif(what),
        "junit": _junit(command, _kind(error), what),
    }
    drop_held()
    for option, text in texts.items():
        name = _asked(option, words, arguments)
        if name is None:
            continue
        try:
            write_report(name, text)
            release()
            sys.stdout.flush()
        except (OSError, ParaplyError, ValueError, AttributeError, MemoryError):
            discard(name, text)
    if getattr(arguments, "tap", False):
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.write(f"TAP version 14\nBail out! error: {what}\n")
            sys.stdout.flush()


def _asked(option: str, words: Sequence[str], arguments: argparse.Namespace | None) -> str | None:
    if arguments is not None:
        name = getattr(arguments, option, None)
        return None if name is None else str(name)
    found = re.search(rf"\0--{option}[=\0]([^\0]+)", "\0" + "\0".join(words))
    return found.group(1) if found else None


def _sarif(what: str) -> str:
    text = f"internal error, no verdict: {what}"
    ended = {
        "executionSuccessful": False,
        "exitCode": EXIT_INTERNAL,
        "toolExecutionNotifications": [{"level": "error", "message": {"text": text}}],
    }
    return sarif_document(
        "paraply",
        {_INTERNAL_ERROR: "Paraply itself failed, or the machine did."},
        [sarif_result(_INTERNAL_ERROR, "error", text)],
        invocations=[ended],
    )


def _quoted(text: str) -> str:
    # xml.sax.saxutils imports an HTTP client.
    return '"' + escape(text).replace("\n", "&#10;") + '"'


def _junit(command: str, kind: str, what: str) -> str:
    counts = 'tests="1" failures="0" errors="1" skipped="0"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites name={_quoted(f'paraply {command}')} {counts}>\n"
        f"  <testsuite name={_quoted(f'paraply {command}')} {counts}>\n"
        f'    <testcase classname={_quoted(f"paraply.{command}")} name="the run ends">\n'
        f"      <error type={_quoted(kind)} message={_quoted(what)} />\n"
        "    </testcase>\n  </testsuite>\n</testsuites>\n"
    )
