"""Recognises the end of a server's answer to one command."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from paraply.adapters.wire.packets import (
    EOF,
    ERR,
    LOCAL_INFILE,
    MORE_RESULTS,
    OK,
    Packet,
    error_text,
    is_eof,
    length_encoded,
    outcome_of,
)


class Code(IntEnum):
    """Commands that the gate distinguishes."""

    QUIT = 0x01
    INIT_DB = 0x02
    QUERY = 0x03
    FIELD_LIST = 0x04
    STATISTICS = 0x09
    CHANGE_USER = 0x11
    BINLOG_DUMP = 0x12
    REGISTER_REPLICA = 0x15
    PREPARE = 0x16
    EXECUTE = 0x17
    SEND_LONG_DATA = 0x18
    CLOSE = 0x19
    FETCH = 0x1C
    BINLOG_DUMP_GTID = 0x1E
    RESET_CONNECTION = 0x1F
    BULK_EXECUTE = 0xFA


WITHOUT_ANSWER = frozenset({Code.QUIT, Code.CLOSE, Code.SEND_LONG_DATA})
_WITH_RESULTS = frozenset({Code.QUERY, Code.EXECUTE, Code.BULK_EXECUTE})


class _State(Enum):
    FIRST = "first"
    DEFINITIONS = "definitions"
    END_OF_DEFINITIONS = "end of definitions"
    ROWS = "rows"


@dataclass(slots=True)
class Answer:
    """Collects the packets of one answer.

    Attributes:
        affected: affected rows of each result without rows.
        error: number and message; empty for success.
        wants_file: the client must send a file (LOAD DATA LOCAL).
        statement: id and parameter count of a prepared statement.
    """

    code: int
    deprecates_eof: bool
    raw: bytearray = field(default_factory=bytearray)
    status: int | None = None
    affected: list[int] = field(default_factory=list)
    error: str = ""
    is_whole: bool = False
    wants_file: bool = False
    last_sequence: int = 0
    statement: tuple[int, int] | None = None
    _state: _State = _State.FIRST
    _definitions: list[int] = field(default_factory=list)

    def take(self, packet: Packet) -> None:
        """Add the next packet."""
        self.raw += packet.raw
        self.last_sequence = packet.sequence
        payload = packet.payload
        first = payload[0] if payload else OK
        if first == ERR:
            self.error = error_text(payload)
            self.is_whole = True
        elif self.code == Code.PREPARE:
            self._take_of_prepare(payload)
        elif self.code in (Code.FIELD_LIST, Code.FETCH):
            self._take_row(payload)
        elif self.code in _WITH_RESULTS:
            self._take_of_results(payload, first)
        else:
            if first in (OK, EOF) and len(payload) >= 5 and self.code != Code.STATISTICS:
                self.status = outcome_of(payload, deprecates_eof=self.deprecates_eof).status
            self.is_whole = True

    def _take_of_results(self, payload: bytes, first: int) -> None:
        if self._state is _State.FIRST:
            if first == OK:
                outcome = outcome_of(payload, deprecates_eof=True)
                self.affected.append(outcome.affected)
                self._end_result(outcome.status)
            elif first == LOCAL_INFILE:
                self.wants_file = True
            else:
                self._definitions = [length_encoded(payload, 0)[0]]
                self._state = _State.DEFINITIONS
        elif self._state is _State.DEFINITIONS:
            self._definitions[0] -= 1
            if not self._definitions[0]:
                ends = self.deprecates_eof
                self._state = _State.ROWS if ends else _State.END_OF_DEFINITIONS
        elif self._state is _State.END_OF_DEFINITIONS:
            self._state = _State.ROWS
        else:
            self._take_row(payload)

    def _take_row(self, payload: bytes) -> None:
        # Under DEPRECATE_EOF the last packet is an OK with the EOF header.
        ends = payload[:1] == bytes([EOF]) and (self.deprecates_eof or is_eof(payload))
        if ends and len(payload) < 0xFFFFFF:
            self._end_result(outcome_of(payload, deprecates_eof=self.deprecates_eof).status)

    def _end_result(self, status: int) -> None:
        self.status = status
        self._state = _State.FIRST
        self.is_whole = not status & MORE_RESULTS

    def _take_of_prepare(self, payload: bytes) -> None:
        if self.statement is None:
            number, columns, parameters = struct.unpack_from("<IHH", payload, 1)
            self.statement = number, parameters
            ends = 0 if self.deprecates_eof else 1
            self._definitions = [n + ends for n in (parameters, columns) if n]
        else:
            self._definitions[0] -= 1
            if not self._definitions[0]:
                self._definitions.pop(0)
        self.is_whole = not self._definitions
