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
"""Events that wait to be judged, of one log; a block may exceed it."""
_BYTES_WAITING_LOW = BYTES_WAITING_MAX // 2
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
        self._given = self._taken = 0
        """Bytes, of all transactions so far."""
        self._waits_for_room = False
        self._is_ended = False
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"log of {stream.name}")

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def pop(self) -> SentTransaction | None:
        """Return the next transaction, if one waits."""
        # Without the lock: only this thread takes, and only the reader's gives.
        try:
            sent = self._waiting.popleft()
        except IndexError:
            return None
        self._taken += len(sent.events)
        if self._waits_for_room and self._given - self._taken <= _BYTES_WAITING_LOW:
            with self._changed:
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
        for file, data in self._stream.events(self._after):
            if self._is_ended:
                return
            status.is_connected, status.problem = True, ""
            if file is not None:
                feed.on_file(file)
                continue
            status.bytes_read += len(data)
            found: list[SentTransaction] = []
            try:
                for sent in feed.take(data):
                    if sent.complete and sent.gtid:
                        self._after.add(sent.gtid)
                        found.append(sent)
            finally:
                # Those before an event that cannot be read count.
                if found:
                    status.transactions += len(found)
                    self._put(found)
            if not feed.is_inside:
                status.place = LogPlace(file=feed.file, offset=feed.offset)

    def _put(self, found: list[SentTransaction]) -> None:
        size = sum(len(sent.events) for sent in found)
        with self._changed:
            self._waits_for_room = True
            while self._given - self._taken > BYTES_WAITING_MAX and not self._is_ended:
                self._changed.wait(1)
            self._waits_for_room = False
            self._waiting.extend(found)
            self._given += size
            self._changed.notify_all()
