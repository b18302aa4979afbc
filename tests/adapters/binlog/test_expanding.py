"""Compressed transactions unpack to the plain events, or are left to the readable decoder."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
import zstandard

from ci.bench.mixes import PAYLOAD, payload_fields
from paraply.adapters.binlog.compiled import expanding
from paraply.adapters.binlog.compiled.expanding import expand

GTID, MARIADB_GTID, QUERY, XID, ROWS = 33, 162, 2, 16, 23
START = 1_000


def event(code, body=bytes(20), *, checked=False):
    made = struct.pack("<IBIIIH", 7, code, 1, 19 + len(body) + 4 * checked, 0, 0) + body
    return made + struct.pack("<I", zlib.crc32(made)) * checked


INSIDE = event(QUERY) + event(ROWS, bytes(90)) + event(XID)
PACKED = zstandard.ZstdCompressor().compress(INSIDE)
NEXT = event(GTID) + event(PAYLOAD, payload_fields(len(INSIDE), len(PACKED)) + PACKED)
PACKED_ROWS = b"\x81\x5a" + zlib.compress(bytes(90))


def payload(inside=INSIDE, *, claimed=None, packed=None, compression=0):
    packed = zstandard.ZstdCompressor().compress(inside) if packed is None else packed
    fields = payload_fields(len(inside) if claimed is None else claimed, len(packed), compression)
    return event(GTID) + event(PAYLOAD, fields + packed)


def mariadb(rows=PACKED_ROWS):
    head = bytes(8) + b"\x03\x07"
    return event(MARIADB_GTID) + event(166, head + rows) + event(XID)


def expanded(data, *, checked=False):
    return expand(np.frombuffer(bytearray(data), np.uint8), START, checked=checked)


def test_run_has_the_plain_events_and_their_places():
    run = expanded(payload() + NEXT)
    assert run.data.tobytes() == (event(GTID) + INSIDE) * 2
    assert run.places.tolist() == [START, START + len(payload()), START + 2 * len(payload())]
    assert run.ends.tolist() == [0, len(run.data) // 2, len(run.data)]
    assert {code: run.hidden(0, 2)[code] for code in (GTID, PAYLOAD, ROWS)} == {
        GTID: 0, PAYLOAD: 2, ROWS: 0,
    }  # fmt: skip


def test_rows_of_mariadb_get_their_plain_type_and_length():
    run = expanded(mariadb())
    rows = event(ROWS, bytes(8) + b"\x03\x07" + bytes(90))
    assert run.data.tobytes() == event(MARIADB_GTID) + rows + event(XID)
    assert (run.hidden(0, 1)[166], run.hidden(0, 1)[ROWS]) == (1, -1)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(zstandard.ZstdCompressor(write_content_size=False), id="unknown size"),
        pytest.param(zstandard.ZstdCompressor(write_checksum=True), id="checksum"),
    ],
)
def test_frames_of_servers_unpack(frame):
    assert len(expanded(payload(packed=frame.compress(INSIDE)))) == 1


LARGE = event(QUERY) + event(ROWS, bytes(300)) + event(XID)
WIDE_WINDOW = PACKED[:4] + b"\x00\x90" + PACKED[6:]
ODD = {
    "claims too much": payload(claimed=len(INSIDE) + 1),
    "claims too little": payload(claimed=len(INSIDE) - 1),
    "frame claims more than memory": payload(packed=PACKED[:4] + b"\xe0" + b"\xff" * 8 + PACKED),
    "window of 256 MB": payload(packed=WIDE_WINDOW),
    "two frames": payload(packed=PACKED + PACKED),
    "bytes after the frame": payload(packed=PACKED + b"\0"),
    "cut frame": payload(packed=PACKED[:-3]),
    "unknown compression": payload(compression=7),
    "plain bytes": payload(packed=INSIDE, compression=255),
    "no end inside": payload(event(QUERY) + event(ROWS)),
    "two ends inside": payload(INSIDE + event(XID)),
    "transaction inside": payload(event(QUERY) + event(GTID) + event(XID)),
    "cut event inside": payload(INSIDE[:-1]),
    "too large": payload(LARGE),
    "damaged rows": mariadb(b"\x81\x5a" + zlib.compress(bytes(90))[:-12]),
    "rows claim too little": mariadb(b"\x81\x59" + zlib.compress(bytes(90))),
    "rows of another algorithm": mariadb(b"\x91\x5a" + zlib.compress(bytes(90))),
    "rows too large": mariadb(b"\x84\x7f\xff\xff\xff" + zlib.compress(bytes(90))),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_transaction_ends_the_run_before_it(odd, monkeypatch):
    monkeypatch.setattr(expanding, "TRANSACTION_BYTES_MAX", 300)
    assert expanded(odd + NEXT) is None
    run = expanded(NEXT + odd + NEXT)
    assert run.data.tobytes() == event(GTID) + INSIDE
    assert run.places.tolist() == [START, START + len(NEXT)]
    assert run.hidden(0, 1)[PAYLOAD] == 1


def test_wrong_checksum_ends_the_run_before_it():
    whole = event(MARIADB_GTID, checked=True)
    whole += event(166, bytes(8) + b"\x03\x07" + PACKED_ROWS, checked=True)
    whole += event(XID, checked=True)
    assert len(expanded(whole * 2, checked=True)) == 2
    assert len(expanded(whole + whole[:-1] + b"\0", checked=True)) == 1


def test_cut_transaction_asks_for_more_once_it_is_known_to_be_compressed():
    whole = mariadb()
    assert expanded(whole[:40]) is None
    assert len(expanded(whole[:-1])) == 0
    assert len(expanded(whole + whole[:-1])) == 1


def test_run_begins_with_a_compressed_transaction():
    plain = event(MARIADB_GTID) + event(ROWS) + event(XID)
    assert expanded(plain + mariadb()) is None
    assert len(expanded(mariadb() + plain)) == 2
