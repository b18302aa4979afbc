from __future__ import annotations

import struct
import tracemalloc
import zlib
from itertools import pairwise

import pytest

from paraply.adapters.binlog.framing import BinlogReader
from paraply.vocabulary.errors import ParaplyError
from tests.builders.binlog_writer import MAGIC, BinlogWriter
from tests.builders.log_reading import raw_events_of, source_of


def _small_log(**options) -> BinlogWriter:
    writer = BinlogWriter(**options)
    writer.query("BEGIN")
    writer.xid(7)
    return writer


def _fault(data: bytes | bytearray) -> ParaplyError:
    with pytest.raises(ParaplyError) as caught:
        raw_events_of(data)
    return caught.value


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize(
    "version", ["5.6.50-log", "5.7.44", "9.7.4", "10.11.19-MariaDB", "5.5.68-MariaDB"]
)
def test_events_with_and_without_checksum_are_cut_exactly(version, checksum):
    writer = _small_log(server_version=version, checksum=checksum)
    reader = BinlogReader(source_of(writer.data))
    events = list(reader.raw_events())
    assert [event.header.name for event in events] == ["FORMAT_DESCRIPTION", "QUERY", "XID"]
    assert events[-1].body == struct.pack("<Q", 7)
    assert [checksum.name for checksum in reader.checksums_seen] == [
        "CRC32" if checksum else "NONE"
    ]
    for before, after in pairwise(events):
        assert before.header.next_offset == after.header.offset
    assert events[-1].header.next_offset == len(writer.data)


@pytest.mark.parametrize("version", ["5.5.62-log", "5.1.73", "5.6.0", "5.2.14-MariaDB"])
def test_servers_older_than_checksums_have_no_checksum_field(version):
    writer = BinlogWriter(server_version=version, checksum=False, start=False)
    writer.format_description(has_field=False)
    writer.xid(1)
    assert len(raw_events_of(writer.data)) == 2


def test_damaged_version_cannot_switch_checksums_off():
    writer = _small_log(server_version="9.7.4")
    writer.data[writer.data.index(b"9.7.4")] = ord("1")
    fault = _fault(writer.data)
    assert fault.error.code == "P107"
    assert "'1.7.4'" in fault.text


def test_checksum_of_format_description_ignores_the_in_use_bit():
    assert len(raw_events_of(_small_log(in_use=True).data)) == 3


def test_relay_log_switches_algorithm_at_each_format_description():
    writer = BinlogWriter(checksum=True)
    writer.xid(1)
    writer.format_description(checksum=False, server_version="5.7.44")
    writer.xid(2)
    writer.format_description(checksum=True, server_version="8.0.36")
    writer.xid(3)
    reader = BinlogReader(source_of(writer.data))
    bodies = [event.body for event in reader.raw_events() if event.header.name == "XID"]
    assert bodies == [struct.pack("<Q", number) for number in (1, 2, 3)]
    assert [checksum.name for checksum in reader.checksums_seen] == ["CRC32", "NONE"]


@pytest.mark.parametrize(
    ("data", "code", "word"),
    [
        (b"", "P102", "empty"),
        (b"/*!50530 SET @@SESSION", "P102", "2f 2a 21 35"),
        (MAGIC[:2], "P102", "fe 62"),
        (b"\xfdbin" + bytes(600), "P103", "binlog_encryption"),
        (MAGIC, "P104", "0 are left"),
        (MAGIC + struct.pack("<IBIIIH", 0, 2, 1, 19, 23, 0), "P102", "QUERY"),
        (MAGIC + struct.pack("<IBIIIH", 0, 1, 1, 75, 79, 0) + bytes(56), "P108", "4.1"),
    ],
)
def test_files_that_are_no_readable_log_say_what_they_are(data, code, word):
    fault = _fault(data)
    assert fault.error.code == code
    assert word in fault.text
    assert fault.where.startswith("bin.000001")
    assert fault.remedy


@pytest.mark.parametrize(
    ("options", "word"),
    [({"binlog_version": 3}, "version 3"), ({"algorithm": 9}, "algorithm 9")],
)
def test_format_description_that_is_not_understood_is_refused(options, word):
    writer = BinlogWriter(start=False)
    writer.format_description(**options)
    fault = _fault(writer.data)
    assert fault.error.code == "P107"
    assert word in fault.text


def test_encryption_event_ends_what_can_be_read_and_keeps_what_was():
    writer = _small_log(server_version="10.11.19-MariaDB")
    offset = writer.event(164, b"\1" + bytes(16))
    writer.data += b"\xa5" * 200
    reader = BinlogReader(source_of(writer.data))
    seen = []
    with pytest.raises(ParaplyError, match="P103") as caught:
        seen.extend(event.header.name for event in _collect(reader, seen))
    assert seen == ["FORMAT_DESCRIPTION", "QUERY", "XID"]
    assert caught.value.where == f"bin.000001:{offset}"


def test_log_that_its_server_sent_decrypted_is_read():
    """MariaDB leaves the event in the log, and marks it as one that may be skipped."""
    writer = _small_log(server_version="10.11.19-MariaDB")
    writer.event(164, b"\1\1\0\0\0" + bytes(12), flags=0x80)
    writer.query("COMMIT")
    seen = []
    _collect(BinlogReader(source_of(writer.data)), seen)
    assert seen == ["FORMAT_DESCRIPTION", "QUERY", "XID", "START_ENCRYPTION", "QUERY"]


def _collect(reader, seen):
    for event in reader.raw_events():
        seen.append(event.header.name)
    return ()


def test_flipped_bit_in_an_event_is_found_by_its_checksum():
    writer = _small_log()
    offset = len(writer.data) - 10
    writer.data[offset] ^= 0x10
    fault = _fault(writer.data)
    assert fault.error.code == "P105"
    assert "XID" in fault.text


def test_flipped_bit_in_the_format_description_is_found_by_its_checksum():
    writer = _small_log()
    writer.data[30] ^= 0x10
    assert _fault(writer.data).error.code == "P105"


@pytest.mark.parametrize("length", [0, 18, 22, 0xFFFFFFFF])
def test_length_that_no_event_can_have_is_refused(length):
    writer = BinlogWriter()
    offset = writer.xid()
    struct.pack_into("<I", writer.data, offset + 9, length)
    fault = _fault(writer.data)
    assert fault.error.code == "P106"
    assert fault.where == f"bin.000001:{offset}"


def test_length_past_the_end_of_the_file_allocates_only_what_is_there():
    writer = BinlogWriter()
    offset = writer.xid()
    struct.pack_into("<I", writer.data, offset + 9, 1 << 30)
    tracemalloc.start()
    try:
        fault = _fault(writer.data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert fault.error.code == "P104"
    assert "1073741824" in fault.text
    assert peak < 8 << 20


def test_unknown_event_type_is_passed_on_with_its_body():
    writer = BinlogWriter()
    writer.event(100, b"*" * 50)
    writer.xid()
    events = raw_events_of(writer.data)
    assert [event.header.name for event in events[1:]] == ["UNKNOWN_100", "XID"]
    assert events[1].body == b"*" * 50


def test_longer_common_header_is_skipped():
    writer = BinlogWriter(start=False, checksum=False)
    body = struct.pack("<H50sIB", 4, b"8.0.36", 0, 22) + bytes(42) + b"\0"
    head = writer.header(15, 19 + len(body) + 4)
    writer.data += head + body + struct.pack("<I", zlib.crc32(head + body))
    writer.event(16, b"abc" + struct.pack("<Q", 5))
    assert raw_events_of(writer.data)[-1].body == struct.pack("<Q", 5)
