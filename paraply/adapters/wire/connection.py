"""One connection of the program, with the server's connection behind it."""

from __future__ import annotations

import re
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from enum import Enum

from paraply.adapters.wire.answers import WITHOUT_ANSWER, Answer, Code
from paraply.adapters.wire.commands import Command, CommandReader, HoldRule
from paraply.adapters.wire.live_log import FlowingDump, LiveLog
from paraply.adapters.wire.packets import (
    CLIENT_DEPRECATE_EOF,
    EOF,
    ERR,
    IN_TRANSACTION,
    OK,
    Packet,
    PacketBuffer,
    edited_greeting,
    edited_login,
    error_payload,
    packed,
)
from paraply.adapters.wire.served_log import Dump, ServedLog, dump_by_gtids, dump_by_place
from paraply.adapters.wire.source_answers import local_answer

_CONNECT_STATE = re.compile(r"@slave_connect_state\s*=\s*'([^']*)'", re.I)
_DEADLOCK = "1213 "
_END_OF_LOG = bytes([EOF, 0, 0, 2, 0])


class Door(Enum):
    """The gate's two ports."""

    SOURCE = "source"
    TARGET = "target"


class Phase(Enum):
    """What the next packet of a connection is."""

    GREETING = "greeting"
    LOGIN = "login"
    AUTHENTICATION = "authentication"
    READY = "ready"


class End:
    """One socket with unsent bytes."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.packets = PacketBuffer()
        self.unsent = bytearray()

    def send(self, data: bytes) -> None:
        """Send now or, if the peer does not read, later."""
        self.unsent += data
        self.flush()

    def flush(self) -> None:
        """Send what fits into the socket."""
        with suppress(BlockingIOError, ConnectionError):
            while self.unsent:
                del self.unsent[: self.sock.send(self.unsent)]


class Connection:
    """Passes packets through and holds the commands that the rule names.

    Attributes:
        path: held statements of the open transaction.
        current: the answer under way.
        held_answer: a whole answer that waits for the schedule.
        sent_key: key of the last command sent.
        was_blocked: the command waited for a lock.
        dump: the log that this connection receives.
        progress: commands of the program, without those of its timers.
    """

    def __init__(
        self,
        number: int,
        door: Door,
        near: End,
        far: End,
        log: ServedLog | LiveLog,
        rule: HoldRule,
    ) -> None:
        self.number = number
        self.door = door
        self.near = near
        self.far = far
        self.phase = Phase.GREETING
        self.thread_id = 0
        self.queue: deque[Command] = deque()
        self.command: Command | None = None
        self.current: Answer | None = None
        self.held_answer: Answer | None = None
        self.was_blocked = False
        self.sent_at = 0.0
        self.sent_key = ""
        self.path: list[str] = []
        self.in_transaction = False
        self.is_closed = False
        self.dump: Dump | FlowingDump | None = None
        self.progress = 0
        self._log = log
        self._reader = CommandReader(rule)
        self._capabilities = 0
        self._deprecates_eof = False
        self._sequence = 0
        self._connect_state: str | None = None
        self._instead: Callable[[Answer], None] | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether the server works on a command."""
        return self.current is not None

    @property
    def head(self) -> Command | None:
        """Return the command that waits for the schedule."""
        if self.current is None and self.held_answer is None and self.queue:
            return self.queue[0]
        return None

    def key(self, text: str) -> str:
        """Return what a command does, with the transaction before it."""
        return " ; ".join([*self.path, text])

    def on_server_packet(self, packet: Packet) -> None:
        """Handle a packet of the server."""
        payload = packet.payload
        first = payload[0] if payload else OK
        if self.phase is Phase.GREETING:
            if first == ERR:
                self.near.send(packet.raw)
                return
            greeting = edited_greeting(payload)
            self.thread_id, self._capabilities = greeting.thread_id, greeting.capabilities
            self.near.send(packed(greeting.payload, packet.sequence))
            self.phase = Phase.LOGIN
        elif isinstance(self.dump, FlowingDump):
            if first == OK:
                self.deliver(self.dump.feed(payload[1:]))
            else:
                self._send_of_log(payload)
        elif self.phase is Phase.READY and self.current is not None:
            self.current.take(packet)
            if self.current.wants_file:
                self.near.send(bytes(self.current.raw))
                self.current.raw.clear()
            elif self.current.is_whole:
                self._on_answer(self.current)
        else:
            self.near.send(packet.raw)
            if self.phase is Phase.AUTHENTICATION and first == OK:
                self.phase = Phase.READY

    def on_client_packet(self, packet: Packet) -> None:
        """Handle a packet of the program; P680 if it asks for TLS."""
        if self.phase is Phase.LOGIN:
            login = edited_login(packet.payload)
            both = login.capabilities & self._capabilities
            self._deprecates_eof = bool(both & CLIENT_DEPRECATE_EOF)
            self.far.send(packed(login.payload, packet.sequence))
            self.phase = Phase.AUTHENTICATION
        elif self.phase is not Phase.READY:
            self.far.send(packet.raw)
        elif self.current is not None and self.current.wants_file:
            self.far.send(packet.raw)
            self.current.wants_file = bool(packet.payload)
        else:
            command = self._reader.read(packet.payload, packet.raw)
            self.progress += not command.is_background
            self.queue.append(command)
            self.advance()

    def advance(self) -> None:
        """Send the commands that no schedule holds."""
        while (head := self.head) is not None and not self.holds(head):
            self.release()

    def holds(self, command: Command) -> bool:
        """Return whether a command waits for the schedule: not the end of nothing held."""
        return command.is_held and bool(self.path or not command.ends_transaction)

    def release(self, instead: Callable[[Answer], None] | None = None) -> None:
        """Send the first command; ``instead`` gets the answer in place of the program."""
        command = self.queue.popleft()
        self.sent_key = self.key(command.text)
        self._instead = instead
        is_dump = command.code in (Code.BINLOG_DUMP, Code.BINLOG_DUMP_GTID)
        if isinstance(self._log, LiveLog):
            if is_dump:
                self._sequence = 1
                self.dump = FlowingDump(self._log)
                self.far.send(command.raw)
                return
        elif self.door is Door.SOURCE and self._answers_locally(command, self._log):
            return
        self._send(command)

    def _send(self, command: Command) -> None:
        self.far.send(command.raw)
        if command.code in WITHOUT_ANSWER:
            return
        if command.code == Code.CHANGE_USER:
            self.phase = Phase.AUTHENTICATION
            return
        self.command = command
        self.current = Answer(command.code, self._deprecates_eof)
        self.was_blocked = False
        self.sent_at = time.monotonic()

    def release_answer(self) -> None:
        """Give the held answer to the program."""
        answer = self.held_answer
        assert answer is not None
        self.held_answer = None
        self.near.send(bytes(answer.raw))
        self.advance()

    def refuse(self, number: int, state: str, message: str) -> None:
        """Answer the first command with an error, unsent."""
        self.queue.popleft()
        self.near.send(packed(error_payload(number, state, message), 1))
        self.advance()

    def refuse_with_rollback(self, number: int, state: str, message: str) -> None:
        """Roll back at the server, then answer the first command with an error."""
        self.queue.popleft()

        def answer(_: Answer) -> None:
            self.path.clear()
            self.near.send(packed(error_payload(number, state, message), 1))

        self._instead = answer
        self._send(Command(Code.QUERY, packed(bytes([Code.QUERY]) + b"ROLLBACK", 0), "ROLLBACK"))

    def deliver(self, events: list[bytes]) -> None:
        """Send events of the log."""
        for event in events:
            self._send_of_log(bytes([OK]) + event)

    def end_of_log(self) -> None:
        """End a dump whose last group was delivered."""
        assert self.dump is not None
        self.deliver(self.dump.ending())
        if not self.dump.waits:
            self._send_of_log(_END_OF_LOG)
            self.dump = None

    def close(self) -> None:
        """Close both ends at once."""
        self.is_closed = True
        for end in (self.near, self.far):
            end.sock.close()

    def _on_answer(self, answer: Answer) -> None:
        command = self.command
        assert command is not None
        self.command = self.current = None
        if answer.status is not None:
            self.in_transaction = bool(answer.status & IN_TRANSACTION)
        if answer.statement is not None:
            self._reader.remember(command, *answer.statement)
        if answer.error.startswith(_DEADLOCK):
            self.in_transaction = False
        has_ended = not self.in_transaction and (bool(self.path) or not command.ends_transaction)
        if command.is_held and not answer.error:
            self.path.append(command.text)
        if not self.in_transaction:
            self.path.clear()
        if self._instead is not None:
            instead, self._instead = self._instead, None
            instead(answer)
        elif command.is_held and (has_ended or self.was_blocked):
            self.held_answer = answer
            return
        else:
            self.near.send(bytes(answer.raw))
        if not self.is_closed:
            self.advance()

    def _answers_locally(self, command: Command, log: ServedLog) -> bool:
        payload = command.raw[4:]
        if command.code in (Code.BINLOG_DUMP, Code.BINLOG_DUMP_GTID):
            self._sequence = 1
            if command.code == Code.BINLOG_DUMP:
                self.dump = dump_by_place(log, payload, self._connect_state)
            else:
                self.dump = dump_by_gtids(log, payload)
            self.deliver(self.dump.opening)
            if not self.dump.remaining:
                self.end_of_log()
            return True
        if command.code == Code.REGISTER_REPLICA:
            self.near.send(packed(bytes([OK, 0, 0, 2, 0, 0, 0]), 1))
            return True
        state = _CONNECT_STATE.search(command.text)
        if state is not None:
            self._connect_state = state[1]
        answer = local_answer(command.text, log, deprecates_eof=self._deprecates_eof)
        if answer is None:
            return False
        self.near.send(answer)
        return True

    def _send_of_log(self, payload: bytes) -> None:
        data = packed(payload, self._sequence)
        self._sequence = (data[3] + 1 if len(payload) < 0xFFFFFF else self._sequence + 2) % 256
        self.near.send(data)
