"""Reads a server's log in a thread, and goes on where a connection broke."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

from paraply.adapters.binlog.live_events import SentEvents, SentTransaction
from paraply.adapters.servers.binlog_dump import LogPlace
from paraply.adapters.servers.binlog_stream import EventStream, is_final
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_names import GtidNames

BYTES_WAITING_MAX = 4 << 20
"""Events that wait to be judged, of one log."""
_RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)


_NOWHERE = LogPlace(file="", offset=0)


@dataclass(slots=True, kw_only=True)
class ReaderStatus:
    """What a reader does now."""

    place: LogPlace = _NOWHERE
    """Everything before is read."""
    is_connected: bool = False
    reconnections: int = 0
    problem: str = ""
    transactions: int = 0
    bytes_read: int = 0


class LogReader:
    """Reads complete transactions with GTIDs from ``after`` on.

    ``changed``: notified of each new transaction. ``failure``: the reader ended with it. ``moved``:
    another server answers at the address; the reader ended.
    """

    def __init__(
        self, stream: EventStream, after: GtidNames, identity: str, changed: threading.Condition
    ) -> None:
        self.status = ReaderStatus()
        self.failure: ParaplyError | None = None
        self.crash: BaseException | None = None
        self.moved = ""
        self._stream = stream
        self._after = after.copy()
        self._identity = identity
        self._changed = changed
        self._waiting: deque[SentTransaction] = deque()
        self._bytes = 0
        self._is_ended = False
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"log of {stream.name}")

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def pop(self) -> SentTransaction | None:
        """Return the next transaction, if one waits."""
        with self._changed:
            if not self._waiting:
                return None
            sent = self._waiting.popleft()
            self._bytes -= len(sent.events)
            self._changed.notify_all()
            return sent

    @property
    def is_idle(self) -> bool:
        """Return whether nothing waits."""
        return not self._waiting

    def end(self) -> None:
        """Stop reading and wait for the thread."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()
        self._stream.close()
        if self._thread.is_alive():
            self._thread.join(10)

    def _run(self) -> None:
        failures = 0
        while not self._is_ended:
            before = self.status.transactions
            try:
                identity = self._stream.identity()
                if identity != self._identity:
                    self.moved = identity
                    return
                self._read()
            except ParaplyError as error:
                if self._is_ended:
                    return
                self.status.is_connected = False
                self.status.problem = error.text
                if is_final(error):
                    self.failure = error
                    return
            except BaseException as crash:
                self.crash = crash
                return
            finally:
                with self._changed:
                    self._changed.notify_all()
            failures = 0 if self.status.transactions > before else failures + 1
            self.status.reconnections += 1
            with self._changed:
                if not self._is_ended:
                    self._changed.wait(_RETRY_S[min(failures, len(_RETRY_S) - 1)])

    def _read(self) -> None:
        status, feed = self.status, SentEvents()
        for file, event in self._stream.events(self._after):
            if self._is_ended:
                return
            status.is_connected, status.problem = True, ""
            if file is not None:
                feed.on_file(file)
                continue
            status.bytes_read += len(event)
            for sent in feed.take(event):
                if sent.transaction.complete and sent.transaction.gtid:
                    self._after.add(sent.transaction.gtid)
                    status.transactions += 1
                    self._put(sent)
            if not feed.is_inside:
                status.place = LogPlace(file=feed.file, offset=feed.offset)

    def _put(self, sent: SentTransaction) -> None:
        with self._changed:
            while self._bytes > BYTES_WAITING_MAX and not self._is_ended:
                self._changed.wait(1)
            self._waiting.append(sent)
            self._bytes += len(sent.events)
            self._changed.notify_all()
