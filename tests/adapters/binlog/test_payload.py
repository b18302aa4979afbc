from __future__ import annotations

import struct
import tracemalloc

import pytest
import zstandard

from paraply.adapters.binlog.events import QueryEvent, TransactionPayloadEvent, XidEvent
from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.reading import read_events
from paraply.vocabulary.errors import ParaplyError
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, inner_writer, packed
from tests.builders.log_reading import events_of, source_of, transactions_of

COLUMNS = [spec.integer(4).named("id")]


def _transaction() -> BinlogWriter:
    inner = inner_writer()
    inner.query("BEGIN")
    inner.table_map(COLUMNS)
    inner.rows(30, COLUMNS, [[1], [2]])
    inner.xid(9)
    return inner


@pytest.mark.parametrize("compression", [0, 255])
def test_inner_events_follow_the_payload_at_its_place(compression):
    writer = BinlogWriter()
    offset = writer.payload(_transaction(), compression=compression)
    events = events_of(writer.data)[1:]
    assert isinstance(events[0], TransactionPayloadEvent)
    assert events[0].uncompressed_bytes == len(_transaction().data)
    assert isinstance(events[1], QueryEvent)
    assert isinstance(events[-1], XidEvent)
    assert {event.header.offset for event in events} == {offset}
    assert {event.header.next_offset for event in events} == {len(writer.data)}


def test_transaction_in_a_payload_reads_like_any_other():
    writer = BinlogWriter()
    start = writer.gtid(1, last_committed=0, sequence_number=1)
    writer.payload(_transaction())
    (transaction,) = transactions_of(writer.data)
    assert transaction.complete
    assert (transaction.start.offset, transaction.end_offset) == (start, len(writer.data))
    assert [row.after for row in transaction.rows] == [(1,), (2,)]


def _hostile(inner: bytes, *, size: int | None = None) -> bytes:
    stored = zstandard.ZstdCompressor().compress(inner)
    body = packed(1) + packed(1) + packed(len(stored)) if len(stored) < 251 else b""
    body += packed(2) + packed(1) + packed(0)
    if size is not None:
        body += packed(3) + packed(len(packed(size))) + packed(size)
    writer = BinlogWriter()
    writer.event(40, body + b"\0" + stored)
    return bytes(writer.data)


def _header(code: int, length: int) -> bytes:
    return struct.pack("<IBIIIH", 0, code, 1, length, 0, 0)


@pytest.mark.parametrize(
    ("inner", "word"),
    [
        (_header(16, 27) + bytes(7), "ends inside"),
        (_header(16, 27)[:10], "ends after 10"),
        (_header(16, 5), "of 5 bytes"),
        (_header(16, 0xFFFFFFFF), "of 4294967295 bytes"),
        (_header(40, 19), "TRANSACTION_PAYLOAD inside"),
        (_header(15, 19), "FORMAT_DESCRIPTION inside"),
    ],
)
def test_damaged_inner_event_is_a_user_error_at_the_payload(inner, word):
    data = _hostile(inner)
    with pytest.raises(ParaplyError, match="P107") as caught:
        events_of(data)
    assert word in caught.value.text
    assert "TRANSACTION_PAYLOAD" in caught.value.text


def test_payload_that_is_shorter_than_it_claims_is_a_user_error():
    inner = _header(3, 19)
    with pytest.raises(ParaplyError, match="unpacks to 19 bytes, claims 38"):
        events_of(_hostile(inner, size=38))


def test_unknown_compression_and_wrong_size_are_user_errors():
    for options in ({"compression": 7}, {"size": 3}):
        writer = BinlogWriter()
        writer.payload(_transaction(), **options)
        with pytest.raises(ParaplyError, match="P107"):
            events_of(writer.data)


def test_garbage_instead_of_zstd_is_a_user_error():
    writer = BinlogWriter()
    writer.event(40, packed(2) + packed(1) + packed(0) + b"\0" + b"garbage")
    with pytest.raises(ParaplyError, match="zstd"):
        events_of(writer.data)


def test_small_payload_of_many_events_is_never_held_whole():
    one = _header(99, 19 + 100_000) + bytes(100_000)
    data = _hostile(one * 400)  # 40 MB, packed into a few kilobytes
    assert len(data) < 40_000
    reader = BinlogReader(source_of(data))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_events(reader)) == 402
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20
