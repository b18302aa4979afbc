"""Run a job in a fork with limits, so that no patch outlives it."""

from __future__ import annotations

import gc
import multiprocessing
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

CPU_SECONDS = 60
"""A hard limit; jobs have their own, shorter ones."""
MEMORY_BYTES = 6 << 30


class TimeOutError(BaseException):
    """The time of a job is over; no handler may swallow it."""


_SIGNALS = {signal.ITIMER_VIRTUAL: signal.SIGVTALRM, signal.ITIMER_REAL: signal.SIGALRM}


def limit_time(seconds: float, timer: int = signal.ITIMER_VIRTUAL) -> None:
    """Raise ``TimeOutError`` after so much CPU time, or other time; 0 ends the limit."""
    signal.signal(_SIGNALS[timer], _on_time)
    signal.setitimer(timer, seconds)


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
        seconds: int = CPU_SECONDS,
    ) -> None:
        self._answer = answer
        self._lost = lost
        self._processes = processes
        self._seconds = seconds
        self._context = multiprocessing.get_context("fork")

    def over(self, items: Sequence[Item]) -> Iterator[Answer]:
        """Yield the answers as they come."""
        gc.freeze()  # A collection in a fork would copy every page.
        running: dict[Connection, tuple[Item, Any]] = {}
        for item in items:
            process, receiver = self._started(item)
            running[receiver] = item, process
            if len(running) >= self._processes:
                yield from self._finished(running)
        while running:
            yield from self._finished(running)

    def _started(self, item: Item) -> tuple[Any, Connection]:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=self._run, args=(item, sender))
        process.start()
        sender.close()
        return process, receiver

    def _run(self, item: Item, sender: Connection) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (self._seconds, self._seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        sender.send(self._answer(item))

    def _finished(self, running: dict[Connection, tuple[Item, Any]]) -> Iterator[Answer]:
        """Yield the answers that are there, at least one, and take them out."""
        for receiver in wait(list(running)):
            assert isinstance(receiver, Connection)
            item, process = running.pop(receiver)
            try:
                found: Answer = receiver.recv()
            except (EOFError, OSError):
                found = self._lost(item)
            process.join()
            receiver.close()
            yield found
