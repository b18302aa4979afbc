"""The gate: two listening ports before one server, in one thread."""

from __future__ import annotations

import selectors
import socket

from paraply.adapters.servers.ports import LOOPBACK
from paraply.adapters.wire.commands import HoldRule
from paraply.adapters.wire.connection import Connection, Door, End, Phase
from paraply.adapters.wire.live_log import LiveLog
from paraply.adapters.wire.served_log import ServedLog

_READ_BYTES = 1 << 18
_BACKLOG = 128
_CONNECT_SECONDS_MAX = 10
_SECOND_LOOPBACK = "127.0.0.2"


class Gate:
    """Accepts the program's connections and opens one to the server for each.

    The source port serves ``log`` and passes other statements to the same server. With a live log
    both ports are one, with the server's own number, because programs compare it with ``@@port``.
    """

    def __init__(self, server_port: int, log: ServedLog | LiveLog, rule: HoldRule) -> None:
        self._server_port = server_port
        self._log = log
        self._rule = rule
        self._selector = selectors.DefaultSelector()
        self._listeners: dict[Door, socket.socket] = {}
        self.connections: list[Connection] = []
        self.accepted = 0
        self._progress = 0
        is_live = isinstance(log, LiveLog)
        address = (_SECOND_LOOPBACK, server_port) if is_live else (LOOPBACK, 0)
        for door in (Door.TARGET,) if is_live else Door:
            listener = socket.create_server(address, backlog=_BACKLOG)
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ, door)
            self._listeners[door] = listener

    def address(self, door: Door) -> tuple[str, int]:
        """Return host and port of a door."""
        listener = self._listeners.get(door, self._listeners[Door.TARGET])
        host, port = listener.getsockname()
        return str(host), int(port)

    @property
    def progress(self) -> int:
        """Return the number of logins and commands, without those that timers repeat."""
        return self.accepted + self._progress + sum(one.progress for one in self.connections)

    @property
    def awaits_log(self) -> bool:
        """Return whether the server has not yet sent the whole case to a reader of its log."""
        log = self._log
        if not (isinstance(log, LiveLog) and self._rule.is_active):
            return False
        return log.seen < log.length and any(one.dump is not None for one in self.connections)

    @property
    def is_connecting(self) -> bool:
        """Return whether a connection waits for the server's part of its login."""
        return any(one.phase in (Phase.GREETING, Phase.AUTHENTICATION) for one in self.connections)

    @property
    def busy(self) -> list[Connection]:
        """Return the connections whose command the server works on."""
        return [one for one in self.connections if one.is_busy]

    @property
    def has_transactions(self) -> bool:
        """Return whether a transaction is open or waits for the schedule."""
        return any(
            one.path or one.is_busy or one.held_answer is not None or one.head is not None
            for one in self.connections
        )

    def pump(self, seconds: float) -> bool:
        """Handle all that arrives within the first event; return whether anything arrived."""
        ready = self._selector.select(seconds)
        for key, events in ready:
            if isinstance(key.data, Door):
                self._accept(key.data)
                continue
            connection, end = key.data
            if connection.is_closed:
                continue
            if events & selectors.EVENT_WRITE:
                end.flush()
            if events & selectors.EVENT_READ:
                self._receive(connection, end)
        self._watch_unsent()
        return bool(ready)

    def drop(self, connection: Connection) -> None:
        """Close both ends of a connection."""
        for end in (connection.near, connection.far):
            self._selector.unregister(end.sock)
        connection.close()
        self._progress += connection.progress
        self.connections.remove(connection)

    def close(self) -> None:
        """Close all connections and ports."""
        for connection in list(self.connections):
            self.drop(connection)
        for listener in self._listeners.values():
            listener.close()
        self._selector.close()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _accept(self, door: Door) -> None:
        try:
            near, _ = self._listeners[door].accept()
        except OSError:
            return
        try:
            far = socket.create_connection(
                (LOOPBACK, self._server_port), timeout=_CONNECT_SECONDS_MAX
            )
        except OSError:
            near.close()
            return
        self.accepted += 1
        connection = Connection(self.accepted, door, End(near), End(far), self._log, self._rule)
        self.connections.append(connection)
        for end in (connection.near, connection.far):
            self._selector.register(end.sock, selectors.EVENT_READ, (connection, end))

    def _receive(self, connection: Connection, end: End) -> None:
        try:
            data = end.sock.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            # A client that has ended its connection gives up the commands held for it.
            connection.near.flush()
            self.drop(connection)
            return
        is_near = end is connection.near
        for packet in end.packets.feed(data):
            if is_near:
                connection.on_client_packet(packet)
            else:
                connection.on_server_packet(packet)
            if connection.is_closed:
                return

    def _watch_unsent(self) -> None:
        for connection in self.connections:
            for end in (connection.near, connection.far):
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if end.unsent else 0)
                if self._selector.get_key(end.sock).events != wanted:
                    self._selector.modify(end.sock, wanted, (connection, end))
