"""MySQL client/server packets: framing, greetings and the fields that the gate reads.

Source: MySQL client/server protocol documentation; MariaDB's extended capabilities.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from paraply.vocabulary.errors import ParaplyError, register

TLS_REQUIRED = register(
    "P680",
    "the program asks for TLS, which the gate does not speak",
    "switch TLS off in the program's connection settings (ssl-mode=DISABLED, sslmode, useSSL)",
)

PART_BYTES_MAX = 0xFFFFFF
OK, ERR, EOF, LOCAL_INFILE = 0x00, 0xFF, 0xFE, 0xFB
_EOF_BYTES_MAX = 9

CLIENT_MYSQL = 1
"""MariaDB clears this bit of its greeting."""
CLIENT_COMPRESS = 1 << 5
CLIENT_SSL = 1 << 11
CLIENT_DEPRECATE_EOF = 1 << 24
_CLIENT_ZSTD = 1 << 26
_CLIENT_QUERY_ATTRIBUTES = 1 << 27
UNSUPPORTED = CLIENT_COMPRESS | CLIENT_SSL | _CLIENT_ZSTD | _CLIENT_QUERY_ATTRIBUTES

IN_TRANSACTION = 1
AUTOCOMMIT = 2
MORE_RESULTS = 8


@dataclass(frozen=True, slots=True)
class Packet:
    """A whole packet: its payload, the raw parts and the last sequence byte."""

    payload: bytes
    raw: bytes
    sequence: int


class PacketBuffer:
    """Cuts received bytes into packets."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> list[Packet]:
        """Return the packets that are now whole."""
        self._bytes += data
        found = []
        while (packet := self._next()) is not None:
            found.append(packet)
            del self._bytes[: len(packet.raw)]
        return found

    def _next(self) -> Packet | None:
        at, payload = 0, b""
        while at + 4 <= len(self._bytes):
            size = int.from_bytes(self._bytes[at : at + 3], "little")
            end = at + 4 + size
            if end > len(self._bytes):
                return None
            payload += bytes(self._bytes[at + 4 : end])
            if size < PART_BYTES_MAX:
                return Packet(payload, bytes(self._bytes[:end]), self._bytes[at + 3])
            at = end
        return None


def packed(payload: bytes, sequence: int) -> bytes:
    """Return a payload as raw packets, the first with ``sequence``."""
    parts = []
    while True:
        part, payload = payload[:PART_BYTES_MAX], payload[PART_BYTES_MAX:]
        parts.append(len(part).to_bytes(3, "little") + bytes([sequence % 256]) + part)
        sequence += 1
        if len(part) < PART_BYTES_MAX:
            return b"".join(parts)


def error_payload(number: int, state: str, message: str) -> bytes:
    """Return an ERR payload."""
    return bytes([ERR]) + struct.pack("<H", number) + b"#" + state.encode() + message.encode()


def error_text(payload: bytes) -> str:
    """Return number and message of an ERR payload."""
    (number,) = struct.unpack_from("<H", payload, 1)
    text = payload[9:] if payload[3:4] == b"#" else payload[3:]
    return f"{number} {text.decode('utf-8', 'replace')}"


def is_eof(payload: bytes) -> bool:
    """Return whether rows or definitions end here."""
    return payload[:1] == bytes([EOF]) and len(payload) < _EOF_BYTES_MAX


def length_encoded(payload: bytes, at: int) -> tuple[int, int]:
    """Return an integer and the place after it."""
    first = payload[at]
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}.get(first, 0)
    if not size:
        return first, at + 1
    return int.from_bytes(payload[at + 1 : at + 1 + size], "little"), at + 1 + size


@dataclass(frozen=True, slots=True)
class Outcome:
    """The status of an OK or EOF packet."""

    status: int
    affected: int = 0


def outcome_of(payload: bytes, *, deprecates_eof: bool) -> Outcome:
    """Return the status of an OK packet, or of the packet after the last row."""
    if payload[0] == EOF and not deprecates_eof:
        return Outcome(struct.unpack_from("<H", payload, 3)[0])
    affected, at = length_encoded(payload, 1)
    _, at = length_encoded(payload, at)
    return Outcome(struct.unpack_from("<H", payload, at)[0], affected)


@dataclass(frozen=True, slots=True)
class Greeting:
    """A server's first packet without unsupported capabilities."""

    payload: bytes
    thread_id: int
    capabilities: int


def edited_greeting(payload: bytes) -> Greeting:
    """Clear TLS, compression, query attributes and MariaDB's extended capabilities."""
    data = bytearray(payload)
    at = data.index(0, 1) + 1
    (thread_id,) = struct.unpack_from("<I", data, at)
    at += 4 + 8 + 1  # thread id, first part of the scramble, filler
    low, charset, status, high = struct.unpack_from("<HBHH", data, at)
    capabilities = low | high << 16
    is_mariadb = not capabilities & CLIENT_MYSQL
    capabilities &= ~UNSUPPORTED
    struct.pack_into("<HBHH", data, at, capabilities & 0xFFFF, charset, status, capabilities >> 16)
    if is_mariadb:
        extended = at + 7 + 1 + 6  # after the scramble's length and six reserved bytes
        data[extended : extended + 4] = bytes(4)
    return Greeting(bytes(data), thread_id, capabilities)


@dataclass(frozen=True, slots=True)
class Login:
    """A client's first packet without unsupported capabilities."""

    payload: bytes
    capabilities: int


def edited_login(payload: bytes) -> Login:
    """Clear the same capabilities in the answer to a greeting; P680 for a TLS request."""
    (capabilities,) = struct.unpack_from("<I", payload, 0)
    if capabilities & CLIENT_SSL and len(payload) <= 32:
        raise ParaplyError(TLS_REQUIRED)
    # libmysqlclient 9 announces query attributes even to servers without them.
    cleared = capabilities & ~UNSUPPORTED
    return Login(struct.pack("<I", cleared) + payload[4:], cleared)
