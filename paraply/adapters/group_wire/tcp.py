"""Reassemble frames into byte streams per TCP direction."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from paraply.adapters.group_wire.errors import CAPTURE_INCOMPLETE, TRAFFIC_UNREADABLE
from paraply.vocabulary.errors import ParaplyError

Flow = tuple[bytes, int, bytes, int]
"""Source address and port, then destination's."""

_ETHERNET_BYTES = 14
_IPV4_BYTES_MIN = _TCP_BYTES_MIN = 20
_IPV4, _TCP = 4, 6
_SOURCE, _DESTINATION = slice(26, 30), slice(30, 34)
_SYN, _ACK = 2, 16
_WRAP = 1 << 32
_HALF = 1 << 31


@dataclass(slots=True)
class _Direction:
    next_sequence: int
    early: dict[int, bytes] = field(default_factory=dict)
    acknowledged: int | None = None

    @property
    def has_lost(self) -> bool:
        """A cut network may lose earlier segments and deliver later ones."""
        if not self.early or self.acknowledged is None:
            return False
        return 0 < (self.acknowledged - self.next_sequence) % _WRAP < _HALF

    def acknowledge(self, sequence: int) -> None:
        if self.acknowledged is None or (sequence - self.acknowledged) % _WRAP < _HALF:
            self.acknowledged = sequence

    def accept(self, sequence: int, data: bytes) -> bytes:
        self.early[sequence] = data
        delivered = bytearray()
        progress = True
        while progress:
            progress = False
            for start in sorted(self.early):
                behind = (self.next_sequence - start) % _WRAP
                if behind >= _HALF:
                    continue
                fresh = self.early.pop(start)[behind:]
                delivered += fresh
                self.next_sequence = (self.next_sequence + len(fresh)) % _WRAP
                progress = True
        return bytes(delivered)


class _Segment(NamedTuple):
    flow: Flow
    sequence: int
    acknowledged: int
    flags: int
    data: bytes


def _segment(frame: bytes) -> _Segment:
    """Decode a frame. Raises P642 unless it is a whole TCP segment in IPv4."""
    headers_bytes = _ETHERNET_BYTES + _IPV4_BYTES_MIN + _TCP_BYTES_MIN
    if len(frame) < headers_bytes:
        raise _unreadable(frame, f"{headers_bytes} bytes of headers are needed")
    version, ip_words = divmod(frame[_ETHERNET_BYTES], 16)
    if (version, frame[_ETHERNET_BYTES + 9]) != (_IPV4, _TCP):
        raise _unreadable(frame, "it is not TCP in IPv4")
    tcp = _ETHERNET_BYTES + ip_words * 4
    if ip_words * 4 < _IPV4_BYTES_MIN or tcp + _TCP_BYTES_MIN > len(frame):
        raise _unreadable(frame, f"an IPv4 header of {ip_words * 4} bytes")
    source, destination, sequence, acknowledged = struct.unpack_from(">HHII", frame, tcp)
    tcp_bytes = (frame[tcp + 12] >> 4) * 4
    # The length is 0 in frames above 64 KiB, which the interface need not split.
    (total,) = struct.unpack_from(">H", frame, _ETHERNET_BYTES + 2)
    end = _ETHERNET_BYTES + total if total else len(frame)
    if tcp_bytes < _TCP_BYTES_MIN or not tcp + tcp_bytes <= end <= len(frame):
        raise _unreadable(frame, f"a TCP header of {tcp_bytes} bytes in a packet of {total}")
    return _Segment(
        flow=(frame[_SOURCE], source, frame[_DESTINATION], destination),
        sequence=sequence,
        acknowledged=acknowledged,
        flags=frame[tcp + 13],
        data=frame[tcp + tcp_bytes : end],
    )


def _unreadable(frame: bytes, reason: str) -> ParaplyError:
    return ParaplyError(TRAFFIC_UNREADABLE, reason=f"a frame of {len(frame)} bytes: {reason}")


def reassemble(frames: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Flow, bytes]]:
    """Yield (time, flow, bytes) in receipt order; new connections begin with b"".

    Raises:
        ParaplyError: P641, the capture lacks a connection's beginning or received frames; P642, a
            frame is no TCP segment.
    """
    directions: dict[Flow, _Direction] = {}
    for time_ns, frame in frames:
        flow, sequence, acknowledged, flags, data = _segment(frame)
        back = directions.get((flow[2], flow[3], flow[0], flow[1]))
        if flags & _ACK and back is not None:
            back.acknowledge(acknowledged)
        if flags & _SYN:
            directions[flow] = _Direction((sequence + 1) % _WRAP)
            yield time_ns, flow, b""
            continue
        if not data:
            continue
        if flow not in directions:
            raise ParaplyError(
                CAPTURE_INCOMPLETE,
                reason=f"connection {flow[1]} to {flow[3]} began before it",
            )
        delivered = directions[flow].accept(sequence, data)
        if delivered:
            yield time_ns, flow, delivered
    for flow, direction in directions.items():
        if direction.has_lost:
            raise ParaplyError(
                CAPTURE_INCOMPLETE,
                reason=f"frames of connection {flow[1]} to {flow[3]} were lost",
            )
