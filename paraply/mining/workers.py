"""Workers on the parts of a log: processes of this machine, this process, or Spark's."""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from paraply.adapters.binlog.input_files import bytes_total
from paraply.mining.part_files import NO_SHARED_FOLDER
from paraply.vocabulary.child_failure import ChildFailure
from paraply.vocabulary.counting import counted
from paraply.vocabulary.errors import ErrorCode, ParaplyError

if TYPE_CHECKING:
    from paraply.mining.engines import Engine

SPARK_BYTES_MIN = 2 << 30
"""Below this one process finishes before Spark starts."""

T = TypeVar("T")
R = TypeVar("R")


class Map(Protocol):
    """Maps tasks in any order (``paraply.mining.engines.Engine.map``)."""

    def __call__(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterable[R]:
        """Return the results."""


class Processes:
    """Runs items side by side, each in a process of its own."""

    def __init__(self, count: int) -> None:
        """Run ``count`` at once, but no more than there are cores."""
        self._count = min(count, _cores())
        self.name = counted(self._count, "process", "processes")
        # What is loaded and compiled here is there in a fork.
        can_fork = "fork" in multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("fork" if can_fork else "spawn")

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield results as they come; closing kills the processes.

        Raises what the function raises: ``ParaplyError``, or ``ChildFailure`` for all else and for
        a process that was killed.
        """
        waiting = iter(items)
        running: dict[Connection, tuple[T, BaseProcess]] = {}
        try:
            while True:
                for item in islice(waiting, self._count - len(running)):
                    receiver, process = self._started(function, item)
                    running[receiver] = item, process
                if not running:
                    return
                for ready in wait(list(running)):
                    assert isinstance(ready, Connection)
                    item, process = running.pop(ready)
                    yield _answer(ready, process, item)
        finally:
            for receiver, (_, process) in running.items():
                process.kill()
                process.join()
                receiver.close()

    def _started(self, function: Callable[[T], R], item: T) -> tuple[Connection, BaseProcess]:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_work, args=(function, item, sender))
        process.start()
        sender.close()
        return receiver, process


@contextmanager
def engine_on(
    files: Sequence[str], master: str, out: str | None
) -> Iterator[tuple[Engine, str | None]]:
    """Yield the engine of a master, and the folder ``out`` as its workers reach it.

    Raises P328 for a cluster without a folder.
    """
    engine = engine_of(files, master)
    try:
        if out is None and not engine.is_local:
            raise ParaplyError(NO_SHARED_FOLDER, reason=f"the workers of {master} are elsewhere")
        yield engine, None if out is None else engine.reached(out)
    finally:
        engine.close()


def engine_of(files: Sequence[str], master: str) -> Engine:
    """Return the engine; small inputs avoid Spark."""
    # Imported late: processes need no Arrow.
    from paraply.mining.engines import IN_PROCESS, InProcess, OnSpark
    from paraply.mining.session import is_submitted

    if master == "auto":
        size = bytes_total(files)
        is_large = size is None or size >= SPARK_BYTES_MIN
        master = "local[*]" if is_large or is_submitted() else IN_PROCESS
    return InProcess() if master == IN_PROCESS else OnSpark(master)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _work(function: Callable[[T], R], item: T, sender: Connection) -> None:
    # Ctrl-C reaches all processes; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        answer: tuple[Any, ...] = "done", function(item)
    except ParaplyError as error:
        answer = "refused", error.error.code, error.text, error.remedy
    except (MemoryError, OSError) as error:
        answer = "of the machine", error
    except BaseException as error:
        story = "".join(traceback.format_exception(error))
        answer = "failed", type(error).__name__, str(error), story
    sender.send(answer)


def _answer(receiver: Connection, process: BaseProcess, item: object) -> Any:
    try:
        kind, *found = receiver.recv()
    except (EOFError, OSError):
        kind, found = "lost", []
    finally:
        process.join()
        receiver.close()
    if kind == "done":
        return found[0]
    if kind == "of the machine":
        raise found[0]
    if kind == "failed":
        raise ChildFailure(found[0], found[1], found[2])
    if kind == "refused":
        code, text, remedy = (each.replace("{", "{{").replace("}", "}}") for each in found)
        message = text.removeprefix(f"{code} ")
        raise ParaplyError(ErrorCode(code=code, message=message, remedy=remedy))
    ended = -(process.exitcode or 0)
    how = f"was ended by {signal.Signals(ended).name}" if ended > 0 else "ended without an answer"
    raise ChildFailure("WorkerLost", f"the process that worked on {item} {how}", "")
