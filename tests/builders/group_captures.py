"""Captures of a group's traffic as files, and damage that keeps some of their layers sound."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from random import Random

from paraply.adapters.group_wire.capture import RECORD
from paraply.adapters.group_wire.xcom import (
    ACCEPT,
    APPLICATION,
    LEARN,
    TINY_LEARN,
    VIEW,
    parse_message,
)
from paraply.vocabulary.errors import ParaplyError
from tests.builders.group_wire import (
    PROTOCOL,
    cargo,
    context,
    donation,
    event,
    frame,
    gcs,
    gtid_event,
    gtids,
    items,
    member_state,
    paxos,
    plugin,
    stream,
)
from tests.fuzz.mutations import bytes_damaged

MEMBERS = tuple(f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2))
EXECUTED = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa:1-5:7"
SOURCE, DESTINATION = 1000, 2000
_HEADERS_BYTES = 14 + 20 + 20
_PAXOS_BYTES = 12
_AT_LENGTH = 4
_ENVELOPES_BYTES = 20 + 12 + 16
_NODES = 14


def capture_of(frames: Sequence[bytes]) -> bytes:
    """Return a capture."""
    return b"".join(RECORD.pack(at, len(one)) + one for at, one in enumerate(frames))


def frames_of(messages: Sequence[bytes]) -> list[bytes]:
    """Return one connection's frames, a message in each."""
    found, sequence = [frame(SOURCE, DESTINATION, 99, syn=True)], 100
    for message in messages:
        total = None if len(message) < 60_000 else 0
        found.append(frame(SOURCE, DESTINATION, sequence, message, total=total))
        sequence = (sequence + len(message)) % (1 << 32)
    return found


def group_messages() -> list[bytes]:
    """Return a run: a view of two, a transaction, executed sets, certification info and others."""
    transaction = context(MEMBERS[0], EXECUTED, ["AAAA"]) + gtid_event() + event(16, bytes(8))
    sent = (
        (0, member_state(MEMBERS[0], 1, EXECUTED, announced_at=(1, 0))),
        (1, member_state(MEMBERS[1], 3, "", announced_at=(1, 0))),
        (0, gcs(plugin(2, items((1, transaction))))),
        (1, gcs(plugin(1, items((1, gtids(EXECUTED)))))),
        (0, donation(EXECUTED, {"AAAA": EXECUTED, "BBBB": EXECUTED})),
        (1, gcs(plugin(3, items((1, b"\1\0"), (2, MEMBERS[1].encode()))))),
        (1, gcs(b"", kind=7)),
    )
    found = [paxos(LEARN, (1, 0), cargos=cargo(VIEW, present=(True, True)))]
    for number, (node, data) in enumerate(sent, 2):
        place, value = (number, node), cargo(APPLICATION, data)
        if number % 2:
            found.append(paxos(LEARN, place, cargos=cargo(_NODES, more=True) + value))
        else:
            found.append(paxos(ACCEPT, place, cargos=value, ballot=(1, node)))
            found.append(paxos(TINY_LEARN, place, ballot=(1, node)))
    return found


def group_captures() -> list[bytes]:
    """Return captures of the run, and of its view alone, in whole messages and in pieces."""
    messages = group_messages()
    pieces = [one for _, one in stream(b"".join(messages), SOURCE, DESTINATION, 99, cut=300)]
    return [
        capture_of(frames_of(messages)),
        capture_of(pieces),
        capture_of(frames_of(messages[:4])),
    ]


def capture_damaged(data: bytes, choice: Random) -> bytes:
    """Damage the file, its frames, the messages in them, or what these carry.

    Lengths outside of the damaged layer are made to fit, so that readers get to it.
    """
    frames = _frames_in(data)
    if not frames or not choice.randrange(8):
        return bytes_damaged(data, choice)
    if not choice.randrange(4):
        return capture_of(_frames_damaged(frames, choice))
    messages = _messages_in(frames)
    for _ in range(1 << choice.randrange(3)):
        if not messages:
            break
        at = choice.randrange(len(messages))
        match choice.randrange(8):
            case 0:
                del messages[at]
            case 1:
                messages.insert(choice.randrange(len(messages)), messages[at])
            case 2:
                messages.insert(choice.randrange(len(messages)), messages.pop(at))
            case 3 | 4:
                body = bytes_damaged(messages[at][_PAXOS_BYTES:], choice)
                messages[at] = _with_length(messages[at][:_PAXOS_BYTES] + body)
            case _:
                messages[at] = _value_damaged(messages[at], choice)
    return capture_of(frames_of(messages))


def _frames_damaged(frames: list[bytes], choice: Random) -> list[bytes]:
    frames = list(frames)
    for _ in range(1 << choice.randrange(3)):
        if not frames:
            break
        at = choice.randrange(len(frames))
        match choice.randrange(6):
            case 0:
                del frames[at]
            case 1:
                frames.insert(choice.randrange(len(frames)), frames.pop(at))
            case 2:
                frames[at] = frames[at][: choice.randrange(_HEADERS_BYTES + 1)]
            case 3:
                frames[at] = bytes_damaged(frames[at], choice)
            case _:
                head = bytes_damaged(frames[at][:_HEADERS_BYTES], choice)
                frames[at] = head + frames[at][_HEADERS_BYTES:]
    return frames


def _frames_in(data: bytes) -> list[bytes]:
    found, at = [], 0
    while at + RECORD.size <= len(data):
        _, length = RECORD.unpack_from(data, at)
        at += RECORD.size
        found.append(data[at : at + length])
        at += length
    return found


def _messages_in(frames: Sequence[bytes]) -> list[bytes]:
    data = b"".join(one[_HEADERS_BYTES:] for one in frames)
    found, at = [], 0
    while at + _PAXOS_BYTES <= len(data):
        (length,) = struct.unpack_from(">I", data, at + _AT_LENGTH)
        found.append(data[at : at + _PAXOS_BYTES + length])
        at += _PAXOS_BYTES + length
    return found


def _with_length(message: bytes) -> bytes:
    length = struct.pack(">I", max(len(message) - _PAXOS_BYTES, 0))
    return message[:_AT_LENGTH] + length + message[_AT_LENGTH + 4 :]


def _value_damaged(message: bytes, choice: Random) -> bytes:
    """Damage what a consensus message carries for the plugin."""
    try:
        cargos = parse_message(message[_PAXOS_BYTES:], PROTOCOL).cargos or ()
    except ParaplyError:  # Earlier damage.
        cargos = ()
    values = [one.data for one in cargos if one.data]
    if not values:
        return bytes_damaged(message, choice)
    value = choice.choice(values)
    start, length = message.rfind(value), len(value)
    # Damage to the envelopes ends most readings early.
    kept = _ENVELOPES_BYTES if choice.randrange(4) else 0
    value = value[:kept] + bytes_damaged(value[kept:], choice)
    padded = value + bytes(-len(value) % 4)
    rest = message[start + length + -length % 4 :]
    return _with_length(message[: start - 4] + struct.pack(">I", len(value)) + padded + rest)
