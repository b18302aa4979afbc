"""Threads of concurrent clients, which end after a number of confirmed transactions."""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

PAUSE_S = 0.05
"""Before a client connects again."""
CONNECTION_LOST = frozenset({0, 1047, 1053, 1927, 2006, 2013, 2014, 2055})
"""Errors after which a client needs a new connection."""


class ClientThreads(ABC):
    """Clients from :meth:`start` until :meth:`stop_threads`.

    The seed determines choices; the servers determine interleaving.
    """

    def __init__(self, clients: int, transactions: int) -> None:
        self._transactions = transactions
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(number,), daemon=True)
            for number in range(clients)
        ]

    @property
    @abstractmethod
    def completed(self) -> int:
        """Return the number of confirmed transactions."""

    @abstractmethod
    def _run(self, number: int) -> None:
        """Run one client until :attr:`is_done`."""

    @property
    def is_done(self) -> bool:
        """Return whether clients begin no further transaction."""
        return self._stop.is_set() or self.completed >= self._transactions

    def start(self) -> None:
        """Start the clients."""
        for thread in self._threads:
            thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for the clients, at most ``seconds``."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    @property
    def have_ended(self) -> bool:
        """Return whether the clients are done."""
        return not any(thread.is_alive() for thread in self._threads)

    def wait_for(self, completed: int, seconds: float) -> bool:
        """Wait for confirmations; return whether they arrived."""
        deadline = time.monotonic() + seconds
        while self.completed < completed and time.monotonic() < deadline:
            if self.have_ended:
                break
            time.sleep(0.01)
        return self.completed >= completed

    @contextmanager
    def going_on(self, *, more: int | None = None) -> Iterator[None]:
        """Keep all clients working in the block, and for ``more`` transactions after it.

        By default they end at the number that they began with.
        """
        share, self._transactions = self._transactions, sys.maxsize
        try:
            yield
        finally:
            self._transactions = share if more is None else self.completed + more

    def stop_threads(self, seconds: float) -> None:
        """End the load, and wait for the clients, at most ``seconds``."""
        self._stop.set()
        self.wait(seconds)
