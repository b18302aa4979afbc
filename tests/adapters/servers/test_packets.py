"""A dump that is read in blocks has the events, and the errors, of the driver's packets."""

from __future__ import annotations

import random
import socket
import struct
import threading
from contextlib import suppress
from itertools import count, repeat
from types import SimpleNamespace

import pymysql
import pytest

from paraply.adapters.binlog.live_events import EventBlock
from paraply.adapters.servers import packets
from paraply.vocabulary.errors import ParaplyError

EVENTS = 400
ROTATE, ROWS = 4, 31
PACKET_BYTES_MAX = 0xFFFFFF
ERROR = b"\xff" + struct.pack("<H", 1236) + b"#HY000" + b"purged"
END = b"\xfe\0\0\0\0"
FAULTS = (
    "none",
    "error",
    "end",
    "closed",
    "cut",
    "number",
    "shutdown",
    "length",
    "status",
    "large",
)


def event(code: int, size: int, draw: random.Random) -> bytes:
    body = draw.randbytes(size)
    return struct.pack("<IBIIIH", 1, code, 1, 19 + size, 77, 0) + body


def packed(payload: bytes, number: int) -> tuple[bytes, int]:
    """Return a payload as packets, and the next packet's number."""
    data = b""
    while True:
        part, payload = payload[:PACKET_BYTES_MAX], payload[PACKET_BYTES_MAX:]
        data += struct.pack("<I", len(part))[:3] + bytes((number,)) + part
        number = (number + 1) % 256
        if len(part) < PACKET_BYTES_MAX:
            return data, number


def dump(fault: str, draw: random.Random) -> bytearray:
    data, number = bytearray(), 1
    for at in range(EVENTS):
        code = ROTATE if draw.random() < 0.02 else draw.choice((2, 19, ROWS, 33))
        payload = b"\0" + event(code, draw.choice((0, 4, 30, 300, 3_000)), draw)
        if at == EVENTS // 2:
            if fault == "length":
                payload += b"more"
            elif fault == "status":
                payload = b"\1" + payload[1:]
            elif fault == "large":
                for size in (
                    1 << 20,
                    PACKET_BYTES_MAX - 20,
                    PACKET_BYTES_MAX,
                    2 * PACKET_BYTES_MAX,
                ):
                    sent, number = packed(b"\0" + event(ROWS, size, draw), number)
                    data += sent
            elif fault == "number":
                number = (number + 3) % 256
            elif fault == "shutdown":
                number = 0
        sent, number = packed(payload, number)
        data += sent
    if fault == "cut":
        return data[:-7]
    if fault in ("error", "end"):
        data += packed(ERROR if fault == "error" else END, number)[0]
    return data


def read(data: bytearray, draw: random.Random, *, in_blocks: bool) -> tuple[list[bytes], str]:
    """Return the events and the error."""
    server, client = socket.socketpair()
    connection = pymysql.Connection(defer_connect=True, read_timeout=20)
    connection._sock, connection._rfile = client, client.makefile("rb")
    connection._next_seq_id = 1
    connection._current_timeout = connection._result = None

    def send() -> None:
        at = 0
        try:
            while at < len(data):
                size = draw.choice((1, 3, 40, 5_000, 300_000)) if at < 90_000 else 1_000_000
                server.sendall(data[at : at + size])
                at += size
        except OSError:
            pass  # The reader gave up.
        server.close()

    sender = threading.Thread(target=send)
    sender.start()
    found: list[bytes] = []
    way = packets.sent_data if in_blocks else packets._single
    error = ""
    try:
        for each in way(connection, "db1"):
            if not isinstance(each, EventBlock):
                found.append(each)
                continue
            at = 0
            while at < len(each):
                (size,) = struct.unpack_from("<I", each, at + 9)
                found.append(each[at : at + size])
                at += size
    except (ParaplyError, pymysql.MySQLError) as reason:
        error = repr(reason)
    finally:
        with suppress(OSError):  # The driver may have closed it.
            client.shutdown(socket.SHUT_RDWR)
        client.close()
        sender.join()
    return found, error


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seed", range(2))
def test_blocks_have_the_events_of_the_packets(fault, seed, monkeypatch):
    monkeypatch.setattr(packets, "PAUSE_S", 0.001)
    data = dump(fault, random.Random(f"{fault} {seed}"))
    expected, error = read(data, random.Random(seed), in_blocks=False)
    found, its_error = read(data, random.Random(seed), in_blocks=True)
    assert found == expected
    assert its_error == error
    assert error


def pauses(monkeypatch, *, is_idle: bool) -> list[float]:
    """Return the pauses of a reader that gets a byte at a time, at once or after a second."""
    slept: list[float] = []
    clock = count() if is_idle else repeat(0)
    stopped = SimpleNamespace(sleep=slept.append, monotonic=lambda: float(next(clock)))
    monkeypatch.setattr(packets, "time", stopped)
    connection = SimpleNamespace(
        _next_seq_id=1,
        _read_timeout=20,
        _sock=SimpleNamespace(settimeout=lambda _: None),
        _rfile=SimpleNamespace(read1=lambda _: b"x"),
    )
    reader = packets._PacketReader(connection)
    for _ in range(4):
        reader.read()
    return slept


def test_only_a_log_that_grows_fast_is_read_with_pauses(monkeypatch):
    assert pauses(monkeypatch, is_idle=True) == []
    assert pauses(monkeypatch, is_idle=False) == [packets.PAUSE_S] * 3
