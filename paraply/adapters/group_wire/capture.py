"""Record TCP frames of given ports: ``python -m paraply.adapters.group_wire.capture``.

It reads the loopback interface, or frames that a switch sends to hosts. Its own process keeps up
with the load. A record has time in nanoseconds since 1970 (8 bytes) and frame length (4 bytes),
both little endian, then the frame with its Ethernet header.
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

from paraply.adapters.group_wire.errors import CAPTURE_INCOMPLETE, CAPTURE_REFUSED
from paraply.adapters.servers.network import Namespace
from paraply.adapters.servers.process import ServerProcess
from paraply.vocabulary.errors import ParaplyError

RECORD = struct.Struct("<QI")
_ETHERTYPE_IPV4, _ETHERTYPE_ALL = 0x0800, 3
_ETHERNET_BYTES = 14
_PACKET_OUTGOING = 4
_SO_RCVBUFFORCE = 33
_BUFFER_BYTES = 128 << 20
_FRAME_BYTES_MAX = 1 << 17
_SWITCH = "switch"
_READY = b"capturing\n"
_START_SECONDS_MAX = 20
_STOP_SECONDS_MAX = 60
_DRAIN_SECONDS_MAX = 45


def open_sniffer(*, is_switch: bool = False) -> socket.socket:
    """Return a socket that receives loopback or switch frames.

    Raises:
        ParaplyError: P640, the system rejects it.
    """
    # Only ETH_P_ALL includes outgoing frames.
    kind = _ETHERTYPE_ALL if is_switch else _ETHERTYPE_IPV4
    try:
        sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(kind))
        if not is_switch:
            sniffer.bind(("lo", kind))
    except (OSError, AttributeError) as reason:
        raise ParaplyError(CAPTURE_REFUSED, reason=reason) from reason
    try:
        sniffer.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
    except OSError:  # Without CAP_NET_ADMIN the system's limit applies.
        sniffer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    return sniffer


def tcp_ports(frame: bytes) -> tuple[int, int]:
    """Return source and destination port, (0, 0) unless IPv4 TCP."""
    try:
        header_bytes = (frame[_ETHERNET_BYTES] & 15) * 4
        if frame[_ETHERNET_BYTES + 9] != socket.IPPROTO_TCP:
            return 0, 0
        source, destination = struct.unpack_from(">HH", frame, _ETHERNET_BYTES + header_bytes)
    except (IndexError, struct.error):  # Any program with the right can send short frames.
        return 0, 0
    return int(source), int(destination)


def record(path: Path, ports: Sequence[int], *, is_switch: bool = False) -> None:
    """Write frames of ``ports`` until SIGTERM."""
    wanted = frozenset(ports)
    last_at = float("inf")

    def end(*_: object) -> None:
        # The buffer has all frames until now; later frames may never end.
        nonlocal last_at
        last_at = time.monotonic() + _DRAIN_SECONDS_MAX

    signal.signal(signal.SIGTERM, end)
    with open_sniffer(is_switch=is_switch) as sniffer, path.open("wb") as output:
        sniffer.settimeout(0.3)
        sys.stdout.buffer.write(_READY)
        sys.stdout.buffer.flush()
        while (now := time.monotonic()) < last_at:
            if last_at - now <= _DRAIN_SECONDS_MAX:
                sniffer.settimeout(0)
            try:
                frame, address = sniffer.recvfrom(_FRAME_BYTES_MAX)
            except TimeoutError:
                continue
            except BlockingIOError:  # The buffer is empty.
                return
            # An interface shows a frame as it goes out and as it comes in.
            is_outgoing = address[2] == _PACKET_OUTGOING
            if is_outgoing != is_switch or address[1] != _ETHERTYPE_IPV4:
                continue
            if wanted.isdisjoint(tcp_ports(frame)):
                continue
            output.write(RECORD.pack(time.time_ns(), len(frame)) + frame)


class Capture:
    """A recording during the ``with`` block."""

    def __init__(self, path: Path, ports: Sequence[int], switch: Namespace | None = None) -> None:
        self.path = path
        self.switch = switch
        self.ports = tuple(ports)
        self._process: ServerProcess | None = None

    def __enter__(self) -> Capture:
        open_sniffer().close()
        log = self.path.with_suffix(".log")
        self._process = ServerProcess(
            [
                *(sys.executable, "-m", "paraply.adapters.group_wire.capture", str(self.path)),
                *map(str, self.ports),
                *([] if self.switch is None else [_SWITCH]),
            ],
            log,
            namespace=self.switch,
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
            self._process.stop(_STOP_SECONDS_MAX)


def read_frames(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield nanoseconds since 1970 and bytes of frames."""
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
    words = sys.argv[2:]
    record(
        Path(sys.argv[1]),
        [int(word) for word in words if word != _SWITCH],
        is_switch=_SWITCH in words,
    )
