"""Decode the group's consensus protocol in total order.

Messages are XDR (RFC 4506: big endian, four-byte units) behind twelve bytes: protocol version,
length, kind, tag. A place is a message number and the proposer's number.

Source: plugin/group_replication/libmysqlgcs/.../xcom/xcom_vp.x of MySQL 8.0 to 9.x; member
addresses with services (protocol 10) from 9.7.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from paraply.adapters.group_wire.errors import CAPTURE_INCOMPLETE, TRAFFIC_UNREADABLE
from paraply.adapters.group_wire.tcp import Flow
from paraply.vocabulary.errors import ParaplyError

_HEADER_BYTES = 12
_PROTOCOL_MAX = 10
_PROTOCOL_WITH_SERVICES = 10
_MESSAGE_BYTES_MAX = 1 << 30
_TLS_RECORDS = (b"\x16\x03", b"\x17\x03")
_NORMAL = 0

ACCEPT, LEARN, RECOVER_LEARN, SKIP, TINY_LEARN = 5, 7, 8, 14, 23
"""Operations (pax_op) of proposals and decisions."""

_NO_OP_MESSAGE = 1
_NODE_LIST_CARGOS = frozenset({0, 1, 2, 14, 15, 18})
APPLICATION, VIEW = 4, 12
_SIZED_CARGOS = {20: 8, 22: 4}
_EMPTY_CARGOS = frozenset({7, 8, 9, 13, 16, 17, 19, 21, 24})
_CARGOS_IN_A_BATCH_MAX = 1 << 16


class Place(NamedTuple):
    """A place; tuples sort in total order."""

    number: int
    node: int


class Ballot(NamedTuple):
    """A proposal's number and proposer."""

    round: int
    node: int


@dataclass(frozen=True, slots=True)
class Cargo:
    """A proposed value: upper-layer bytes or view flags."""

    kind: int
    data: bytes = b""
    present: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class PaxosMessage:
    """A message; ``cargos`` is None without value."""

    operation: int
    group: int
    place: Place
    proposal: Ballot
    is_no_op: bool
    cargos: tuple[Cargo, ...] | None


class _Xdr:
    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise _unreadable(f"a field of {size} bytes at byte {self.at} of {len(self.data)}")
        self.at += size
        return self.data[self.at - size : self.at]

    def word(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def skip(self, words: int) -> None:
        self.take(words * 4)

    def opaque(self) -> bytes:
        length = self.word()
        data = self.take(length)
        self.take(-length % 4)
        return data

    def place(self) -> tuple[int, Place]:
        group = self.word()
        number = int.from_bytes(self.take(8), "big")
        return group, Place(number, self.word())

    def ballot(self) -> Ballot:
        round_number = int.from_bytes(self.take(4), "big", signed=True)
        return Ballot(round_number, self.word())


def _unreadable(reason: str) -> ParaplyError:
    return ParaplyError(TRAFFIC_UNREADABLE, reason=reason)


def read_messages(
    streams: Iterable[tuple[int, Flow, bytes]],
) -> Iterator[tuple[int, PaxosMessage]]:
    """Yield (time, message) of all consensus messages.

    Raises:
        ParaplyError: P642, the traffic is encrypted or of an unknown protocol.
    """
    waiting: dict[Flow, bytearray] = {}
    for time_ns, flow, data in streams:
        if not data:
            waiting[flow] = bytearray()
            continue
        buffer = waiting[flow]
        buffer += data
        while len(buffer) >= _HEADER_BYTES:
            if bytes(buffer[:2]) in _TLS_RECORDS:
                raise _unreadable("it is encrypted (TLS)")
            protocol, length = struct.unpack_from(">II", buffer)
            if not 1 <= protocol <= _PROTOCOL_MAX or length > _MESSAGE_BYTES_MAX:
                raise _unreadable(f"protocol {protocol}, message of {length} bytes")
            if len(buffer) < _HEADER_BYTES + length:
                break
            kind = buffer[8]
            body = bytes(buffer[_HEADER_BYTES : _HEADER_BYTES + length])
            del buffer[: _HEADER_BYTES + length]
            if kind == _NORMAL:
                yield time_ns, parse_message(body, protocol)


def parse_message(body: bytes, protocol: int) -> PaxosMessage:
    """Decode a consensus message up to its value.

    Raises:
        ParaplyError: P642, the bytes are no such message.
    """
    xdr = _Xdr(body)
    xdr.skip(3)
    xdr.place()
    xdr.skip(1)
    xdr.ballot()
    proposal = xdr.ballot()
    operation = xdr.word()
    group, place = xdr.place()
    is_no_op = xdr.word() == _NO_OP_MESSAGE
    if xdr.word():  # The set of receivers.
        xdr.skip(xdr.word())
    cargos = tuple(_cargos(xdr, protocol)) if xdr.word() else None
    return PaxosMessage(operation, group, place, proposal, is_no_op, cargos)


def _cargos(xdr: _Xdr, protocol: int) -> Iterator[Cargo]:
    for _ in range(_CARGOS_IN_A_BATCH_MAX):
        xdr.place()
        xdr.skip(3)
        xdr.place()
        xdr.skip(7)
        kind = xdr.word()
        if kind == APPLICATION:
            yield Cargo(kind, data=xdr.opaque())
        elif kind == VIEW:
            yield Cargo(kind, present=tuple(bool(xdr.word()) for _ in range(xdr.word())))
        elif kind in _NODE_LIST_CARGOS:
            for _ in range(xdr.word()):
                xdr.opaque()
                xdr.opaque()
                xdr.skip(3 if protocol >= _PROTOCOL_WITH_SERVICES else 2)
            yield Cargo(kind)
        elif kind in _SIZED_CARGOS:
            xdr.take(_SIZED_CARGOS[kind])
        elif kind not in _EMPTY_CARGOS:
            raise _unreadable(f"cargo of kind {kind}")
        if not xdr.word():
            return
    raise _unreadable("a batch without an end")


def decided(
    messages: Iterable[tuple[int, PaxosMessage]],
) -> list[tuple[int, Place, tuple[Cargo, ...]]]:
    """Return decisions in total order: time first seen, place, cargos.

    A decision counts once a member received it. Undecided places and no-ops are left out.

    Raises:
        ParaplyError: P641, the capture lacks a decided value; P642, two groups, or two values at
            one place.
    """
    proposed: dict[tuple[Place, Ballot], tuple[Cargo, ...]] = {}
    seen_at: dict[Place, int] = {}
    values: dict[Place, tuple[Cargo, ...] | None] = {}
    told: dict[Place, Ballot] = {}
    groups: set[int] = set()
    for time_ns, message in messages:
        place = message.place
        if message.operation == ACCEPT and message.cargos is not None:
            proposed.setdefault((place, message.proposal), message.cargos)
            seen_at.setdefault(place, time_ns)
            groups.add(message.group)
        elif message.operation in (LEARN, RECOVER_LEARN, SKIP):
            is_given_up = message.is_no_op or message.operation == SKIP
            if not is_given_up and message.cargos is None:
                continue
            value = None if is_given_up else message.cargos
            if values.setdefault(place, value) != value:
                raise _unreadable(f"two values at place {place}")
            seen_at.setdefault(place, time_ns)
        elif message.operation == TINY_LEARN and not message.is_no_op:
            told.setdefault(place, message.proposal)
    if len(groups) > 1:
        raise _unreadable(f"{len(groups)} groups in one capture")
    for place, ballot in told.items():
        if place in values:
            continue
        if (place, ballot) not in proposed:
            raise ParaplyError(CAPTURE_INCOMPLETE, reason=f"the value at {place} was not seen")
        values[place] = proposed[place, ballot]
    return [
        (seen_at[place], place, value)
        for place in sorted(values)
        if (value := values[place]) is not None
    ]
