"""Records the TCP frames of given loopback ports: ``python -m adapters.group_wire.capture``.

A process of its own, since the one that drives the load could not keep up. A capture file is a
sequence of records: time in nanoseconds since 1970 (8 bytes), length of the frame (4 bytes),
both little endian, and the frame as the interface carries it, Ethernet header first.
"""

from __future__ import annotations

import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from adapters.group_wire.errors import CAPTURE_INCOMPLETE, CAPTURE_REFUSED
from adapters.servers.process import ServerProcess
from vocabulary.errors import ParaplyError

RECORD = struct.Struct("<QI")
_ETHERTYPE_IPV4 = 0x0800
_ETHERNET_BYTES = 14
_PACKET_OUTGOING = 4
_SO_RCVBUFFORCE = 33
_BUFFER_BYTES = 128 << 20
_FRAME_BYTES_MAX = 1 << 17
_READY = b"capturing\n"
_START_SECONDS_MAX = 20


def open_loopback() -> socket.socket:
    """Return a socket that sees every IPv4 frame of the loopback interface.

    Raises:
        ParaplyError: P640, the system does not allow it.
    """
    try:
        sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETHERTYPE_IPV4))
        sniffer.bind(("lo", _ETHERTYPE_IPV4))
    except (OSError, AttributeError) as reason:
        raise ParaplyError(CAPTURE_REFUSED, reason=reason) from reason
    try:
        sniffer.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
    except OSError:  # Without CAP_NET_ADMIN the system's limit has to do.
        sniffer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    return sniffer


def tcp_ports(frame: bytes) -> tuple[int, int]:
    """Return source and destination port of an IPv4 frame, (0, 0) unless it is TCP."""
    header_bytes = (frame[_ETHERNET_BYTES] & 15) * 4
    if frame[_ETHERNET_BYTES + 9] != socket.IPPROTO_TCP:
        return 0, 0
    source, destination = struct.unpack_from(">HH", frame, _ETHERNET_BYTES + header_bytes)
    return int(source), int(destination)


def record(path: Path, ports: Sequence[int]) -> None:
    """Write frames from or to ``ports`` to ``path`` until SIGTERM."""
    wanted = frozenset(ports)
    ended = False

    def end(*_: object) -> None:
        nonlocal ended
        ended = True

    signal.signal(signal.SIGTERM, end)
    with open_loopback() as sniffer, path.open("wb") as output:
        sniffer.settimeout(0.3)
        sys.stdout.buffer.write(_READY)
        sys.stdout.buffer.flush()
        while True:
            try:
                frame, address = sniffer.recvfrom(_FRAME_BYTES_MAX)
            except TimeoutError:
                if ended:  # Only once nothing more is waiting in the buffer.
                    return
                continue
            # The interface shows every frame twice: as it goes out and as it comes in.
            if address[2] == _PACKET_OUTGOING or wanted.isdisjoint(tcp_ports(frame)):
                continue
            output.write(RECORD.pack(time.time_ns(), len(frame)) + frame)


class Capture:
    """A recording that runs while the ``with`` block does; ``path`` is whole after it."""

    def __init__(self, path: Path, ports: Sequence[int]) -> None:
        self.path = path
        self.ports = tuple(ports)
        self._process: ServerProcess | None = None

    def __enter__(self) -> Capture:
        open_loopback().close()
        log = self.path.with_suffix(".log")
        self._process = ServerProcess(
            [
                *(sys.executable, "-m", "adapters.group_wire.capture", str(self.path)),
                *map(str, self.ports),
            ],
            log,
        )
        deadline = time.monotonic() + _START_SECONDS_MAX
        while _READY not in log.read_bytes():
            if time.monotonic() > deadline or not self._process.is_running:
                self._process.kill()
                raise ParaplyError(CAPTURE_REFUSED, reason=self._process.last_lines())
            time.sleep(0.02)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.stop(30)


def read_frames(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield time (nanoseconds since 1970) and bytes of each frame of a capture file."""
    with path.open("rb") as capture:
        while head := capture.read(RECORD.size):
            if len(head) == RECORD.size:
                time_ns, length = RECORD.unpack(head)
                frame = capture.read(length) if length <= _FRAME_BYTES_MAX else b""
                if len(frame) == length:
                    yield time_ns, frame
                    continue
            raise ParaplyError(CAPTURE_INCOMPLETE, where=str(path), reason="its end is missing")


if __name__ == "__main__":
    record(Path(sys.argv[1]), [int(port) for port in sys.argv[2:]])
