"""A client's commands as text, so that schedules can order them by content."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

from paraply.adapters.wire.answers import Code

HELD = r"\s*(?:/\*.*?\*/\s*)*(?:INSERT|UPDATE|DELETE|REPLACE|COMMIT|ROLLBACK|XA|LOAD|CALL)\b"
"""BEGIN and SET are not held: they have no content, so they cannot be told apart."""
_TRANSACTION_END = re.compile(r"\s*(?:COMMIT|ROLLBACK|XA\s+(?:COMMIT|ROLLBACK))\b", re.I)
_COMMIT = re.compile(r"\s*(?:COMMIT|XA\s+COMMIT)\b", re.I)
_STRING_TYPES = frozenset({0x0F, 0xFC, 0xFD, 0xFE, 0xF5, 0xF6, 0xF9, 0xFA, 0xFB, 0x00})
_FIXED_SIZES = {0x01: 1, 0x02: 2, 0x0D: 2, 0x03: 4, 0x09: 4, 0x04: 4, 0x05: 8, 0x08: 8}


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a client.

    Attributes:
        text: SQL, with the parameters of a prepared statement.
        is_held: it waits for the schedule.
        is_background: it repeats by a timer, such as a heartbeat, and is no progress.
    """

    code: int
    raw: bytes
    text: str
    is_held: bool = False
    is_background: bool = False

    @property
    def ends_transaction(self) -> bool:
        """Return whether it is a COMMIT or ROLLBACK."""
        return bool(_TRANSACTION_END.match(self.text))

    @property
    def is_commit(self) -> bool:
        """Return whether it is a COMMIT."""
        return bool(_COMMIT.match(self.text))


@dataclass(slots=True)
class HoldRule:
    """Selects the commands that wait, by regular expressions on their text.

    Attributes:
        is_active: False while the program prepares itself, when nothing waits.
    """

    hold: re.Pattern[str] = field(default_factory=lambda: re.compile(HELD, re.I | re.S))
    let_pass: re.Pattern[str] | None = None
    is_active: bool = True

    def holds(self, text: str) -> bool:
        """Return whether a command waits for the schedule."""
        return self.is_active and not self.lets_pass(text) and bool(self.hold.match(text))

    def lets_pass(self, text: str) -> bool:
        """Return whether a command never waits."""
        return self.let_pass is not None and bool(self.let_pass.search(text))


@dataclass(slots=True)
class _Prepared:
    text: str
    parameters: int
    types: bytes = b""


class CommandReader:
    """Reads the commands of one connection, which remember prepared statements."""

    def __init__(self, rule: HoldRule) -> None:
        self._rule = rule
        self._prepared: dict[int, _Prepared] = {}

    def read(self, payload: bytes, raw: bytes) -> Command:
        """Return the command of a client's packet."""
        code = payload[0] if payload else Code.QUIT
        if code == Code.QUERY or code == Code.PREPARE:
            text = payload[1:].decode("utf-8", "replace")
        elif code in (Code.EXECUTE, Code.BULK_EXECUTE):
            text = self._executed(payload)
        else:
            text = ""
            if code == Code.CLOSE:
                self._prepared.pop(struct.unpack_from("<I", payload, 1)[0], None)
        is_held = code != Code.PREPARE and bool(text) and self._rule.holds(text)
        return Command(code, raw, text, is_held, self._rule.lets_pass(text))

    def remember(self, command: Command, number: int, parameters: int) -> None:
        """Note a prepared statement's id and parameter count."""
        self._prepared[number] = _Prepared(command.text, parameters)

    def _executed(self, payload: bytes) -> str:
        (number,) = struct.unpack_from("<I", payload, 1)
        prepared = self._prepared.get(number)
        if prepared is None:
            return f"EXECUTE {number}"
        if not prepared.parameters:
            return prepared.text
        at = 10
        nulls = payload[at : at + (prepared.parameters + 7) // 8]
        at += len(nulls)
        if payload[at]:  # Later executions omit the types.
            prepared.types = payload[at + 1 : at + 1 + 2 * prepared.parameters]
            at += 2 * prepared.parameters
        values = parameter_texts(payload[at + 1 :], nulls, prepared.types)
        return f"{prepared.text} ({', '.join(values)})"


def parameter_texts(data: bytes, nulls: bytes, types: bytes) -> list[str]:
    """Return the parameters of a prepared statement; the rest as hexadecimal digits if unknown."""
    values = []
    at = 0
    for number in range(len(types) // 2):
        kind, is_unsigned = types[2 * number], types[2 * number + 1] & 0x80
        if nulls[number // 8] >> number % 8 & 1:
            values.append("NULL")
        elif kind in _FIXED_SIZES:
            size = _FIXED_SIZES[kind]
            part = data[at : at + size]
            at += size
            if kind in (0x04, 0x05):
                values.append(repr(struct.unpack("<f" if size == 4 else "<d", part)[0]))
            else:
                values.append(str(int.from_bytes(part, "little", signed=not is_unsigned)))
        elif kind in _STRING_TYPES:
            length = data[at]
            size = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(length, 0)
            if size:
                length = int.from_bytes(data[at + 1 : at + 1 + size], "little")
            at += 1 + size
            values.append(repr(data[at : at + length].decode("utf-8", "backslashreplace")))
            at += length
        else:  # Dates and times have a length of one byte.
            length = data[at]
            values.append(data[at + 1 : at + 1 + length].hex())
            at += 1 + length
    return values
