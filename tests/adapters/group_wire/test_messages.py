"""Messages of the plugin give what certification needs, and nothing is taken on trust."""

from __future__ import annotations

import struct

import pytest
import zstandard

from paraply.adapters.group_wire import messages
from paraply.adapters.group_wire.messages import (
    Donation,
    ExecutedReport,
    Recovered,
    SentTransaction,
    StateExchange,
    content_of,
    decode_message,
)
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.gtid_set_text import parse_gtid_set
from tests.builders.group_wire import (
    context,
    donation,
    event,
    gcs,
    gtid_event,
    gtids,
    items,
    member_state,
    plugin,
)

UUID = "00000001-0000-4000-8000-000000000000"
SET = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa:1-5:7"


def _sent(*events: bytes) -> bytes:
    return gcs(plugin(2, items((1, b"".join(events)), (9, b"ignored"))))


def test_transaction_gives_snapshot_items_and_what_identifies_it():
    xid = event(16, bytes(8))
    sent = decode_message(_sent(context(UUID, SET, ["AAAA", "BBBB", "AAAA"]), gtid_event(), xid))
    assert isinstance(sent, SentTransaction)
    assert sent.context.server_uuid == UUID
    assert sent.context.snapshot_version == SET
    assert sent.context.write_set == ("AAAA", "BBBB", "AAAA")
    assert sent.content == content_of(1, [(16, bytes(8))])
    other = decode_message(_sent(context(UUID, SET, []), gtid_event(), event(16, b"\1" * 8)))
    assert isinstance(other, SentTransaction)
    assert other.content != sent.content


def test_executed_set_and_recovery_name_set_and_member():
    report = decode_message(gcs(plugin(1, items((1, gtids(SET))))))
    assert report == ExecutedReport(parse_gtid_set(SET))
    recovered = decode_message(gcs(plugin(3, items((1, b"\1\0"), (2, UUID.encode())))))
    assert recovered == Recovered(UUID)


def test_state_exchange_tells_view_state_and_executed_set():
    exchange = decode_message(member_state(UUID, 1, SET, announced_at=(2170, 1)))
    assert isinstance(exchange, StateExchange)
    assert exchange.announced_at == (2170, 1)
    (member,) = exchange.members
    assert (member.uuid, member.state, str(member.executed)) == (UUID, "ONLINE", SET)


def test_donation_gives_each_item_its_version():
    wide = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa:" + ":".join(str(n) for n in range(1, 60, 2))
    donated = decode_message(donation(SET, {"AAAAAAAAAAA=": SET, "B": wide}))
    assert isinstance(donated, Donation)
    assert str(donated.extracted) == SET
    assert {item: str(v) for item, v in donated.info.items()} == {"AAAAAAAAAAA=": SET, "B": wide}


def test_other_messages_are_passed_over():
    assert decode_message(gcs(plugin(6, items((1, b"\0"))))) is None
    assert decode_message(gcs(b"", kind=7)) is None


_STATES_WITHOUT_MEMBERS = bytes(12) + struct.pack("<IQQQ", 0, 1, 0, 16) + plugin(5, b"")


@pytest.mark.parametrize(
    "message",
    [
        gcs(plugin(2, b""), dynamic=22),
        _sent(gtid_event(), event(16, bytes(8))),
        _sent(context(UUID, SET, []), event(16, bytes(8))),
        _sent(context(UUID, SET, []), gtid_event()),
        _sent(context(UUID, SET, [])[:-3]),
        gcs(plugin(1, b"")),
        gcs(plugin(14, items((3, gtids(SET)), (5, b"not zstd"), (6, bytes(8))))),
        gcs(plugin(14, items((3, gtids(SET)), (6, bytes(8))))),
        gcs(plugin(14, items((3, gtids(SET)), (5, b""), (6, b"\xff" * 8)))),
        gcs(plugin(14, items((3, gtids(SET)), (5, b""), (6, b"\1"), (5, b""), (6, b"\1")))),
        gcs(plugin(3, items((1, b"\1\0"), (2, b"\xff" * 36)))),
        member_state("\u00e9" * 18, 1, SET),
        member_state(UUID, 1, "\u00e9"),
        donation(SET, {"\u00e9": SET}),
        gcs(_STATES_WITHOUT_MEMBERS, kind=1),
        b"\3\0",
    ],
)
def test_message_that_is_not_what_it_says_is_a_user_error(message):
    with pytest.raises(ParaplyError, match=r"P642"):
        decode_message(message)


def test_certification_info_is_not_unpacked_beyond_its_declared_size(monkeypatch):
    made = []

    class Decompressor(zstandard.ZstdDecompressor):
        def stream_reader(self, packet):
            reader = super().stream_reader(packet)
            made.append(reader)
            return reader

    packet = zstandard.compress(bytes(64 << 20))
    message = gcs(plugin(14, items((3, gtids(SET)), (5, packet), (6, struct.pack("<Q", 100)))))
    monkeypatch.setattr(messages.zstandard, "ZstdDecompressor", Decompressor)
    with pytest.raises(ParaplyError, match=r"P642 .*other than its 100 bytes"):
        decode_message(message)
    assert [reader.tell() for reader in made] == [101]


def test_certification_info_is_bounded_over_all_its_packets(monkeypatch):
    monkeypatch.setattr(messages, "_INFO_BYTES_MAX", 100)
    packet, size = zstandard.compress(bytes(60)), struct.pack("<Q", 60)
    pairs = ((5, packet), (6, size), (5, packet), (6, size))
    with pytest.raises(ParaplyError, match=r"P642 .*certification info of 120 bytes"):
        decode_message(gcs(plugin(14, items((3, gtids(SET)), *pairs))))
