"""A breakable link between two servers: an unprivileged forwarder on the loopback interface."""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

_CHUNK_BYTES = 1 << 16
_BEAT_S = 0.05
_BACKLOG = 16
_HEAD_BYTES = 4
"""Of a packet: three for its length, one for its number."""


Heard = Callable[[int, bool, bytes], None]
"""Takes the number of a connection, whether its client speaks, and what is said."""


class Link:
    """Forwards its own port to ``port``; ``heard`` gets all data before the other end does."""

    def __init__(self, port: int, heard: Heard | None = None) -> None:
        self._target = port
        self._heard = heard
        self._names: dict[socket.socket, tuple[int, bool]] = {}
        self._accepted = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self._peers: dict[socket.socket, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._lock = threading.Lock()
        self._is_silent = self._is_broken = self._server_speaks = False
        self._pause_s = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def connections(self) -> int:
        """Return the number of connections."""
        return len(self._peers) // 2

    def silence(self, *, server_speaks: bool = False) -> None:
        """Withhold all data, or only what clients send."""
        with self._lock:
            self._is_silent, self._server_speaks = True, server_speaks

    def space_out(self, pause_s: float) -> None:
        """Deliver each packet that a client sends by itself, with a pause after it."""
        with self._lock:
            self._pause_s = pause_s

    def cut(self) -> None:
        """Break and refuse connections."""
        with self._lock:
            self._is_broken = True
            for one in list(self._peers):
                self._drop(one)

    def mend(self) -> None:
        """Deliver again, including withheld data."""
        with self._lock:
            self._is_silent = self._is_broken = False

    def close(self) -> None:
        """Break connections and free the port."""
        self._ended.set()
        self._thread.join(10)
        with self._lock:
            for one in list(self._peers):
                self._drop(one)
        self._listener.close()
        self._selector.close()

    def _run(self) -> None:
        while not self._ended.is_set():
            ready = self._selector.select(_BEAT_S)
            with self._lock:
                if self._is_silent and not self._is_broken:
                    # The sockets' buffers are the undelivered data.
                    ready = [one for one in ready if self._server_speaks and self._is_server(one)]
                for key, _ in ready:
                    if key.fileobj is self._listener:
                        self._accept()
                    elif isinstance(key.fileobj, socket.socket):
                        self._forward(key.fileobj)
            if self._is_silent:
                self._ended.wait(_BEAT_S)

    def _is_server(self, ready: tuple[selectors.SelectorKey, int]) -> bool:
        end = ready[0].fileobj
        return isinstance(end, socket.socket) and not self._names.get(end, (0, True))[1]

    def _accept(self) -> None:
        with suppress(OSError):
            near, _ = self._listener.accept()
            if self._is_broken:
                near.close()
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target), timeout=1)
            except OSError:
                near.close()
                return
            self._accepted += 1
            self._names |= {near: (self._accepted, True), far: (self._accepted, False)}
            for one, other in ((near, far), (far, near)):
                one.settimeout(5)
                self._peers[one] = other
                self._selector.register(one, selectors.EVENT_READ)

    def _forward(self, one: socket.socket) -> None:
        other = self._peers.get(one)
        if other is None:
            return
        try:
            data = one.recv(_CHUNK_BYTES)
            if data:
                number, is_client = self._names[one]
                is_spaced = is_client and self._pause_s > 0
                for part in _packets(data) if is_spaced else (data,):
                    if self._heard is not None:
                        self._heard(number, is_client, part)
                    other.sendall(part)
                    if is_spaced:
                        self._ended.wait(self._pause_s)
                return
        except OSError:
            pass
        self._drop(one)

    def _drop(self, one: socket.socket) -> None:
        other = self._peers.pop(one, None)
        if other is None:
            return
        self._peers.pop(other, None)
        for end in (one, other):
            self._names.pop(end, None)
            with suppress(KeyError, ValueError):
                self._selector.unregister(end)
            end.close()


def _packets(data: bytes) -> Iterator[bytes]:
    """Yield what belongs to each packet of the MySQL protocol; the last may be incomplete."""
    while data:
        end = _HEAD_BYTES + int.from_bytes(data[:3], "little")
        yield data[:end]
        data = data[end:]
