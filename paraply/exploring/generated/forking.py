"""Run a job in a fork with limits, so that no patch outlives it."""

from __future__ import annotations

import gc
import multiprocessing
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

CPU_SECONDS = 60
"""A hard limit; jobs have their own, shorter ones."""
MEMORY_BYTES = 6 << 30


class TimeOutError(BaseException):
    """The time of a job is over; no handler may swallow it."""


def limit_time(seconds: float) -> None:
    """Raise ``TimeOutError`` after so much CPU time; 0 ends the limit."""
    signal.signal(signal.SIGVTALRM, _on_time)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def _on_time(*_: object) -> None:
    raise TimeOutError


class Forks(Generic[Item, Answer]):
    """Answers of a function, each computed in a fork; ``lost`` replaces that of a dead fork."""

    def __init__(
        self,
        answer: Callable[[Item], Answer],
        lost: Callable[[Item], Answer],
        *,
        processes: int = 1,
    ) -> None:
        self._answer = answer
        self._lost = lost
        self._processes = processes
        self._context = multiprocessing.get_context("fork")

    def over(self, items: Sequence[Item]) -> Iterator[Answer]:
        """Yield the answers in order."""
        gc.freeze()  # A collection in a fork would copy every page.
        waiting: list[tuple[Item, Any, Connection]] = []
        for item in items:
            waiting.append(self._started(item))
            if len(waiting) >= self._processes:
                yield self._finished(*waiting.pop(0))
        while waiting:
            yield self._finished(*waiting.pop(0))

    def _started(self, item: Item) -> tuple[Item, Any, Connection]:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=self._run, args=(item, sender))
        process.start()
        sender.close()
        return item, process, receiver

    def _run(self, item: Item, sender: Connection) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        sender.send(self._answer(item))

    def _finished(self, item: Item, process: Any, receiver: Connection) -> Answer:
        try:
            found: Answer = receiver.recv()
        except (EOFError, OSError):
            found = self._lost(item)
        process.join()
        receiver.close()
        return found
