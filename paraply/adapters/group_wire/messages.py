"""Decode agreed messages: transactions, executed sets, member states, donations.

Two envelopes (version, length, cargo), of communication layer and plugin, surround items with type,
length and value, all little endian. Types without effect on certification are left out.

Source: gcs_internal_message_headers.cc, gcs_plugin_messages.h, member_info.h and
plugin_messages/recovery_metadata_message.h of MySQL 8.0 to 9.x.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import zstandard

from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.events import GtidEvent, TransactionContextEvent
from paraply.adapters.binlog.framing import HEADER, EventHeader, RawEvent
from paraply.adapters.binlog.group_events import parse_transaction_context
from paraply.adapters.binlog.gtid_events import parse_gtid, parse_tagged_gtid
from paraply.adapters.group_wire.errors import TRAFFIC_UNREADABLE
from paraply.adapters.group_wire.xcom import Place
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_set import EMPTY_GTID_SET, GtidSet
from paraply.vocabulary.gtid_set_binary import decode_gtid_set
from paraply.vocabulary.gtid_set_text import parse_gtid_set

_STATE_EXCHANGE, _USER_DATA = 1, 2
_VIEW_ID_BYTES, _GROUP_ID_BYTES = 8 + 4, 4
_MEMBER_LIST_CARGO = 5
_CERTIFICATION, _TRANSACTION, _RECOVERED = 1, 2, 3
_TRANSACTION_WITH_GUARANTEE, _RECOVERY_METADATA = 11, 14
_INFO_BYTES_MAX = 1 << 28
_LENGTH_DELIMITED = 2
_GTID_EVENTS = (EventType.GTID, EventType.ANONYMOUS_GTID, EventType.GTID_TAGGED)
_MEMBER_STATES = {1: "ONLINE", 2: "OFFLINE", 3: "RECOVERING", 4: "ERROR", 5: "UNREACHABLE"}


@dataclass(frozen=True, slots=True)
class SentTransaction:
    """A sent transaction; ``content`` identifies its events in logs."""

    context: TransactionContextEvent
    gtid: GtidEvent
    content: str


@dataclass(frozen=True, slots=True)
class ExecutedReport:
    """The sender's GTID_EXECUTED, for garbage collection."""

    executed: GtidSet


@dataclass(frozen=True, slots=True)
class MemberState:
    """A member's state while installing a view."""

    uuid: str
    state: str
    executed: GtidSet


@dataclass(frozen=True, slots=True)
class StateExchange:
    """A member's exchange for an announced view."""

    announced_at: Place
    members: tuple[MemberState, ...]


@dataclass(frozen=True, slots=True)
class Recovered:
    """A joiner is online."""

    uuid: str


@dataclass(frozen=True, slots=True)
class Donation:
    """A donor's certification info for a view's joiners.

    ``info`` maps base64 items to their last writers' versions.
    """

    extracted: GtidSet
    info: dict[str, GtidSet]


GroupMessage = SentTransaction | ExecutedReport | StateExchange | Recovered | Donation


def decode_message(data: bytes) -> GroupMessage | None:
    """Decode an application message, None without effect on certification.

    Raises:
        ParaplyError: P642, it contradicts its type, or is compressed or fragmented (messages above
            group_replication_compression_threshold, 1 MB).
    """
    try:
        return _decode(Cursor(data))
    except MalformedError as reason:
        raise ParaplyError(TRAFFIC_UNREADABLE, reason=reason) from reason
    except KeyError as reason:
        raise ParaplyError(TRAFFIC_UNREADABLE, reason=f"item {reason} is missing") from reason


def _decode(cursor: Cursor) -> GroupMessage | None:
    cursor.take(2 + 2)
    header_bytes = cursor.unsigned(2)
    cursor.take(8)
    dynamic_bytes = cursor.unsigned(4)
    cargo = cursor.unsigned(2)
    # Only stages that changed the payload add a header.
    if dynamic_bytes:
        raise MalformedError("a message that is compressed or in pieces")
    cursor.position = header_bytes
    inner_header_bytes = cursor.unsigned(4)
    cursor.take(8 + inner_header_bytes)
    if cargo == _STATE_EXCHANGE:
        return _state_exchange(cursor)
    if cargo != _USER_DATA:
        return None
    kind = _plugin_cargo(cursor)
    if kind in (_TRANSACTION, _TRANSACTION_WITH_GUARANTEE):
        return _transaction(dict(_items(cursor))[1])
    if kind == _CERTIFICATION:
        return ExecutedReport(decode_gtid_set(dict(_items(cursor))[1]))
    if kind == _RECOVERED:
        return Recovered(_ascii(dict(_items(cursor))[2]))
    if kind == _RECOVERY_METADATA:
        return _donation(list(_items(cursor)))
    return None


def _plugin_cargo(cursor: Cursor) -> int:
    start = cursor.position
    cursor.take(4)
    header_bytes = cursor.unsigned(2)
    cursor.take(8)
    kind = cursor.unsigned(2)
    cursor.position = start + header_bytes
    return kind


def _items(cursor: Cursor) -> Iterator[tuple[int, bytes]]:
    while cursor.remaining >= 10:
        kind = cursor.unsigned(2)
        yield kind, cursor.take(cursor.unsigned(8))


def _ascii(data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as reason:
        raise MalformedError(f"a text of {len(data)} bytes: {reason}") from None


def _transaction(data: bytes) -> SentTransaction:
    context: TransactionContextEvent | None = None
    gtid: GtidEvent | None = None
    rest: list[tuple[int, bytes]] = []
    for raw in sent_events(data):
        code = raw.header.type_code
        if code == EventType.TRANSACTION_CONTEXT:
            context = parse_transaction_context(raw)
        elif code in _GTID_EVENTS:
            tagged = code == EventType.GTID_TAGGED
            gtid = parse_tagged_gtid(raw) if tagged else parse_gtid(raw)
        else:
            rest.append((code, raw.body))
    if context is None or gtid is None or not rest:
        raise MalformedError("a transaction without context, GTID or content")
    return SentTransaction(context, gtid, content_of(gtid.header.server_id, rest))


def sent_events(data: bytes) -> Iterator[RawEvent]:
    """Yield a transaction's events, without checksums."""
    at = 0
    while at < len(data):
        if at + HEADER.size > len(data):
            raise MalformedError(f"an event header at byte {at} of {len(data)}")
        timestamp, code, server_id, length, end, flags = HEADER.unpack_from(data, at)
        if length < HEADER.size or at + length > len(data):
            raise MalformedError(f"an event of {length} bytes at byte {at} of {len(data)}")
        header = EventHeader(timestamp, code, server_id, length, end, flags, at, at + length)
        yield RawEvent(header, data[at + HEADER.size : at + length])
        at += length


def content_of(server_id: int, events: list[tuple[int, bytes]]) -> str:
    """Return an identifier of the events after the GTID, equal in all logs.

    Transactions of one server differ at least in the engine commit number.
    """
    digest = sha256(server_id.to_bytes(4, "little"))
    for code, body in events:
        digest.update(code.to_bytes(1, "little") + len(body).to_bytes(4, "little") + body)
    return digest.hexdigest()[:24]


def _state_exchange(cursor: Cursor) -> StateExchange:
    cursor.take(_VIEW_ID_BYTES + _GROUP_ID_BYTES)
    announced_at = Place(cursor.unsigned(8), cursor.unsigned(8))
    inner = Cursor(cursor.take(cursor.unsigned(8)))
    if _plugin_cargo(inner) != _MEMBER_LIST_CARGO:
        raise MalformedError("a state exchange without members")
    members = tuple(_member(data) for kind, data in _items(inner) if kind == 2)
    if not members:
        raise MalformedError("a state exchange with an empty list of members")
    return StateExchange(announced_at, members)


def _member(data: bytes) -> MemberState:
    cursor = Cursor(data)
    _plugin_cargo(cursor)
    items = dict(_items(cursor))
    state = int.from_bytes(items[5], "little")
    return MemberState(
        uuid=_ascii(items[3]),
        state=_MEMBER_STATES.get(state, str(state)),
        executed=_text_set(items.get(8, b"")),
    )


def _text_set(data: bytes) -> GtidSet:
    return parse_gtid_set(_ascii(data)) if data else EMPTY_GTID_SET


def _donation(items: list[tuple[int, bytes]]) -> Donation:
    values = dict(items)
    extracted = decode_gtid_set(values[3])
    info: dict[str, GtidSet] = {}
    sizes = [int.from_bytes(data, "little") for kind, data in items if kind == 6]
    packets = [data for kind, data in items if kind == 5]
    if len(packets) != len(sizes):
        raise MalformedError(f"{len(packets)} packets with {len(sizes)} lengths")
    if sum(sizes) > _INFO_BYTES_MAX:
        raise MalformedError(f"certification info of {sum(sizes)} bytes")
    for packet, size in zip(packets, sizes, strict=True):
        info.update(_info_entries(_inflate(packet, size)))
    return Donation(extracted, info)


def _inflate(packet: bytes, size: int) -> bytes:
    try:
        # Not at once: a packet may hold far more than its size says.
        data = zstandard.ZstdDecompressor().stream_reader(packet).read(size + 1)
    except zstandard.ZstdError as reason:
        raise MalformedError(f"certification info: {reason}") from reason
    if len(data) != size:
        raise MalformedError(f"certification info with other than its {size} bytes")
    return data


def _info_entries(data: bytes) -> Iterator[tuple[str, GtidSet]]:
    for _, entry in _fields(Cursor(data)):
        fields = dict(_fields(Cursor(entry)))
        yield _ascii(fields[1]), decode_gtid_set(fields[2])


def _fields(cursor: Cursor) -> Iterator[tuple[int, bytes]]:
    while cursor.remaining:
        tag = cursor.unsigned(1)
        if tag & 7 != _LENGTH_DELIMITED:
            raise MalformedError(f"a field with tag {tag} in certification info")
        yield tag >> 3, cursor.take(_varint(cursor))


def _varint(cursor: Cursor) -> int:
    value = 0
    for shift in range(0, 64, 7):
        byte = cursor.unsigned(1)
        value |= (byte & 127) << shift
        if byte < 128:
            return value
    raise MalformedError("a number of more than 64 bits")
