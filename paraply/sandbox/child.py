"""Runs a command in a locked child process.

The child reads the input and computes; it returns the exit code and the texts of the outputs, or
how it failed, as JSON. Only the parent writes files and raises errors, so that everything after it
is the same with and without sandbox.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import signal
import sys
import sysconfig
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from paraply.sandbox.kernel import confine_files, filter_calls, limit
from paraply.vocabulary.child_failure import ChildFailure
from paraply.vocabulary.collector import without_collector
from paraply.vocabulary.errors import ErrorCode, ParaplyError

MEMORY_OF_PYTHON = 1 << 30
MEMORY_TIMES = 8
"""Private memory of the child: this many times ``--memory``, and :data:`MEMORY_OF_PYTHON`."""
_PHYSICAL_SHARE = 0.75
_SECONDS_TO_END = 2.0
_STORY_BYTES_MAX = 1 << 20

_SYSTEM = (
    "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/proc/self", "/proc/cpuinfo",
    "/proc/meminfo", "/proc/stat", "/proc/sys", "/sys/devices/system", "/sys/fs/cgroup",
    "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/nix/store", "/gnu/store",
)  # fmt: skip
"""What libraries read."""

Outputs = Sequence[tuple[str, str]]
"""File names and texts, in the order of writing."""

_is_locked = False


def is_locked() -> bool:
    """Return whether this process can start no other."""
    return _is_locked


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the child does.

    Attributes:
        prepare: runs before the lock, without input.
        run: runs after it, and returns the exit code.
        outputs: returns the texts to write, after ``run``.
        readable: paths of the input.
        writable: names of the outputs that the user asked for; of a folder, with a ``/`` at the
            end, the files directly in it.
        memory: bytes of ``--memory``.
        is_of_the_machine: returns whether disk, memory or handles ran out.
    """

    prepare: Callable[[], None]
    run: Callable[[], int]
    outputs: Callable[[], Outputs]
    readable: Collection[str]
    writable: Collection[str]
    memory: int
    is_of_the_machine: Callable[[BaseException], bool]


def run_locked(work: Work) -> tuple[int, Outputs]:
    """Return the exit code and outputs of a run in a locked child.

    Raises what the run raised: ``ParaplyError``, ``KeyboardInterrupt``, ``BrokenPipeError``,
    ``ModuleNotFoundError``, or ``ChildFailure`` for all else and for a child that was stopped.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    with (
        tempfile.TemporaryDirectory(prefix="paraply-sandbox-") as temporary,
        tempfile.TemporaryFile(dir=temporary) as story,
    ):
        answer, question = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(answer)
            _be_the_child(work, question, story, temporary)
        os.close(question)
        try:
            with open(answer, "rb") as stream:
                text = stream.read()
            _, status = os.waitpid(child, 0)
        except BaseException:
            _end(child)
            raise
        if os.WIFSIGNALED(status):
            raise _stopped(os.WTERMSIG(status), _read(story))
    return _answered(text, work.writable)


def can_lock() -> bool:
    """Return whether a child process can lock itself here."""
    child = os.fork()
    if child == 0:
        try:
            _lock((), tempfile.gettempdir(), MEMORY_OF_PYTHON)
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _be_the_child(work: Work, question: int, story: BinaryIO, temporary: str) -> NoReturn:
    # Ctrl-C reaches both processes; the parent decides, and sends SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)
    code = 1
    try:
        message = _message_of(work, story, temporary)
        with open(question, "wb") as stream:
            stream.write(json.dumps(message).encode())
        code = 0
    finally:
        os._exit(code)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _message_of(work: Work, story: BinaryIO, temporary: str) -> dict[str, Any]:
    try:
        with without_collector(is_kept=True):
            work.prepare()
        tempfile.tempdir = temporary
        _lock([*_readable_code(), *work.readable], temporary, _memory_limit(work.memory))
        faulthandler.enable(story)
        faulthandler.register(signal.SIGSYS, story, all_threads=False, chain=True)
        code = work.run()
        outputs = work.outputs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException as error:
        return _failure(error, work.is_of_the_machine(error))
    return {"code": code, "outputs": outputs}


def _lock(readable: Iterable[str], temporary: str, memory: int) -> None:
    global _is_locked
    sys.dont_write_bytecode = True
    _keep_no_kernels()
    limit(memory)
    confine_files(readable, temporary)
    filter_calls()
    _is_locked = True


def _keep_no_kernels() -> None:
    # A kernel that a locked process compiled would run outside of it next time.
    caching = sys.modules.get("numba.core.caching")
    if caching is not None:
        caching.Cache.save_overload = lambda *_: None


def _readable_code() -> Iterable[str]:
    """Yield the folders that Python imports from, except the working directory."""
    yield from _SYSTEM
    package = Path(__file__).resolve().parents[1]
    yield from {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), str(package)}
    with suppress(FileNotFoundError):  # The working directory was removed, and holds nothing.
        here = Path.cwd()
        yield from (path for path in sys.path if path and Path(path).resolve() != here)


def _memory_limit(memory: int) -> int:
    wanted = MEMORY_OF_PYTHON + MEMORY_TIMES * memory
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(wanted, int(_PHYSICAL_SHARE * physical))


def _failure(error: BaseException, is_of_the_machine: bool) -> dict[str, Any]:
    if isinstance(error, ParaplyError) and not is_of_the_machine:
        message = error.error.message.format(**error.details)
        return {
            "error": "input", "code": error.error.code, "where": error.where, "message": message,
            "remedy": error.remedy,
        }  # fmt: skip
    if isinstance(error, ModuleNotFoundError):
        return {"error": "module", "name": error.name or "", "message": str(error)}
    if isinstance(error, KeyboardInterrupt):
        return {"error": "interrupt"}
    if isinstance(error, BrokenPipeError):
        return {"error": "pipe"}
    kind, text = type(error).__name__, str(error)
    try:
        story = "".join(traceback.format_exception(error))
    except (MemoryError, RecursionError):
        story = f"{kind}; its traceback cannot be formatted\n"
    # The frames reference what filled the memory.
    traceback.clear_frames(error.__traceback__)
    gc.collect()
    return {
        "error": "failure", "kind": kind, "message": text, "story": story,
        "is_of_the_machine": is_of_the_machine,
    }  # fmt: skip


def _answered(text: bytes, writable: Collection[str]) -> tuple[int, Outputs]:
    """Return the answer; the child is not trusted."""
    try:
        found = json.loads(text)
        if "error" in found:
            raise _raised(found)
        code, outputs = found["code"], [(str(name), str(body)) for name, body in found["outputs"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ChildFailure(
            "SandboxError", "the process that reads the files ended without an answer", ""
        ) from None
    foreign = [name for name, _ in outputs if not _is_writable(name, writable)]
    if foreign or code not in (0, 1, 2, 3):
        what = f"to write {foreign[0]}" if foreign else f"to exit with {code}"
        raise ChildFailure("SandboxError", f"the process that reads the files asked {what}", "")
    return int(code), outputs


def _is_writable(name: str, writable: Collection[str]) -> bool:
    folder, slash, file = name.rpartition("/")
    return file not in ("", ".", "..") and bool({name, folder + slash} & {*writable})


def _raised(found: dict[str, Any]) -> BaseException:
    kind = found["error"]
    if kind == "input":
        message, remedy = (
            str(found[name]).replace("{", "{{").replace("}", "}}") for name in ("message", "remedy")
        )
        entry = ErrorCode(code=str(found["code"]), message=message, remedy=remedy)
        return ParaplyError(entry, where=str(found["where"]))
    if kind == "module":
        return ModuleNotFoundError(str(found["message"]), name=str(found["name"]))
    if kind == "interrupt":
        return KeyboardInterrupt()
    if kind == "pipe":
        return BrokenPipeError()
    return ChildFailure(
        str(found["kind"]), str(found["message"]), str(found["story"]),
        is_of_the_machine=bool(found["is_of_the_machine"]),
    )  # fmt: skip


def _stopped(number: int, story: str) -> BaseException:
    name = signal.Signals(number).name
    if number == signal.SIGSYS:
        text = "the process that reads the files was stopped: it tried what the sandbox forbids"
        return ChildFailure("SandboxBreach", text, story)
    return ChildFailure("SandboxError", f"the process that reads the files ended by {name}", story)


def _read(story: BinaryIO) -> str:
    story.seek(0)
    return story.read(_STORY_BYTES_MAX).decode(errors="backslashreplace")


def _end(child: int) -> None:
    """End the child: first so that it can restore the terminal, then at once."""
    try:
        os.kill(child, signal.SIGTERM)
        deadline = time.monotonic() + _SECONDS_TO_END
        while time.monotonic() < deadline:
            if os.waitpid(child, os.WNOHANG)[0]:
                return
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    except (ChildProcessError, ProcessLookupError):
        return
