"""Directed links between members on the loopback interface, without root.

The preloaded library (``shim.c``) redirects each connection of a member to the member's hub. The
hub looks up the wanted port, connects to it, and forwards both directions. A cut link withholds
data in one direction, as a network that drops packets does: nothing is refused or closed, and what
was sent arrives after the link is mended. A connection needs both directions to open.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress

from paraply.adapters.servers.ports import LOOPBACK

Pair = tuple[int, int]
"""Sender and receiver, as numbers of members."""
OwnerOf = Callable[[int], int | None]
"""Returns the member that listens on a port; None for other programs."""
_CHUNK_BYTES = 1 << 16
_BACKLOG = 64
_CONNECT_SECONDS_MAX = 5.0


class Wires:
    """The links of all members."""

    def __init__(self, owner_of: OwnerOf) -> None:
        self._owner_of = owner_of
        self._cut: Counter[Pair] = Counter()
        self._changed = threading.Condition()
        self._is_closed = False
        self.forwarded: Counter[Pair] = Counter()
        """Bytes."""
        self.withheld: Counter[Pair] = Counter()
        """Chunks and connections that waited for a cut link."""
        self._hubs: list[_Hub] = []

    def hub(self, member: int, wanted: Callable[[int], int]) -> int:
        """Open a member's hub and return its port; ``wanted`` maps a sender's port."""
        self._hubs.append(_Hub(self, member, wanted))
        return self._hubs[-1].port

    def cut(self, pairs: Iterable[Pair]) -> None:
        """Withhold the data of these directions; cuts add up."""
        with self._changed:
            self._cut.update(pairs)

    def mend(self, pairs: Iterable[Pair]) -> None:
        """Undo one :meth:`cut` of the same pairs."""
        with self._changed:
            self._cut.subtract(pairs)
            self._cut = +self._cut
            self._changed.notify_all()

    @property
    def cut_now(self) -> frozenset[Pair]:
        """Return the directions that are cut."""
        return frozenset(self._cut)

    def owner_of(self, port: int) -> int | None:
        """Return the member that listens on a port."""
        return self._owner_of(port)

    def wait_until_open(self, *pairs: Pair) -> bool:
        """Wait for links; return False when the wires are closed."""
        with self._changed:
            for pair in pairs:
                if pair in self._cut:
                    self.withheld[pair] += 1
            self._changed.wait_for(
                lambda: self._is_closed or not any(pair in self._cut for pair in pairs)
            )
            return not self._is_closed

    def count_forwarded(self, pair: Pair, size: int) -> None:
        """Count bytes that arrived."""
        with self._changed:
            self.forwarded[pair] += size

    def close(self) -> None:
        """Close all hubs and connections."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for hub in self._hubs:
            hub.close()


class _Hub:
    """Forwards the connections that one member opens."""

    def __init__(self, wires: Wires, member: int, wanted: Callable[[int], int]) -> None:
        self._wires = wires
        self._member = member
        self._wanted = wanted
        self._listener = socket.create_server((LOOPBACK, 0), backlog=_BACKLOG)
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in list(self._open):
            _end(one)

    def _accept(self) -> None:
        while True:
            try:
                near, address = self._listener.accept()
            except OSError:
                return
            self._open.add(near)
            threading.Thread(target=self._connect, args=(near, address[1]), daemon=True).start()

    def _connect(self, near: socket.socket, sender_port: int) -> None:
        port = self._wanted(sender_port)
        other = self._wires.owner_of(port)
        there: Pair | None = None
        back: Pair | None = None
        try:
            if other is not None and other != self._member:
                there, back = (self._member, other), (other, self._member)
                # TCP opens a connection by messages both ways.
                if not self._wires.wait_until_open(there, back):
                    raise ConnectionError
            far = socket.create_connection((LOOPBACK, port), timeout=_CONNECT_SECONDS_MAX)
        except OSError:
            self._forget(near)
            return
        self._open.add(far)
        far.settimeout(None)
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        returning = threading.Thread(target=self._pump, args=(far, near, back), daemon=True)
        returning.start()
        self._pump(near, far, there)
        returning.join()
        for one in (near, far):
            self._forget(one)

    def _pump(self, one: socket.socket, other: socket.socket, pair: Pair | None) -> None:
        wires = self._wires
        try:
            while True:
                data = one.recv(_CHUNK_BYTES)
                # The end of the stream is a message as well.
                if pair is not None and not wires.wait_until_open(pair):
                    break
                if not data:
                    other.shutdown(socket.SHUT_WR)
                    return
                other.sendall(data)
                if pair is not None:
                    wires.count_forwarded(pair, len(data))
        except OSError:
            pass
        for end in (one, other):
            _end(end)

    def _forget(self, one: socket.socket) -> None:
        self._open.discard(one)
        one.close()


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
