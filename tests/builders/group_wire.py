"""Group traffic made by hand: frames, consensus messages, plugin messages."""

from __future__ import annotations

import struct

import zstandard

from paraply.vocabulary.gtid_set_binary import encode_gtid_set
from paraply.vocabulary.gtid_set_text import parse_gtid_set

PROTOCOL = 10
GROUP = 0xABCD


def frame(source, destination, sequence, data=b"", *, syn=False, total=None, ack=0) -> bytes:
    """One Ethernet frame with IPv4 and TCP headers of 20 bytes each."""
    tcp = struct.pack(
        ">HHIIBBHHH", source, destination, sequence, ack, 5 << 4, 2 if syn else 16, 0, 0, 0
    )
    length = 40 + len(data) if total is None else total
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length, 0, 0, 64, 6, 0, b"\x7f\0\0\1", b"\x7f\0\0\1")
    return bytes(12) + b"\x08\x00" + ip + tcp + data


def stream(data: bytes, source=1000, destination=2000, start=100, cut=1000) -> list:
    """A whole connection in one direction, as timed frames."""
    frames = [(0, frame(source, destination, start, syn=True))]
    for at in range(0, len(data), cut):
        piece = data[at : at + cut]
        frames.append((at, frame(source, destination, (start + 1 + at) % (1 << 32), piece)))
    return frames


def _place(number, node) -> bytes:
    return struct.pack(">IQI", GROUP, number, node)


def _opaque(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def cargo(kind: int, data: bytes = b"", present=(), *, more=False) -> bytes:
    """One value: application data (4), a view (12), or a list of nodes (14)."""
    body = _place(0, 0) + struct.pack(">IQ", GROUP, 0) + _place(0, 0) + bytes(4 + 8 + 16)
    body += struct.pack(">I", kind)
    if kind == 4:
        body += _opaque(data)
    elif kind == 12:
        body += struct.pack(f">I{len(present)}I", len(present), *map(int, present))
    elif kind == 14:
        body += struct.pack(">I", 1) + _opaque(b"127.0.0.1:1") + _opaque(b"uuid")
        body += struct.pack(">III", 1, 10, 7)
    return body + struct.pack(">I", int(more))


def paxos(operation, place, *, cargos=b"", ballot=(0, 0), no_op=False) -> bytes:
    """One consensus message with its header of twelve bytes."""
    body = struct.pack(">III", 1, 0, GROUP) + _place(*place) + bytes(4) + struct.pack(">iI", 0, 0)
    body += struct.pack(">iII", *ballot, operation) + _place(*place)
    body += struct.pack(">II", int(no_op), 0) + struct.pack(">I", int(bool(cargos))) + cargos
    return struct.pack(">IIBHx", PROTOCOL, len(body), 0, 0) + body


def items(*pairs) -> bytes:
    """Typed items of a plugin message."""
    return b"".join(struct.pack("<HQ", kind, len(value)) + value for kind, value in pairs)


def plugin(kind: int, body: bytes) -> bytes:
    """A plugin message behind its header."""
    return struct.pack("<IHQH", 1, 16, 16, kind) + body


def gcs(body: bytes, kind: int = 2, *, dynamic=0) -> bytes:
    """A message of the communication layer."""
    inner = struct.pack("<IQ", 0, len(body)) + body
    return struct.pack("<HHHQIH", 3, 3, 20, 20 + len(inner), dynamic, kind) + inner


def gtids(text: str) -> bytes:
    """A GTID set as messages carry it."""
    return encode_gtid_set(parse_gtid_set(text))


def event(code: int, body: bytes, server_id=1) -> bytes:
    """An event without a checksum."""
    return struct.pack("<IBIIIH", 0, code, server_id, 19 + len(body), 0, 0) + body


def context(uuid: str, snapshot: str, write_set, *, specified=False) -> bytes:
    """A transaction context event."""
    encoded = gtids(snapshot)
    body = struct.pack("<BIBIII", 36, 5, int(specified), len(encoded), len(write_set), 0)
    body += uuid.encode() + encoded
    for item in write_set:
        body += struct.pack("<H", len(item)) + item.encode()
    return event(36, body)


def gtid_event(number=1, last_committed=0, sequence_number=1, uuid=bytes(16)) -> bytes:
    """A GTID event as an origin sends it."""
    return event(33, struct.pack("<B16sqBqq", 0, uuid, number, 2, last_committed, sequence_number))


def member_state(uuid: str, state: int, executed: str, announced_at=(0, 0)) -> bytes:
    """What one member tells of itself while the view announced at a place is installed."""
    member = plugin(4, items((3, uuid.encode()), (5, bytes([state])), (8, executed.encode())))
    body = plugin(5, items((1, b"\1\0"), (2, member)))
    head = bytes(12) + struct.pack("<IQQQ", GROUP, *announced_at, len(body))
    return gcs(head + body + bytes(8), kind=1)


def donation(extracted: str, info: dict[str, str]) -> bytes:
    """Certification info as a donor sends it."""
    entries = b""
    for item, version in info.items():
        encoded = gtids(version)
        entry = b"\x0a" + bytes([len(item)]) + item.encode()
        entry += b"\x12" + _varint(len(encoded)) + encoded
        entries += b"\x0a" + _varint(len(entry)) + entry
    packed = zstandard.compress(entries)
    size = struct.pack("<Q", len(entries))
    return gcs(plugin(14, items((3, gtids(extracted)), (5, packed), (6, size))))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
